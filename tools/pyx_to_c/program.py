"""All that is reached from some cores, and the headers that say it in C."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import SimpleNamespace

from pyx_to_c.body import Body, wrapped
from pyx_to_c.expressions import SUFFIX
from pyx_to_c.layout import Layout
from pyx_to_c.names import Constant, Enum, Function, Module, Struct
from pyx_to_c.types import bare, declaration, is_index

PARTS = ("names", "heads", "bodies")


class Program:
    """Translate `classes`, given as (module, class), from their methods named in `roots` on, of all
    ("decide") or of one ("WindowFeatures.take").

    `counts` are the names of int64_t numbers that may be larger than an index: of samples.
    """

    def __init__(self, classes, roots: Iterable[str], counts: Iterable[str]) -> None:
        self.roots, self.counts = tuple(roots), frozenset(counts)
        self.owners = [Module.load(module).scope[name] for module, name in classes]
        self.base_class = Module.load("edgesvm.contract.core").scope["LearnerCore"]
        self.layouts: dict[str, Layout] = {}
        self.wide: set[tuple[int, str]] = set()
        before = -1
        while len(self.wide) > before:  # what is wide makes other things wide
            before = len(self.wide)
            self.pass_over()

    def pass_over(self) -> None:
        self.reached: dict[int, object] = {}
        self.methods: dict[tuple[str, str], str] = {}
        self.texts: dict[str, dict[str, list[str]]] = {}
        self.method_texts: dict[str, list[tuple[str, str]]] = {}
        self.includes: dict[str, set[str]] = {}
        self.pending = []
        self.user = None
        for owner in self.owners:
            self.user = owner.module
            layout = self.layout_of(owner)
            for _, kind in layout.constants():
                self.need_type(kind)
            for root in self.roots:
                of, _, name = root.rpartition(".")
                if of in ("", owner.name) and self.method_of(owner, name) is not None:
                    self.need_method(owner, name)
            while self.pending:
                self.user, work = self.pending.pop(0)
                work()
        for owner in self.owners:
            self.user = owner.module
            layout = self.layout_of(owner)
            for kind, _ in layout.arrays.values():
                if self.struct_named(bare(kind)):
                    self.need(self.struct_named(bare(kind)))

    # -- what is reached ---------------------------------------------------------------------------

    def need(self, found) -> None:
        """A name is used by the function at hand."""
        if isinstance(found, Constant) and isinstance(found.value, tuple):
            found = found.value[0]  # its enum
        module = found.module
        if module is None or getattr(found, "cname", "").startswith("esvm_"):
            return
        if isinstance(found, Constant) and found.value is None:
            return
        if self.user is not None and module is not self.user:
            self.includes.setdefault(self.user.name, set()).add(module.name)
        if id(found) in self.reached:
            return
        self.reached[id(found)] = found
        self.texts.setdefault(module.name, {part: [] for part in PARTS})
        if isinstance(found, Function):
            if found.node is None:
                raise LookupError(f"{module.name}.{found.name} is declared and has no body")
            for real in SUFFIX if found.is_fused else [None]:
                cname = found.cname + (SUFFIX[real] if real else "")
                self.pending.append((module, lambda c=cname, r=real: self.function(found, c, r)))
            self.need_types(found)
        else:
            user, self.user = self.user, module
            if isinstance(found, Struct):
                for kind in found.fields.values():
                    if self.struct_named(bare(kind.split("[")[0])):
                        self.need(self.struct_named(bare(kind.split("[")[0])))
            self.texts[module.name]["names"].append(self.definition(found))
            self.user = user

    def need_type(self, kind) -> None:
        """A type is used, with the constants that its length is made of."""
        for length in re.findall(r"\[(.*?)\]", kind):
            for cname in re.findall(r"[A-Za-z]\w*", length):
                for found in self.constants_named(cname):
                    self.need(found)
        struct = self.struct_named(bare(kind.split("[")[0]))
        if struct:
            self.need(struct)

    def need_types(self, function) -> None:
        user, self.user = self.user, function.module
        for kind in [function.returns, *(p[1] for p in function.params)]:
            self.need_type(kind)
        self.user = user

    def function(self, found, cname, real) -> None:
        head, body = Body(self, found, cname, real or "esvm_real").translate()
        self.texts[found.module.name]["heads"].append(head)
        self.texts[found.module.name]["bodies"].append(body)

    def method_of(self, owner, name):
        """The nearest method of this name with a body."""
        for cls in owner.lineage:
            if name in cls.methods and cls.methods[name].node is not None:
                return cls.methods[name]
        return None

    def need_method(self, owner, name) -> None:
        self.add_method(owner, self.method_of(owner, name), f"{owner.name}_{name}")

    def need_base_method(self, owner, base, name) -> None:
        self.add_method(owner, self.method_of(base, name), f"{owner.name}_{base.name}_{name}")

    def add_method(self, owner, found, cname) -> None:
        if (owner.name, cname) in self.methods:
            return
        self.methods[owner.name, cname] = cname
        self.texts.setdefault(owner.module.name, {part: [] for part in PARTS})
        user, self.user = self.user, owner.module
        for kind in [found.returns, *(p[1] for p in found.params)]:
            self.need_type(kind)
        self.user = user

        def work():
            head, body = Body(self, found, cname, "esvm_real", owner).translate()
            self.method_texts.setdefault(owner.name, []).append((head, body))

        self.pending.append((owner.module, work))

    # -- types -------------------------------------------------------------------------------------

    def layout_of(self, owner) -> Layout:
        if owner.name not in self.layouts:
            self.layouts[owner.name] = Layout(owner)
        return self.layouts[owner.name]

    @staticmethod
    def constants_named(cname):
        return [
            found
            for module in list(Module.loaded.values())
            for found in module.scope.values()
            if isinstance(found, Constant) and found.cname == cname and found.value is not None
        ][:1]

    def struct_named(self, kind):
        """The Struct or Enum of a C type's name, or None."""
        for module in list(Module.loaded.values()):
            for found in module.scope.values():
                if isinstance(found, (Struct, Enum)) and found.cname and found.cname == kind:
                    return found
        return None

    def widen(self, function, name) -> None:
        self.wide.add((id(function), name))

    def is_wide(self, function, name) -> bool:
        return (id(function), name) in self.wide

    def returned(self, function, kind) -> str:
        if is_index(kind) and not self.is_wide(function, "return"):
            return "esvm_index"
        return kind

    # -- in C --------------------------------------------------------------------------------------

    def definition(self, found) -> str:
        if isinstance(found, Struct):
            members = "".join(f"    {declaration(k, n)};\n" for n, k in found.fields.items())
            return f"typedef {found.kind} {{\n{members}}} {found.cname};"
        if isinstance(found, Enum):
            items = [
                i.cname if i.value[1] is None else f"{i.cname} = {self.number(i, i.value[1])}"
                for i in found.items
            ]
            body = wrapped("    " + ", ".join(items))
            return f"typedef enum {{\n{body}\n}} {found.cname};".replace(
                "typedef enum", "typedef enum" if found.cname else "enum"
            ).replace(" ;", ";")
        return f"#define {found.cname} {self.number(found, found.value)}"

    def number(self, constant, value) -> str:
        if isinstance(value, (int, float)):
            text = repr(value)
            return f"({text})" if text.startswith("-") else text
        bodiless = SimpleNamespace(body=None)
        probe = Function(constant.module, constant.name, "double", [], bodiless)
        text, rank, _ = Body(self, probe, "", "esvm_real").expr(value)
        return text if rank >= 3 else f"({text})"

    def headers(self) -> dict[str, str]:
        """File name -> text."""
        return {f"{Module.load(name).stem}.h": self.header(name) for name in sorted(self.texts)}

    def attributes(self) -> dict[str, dict]:
        """Class -> what its header leaves to the model to define.

        numbers : attribute -> its C type; of an enum, the names of its values, from 0 on
        at, len, has : arrays whose place, length or presence is asked for
        scratch : arrays that a model in flash has in RAM
        """
        return {owner.name: self.left_to_model(owner) for owner in self.owners}

    def left_to_model(self, owner) -> dict:
        layout, text = self.layout_of(owner), self.header(owner.module.name)
        known = {path[0] for path in [*layout.arrays, *layout.derived] if len(path) == 1}
        numbers = {}
        for name, kind in layout.fields.items():
            if name in known or name in layout.beside:
                continue
            if re.search(rf"\b{owner.name}_{name}\b", text):
                enum = self.struct_named(kind)
                if isinstance(enum, Enum):
                    numbers[name] = [item.cname for item in enum.items]
                elif kind in ("double", "int", "int64_t"):
                    numbers[name] = kind

        def asked(form):
            return sorted(set(re.findall(form.format(owner.name), text)))

        return {
            "header": f"{owner.module.stem}.h",
            "numbers": numbers,
            "at": asked(r"\b{}_AT_(\w+)"),
            "len": asked(r"\b{}_LEN_(\w+)"),
            "has": asked(r"\b{}_HAS_(\w+)"),
            "scratch": asked(r"ESVM_SCRATCH\({}_AT_(\w+)\)"),
        }

    def header(self, name) -> str:
        module, texts = Module.load(name), self.texts[name]
        guard = f"EDGESVM_{module.stem.upper()}_H"
        below = sorted(
            {Module.load(n).stem for n in self.includes.get(name, ()) if n in self.texts}
        )
        owners = [o for o in self.owners if o.module is module]
        where = name.replace(".", "/")
        parts = [
            f"/* Translated from {where}.*: change that instead. */",
            f"#ifndef {guard}\n#define {guard}",
            "\n".join(['#include "floor.h"', *(f'#include "{stem}.h"' for stem in below)]),
            "\n".join(texts["names"]),
        ]
        parts += ["\n".join(texts["heads"]), "\n\n".join(texts["bodies"])]
        for owner in owners:
            layout = self.layout_of(owner)
            # a learner that builds on this one needs what is above, and has its own of what is here
            parts += [f"#ifdef {owner.name}_n_features", "\n".join(layout.macros())]
            heads, bodies = zip(*self.method_texts[owner.name], strict=True)
            methods = "\n\n".join(bodies)
            makers = makers_used(list(layout.makers()), methods)
            used = "\n".join([methods, *makers])
            parts += [
                f"static const {declaration(kind, f'{owner.name}_{n}')} = {owner.name}_{n.upper()};"
                for n, kind in layout.constants()
                if f"{owner.name}_{n}" in used
            ]
            parts += makers
            parts += ["\n".join(heads), methods, "#endif"]
        parts.append("#endif")
        return "\n\n".join(p for p in parts if p) + "\n"


def makers_used(makers: list[str], methods: str) -> list[str]:
    """Those that the methods call, and that these call; each comes after what it calls."""
    used: list[str] = []
    for maker in reversed(makers):
        defined = re.search(r"(\w+)(?:\(char \*self\) \{|;$)", maker)[1]
        if re.search(rf"\b{defined}\b", "\n".join([methods, *used])):
            used.insert(0, maker)
    return used
