"""One function in C: its head, its variables, its statements."""

from __future__ import annotations

import copy
import re

from Cython.Compiler import ExprNodes as E
from Cython.Compiler import Nodes as N

from pyx_to_c.expressions import Expressions
from pyx_to_c.names import Struct
from pyx_to_c.parsing import UnknownNode, statements, walk
from pyx_to_c.types import SMALL, Stored, declaration, is_index, is_pointer


class Body(Expressions):
    """A function, or a method of `owner`. `real_type` stands for `real`."""

    def __init__(self, program, function, cname, real_type, owner=None):
        self.program, self.function, self.cname = program, function, cname
        self.module, self.owner, self.real_type = function.module, owner, real_type
        self.locals = {name: self.real(kind) for name, kind, _ in function.params}
        if owner is not None:
            self.locals.setdefault("self", "char *")
        self.lines, self.depth, self.n_temporaries = [], 1, 0
        self.structs = {}  # of self, made on the stack
        self.nodes = [n for s in statements(function.node.body) for n in walk(s)]
        self.shared = self.counters_read_outside()

    def real(self, kind):
        return re.sub(r"\breal\b", self.real_type, kind)

    # -- head --------------------------------------------------------------------------------------

    def head(self):
        params = ["char *self"] if self.owner is not None else []
        for name in self.params():
            params.append(declaration(self.local_type(name), self.local_name(name)))
        returns = self.program.returned(self.function, self.real(self.function.returns))
        return f"ESVM_STATIC {declaration(returns, self.cname)}({', '.join(params) or 'void'})"

    def params(self):
        """Names of the parameters in C; the model's dtype is none, since it is known."""
        names = [name for name, _, _ in self.function.params]
        return [n for n in names if n != "is_float32" or self.function.takes_dtype]

    def translate(self):
        """The lines of the function, and of its prototype."""
        self.block(statements(self.function.node.body))
        names = ["self"] if self.owner is not None else []
        names += [self.local_name(name) for name in self.params()]
        unused = [name for name in names if not self.is_used(name)]
        top = [
            f"    {kind} {name} = {maker}(self);" for name, kind, maker in self.structs.values()
        ] + [f"    (void){name};" for name in unused]
        head = self.head()
        return wrapped(f"{head};"), "\n".join([wrapped(f"{head} {{"), *top, *self.lines, "}"])

    def is_used(self, name):
        """Whether a parameter is used, whatever the dtype."""
        names = [name]
        if name == "self":
            layout = self.program.layout_of(self.owner)
            paths = [*layout.arrays, *layout.derived, *((name,) for name in layout.beside)]
            names += [f"{layout.name}_{'_'.join(path)}" for path in paths]
            names.append(f"{layout.name}_part")
            if self.structs:
                return True
        word = re.compile(rf"\b({'|'.join(names)})\b")
        parts = re.split(r"^#(?:if|else|endif).*$", "\n".join(self.lines), flags=re.M)
        found = [bool(word.search(part)) for part in parts]
        return (
            any(found[::2]) or (len(parts) > 2 and all(found[1:3]))
            if len(parts) != 3
            else (found[0] or found[2])
        )

    # -- variables ---------------------------------------------------------------------------------

    def local_name(self, name):
        return f"{name}_" if name in RESERVED else name

    def local_type(self, name):
        kind = self.locals[name]
        if is_index(kind) and not self.program.is_wide(self.function, name):
            return kind.replace("int64_t", "esvm_index")
        return kind

    def widen(self, name):
        if is_index(self.locals[name]):
            self.program.widen(self.function, name)

    def local_struct(self, path):
        """``&self.balls``: the struct is made where it is used, since self may be any arena."""
        layout = self.program.layout_of(self.owner)
        name = "_".join(path) + "_"
        kind = layout.split(path)[1]
        self.structs[name] = name, kind, f"{layout.name}_{name}of"
        return f"&{name}", 2, f"{kind} *"

    def temporary(self, kind, value):
        self.n_temporaries += 1
        name = f"t{self.n_temporaries}_"
        self.emit(f"{declaration(kind, name)} = {value};")
        return name

    # -- statements --------------------------------------------------------------------------------

    def emit(self, line):
        self.lines.append(line if line.startswith("#") else wrapped("    " * self.depth + line))

    def block(self, nodes):
        for i, node in enumerate(nodes):
            rest = nodes[i + 1 :]
            if isinstance(node, N.IfStatNode) and self.is_static(node.if_clauses[0].condition):
                self.static_if(node, rest)
                return
            self.statement(node)

    def statement(self, node):
        writer = getattr(self, f"do_{type(node).__name__}", None)
        if writer is None:
            raise UnknownNode(node, f"statement {type(node).__name__} has no translation")
        writer(node)

    def inside(self, node):
        self.depth += 1
        self.block(statements(node))
        self.depth -= 1

    def is_static(self, test):
        """`is_float32`, `real is float`: known when the model is compiled. `is_sparse`: never."""
        return (
            self.real_is(test) is not None or self.is_dtype_of_model(test) or self.is_sparse(test)
        )

    def is_sparse(self, test):
        """Whether a node is `self.is_sparse`: rows of non-zeros have no translation."""
        return isinstance(test, E.AttributeNode) and self.path(test) == ["is_sparse"]

    @staticmethod
    def real_is(test):
        """ "float" or "double" of ``real is float``"""
        asked = isinstance(test, E.PrimaryCmpNode) and test.operator == "is"
        asked = asked and getattr(test.operand1, "name", None) == "real"
        return test.operand2.name if asked else None

    def static_if(self, node, rest):
        """One of two blocks, and what comes after."""
        first, *others = node.if_clauses
        asked = self.real_is(first.condition)
        then, other = statements(first.body), statements(node.else_clause)
        if others:
            other = [self.from_clause(node, 1)]
        if self.is_sparse(first.condition):
            self.block(other if other and ends(other[-1]) else [*other, *rest])
            return
        test = "!ESVM_IS_FLOAT32" if asked == "double" else "ESVM_IS_FLOAT32"
        whole = not ends(then[-1])
        self.emit(f"#if {test}")
        self.block(then)
        if other or not whole:
            self.emit("#else")
            self.block(other if whole or (other and ends(other[-1])) else [*other, *rest])
        self.emit("#endif")
        if whole:
            self.block(rest)

    def do_CVarDefNode(self, node):
        for d in node.declarators:
            name, kind, _, default = self.module.declared(self.module.base(node.base_type), d)
            self.locals[name] = self.real(kind)
            self.program.need_type(kind)
            if default is None:
                self.declare(self.local_type(name), self.local_name(name))
            else:
                self.note_width(name, default)
                kind = self.local_type(name)
                text = self.converted(default, kind)
                self.emit(f"{declaration(kind, self.local_name(name))} = {text};")

    def declare(self, kind, name):
        """A variable without a value; plain ones of a type share a line."""
        if isinstance(self.program.struct_named(kind), Struct):
            self.emit(f"{kind} {name} = {{0}};")  # a compiler cannot see that all of it is set
            return
        before = self.lines[-1] if self.lines else ""
        plain = re.fullmatch(rf" *{re.escape(kind)} [\w, ]+;", before) and not is_pointer(kind)
        if plain and len(before) + len(name) < LINE - 2:
            self.lines[-1] = f"{before[:-1]}, {name};"
        else:
            self.emit(declaration(kind, name) + ";")

    def note_width(self, name, value):
        if is_index(self.locals[name]) and self.type(value) in ("int64_t", "uint64_t"):
            self.widen(name)

    def do_SingleAssignmentNode(self, node):
        if isinstance(node.lhs, E.TupleNode):
            self.assign_all(node.lhs.args, node.rhs)
        else:
            self.assign(node.lhs, node.rhs)

    def assign(self, target, value, text=None):
        """`text`: a variable that holds the value in the target's type."""
        if isinstance(target, E.NameNode) and target.name in self.locals:
            self.note_width(target.name, value)
        self.refuse_state(target)
        name, kind = self.text(target), self.type(target)
        if kind.endswith("]"):
            self.emit(f"memcpy({name}, {self.text(value)}, sizeof {name});")
            return
        self.emit(f"{name} = {text or self.converted(value, kind)};")

    def refuse_state(self, target):
        path = self.path(target) if isinstance(target, E.AttributeNode) else None
        if path is not None and not self.program.layout_of(self.owner).is_state(path):
            raise UnknownNode(target, f"self.{'.'.join(path)} is set, but is not in the arena")

    def assign_all(self, targets, value):
        """``a, b = b, a``: all values first, unless none depends on what is assigned before."""
        if not isinstance(value, E.TupleNode):
            raise UnknownNode(value, "this assignment of several has no translation")
        for target, v in zip(targets, value.args, strict=True):
            if isinstance(target, E.NameNode):
                self.note_width(target.name, v)
        pairs = list(zip(targets, value.args, strict=True))
        texts = [self.converted(v, self.type(target)) for target, v in pairs]
        if not all(
            self.independent(self.text(targets[i]), texts[j])
            for j in range(len(texts))
            for i in range(j)
        ):
            texts = [
                self.temporary(self.held_as(t), text)
                for t, text in zip(targets, texts, strict=True)
            ]
        for target, text, v in zip(targets, texts, value.args, strict=True):
            self.assign(target, v, text)

    def held_as(self, target):
        kind = self.type(target)
        if isinstance(kind, Stored):
            return "int64_t"
        return kind if not kind.startswith("const ") or is_pointer(kind) else kind[6:]

    def independent(self, target, later):
        """Whether a value that is read later cannot be changed by an assignment to `target`."""
        if re.fullmatch(r"\w+", target):
            return not re.search(rf"\b{target}\b", later)
        return (
            not re.search(r"[\[(]|->|\.[a-z_]", later)
            and f"{self.owner and self.owner.name}_" not in later
        )

    def do_CascadedAssignmentNode(self, node):
        for target in node.lhs_list:
            self.assign(target, node.rhs)

    def do_InPlaceAssignmentNode(self, node):
        target, op = self.text(node.lhs), {"//": "/"}.get(node.operator, node.operator)
        if isinstance(node.lhs, E.NameNode):
            self.note_width(node.lhs.name, node.rhs)
        self.refuse_state(node.lhs)
        kind = self.type(node.lhs)
        if op == "/" and kind == "double":
            self.emit(f"{target} = ESVM_DIVIDE({target}, {self.converted(node.rhs, kind)});")
        elif kind in SMALL:  # C works in int
            self.emit(f"{target} = ({kind})({target} {op} {self.text(node.rhs, 1.95)});")
        else:
            self.emit(f"{target} {op}= {self.converted(node.rhs, kind)};")

    def do_IfStatNode(self, node):
        for i, clause in enumerate(node.if_clauses):
            if self.is_static(clause.condition):
                self.emit("} else {")
                self.depth += 1
                self.block([self.from_clause(node, i)])
                self.depth -= 1
                self.emit("}")
                return
            self.emit(f"{'} else if' if i else 'if'} ({self.text(clause.condition)}) {{")
            self.inside(clause.body)
        if node.else_clause is not None:
            self.emit("} else {")
            self.inside(node.else_clause)
        self.emit("}")

    @staticmethod
    def from_clause(node, i):
        """The same `if` from its i-th condition on."""
        rest = copy.copy(node)
        rest.if_clauses = node.if_clauses[i:]
        return rest

    def do_WhileStatNode(self, node):
        if node.else_clause is not None:
            raise UnknownNode(node, "while with else has no translation")
        self.emit(f"while ({self.text(node.condition)}) {{")
        self.inside(node.body)
        self.emit("}")

    def do_ReturnStatNode(self, node):
        if node.value is None:
            self.emit("return;")
            return
        if is_index(self.function.returns) and self.type(node.value) in ("int64_t", "uint64_t"):
            self.program.widen(self.function, "return")
        kind = self.program.returned(self.function, self.real(self.function.returns))
        self.emit(f"return {self.converted(node.value, kind)};")

    def do_BreakStatNode(self, node):
        self.emit("break;")

    def do_ContinueStatNode(self, node):
        self.emit("continue;")

    def do_GILStatNode(self, node):
        if node.state == "nogil":  # the other is for what Python may do in between, and C not
            self.block(statements(node.body))

    def do_ExprStatNode(self, node):
        if not isinstance(node.expr, (E.UnicodeNode, E.BytesNode)):
            self.emit(f"{self.text(node.expr)};")

    # -- loops -------------------------------------------------------------------------------------

    def do_ForInStatNode(self, node):
        call = node.iterator.sequence
        is_range = (
            isinstance(call, E.SimpleCallNode) and getattr(call.function, "name", "") == "range"
        )
        if not is_range or not isinstance(node.target, E.NameNode) or node.else_clause is not None:
            raise UnknownNode(node, "only a loop over a range, without else, has a translation")
        args = call.args
        last = args[0] if len(args) == 1 else args[1]
        step = self.text(args[2]) if len(args) == 3 else "1"
        name = node.target.name
        for value in [*args[:2]]:
            self.note_width(name, value)
        kind = self.local_type(name)
        first = "0" if len(args) == 1 else self.converted(args[0], kind)
        end = self.text(last, 1.1)
        if not self.is_fixed(last, node.body):
            end = self.temporary(kind, self.converted(last, kind))
        at = self.local_name(name)
        if name in self.shared or self.is_assigned(name, node.body):
            self.n_temporaries += 1
            at = f"t{self.n_temporaries}_"
            self.emit(declaration(self.local_type(name), at) + ";")
        by = {"1": f"{at}++", "-1": f"{at}--"}.get(step, f"{at} += {step}")
        test = f"{at} {'>' if step.startswith('-') else '<'} {end}"
        self.emit(f"for ({at} = {first}; {test}; {by}) {{")
        if at != self.local_name(name):  # it keeps its last value, as in Python
            self.depth += 1
            self.emit(f"{self.local_name(name)} = {at};")
            self.depth -= 1
        self.inside(node.body)
        self.emit("}")

    def is_assigned(self, name, body):
        for node in walk(body):
            targets = []
            if isinstance(node, N.SingleAssignmentNode):
                targets = node.lhs.args if isinstance(node.lhs, E.TupleNode) else [node.lhs]
            elif isinstance(node, N.CascadedAssignmentNode):
                targets = node.lhs_list
            elif isinstance(node, N.InPlaceAssignmentNode):
                targets = [node.lhs]
            elif isinstance(node, N.ForInStatNode):
                targets = [node.target]
            elif isinstance(node, E.AmpersandNode):
                targets = [node.operand]
            if any(isinstance(t, E.NameNode) and t.name == name for t in targets):
                return True
        return False

    def is_fixed(self, bound, body):
        """Whether a loop's bound stays the same while it runs."""
        if isinstance(bound, E.IntNode):
            return True
        if isinstance(bound, E.NameNode):
            return bound.name not in self.locals or not self.is_assigned(bound.name, body)
        if isinstance(bound, E.AttributeNode):
            path = self.path(bound)
            return path is not None and not is_pointer(self.type(bound))
        if isinstance(bound, (E.BinopNode,)):
            return self.is_fixed(bound.operand1, body) and self.is_fixed(bound.operand2, body)
        return isinstance(bound, E.TypecastNode) and self.is_fixed(bound.operand, body)

    def counters_read_outside(self):
        """Variables of loops that are read after the loop, when they hold their last value."""
        within = {}
        for node in self.nodes:
            if isinstance(node, N.ForInStatNode) and isinstance(node.target, E.NameNode):
                below = [node.target, *walk(node.body)]
                within.setdefault(node.target.name, set()).update(id(n) for n in below)
        assigned = {id(node.lhs) for node in self.nodes if isinstance(node, N.SingleAssignmentNode)}
        return {
            node.name
            for node in self.nodes
            if isinstance(node, E.NameNode)
            and node.name in within
            and id(node) not in within[node.name]
            and id(node) not in assigned
        }


def wrapped(line):
    """A line of C in lines of at most 100 characters, broken after an operator or a comma."""
    lines, indent = [], re.match(r" *", line)[0] + " " * 8
    while len(line) > LINE:
        breaks = [m.end() for m in re.finditer(r", |[-+*/=?:<>] |&& |\|\| |\(", line[:LINE])]
        breaks = [b for b in breaks if b > len(indent) + 20]
        if not breaks:
            break
        good = [b for b in breaks if line[b - 1] == " "] or breaks
        lines.append(line[: good[-1]].rstrip())
        line = indent + line[good[-1] :]
    return "\n".join([*lines, line])


def ends(node):
    """Whether nothing comes after a statement."""
    if isinstance(node, N.IfStatNode):
        return node.else_clause is not None and all(
            ends(statements(body)[-1])
            for body in [*(c.body for c in node.if_clauses), node.else_clause]
        )
    return isinstance(node, N.ReturnStatNode)


LINE = 100
RESERVED = {"auto", "case", "default", "do", "extern", "goto", "register", "static", "switch"}
RESERVED |= {"delete", "new", "operator", "private", "public", "template", "this", "virtual"}  # C++
