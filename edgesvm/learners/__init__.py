"""The learners, imported on first use, and ``LEARNERS``, all that are registered, by name."""

from typing import TYPE_CHECKING, Any

from edgesvm.contract import registry
from edgesvm.lazy import on_first_use

if TYPE_CHECKING:
    from edgesvm.contract.registry import LEARNERS
    from edgesvm.learners.auto.auto import Auto
    from edgesvm.learners.batch.batch_svm import BatchSVM
    from edgesvm.learners.batch.reservoir_svm import ReservoirSVM
    from edgesvm.learners.fourier.fourier_svm import FourierSVM
    from edgesvm.learners.gradient.adagrad_svm import AdaGradSVM
    from edgesvm.learners.kernel_learner import KernelLearner, KernelMethod
    from edgesvm.learners.multiclass import OneVsOne, OneVsRest
    from edgesvm.learners.novelty.alarm_rate import alarm_rate_of
    from edgesvm.learners.novelty.gaussian_novelty import GaussianNovelty
    from edgesvm.learners.novelty.kernel_novelty import KernelNovelty
    from edgesvm.learners.papers.enclosing.ball_vector_machine import BallVectorMachine
    from edgesvm.learners.papers.enclosing.core_vector_machine import CoreVectorMachine
    from edgesvm.learners.papers.incremental.incremental_svm import IncrementalSVM
    from edgesvm.learners.papers.incremental.windowed_svm import WindowedSVM
    from edgesvm.learners.papers.online.forgetron import Forgetron
    from edgesvm.learners.papers.online.kernel_perceptron import KernelPerceptron
    from edgesvm.learners.papers.online.lasvm import LASVM
    from edgesvm.learners.papers.online.passive_aggressive import PassiveAggressive
    from edgesvm.learners.papers.online.pegasos import Pegasos
    from edgesvm.learners.papers.online.perceptron import Perceptron
    from edgesvm.learners.papers.randomized.rand_svm import RandSVM
    from edgesvm.learners.stream.kernel_stream_svm import KernelStreamSVM
    from edgesvm.learners.stream.stream_svm import StreamSVM
    from edgesvm.learners.twin.incremental_decremental_svm import IncrementalDecrementalSVM
    from edgesvm.learners.twin.simple_svm import SimpleSVM
    from edgesvm.learners.twin.twin_dictionary_svm import TwinDictionarySVM
    from edgesvm.learners.twin.twin_vector_machine import TwinVectorMachine

MODULE_OF = {
    "Auto": "edgesvm.learners.auto.auto",
    "BatchSVM": "edgesvm.learners.batch.batch_svm",
    "ReservoirSVM": "edgesvm.learners.batch.reservoir_svm",
    "BallVectorMachine": "edgesvm.learners.papers.enclosing.ball_vector_machine",
    "CoreVectorMachine": "edgesvm.learners.papers.enclosing.core_vector_machine",
    "FourierSVM": "edgesvm.learners.fourier.fourier_svm",
    "AdaGradSVM": "edgesvm.learners.gradient.adagrad_svm",
    "IncrementalSVM": "edgesvm.learners.papers.incremental.incremental_svm",
    "WindowedSVM": "edgesvm.learners.papers.incremental.windowed_svm",
    "KernelLearner": "edgesvm.learners.kernel_learner",
    "KernelMethod": "edgesvm.learners.kernel_learner",
    "OneVsOne": "edgesvm.learners.multiclass",
    "OneVsRest": "edgesvm.learners.multiclass",
    "alarm_rate_of": "edgesvm.learners.novelty.alarm_rate",
    "GaussianNovelty": "edgesvm.learners.novelty.gaussian_novelty",
    "KernelNovelty": "edgesvm.learners.novelty.kernel_novelty",
    "Forgetron": "edgesvm.learners.papers.online.forgetron",
    "KernelPerceptron": "edgesvm.learners.papers.online.kernel_perceptron",
    "LASVM": "edgesvm.learners.papers.online.lasvm",
    "PassiveAggressive": "edgesvm.learners.papers.online.passive_aggressive",
    "Pegasos": "edgesvm.learners.papers.online.pegasos",
    "Perceptron": "edgesvm.learners.papers.online.perceptron",
    "RandSVM": "edgesvm.learners.papers.randomized.rand_svm",
    "KernelStreamSVM": "edgesvm.learners.stream.kernel_stream_svm",
    "StreamSVM": "edgesvm.learners.stream.stream_svm",
    "IncrementalDecrementalSVM": "edgesvm.learners.twin.incremental_decremental_svm",
    "SimpleSVM": "edgesvm.learners.twin.simple_svm",
    "TwinDictionarySVM": "edgesvm.learners.twin.twin_dictionary_svm",
    "TwinVectorMachine": "edgesvm.learners.twin.twin_vector_machine",
}

__all__ = [
    "LASVM",
    "LEARNERS",
    "AdaGradSVM",
    "Auto",
    "BallVectorMachine",
    "BatchSVM",
    "CoreVectorMachine",
    "Forgetron",
    "FourierSVM",
    "GaussianNovelty",
    "IncrementalDecrementalSVM",
    "IncrementalSVM",
    "KernelLearner",
    "KernelMethod",
    "KernelNovelty",
    "KernelPerceptron",
    "KernelStreamSVM",
    "OneVsOne",
    "OneVsRest",
    "PassiveAggressive",
    "Pegasos",
    "Perceptron",
    "RandSVM",
    "ReservoirSVM",
    "SimpleSVM",
    "StreamSVM",
    "TwinDictionarySVM",
    "TwinVectorMachine",
    "WindowedSVM",
    "alarm_rate_of",
]

registry.MODULE_OF.update(MODULE_OF)
_import = on_first_use(__name__, MODULE_OF)


def __getattr__(name: str) -> Any:
    if name == "LEARNERS":
        return registry.LEARNERS  # with all of them
    return _import(name)
