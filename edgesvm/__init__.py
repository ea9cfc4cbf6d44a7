"""Support vector machines that learn on the device, from a stream seen once, in a fixed number of
bytes."""

import os

if os.name != "posix":
    raise ImportError("edgesvm runs on Linux and macOS, not on Windows")
try:
    import edgesvm.core.arena  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "edgesvm.core.arena":
        raise
    raise ImportError(
        "edgesvm is not built: type `make build` in the clone,"
        " or `pip install --no-build-isolation -e .`"
    ) from error

from edgesvm.budget import MemoryPlan
from edgesvm.catalogue import MODULE_OF, on_first_use, public_names
from edgesvm.errors import (
    CorruptModelError,
    FormatVersionError,
    LinkDown,
    MemoryBudgetError,
    NoSchema,
    NotFittedError,
    VersionMismatch,
)
from edgesvm.kernels import RBF, Linear, Polynomial
from edgesvm.learner import Learner, load

__version__ = "0.1.0"

_PACKAGES = ("learners", "persist", "preprocessing")

__all__ = [
    "RBF",
    "CorruptModelError",
    "FormatVersionError",
    "Learner",
    "Linear",
    "LinkDown",
    "MemoryBudgetError",
    "MemoryPlan",
    "NoSchema",
    "NotFittedError",
    "Polynomial",
    "VersionMismatch",
    "load",
]
__all__ += public_names()  # noqa: PLE0605
__getattr__ = on_first_use(__name__, MODULE_OF | {name: f"edgesvm.{name}" for name in _PACKAGES})


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
