"""Support vector machines that learn on the device, from a stream seen once, in a fixed number of
bytes."""

from typing import TYPE_CHECKING

from edgesvm.budget import MemoryPlan
from edgesvm.contract import registry
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
from edgesvm.lazy import on_first_use
from edgesvm.learner import Learner, load
from edgesvm.learners import MODULE_OF as _LEARNERS

if TYPE_CHECKING:
    from edgesvm.calibration.calibrated import Calibrated
    from edgesvm.drift.adwin import Adwin
    from edgesvm.drift.page_hinkley import PageHinkley
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

_WRAPPERS = {
    "Calibrated": "edgesvm.calibration.calibrated",
    "Adwin": "edgesvm.drift.adwin",
    "PageHinkley": "edgesvm.drift.page_hinkley",
    "Chain": "edgesvm.preprocessing.chain",
    "FourierFeatures": "edgesvm.preprocessing.fourier_features",
    "RobustStandardized": "edgesvm.preprocessing.robust_standardized",
    "Standardized": "edgesvm.preprocessing.standardized",
    "WindowFeatures": "edgesvm.preprocessing.window_features",
}
_PACKAGES = ("calibration", "drift", "learners", "persist", "preprocessing")

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

registry.MODULE_OF.update(_WRAPPERS)
__getattr__ = on_first_use(
    __name__, {**_WRAPPERS, **_LEARNERS, **{name: f"edgesvm.{name}" for name in _PACKAGES}}
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
