"""A model that learns no more, as its arena in flash and the translated cores that decide by it: to
the bit as the host."""

from __future__ import annotations

import numpy as np

from edgesvm.export.fixed import TO_THE_BIT, header_of
from edgesvm.export.sources import Model, comment, macros, rows, windows_source


def work(model: Model) -> tuple[dict[str, dict[str, int]], np.ndarray]:
    """Where a core's scratch is in RAM, by unit and array, and what is there at first."""
    found: dict[str, dict[str, int]] = {}
    at: dict[tuple[bool, str], int] = {}
    memory = bytearray()
    for unit in model.units:
        inside = model.behind.part if unit.is_part else model.behind
        assert inside is not None
        arrays = {array.name: array.nbytes for array in inside.arrays}
        for name in unit.asked["scratch"]:
            stored = unit.stored(name)
            first = unit.beside.get(name.removeprefix("beside_"), bytes(arrays.get(stored, 0)))
            if (unit.is_part, stored) not in at:
                at[unit.is_part, stored] = len(memory)
                memory += first + bytes(-len(first) % 8)
            found.setdefault(unit.name, {})[name] = at[unit.is_part, stored]
    return found, np.frombuffer(bytes(memory), "<u8")


def header(model: Model) -> str:
    ram = work(model)[1].nbytes
    said = f"{ram} bytes of RAM, static, so that calls must not overlap" if ram else "no RAM"
    more = PROBABILITIES.format(p=model.prefix) if model.has_probabilities else ""
    return header_of(model, len(model.arena), said, TO_THE_BIT, more)


PROBABILITIES = """\
/** The probabilities of one sample's labels.
 * @param out  a number for each label, as they sort
 * @return 0, or -1 if a value is not finite
 */
int {p}_probabilities(const {p}_value *x, double *out);

"""


def source(model: Model) -> str:
    p, P = model.prefix, model.prefix.upper()
    places, memory = work(model)
    parts = [
        f"/* {comment(model.title)}: exported by edgesvm, for inference. */",
        f'#include "{p}.h"',
        "#define ESVM_DECIDES\n"
        f"#define ESVM_NAME(f) {p}_##f\n#define ESVM_TOP(f) {model.units[-1].name}_##f\n"
        + ("#define ESVM_REGRESSES\n" if model.regresses else f"#define ESVM_VALUES {P}_N_VALUES\n")
        + f"#define ESVM_AT {model.base}\n"
        f"#define ESVM_IS_FLOAT32 {int(model.dtype == 'float32')}\n"
        f"#define ESVM_CLASSES {model.units[-1].macros['n_classes']}",
        *([] if not len(memory) else [scratch(p, memory)]),
        *(macros(model, unit, places.get(unit.name)) for unit in model.units),
        "\n".join(f'#include "edgesvm/{unit.header}"' for unit in model.units),
        f"static const uint64_t {p}_arena[] = {{\n{words(np.frombuffer(model.arena, '<u8'))}\n}};",
        *(["#define ESVM_PROBABLE"] if model.has_probabilities else []),
        '#include "edgesvm/flash.h"',
        *windows_source(model.windows),
    ]
    return "\n\n".join(parts) + "\n"


def scratch(prefix: str, memory: np.ndarray) -> str:
    return (
        f"static uint64_t {prefix}_scratch[{len(memory)}] = {{\n{words(memory)}\n}};\n"
        f"#define ESVM_SCRATCH(at) ((char *){prefix}_scratch + ((void)self, (at)))"
    )


def words(memory: np.ndarray) -> str:
    return rows((f"0x{word:x}u" for word in memory), 4)
