"""Expressions of a function's body in C."""

from __future__ import annotations

import re

from Cython.Compiler import ExprNodes as E

from pyx_to_c.names import Class, Constant, Enum, Function, Struct
from pyx_to_c.parsing import UnknownNode
from pyx_to_c.types import STORED, Stored, bare, cast, is_index, is_pointer, needs_cast, pointee

ATOM, UNARY, LOOSE = 3, 2, 0
PRECEDENCE = {"*": 1.9, "/": 1.9, "%": 1.9, "+": 1.8, "-": 1.8}
OPERATORS = {"//": "/", "and": "&&", "or": "||", "is": "==", "is_not": "!="}


class Expressions:
    """Mixin of `Body`: `expr` gives (text, precedence, type)."""

    def text(self, node, above=LOOSE) -> str:
        """A node in C, in parentheses where it binds less than what is around it."""
        text, rank, _ = self.expr(node)
        return text if rank >= above else f"({text})"

    def type(self, node) -> str:
        return self.expr(node)[2]

    def converted(self, node, kind, above=LOOSE) -> str:
        """A node where C wants a value of a type: what C would convert by itself, and compilers
        warn of, is cast."""
        if isinstance(node, E.CondExprNode) and not is_pointer(kind):
            test, one = self.text(node.condition, 0.3), self.converted(node.true_val, kind, 0.3)
            text = f"{test} ? {one} : {self.converted(node.false_val, kind, 0.2)}"
            return text if above <= 0.2 else f"({text})"
        text, rank, given = self.expr(node)
        kind = "int64_t" if isinstance(kind, Stored) else kind.removeprefix("const ")
        given = given if isinstance(given, Stored) else given.removeprefix("const ")
        if isinstance(self.program.struct_named(given), Enum) and kind == "int":
            given = "unsigned"
        if self.is_literal(node) or is_pointer(kind) or not needs_cast(given, kind):
            return text if rank >= above else f"({text})"
        if kind == "size_t" and isinstance(node, (E.SizeofTypeNode, E.SizeofVarNode)):
            return text.removeprefix("(esvm_index)")
        return cast(kind) + (text if rank >= UNARY else f"({text})")

    def is_literal(self, node) -> bool:
        """Whether compilers see the value, and what it fits into."""
        if isinstance(node, E.UnaryMinusNode):
            return self.is_literal(node.operand)
        return isinstance(node, (E.FloatNode, E.BoolNode)) or self.constant_of(node) is not None

    def expr(self, node):
        reader = getattr(self, f"expr_{type(node).__name__}", None)
        if reader is None:
            raise UnknownNode(node, f"expression {type(node).__name__} has no translation")
        return reader(node)

    # -- literals and names ------------------------------------------------------------------------

    def expr_IntNode(self, node):
        suffix = (node.unsigned or "") + (node.longness or "")
        return node.value + suffix, ATOM, "uint64_t" if node.unsigned else "int"

    def expr_FloatNode(self, node):
        return node.value, ATOM, "double"

    def expr_BytesNode(self, node):
        return '"!"', ATOM, "const char *"  # a text for people: a board has none

    def expr_BoolNode(self, node):
        return str(int(node.value)), ATOM, "int"

    def expr_NullNode(self, node):
        return "NULL", ATOM, "void *"

    def expr_NameNode(self, node):
        name = node.name
        if self.is_dtype_of_model(node):
            return "ESVM_IS_FLOAT32", ATOM, "int"
        if name in self.locals:
            return self.local_name(name), ATOM, self.local_type(name)
        found = self.module.scope.get(name)
        if isinstance(found, Constant):
            self.program.need(found)
            return found.cname, ATOM, found.type
        raise UnknownNode(node, f"the name {name} is not known to the translator")

    def is_dtype_of_model(self, node):
        """Whether a node is the `is_float32` that is known when the model is compiled."""
        if isinstance(node, E.NameNode):
            return node.name == "is_float32" and not self.function.takes_dtype
        return isinstance(node, E.AttributeNode) and node.attribute == "is_float32"

    # -- attributes --------------------------------------------------------------------------------

    def path(self, node):
        """["balls", "m"] of ``self.balls.m``; None of what does not begin at self."""
        if isinstance(node, E.NameNode):
            return [] if node.name == "self" and self.owner is not None else None
        if isinstance(node, E.AttributeNode):
            before = self.path(node.obj)
            return None if before is None else [*before, node.attribute]
        return None

    def expr_AttributeNode(self, node):
        if node.attribute == "is_float32":
            return "ESVM_IS_FLOAT32", ATOM, "int"
        path = self.path(node)
        if path is not None:
            return self.attribute(node, path)
        part = self.part(node.obj)
        if part is not None:
            kind = self.program.base_class.fields[node.attribute]
            name = self.program.layout_of(self.owner).name
            return f"(({kind}){part[:-1]} + {name}_each(AT_{node.attribute})))", ATOM, kind
        kind = self.type(node.obj)
        struct = self.program.struct_named(bare(kind))
        if struct is None or node.attribute not in struct.fields:
            raise UnknownNode(node, f"{node.attribute} of {kind!r} is not known to the translator")
        arrow = "->" if is_pointer(kind) else "."
        text = f"{self.text(node.obj, ATOM)}{arrow}{node.attribute}"
        return text, ATOM, self.read_as(struct.fields[node.attribute], node.attribute)

    def attribute(self, node, path):
        """``self.w``, ``self.balls.m``, ``self.labels.sign``"""
        layout = self.program.layout_of(self.owner)
        if path[0] == "labels":
            kind = "const signed char *" if path[1] == "order" else "int"
            return f"{layout.name}_labels_{path[1]}", ATOM, kind
        path, kind, members = layout.split(path)
        if kind in (None, "object"):
            raise UnknownNode(node, f"self.{'.'.join(path)} is not known to the translator")
        if layout.is_wired(path):
            raise UnknownNode(node, f"self.{'.'.join(path)} is no one object in C")
        text = f"{layout.name}_{'_'.join(path)}"
        if not members and not layout.is_stored(path) and is_index(kind):
            return text, ATOM, self.read_as(kind, path[-1], "esvm_index")  # a number of the model
        for name in members:
            text += ("->" if is_pointer(kind) else ".") + name
            kind = self.program.struct_named(bare(kind)).fields[name]
        return text, ATOM, self.read_as(self.real(kind), (*path, *members)[-1])

    def read_as(self, kind, name, index=STORED):
        """The type of what is read: an int64_t that can only be an index is one."""
        return index if is_index(kind) and name not in self.program.counts else kind

    def expr_IndexNode(self, node):
        kind = self.type(node.base)
        name = node.base.attribute if isinstance(node.base, E.AttributeNode) else None
        text = f"{self.text(node.base, ATOM)}[{self.text(node.index)}]"
        return text, ATOM, self.read_as(pointee(kind), name if name else "n_unknown")

    # -- operators ---------------------------------------------------------------------------------

    def expr_TypecastNode(self, node):
        _, kind, _, _ = self.module.declared(self.module.base(node.base_type), node.declarator)
        kind = self.real(kind)
        text = cast(kind) + self.text(node.operand, UNARY)
        if is_index(kind) and isinstance(self.constant_of(node.operand), int):
            kind = "esvm_index"
        return text, UNARY, kind

    def constant_of(self, node):
        """A number known to the translator, or None."""
        if isinstance(node, E.IntNode):
            return int(node.value, 0)
        found = self.module.scope.get(getattr(node, "name", None))
        return 0 if isinstance(found, Constant) and isinstance(found.value, tuple) else None

    def expr_AmpersandNode(self, node):
        path = self.path(node.operand)
        if path is not None and self.program.layout_of(self.owner).is_wired(path):
            return self.local_struct(path)
        if isinstance(node.operand, E.NameNode) and node.operand.name in self.locals:
            self.widen(node.operand.name)  # a pointer to it is a pointer to int64_t
        text, rank, kind = self.expr(node.operand)
        kind = "int64_t" if kind == "esvm_index" else kind
        return "&" + (text if rank >= ATOM else f"({text})"), UNARY, f"{kind} *"

    def expr_UnaryMinusNode(self, node):
        return "-" + self.text(node.operand, UNARY + 0.5), UNARY, self.type(node.operand)

    def expr_NotNode(self, node):
        return "!" + self.text(node.operand, UNARY), UNARY, "int"

    def expr_BoolBinopNode(self, node):
        op = OPERATORS[node.operator]
        return (
            f"{self.operand(node.operand1, op)} {op} {self.operand(node.operand2, op)}",
            0.5,
            "int",
        )

    def operand(self, node, op):
        """An operand of && or ||; chains of the same operator need no parentheses."""
        same = isinstance(node, E.BoolBinopNode) and OPERATORS[node.operator] == op
        return self.text(node, LOOSE if same else 0.6)

    def expr_PrimaryCmpNode(self, node):
        asked = self.real_is(node)
        if asked:  # `real is float`, as an argument
            known = str(int(asked == self.real_type)) if self.real_type in SUFFIX else None
            return known or f"{'' if asked == 'float' else '!'}ESVM_IS_FLOAT32", ATOM, "int"
        parts, left, at = [], node.operand1, node
        while at is not None:
            op = OPERATORS.get(at.operator, at.operator)
            parts.append(self.comparison(left, op, at.operand2))
            left, at = at.operand2, at.cascade
        return (parts[0], 1.0, "int") if len(parts) == 1 else (" && ".join(parts), 0.5, "int")

    def comparison(self, left, op, right):
        """``a < b``; whether an optional array is there is known when the model is compiled."""
        path, layout = self.path(left), None
        if isinstance(right, (E.NullNode, E.NameNode)) and self.text(right) == "NULL" and path:
            layout = self.program.layout_of(self.owner)
        if layout is not None and tuple(path) in layout.optional:
            return layout.has(path) if op == "!=" else f"!{layout.has(path)}"
        kind = self.joined(self.type(left), self.type(right))
        return f"{self.side(left, kind, 1.1)} {op} {self.side(right, kind, 1.1)}"

    def side(self, node, kind, above):
        """An operand of an operator that works in a type."""
        works = kind in ("double", "esvm_real", "float", "uint64_t")
        return self.converted(node, kind, above) if works else self.text(node, above)

    def expr_CondExprNode(self, node):
        a, b = self.expr(node.true_val), self.expr(node.false_val)
        test = self.text(node.condition, 0.3)
        kind = b[2] if a[0] == "NULL" or b[2] in ("double", "int64_t") else a[2]
        one, other = self.side(node.true_val, kind, 0.3), self.side(node.false_val, kind, 0.2)
        return f"{test} ? {one} : {other}", 0.2, kind

    def binary(self, node):
        op = OPERATORS.get(node.operator, node.operator)
        a, b = self.type(node.operand1), self.type(node.operand2)
        if op == "/" and "double" in (a, b) and not self.is_known(node):
            both = self.converted(node.operand1, "double"), self.converted(node.operand2, "double")
            return f"ESVM_DIVIDE({', '.join(both)})", ATOM, "double"
        rank = PRECEDENCE.get(op, 1.2)
        tight = rank if op in PRECEDENCE else 1.95  # shifts and bits: parentheses throughout
        kind = self.joined(a, b)
        if op in ("<<", ">>"):
            kind = a
        text = f"{self.side(node.operand1, kind, tight)} {op} "
        return text + self.side(node.operand2, kind, tight + 0.05), rank, kind

    def is_known(self, node):
        """Whether an expression's value is known when the model is compiled."""
        if isinstance(node, (E.FloatNode, E.IntNode)):
            return True
        if isinstance(node, E.AttributeNode):
            path = self.path(node)
            known = path is not None and len(path) == 1
            known = known and path[0] not in self.program.layout_of(self.owner).beside
            return known and not is_pointer(self.type(node))
        if isinstance(node, E.NameNode):
            return node.name not in self.locals
        if isinstance(node, E.TypecastNode):
            return self.is_known(node.operand)
        if isinstance(node, E.BinopNode):
            return self.is_known(node.operand1) and self.is_known(node.operand2)
        return False

    @staticmethod
    def joined(a, b):
        """The type of a sum of two."""
        if is_pointer(a) or is_pointer(b):
            return a if is_pointer(a) else b
        order = ["double", "esvm_real", "float", "uint64_t", "int64_t"]
        for kind in order:
            if kind in (a, b):
                return kind
        for kind in a, b:
            if isinstance(kind, Stored):
                return kind
        if "esvm_index" in (a, b):
            return "esvm_index"
        return a if a != "int" else b

    expr_AddNode = expr_SubNode = expr_MulNode = expr_DivNode = expr_ModNode = binary
    expr_IntBinopNode = expr_BitwiseOrNode = binary

    # -- sizes -------------------------------------------------------------------------------------

    def expr_SizeofTypeNode(self, node):
        _, kind, _, _ = self.module.declared(self.module.base(node.base_type), node.declarator)
        return f"(esvm_index)sizeof{cast(self.real(kind))}", UNARY, "esvm_index"

    def expr_SizeofVarNode(self, node):
        if isinstance(node.operand, E.NameNode) and node.operand.name not in self.locals:
            kind = self.module.type_named(node.operand.name)
            if kind != "object":
                return f"(esvm_index)sizeof({self.real(kind)})", UNARY, "esvm_index"
        return f"(esvm_index)sizeof({self.text(node.operand)})", UNARY, "esvm_index"

    # -- calls -------------------------------------------------------------------------------------

    def expr_SimpleCallNode(self, node):
        if isinstance(node.function, E.AttributeNode):
            return self.method_call(node)
        name = node.function.name
        if name in ("min", "max"):
            return self.least(node, "<" if name == "min" else ">")
        found = self.module.scope.get(name)
        if isinstance(found, Constant):  # of libc
            self.program.need(found)
            kind = "int" if found.cname.startswith(("esvm_is", "memcmp")) else "double"
            if found.cname.startswith("mem"):
                args = [*map(self.text, node.args[:2]), self.converted(node.args[2], "size_t")]
            else:
                args = [self.converted(a, "double") for a in node.args]
            return f"{found.cname}({', '.join(args)})", ATOM, kind
        if isinstance(found, Struct):
            self.program.need(found)
            members = ", ".join(self.text(a, 0.2) for a in node.args)
            return f"({found.cname}){{{members}}}", ATOM, found.cname
        if not isinstance(found, Function):
            raise UnknownNode(node, f"the function {name} is not known to the translator")
        return self.call(node, found)

    def least(self, node, op):
        """min and max of Python: the first of equals."""
        a, b = node.args
        kind = self.joined(self.type(a), self.type(b))
        text = f"{self.side(b, kind, 1.1)} {op} {self.side(a, kind, 1.1)}"
        return f"{text} ? {self.side(b, kind, 0.3)} : {self.side(a, kind, 0.2)}", 0.2, kind

    def call(self, node, found):
        dtypes = [
            given
            for given, (name, _, _) in zip(node.args, found.params, strict=False)
            if name == "is_float32"
        ]
        if not all(map(self.is_dtype_of_model, dtypes)):
            found = found.by_argument
        self.program.need(found)
        real = self.real_of(node, found) if found.is_fused else "esvm_real"
        args = self.arguments(node, found, real)
        if found.module is None:
            return f"{found.cname}({', '.join(args)})", ATOM, found.returns
        name, kind = found.cname, found.returns
        if found.is_fused:
            name = f"ESVM_TYPED({name})" if real == "esvm_real" else name + SUFFIX[real]
            kind = re.sub(r"\breal\b", real, kind)
        return f"{name}({', '.join(args)})", ATOM, self.program.returned(found, kind)

    def real_of(self, node, found):
        """Which of the two types a fused function is called with."""
        given = [
            self.type(arg)
            for arg, (_, kind, _) in zip(node.args, found.params, strict=False)
            if re.search(r"\breal\b", kind)
        ]
        given.sort(key=is_pointer, reverse=True)  # a pointer says more than a number
        for kind in given:
            if bare(kind) in SUFFIX or bare(kind) == "esvm_real":
                return bare(kind)
        raise UnknownNode(node, f"{found.name}: float or double is not known to the translator")

    def arguments(self, node, found, real="esvm_real"):
        """The arguments in C; the model's dtype is not passed, since it is known."""
        args = []
        for i, (name, kind, default) in enumerate(found.params):
            given = node.args[i] if i < len(node.args) else default
            if given is None:
                raise UnknownNode(node, f"{found.name} needs {name}")
            if name == "is_float32" and not found.takes_dtype:
                if not self.is_dtype_of_model(given):
                    raise UnknownNode(node, f"{found.name} is of the model's dtype only")
                continue
            if is_index(kind) and self.type(given) in ("int64_t", "uint64_t"):
                self.program.widen(found, name)
            args.append(self.converted(given, self.taken_as(found, name, kind, real)))
            path = self.path(given)
            if path and tuple(path) in self.program.layout_of(self.owner).optional:
                args[-1] = f"{self.program.layout_of(self.owner).has(path)} ? {args[-1]} : NULL"
        return args

    def taken_as(self, found, name, kind, real):
        """The C type of a parameter."""
        if is_index(kind):  # what is written by hand takes indices
            is_wide = found.module is not None and self.program.is_wide(found, name)
            return "int64_t" if is_wide else "esvm_index"
        return re.sub(r"\breal\b", real, kind)

    def method_call(self, node):
        obj, name = node.function.obj, node.function.attribute
        path = self.path(obj)
        part = self.part(obj)
        if part is not None:
            found = self.program.method_of(self.program.base_class, name)
            args = [part[1:-1], *self.arguments(node, found)]
            each = f"{self.program.layout_of(self.owner).name}_each({name})"
            kind = self.program.returned(found, found.returns)
            return f"{each}({', '.join(args)})", ATOM, kind
        if path is None and isinstance(obj, E.NameNode):
            found = self.module.scope.get(obj.name)
            if isinstance(found, Class):  # LearnerCore.step(self, ...)
                return self.base_call(node, found, name)
        if path is None:
            raise UnknownNode(node, f"a call of {name} on another object has no translation")
        layout = self.program.layout_of(self.owner)
        if path and path[0] == "inner":
            found = self.program.method_of(self.program.base_class, name)
            args = ["self", *self.arguments(node, found)]
            return f"{layout.name}_inner({name})({', '.join(args)})", ATOM, found.returns
        if path:
            raise UnknownNode(node, f"a call on self.{path[0]} has no translation")
        found = self.program.method_of(self.owner, name)
        if found is None:
            raise UnknownNode(node, f"the method {name} is not known to the translator")
        self.program.need_method(self.owner, name)
        args = ["self", *self.arguments(node, found)]
        kind = self.program.returned(found, self.real(found.returns))
        return f"{layout.name}_{name}({', '.join(args)})", ATOM, kind

    def part(self, node):
        """Where a part of a multiclass learner begins, ``<LearnerCore> self.part(p)``, or None."""
        if not isinstance(node, E.TypecastNode) or node.base_type.name != "LearnerCore":
            return None
        return (
            f"({self.program.layout_of(self.owner).name}_part({self.text(node.operand.args[0])}))"
        )

    def base_call(self, node, base, name):
        found = self.program.method_of(base, name)
        self.program.need_base_method(self.owner, base, name)
        layout = self.program.layout_of(self.owner)
        node.args, kept = node.args[1:], node.args
        args = ["self", *self.arguments(node, found)]
        node.args = kept
        return f"{layout.name}_{base.name}_{name}({', '.join(args)})", ATOM, found.returns


SUFFIX = {"float": "_f32", "double": "_f64"}
