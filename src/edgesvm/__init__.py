"""Support vector machines that learn on the device, from a stream seen once, in a fixed number of
bytes."""

import edgesvm_command  # noqa: F401  (first: it handles Ctrl-C during the imports of the command)
import edgesvm.compiled  # noqa: F401  (before what is compiled)
from edgesvm.budget import MemoryPlan
from edgesvm.calibration.calibrated import Calibrated
from edgesvm.drift.adwin import Adwin
from edgesvm.drift.page_hinkley import PageHinkley
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
    LASVM,
    AdaGradSVM,
    Auto,
    BallVectorMachine,
    BatchSVM,
    CoreVectorMachine,
    Forgetron,
    FourierSVM,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    IncrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    RandSVM,
    ReservoirSVM,
    SimpleSVM,
    StreamSVM,
    TwinDictionarySVM,
    TwinVectorMachine,
    WindowedSVM,
    alarm_rate_of,
)
from edgesvm.preprocessing.chain import Chain
from edgesvm.preprocessing.fourier_features import FourierFeatures
from edgesvm.preprocessing.robust_standardized import RobustStandardized
from edgesvm.preprocessing.standardized import Standardized
from edgesvm.preprocessing.window_features import WindowFeatures

__version__ = "0.1.0"

__all__ = [
    "LASVM",
    "RBF",
    "AdaGradSVM",
    "Adwin",
    "Auto",
    "BallVectorMachine",
    "BatchSVM",
    "Calibrated",
    "Chain",
    "CoreVectorMachine",
    "CorruptModelError",
    "Forgetron",
    "FormatVersionError",
    "FourierFeatures",
    "FourierSVM",
    "GaussianNovelty",
    "IncrementalDecrementalSVM",
    "IncrementalSVM",
    "KernelNovelty",
    "KernelPerceptron",
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
    "PageHinkley",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "Polynomial",
    "RandSVM",
    "ReservoirSVM",
    "RobustStandardized",
    "SimpleSVM",
    "Standardized",
    "StreamSVM",
    "TwinDictionarySVM",
    "TwinVectorMachine",
    "VersionMismatch",
    "WindowFeatures",
    "WindowedSVM",
    "alarm_rate_of",
    "load",
]
