"""What the names of a module mean: functions, structs, enums, constants and classes, also those
that it cimports."""

from __future__ import annotations

import re
import runpy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from Cython.Compiler import ExprNodes as E
from Cython.Compiler import Nodes as N

from pyx_to_c.parsing import UnknownNode, parse, statements

SOURCES = Path(__file__).resolve().parents[2]

# What a name from libc is in C: exact, or ours where libraries differ.
LIBC = {
    "sqrt": "esvm_sqrt",
    "fmax": "esvm_max",
    "fmin": "esvm_min",
    "isfinite": "esvm_is_finite",
    "isnan": "esvm_is_nan",
    "INFINITY": "ESVM_INFINITY",
    "NAN": "ESVM_NAN",
    "floor": "esvm_floor",
    "rint": "esvm_rint",
    "fabs": "fabs",
    "copysign": "copysign",
    "frexp": "esvm_frexp",
    "memcpy": "memcpy",
    "memset": "memset",
    "memcmp": "memcmp",
    "memmove": "memmove",
}
# Constants that a model knows better.
OF_MODEL = {
    "labels_MAX_CLASSES": "ESVM_CLASSES",
    "adiabatic_KEPT": "TWIN_KEPT",
    "window_features_MOST_BANDS": "WindowFeatures_MOST_BANDS",
    "window_features_MOST_PATTERNS": "WindowFeatures_MOST_PATTERNS",
}
PLAIN_TYPES = {"void", "char", "int", "long", "float", "double", "size_t"}
PLAIN_TYPES |= {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}


@dataclass(eq=False)
class Function:
    module: Module
    name: str
    returns: str
    params: list[tuple[str, str, Any]]  # name, type, default
    node: Any = None  # None: declared elsewhere
    cname: str = ""
    takes_dtype: bool = False  # whether `is_float32` is an argument in C too

    @cached_property
    def by_argument(self) -> Function:
        """The same function, of arrays whose dtype need not be the model's."""
        return replace(self, cname=f"{self.cname}_of", takes_dtype=True)

    @property
    def is_fused(self) -> bool:
        return any(re.search(r"\breal\b", t) for t in [self.returns, *(p[1] for p in self.params)])


@dataclass(eq=False)
class Constant:
    module: Module
    name: str
    type: str
    value: Any = None  # a number, or a syntax node
    cname: str = ""


@dataclass(eq=False)
class Struct:
    module: Module
    kind: str
    cname: str
    fields: dict[str, str]


@dataclass(eq=False)
class Enum:
    module: Module
    cname: str
    items: list[Constant]


@dataclass(eq=False)
class Class:
    module: Module
    name: str  # of the public class
    base: str | None
    fields: dict[str, str] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)
    wiring: list[Any] = field(default_factory=list)  # statements of __init__

    @property
    def lineage(self) -> list[Class]:
        """This class, its base, and so on."""
        base = self.module.scope.get(self.base) if self.base else None
        return [self, *(base.lineage if isinstance(base, Class) else [])]


class Module:
    """One module; `load` reads it once."""

    loaded: ClassVar[dict[str, Module]] = {}

    @classmethod
    def load(cls, name: str) -> Module:
        if name not in cls.loaded:
            cls.loaded[name] = cls(name)
        return cls.loaded[name]

    def __init__(self, name: str) -> None:
        self.loaded[name] = self
        self.name = name
        self.stem = name.rpartition(".")[2].lstrip("_")
        self.scope: dict[str, Any] = {}
        path = SOURCES / name.replace(".", "/")
        both = path.with_suffix(".pxd"), path.with_suffix(".pyx")
        self.files = [file for file in both if file.exists()]
        for file in self.files[:]:
            for node in parse(file):
                self.read(node)

    # -- statements --------------------------------------------------------------------------------

    def read(self, node) -> None:
        """Take in what a statement at the top of the module declares."""
        reader = getattr(self, f"read_{type(node).__name__}", None)
        if reader is not None:
            reader(node)

    def read_FromCImportStatNode(self, node) -> None:
        for _, name, as_name in node.imported_names:
            if node.module_name.startswith("edgesvm."):
                found = Module.load(node.module_name).scope.get(name)
                if found is None and (SOURCES / node.module_name.replace(".", "/")).is_dir():
                    found = Module.load(f"{node.module_name}.{name}")
                if found is not None:
                    self.scope[as_name or name] = found
            elif name in LIBC:
                self.scope[as_name or name] = Constant(self, name, "double", cname=LIBC[name])

    def read_FromImportStatNode(self, node) -> None:
        """Numbers of a constants.py, by value."""
        name = node.module.module_name.value
        if not name.endswith(".constants"):
            return
        file = (SOURCES / name.replace(".", "/")).with_suffix(".py")
        self.files.append(file)
        values = runpy.run_path(str(file))
        for source, target in node.items:
            value = values[source]
            if isinstance(value, (int, float)):
                declared = self.scope.get(target.name)
                if isinstance(declared, Constant) and declared.module is self:
                    declared.value = value
                else:
                    kind = "int" if isinstance(value, int) else "double"
                    self.constant(target.name, kind, value)

    def constant(self, name, kind, value=None) -> None:
        self.scope[name] = Constant(self, name, kind, value, f"{self.stem}_{name}")

    def read_SingleAssignmentNode(self, node) -> None:
        name = getattr(node.lhs, "name", None)
        if isinstance(self.scope.get(name), Constant):
            self.scope[name].value = node.rhs
        elif name and isinstance(node.rhs, (E.FloatNode, E.IntNode)):
            self.constant(name, "double" if isinstance(node.rhs, E.FloatNode) else "int", node.rhs)

    def read_CDefExternNode(self, node) -> None:
        for inner in statements(node.body):
            self.read(inner)
            if isinstance(inner, N.CVarDefNode):
                for d in inner.declarators:
                    found = self.scope[self.declared("", d)[0]]
                    found.module, found.cname = None, found.name

    def read_FusedTypeNode(self, node) -> None:
        self.scope[node.name] = "real"

    def read_CStructOrUnionDefNode(self, node) -> None:
        fields = {}
        for a in node.attributes or ():
            for d in a.declarators:
                name, kind, _, _ = self.declared(self.base(a.base_type), d)
                fields[name] = kind
        self.scope[node.name] = Struct(self, node.kind, f"{self.stem}_{node.name}", fields)

    def read_CEnumDefNode(self, node) -> None:
        enum = Enum(self, f"{self.stem}_{node.name}" if node.name else "", [])
        for item in node.items:
            cname = f"{self.stem}_{item.name}"
            constant = Constant(self, item.name, "int", (enum, item.value), cname)
            self.scope[item.name] = constant
            if cname in OF_MODEL:
                constant.cname, constant.value = OF_MODEL[cname], None
            else:
                enum.items.append(constant)
        if node.name:
            self.scope[node.name] = enum

    def read_CVarDefNode(self, node) -> None:
        for d in node.declarators:
            name, kind, args, default = self.declared(self.base(node.base_type), d)
            if args is None:
                self.constant(name, kind, default)
            else:
                self.function(name, kind, args)

    def read_CFuncDefNode(self, node) -> None:
        name, kind, args, _ = self.declared(self.base(node.base_type), node.declarator)
        self.function(name, kind, args, node)

    def function(self, name, kind, args, node=None) -> Function:
        params = [self.param(a) for a in args]
        old = self.scope.get(name)
        if isinstance(old, Function) and old.module is self:
            old.node = old.node or node
            return old
        self.scope[name] = Function(self, name, kind, params, node, f"{self.stem}_{name}")
        return self.scope[name]

    def read_CClassDefNode(self, node) -> None:
        found = self.scope.get(node.class_name)
        if not isinstance(found, Class) or found.module is not self:
            bases = node.bases.args if node.bases is not None else []
            base = bases[0].name if bases else None
            name = node.class_name.removesuffix("Core")
            found = self.scope[node.class_name] = Class(self, name, base)
        for s in statements(node.body):
            if isinstance(s, N.CVarDefNode):
                for d in s.declarators:
                    name, kind, args, _ = self.declared(self.base(s.base_type), d)
                    if args is None:
                        found.fields[name] = kind
                    elif name not in found.methods:
                        found.methods[name] = self.method(found, name, kind, args)
            elif isinstance(s, N.CFuncDefNode):
                name, kind, args, _ = self.declared(self.base(s.base_type), s.declarator)
                found.methods[name] = self.method(found, name, kind, args, s)
            elif isinstance(s, N.DefNode) and s.name == "__init__":
                found.wiring = statements(s.body)

    def method(self, owner, name, kind, args, node=None) -> Function:
        return Function(self, name, kind, [self.param(a) for a in args[1:]], node)

    # -- types -------------------------------------------------------------------------------------

    def base(self, node) -> str:
        """The C type of a declaration without its declarators; "object" for what is none."""
        if type(node).__name__ in ("CQualifierTypeNode", "CConstOrVolatileTypeNode"):
            return f"const {self.base(node.base_type)}"
        if isinstance(node, N.TemplatedTypeNode):
            return f"{self.base(node.base_type_node)}[{self.dimension(node.positional_args[0])}]"
        if not isinstance(node, N.CSimpleBaseTypeNode):
            return "object"
        return self.type_named(node.name, signed=node.signed)

    def dimension(self, node) -> str:
        if isinstance(node, E.IntNode):
            return node.value
        if isinstance(node, E.NameNode) and isinstance(self.scope.get(node.name), Constant):
            return self.scope[node.name].cname
        if isinstance(node, E.MulNode):
            return f"{self.dimension(node.operand1)} * {self.dimension(node.operand2)}"
        raise UnknownNode(node, "this length of an array is not known to the translator")

    def type_named(self, name, signed=1) -> str:
        plain = {None: "object", "bint": "int", "Py_ssize_t": "int64_t", "unsigned": "unsigned"}
        if name in plain:
            return plain[name]
        if name == "char" and signed == 2:
            return "signed char"
        if name in PLAIN_TYPES:
            return "unsigned" if signed == 0 and name == "int" else name
        found = self.scope.get(name)
        if isinstance(found, str):
            return found
        return found.cname if isinstance(found, (Struct, Enum)) and found.cname else "object"

    def declared(self, base, d):
        """(name, type, arguments or None, default) of a declarator"""
        if isinstance(d, N.CNameDeclaratorNode):
            return d.name, base, None, d.default
        if isinstance(d, N.CPtrDeclaratorNode):
            return self.declared(f"{base} *", d.base)
        if isinstance(d, N.CArrayDeclaratorNode):
            length = "" if d.dimension is None else self.dimension(d.dimension)
            name, kind, args, default = self.declared(base, d.base)
            return name, f"{kind}[{length}]", args, default
        if isinstance(d, N.CFuncDeclaratorNode):
            name, kind, _, default = self.declared(base, d.base)
            return name, kind, d.args, default
        raise UnknownNode(d, f"declarator {type(d).__name__}")

    def param(self, a):
        if isinstance(a.declarator, N.CNameDeclaratorNode) and not a.declarator.name:
            return a.base_type.name, "object", None
        name, kind, _, _ = self.declared(self.base(a.base_type), a.declarator)
        return name, kind, a.default
