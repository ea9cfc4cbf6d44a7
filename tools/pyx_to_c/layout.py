"""What a core's attributes are in C: arrays of the arena, or macros that the model defines."""

from __future__ import annotations

from Cython.Compiler import ExprNodes as E
from Cython.Compiler import Nodes as N

from pyx_to_c.names import Struct
from pyx_to_c.parsing import statements
from pyx_to_c.types import bare, is_pointer

# Pointers that are set by a function called in __init__: member, type, array.
MADE_BY = {
    "directions_of": [
        *(("angle", "int16_t *", "angle"), ("mixed", "void *", "mixed")),
        *(("tilt", "double *", "tilt"), ("H", "double *", "tilt_squares")),
    ],
}
# What a core keeps beside the arena while it works: it lies behind the arena.
BESIDE = {"amplitude", "order", "lift"}
# Arrays that are zero between samples: a model in flash has them in RAM.
SCRATCH = {"mapped", "scaled", "features", "angle", "mixed", "scores", "sums", "scratch"}
SCRATCH |= {"merged", "coded", "point", "complete"}
# Methods called in __init__ that point a struct to arrays: member, type, array, "" for one named.
WIRED_BY = {
    "map_tiles": [("data", "char *", "")],
    "map_cache": [
        ("block", "float *", "cache"),
        *((name, "int32_t *", name) for name in ("slot", "owner", "filled")),
        ("used", "int64_t *", "used"),
    ],
}
# Their other members, in C.
SET_BY = {
    "map_tiles": {"width": "{0}_n_features", "present": "NULL", "alone": "0"},  # nothing is noted
    "map_cache": {"n_floats": "{0}_LEN_cache"},
}


class Layout:
    """The attributes of one class, with its bases'; a path is ("balls", "m") of ``self.balls.m``.

    arrays : path -> (type, name of the plan's array)
    optional : paths of arrays that a model may not have
    """

    def __init__(self, owner) -> None:
        self.name = owner.name
        self.fields, self.arrays, self.optional = {}, {}, set()
        self.derived = {}  # path -> (type, text) of a pointer made from others
        self.instead = {}  # path of an optional array -> the pointer of a model without it
        self.beside = []
        self.structs = {}
        for cls in reversed(owner.lineage):
            self.fields.update(cls.fields)
            self.structs.update(
                {v.cname: v for v in cls.module.scope.values() if isinstance(v, Struct)}
            )
        first = "common" if "common" in self.fields else "counts"  # at the start of the arena
        self.arrays[first,] = self.fields[first], None
        for name, kind in self.fields.items():
            if name in BESIDE and kind.endswith("]"):
                self.arrays[name,] = kind.replace("[", " *[").split("[")[0], f"beside_{name}"
            elif name in BESIDE and not is_pointer(kind):
                self.beside.append(name)
        for cls in reversed(owner.lineage):
            self.aliases, self.numbers = {}, {}
            self.read(cls.wiring, optional=False)

    # -- __init__ ----------------------------------------------------------------------------------

    def read(self, nodes, optional):
        for node in nodes:
            if isinstance(node, N.SingleAssignmentNode):
                pairs = [(node.lhs, node.rhs)]
                if isinstance(node.lhs, E.TupleNode) and isinstance(node.rhs, E.TupleNode):
                    pairs = list(zip(node.lhs.args, node.rhs.args, strict=True))
                for target, value in pairs:
                    self.wire(target, value, optional)
            elif isinstance(node, N.CVarDefNode):
                for d in node.declarators:
                    self.alias(d)
            elif isinstance(node, N.ExprStatNode) and isinstance(node.expr, E.SimpleCallNode):
                self.call(node.expr)
            elif isinstance(node, N.IfStatNode):
                for clause in node.if_clauses:
                    self.read(statements(clause.body), optional=True)
                self.read(statements(node.else_clause), optional=True)

    def alias(self, d):
        """``cdef PackedFactor *f = &self.factor``"""
        inner = d
        while not isinstance(inner, N.CNameDeclaratorNode):
            inner = inner.base
        if isinstance(inner.default, E.AmpersandNode):
            self.aliases[inner.name] = self.path(inner.default.operand)
        elif isinstance(inner.default, E.AttributeNode):
            self.numbers[inner.name] = self.macro(self.path(inner.default))
        elif isinstance(inner.default, E.SimpleCallNode) and inner.default.function.name == "len":
            view = inner.default.args[0].index.value
            self.numbers[inner.name] = f"{self.name}_LEN_{view}"

    def call(self, node):
        """``self.map_tiles(&self.rows, "rows")``"""
        name = getattr(node.function, "attribute", None)
        if name not in WIRED_BY:
            return
        path = self.path(node.args[0].operand)
        for member, kind, array in WIRED_BY[name]:
            self.arrays[(*path, member)] = kind, array or node.args[1].value
        for member, text in SET_BY[name].items():
            self.derived[(*path, member)] = "", text.format(self.name)

    def path(self, node):
        if isinstance(node, E.NameNode):
            return () if node.name == "self" else self.aliases.get(node.name)
        if isinstance(node, E.AttributeNode):
            before = self.path(node.obj)
            return None if before is None else (*before, node.attribute)
        return None

    def wire(self, target, value, optional):
        path = self.path(target)
        if not path:
            return
        if isinstance(value, E.CondExprNode):
            self.wire(target, value.true_val, True)
            if self.path(value.false_val):
                self.instead[path] = self.macro(self.path(value.false_val))
            return
        maker = getattr(getattr(value, "function", None), "name", None)
        for member, kind, array in MADE_BY.get(maker, ()):
            self.arrays[(*path, member)] = kind, array
            self.optional.add((*path, member))
        kind = self.declared(path)
        if isinstance(value, E.AttributeNode) and value.attribute == "size":
            self.derived[path] = kind, f"{self.name}_LEN_{value.obj.index.value}"
            return
        if isinstance(value, E.NameNode) and kind and not is_pointer(kind):
            self.numbers.setdefault(value.name, self.macro(path))
        text = self.pointer(value) if kind and is_pointer(kind) else None
        if text is not None:
            self.derived[path] = kind, text
            return
        kind = "char *"
        if isinstance(value, E.TypecastNode):
            kind, value = None, value.operand
        if not (
            isinstance(value, E.SimpleCallNode)
            and getattr(value.function, "attribute", None) == "array"
        ):
            return
        array = getattr(value.args[0], "value", path[-1])  # a name given by a subclass: its own
        self.arrays[path] = kind or self.declared(path), array
        if optional:
            self.optional.add(path)

    def pointer(self, value):
        """A pointer made from others, in C; None if it is something else."""
        if isinstance(value, E.AddNode):
            return self.joined("{} + {}", value.operand1, value.operand2)
        if isinstance(value, E.MulNode):
            factors = value.operand1, value.operand2
            sums = any(isinstance(factor, E.AddNode) for factor in factors)
            return None if sums else self.joined("{} * {}", *factors)
        if isinstance(value, E.CondExprNode):
            choice = value.condition, value.true_val, value.false_val
            return self.joined("({} ? {} : {})", *choice)
        if isinstance(value, E.TypecastNode) and value.base_type.name == "char":
            return self.joined("(char *){}", value.operand)
        return self.named(value)

    def joined(self, form, *values):
        parts = [self.pointer(value) for value in values]
        return None if None in parts else form.format(*parts)

    def named(self, value):
        if isinstance(value, E.AmpersandNode):
            return f"&{self.macro(self.path(value.operand))}"
        if isinstance(value, E.IntNode):
            return value.value
        if isinstance(value, E.NameNode):
            return self.numbers.get(value.name)
        return self.macro(self.path(value)) if isinstance(value, E.AttributeNode) else None

    def macro(self, path):
        """``StreamSVM_ball->R``"""
        path, kind, members = self.split(path)
        text = f"{self.name}_{'_'.join(path)}"
        for name in members:
            text += ("->" if is_pointer(kind) else ".") + name
            kind = self.structs[bare(kind)].fields.get(name)
        return text

    def declared(self, path):
        """The type of an attribute or member as declared"""
        kind = self.fields.get(path[0])
        for name in path[1:]:
            struct = self.structs.get(bare(kind or ""))
            kind = struct.fields.get(name) if struct else None
        return kind

    # -- questions ---------------------------------------------------------------------------------

    def is_stored(self, path):
        """Whether it lies in the arena, or behind it."""
        return tuple(path) in self.arrays or tuple(path) in self.derived or path[0] in self.beside

    def split(self, path):
        """The part of a path that is a macro, its type, and the members behind it."""
        kind, k = self.fields.get(path[0]), 1
        while k < len(path) and self.is_wired(path[:k]):
            kind = self.structs[kind].fields.get(path[k])
            k += 1
        return tuple(path[:k]), kind, tuple(path[k:])

    def is_wired(self, path):
        """Whether an attribute is a struct with pointers into the arena, which is no object in
        C."""
        path = (path,) if isinstance(path, str) else tuple(path)
        kind = self.fields.get(path[0])
        for name in path[1:]:
            if kind not in self.structs:
                return False
            kind = self.structs[kind].fields.get(name)
        return kind in self.structs and any(
            p[: len(path)] == path for p in [*self.arrays, *self.derived]
        )

    def has(self, path):
        """The macro that says whether a model has an optional array."""
        return f"{self.name}_HAS_{self.arrays[tuple(path)][1]}"

    def is_state(self, path):
        """Whether setting it sets something in the arena."""
        return bool(self.split(path)[2]) or path[0] in self.beside

    def constants(self):
        """Attributes that are structs or tables of numbers: (name, type)."""
        found = []
        for name, kind in self.fields.items():
            if self.is_wired((name,)):
                members = self.structs[kind].fields.items()
                found += [(f"{name}_{m}", of) for m, of in members if of.endswith("]")]
            elif (kind in self.structs or kind.endswith("]")) and name not in BESIDE:
                found.append((name, kind))
        return [(name, kind) for name, kind in found if "*" not in kind.split("[")[0]]

    # -- in C --------------------------------------------------------------------------------------

    def macros(self):
        """``#define StreamSVM_w ((char *)(self + StreamSVM_AT_w))`` for each array"""
        for path, (kind, array) in self.arrays.items():
            name, text = f"{self.name}_{'_'.join(path)}", kind.replace(" *", "*")
            text = f"{text[:-1]} *" if text.endswith("*") else text
            where = "self" if array is None else self.where(array)
            there = f"({text}){where}"
            if path in self.instead:
                there = f"{self.has(path)} ? {there} : {self.instead[path]}"
            yield f"#define {name} ({there})"
        for path, (_, text) in self.derived.items():
            yield f"#define {self.name}_{'_'.join(path)} ({text})"
        if "part_tuple" in self.fields:
            at = f"{self.name}_AT_parts + (p) * {self.name}_part_bytes"
            yield f"#define {self.name}_part(p) (self + {at})"
        for name in self.beside:
            where = self.where(f"beside_{name}")
            yield f"#define {self.name}_{name} (*({self.fields[name]} *){where})"

    def where(self, array):
        """The first byte of an array."""
        at = f"{self.name}_AT_{array}"
        kept = array not in SCRATCH and not array.startswith("beside_")
        return f"(self + {at})" if kept else f"ESVM_SCRATCH({at})"

    def makers(self):
        """The functions that make the wired structs."""
        for name, kind in self.fields.items():
            if self.is_wired((name,)):
                yield from self.made((name,), kind)

    def made(self, path, kind):
        whole = f"{self.name}_{'_'.join(path)}"
        lines = [
            f"ESVM_STATIC {kind} {whole}_of(char *self) {{",
            f"    {kind} made;",
            "    (void)self;",
        ]
        for member, of in self.structs[kind].fields.items():
            if self.is_wired((*path, member)):
                yield from self.made((*path, member), of)
                lines.append(f"    made.{member} = {whole}_{member}_of(self);")
            elif of.endswith("]"):
                lines.append(f"    memcpy(made.{member}, {whole}_{member}, sizeof made.{member});")
            elif member == "is_float32":
                lines.append("    made.is_float32 = ESVM_IS_FLOAT32;")
            elif (*path, member) in self.optional:
                has = self.has((*path, member))
                lines.append(f"    made.{member} = {has} ? {whole}_{member} : NULL;")
            else:
                lines.append(f"    made.{member} = {whole}_{member};")
        yield "\n".join([*lines, "    return made;", "}"])
