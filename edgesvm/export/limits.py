"""What the numbers of a valid arena are, for the checks of a snapshot in C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edgesvm.budget import PlannedArray
from edgesvm.core.packed_factor import packed_length
from edgesvm.learners.fourier.constants import FADED
from edgesvm.learners.novelty.constants import CALM
from edgesvm.learners.papers.enclosing._enclosing import SCRATCH as OF_ENCLOSING

KINDS = {"f4": "ESVM_FLOATS", "f8": "ESVM_DOUBLES", "i8": "ESVM_COUNTS"}
INDICES = {"i8": "ESVM_INDICES", "i4": "ESVM_INDICES_32", "i1": "ESVM_INDICES_8"}
ANY = ("u8", "i2")  # words of a random generator, and codes of 16 bits
# Arrays that are zero between samples; of one class, its own.
SCRATCH = {"scaled", "features", "angle", "mixed", "scores", "sums", "scratch", "merged", "coded"}
SCRATCH_OF = {"BallVectorMachine": frozenset(OF_ENCLOSING)}
SQUARES = {"R", "xi2", "ww", "q", "spread", "square", "radius"}  # never negative
SIZES = {"tilt": 2 * FADED}  # logarithms of amplitudes and those at first: what exp() can take


def margin_set(core: Any) -> dict[str, int]:
    """Of the numbers of twins, all and on the margin, of their slots and states."""
    slots, on_margin = core.slots, 0
    while packed_length(on_margin + 1) <= len(core.views["pool"]):
        on_margin += 1
    return {"n": slots, "m": min(on_margin, slots), "S": slots - 1, "state": 4}


# Class -> of its core, integers of its arrays that are indices, and the largest
MOST: dict[str, Callable[[Any], dict[str, int]]] = {
    "StreamSVM": lambda core: {"n_held": len(core.views.get("radius", ())) - 1},
    "KernelStreamSVM": lambda core: {"n_held": core.slots - (not core.newton)},
    "Pegasos": lambda core: {"n_waiting": core.batch_size},
    "KernelPerceptron": lambda core: {"n_held": core.capacity, "oldest": core.capacity},
    "Forgetron": lambda core: {"n_held": core.capacity, "oldest": core.capacity},
    "LASVM": lambda core: {"n_held": core.capacity - 1},
    "GaussianNovelty": lambda core: {"alarmed": CALM},
    "KernelNovelty": lambda core: {
        "alarmed": CALM,
        "n_held": core.room,
        "partner": core.room - 1,
    },
    "TwinVectorMachine": margin_set,
    "TwinDictionarySVM": margin_set,
    "IncrementalDecrementalSVM": margin_set,
    "SimpleSVM": margin_set,
    "BallVectorMachine": lambda core: {"n_core": core.max_core, "converged": 1},
}


def limits(
    array: PlannedArray, most: dict[str, int], scratch: frozenset[str]
) -> tuple[str, int, int] | None:
    """How the numbers of an array are checked, the least, and the most; None: they may be any.

    A least of -1 is none, as is a most of 0 of floating-point numbers. KeyError for an array of
    which nothing is known.
    """
    kind = array.dtype.kind + str(array.dtype.itemsize)
    if array.name in SCRATCH or array.name in scratch:
        return None if kind in ANY else ("ESVM_ZEROS", 0, 0)
    if kind in ANY:
        return None
    if array.name in most:
        return INDICES[kind], -1 if array.name == "partner" else 0, most[array.name]
    if KINDS[kind] == "ESVM_DOUBLES":
        return KINDS[kind], 0 if array.name in SQUARES else -1, int(SIZES.get(array.name, 0))
    return KINDS[kind], 0, 0
