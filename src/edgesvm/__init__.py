"""Support vector machines that learn on the device, from a stream seen once, in a fixed number of
bytes."""

import edgesvm_command  # noqa: F401  (first: it handles Ctrl-C during the imports of the command)
from edgesvm.budget import MemoryPlan
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
from edgesvm.learners import (
    BallVectorMachine,
    BatchSVM,
    CoreVectorMachine,
    FourierSVM,
    IncrementalDecrementalSVM,
    IncrementalSVM,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    RandSVM,
    ReservoirSVM,
    StreamSVM,
    TwinVectorMachine,
    WindowedSVM,
)
from edgesvm.preprocessing.standardized import Standardized

__version__ = "0.1.0"

__all__ = [
    "RBF",
    "BallVectorMachine",
    "BatchSVM",
    "CoreVectorMachine",
    "CorruptModelError",
    "FormatVersionError",
    "FourierSVM",
    "IncrementalDecrementalSVM",
    "IncrementalSVM",
    "KernelStreamSVM",
    "Learner",
    "Linear",
    "LinkDown",
    "MemoryBudgetError",
    "MemoryPlan",
    "NoSchema",
    "NotFittedError",
    "OneVsOne",
    "OneVsRest",
    "Polynomial",
    "RandSVM",
    "ReservoirSVM",
    "Standardized",
    "StreamSVM",
    "TwinVectorMachine",
    "VersionMismatch",
    "WindowedSVM",
    "load",
]
