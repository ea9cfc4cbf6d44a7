"""The learners, and the one list of them that snapshots, the command line and the tests read."""

from edgesvm.learner import Learner
from edgesvm.learners.batch.batch_svm import BatchSVM
from edgesvm.learners.batch.reservoir_svm import ReservoirSVM
from edgesvm.learners.enclosing.ball_vector_machine import BallVectorMachine
from edgesvm.learners.enclosing.core_vector_machine import CoreVectorMachine
from edgesvm.learners.incremental.incremental_svm import IncrementalSVM
from edgesvm.learners.incremental.windowed_svm import WindowedSVM
from edgesvm.learners.multiclass import OneVsOne, OneVsRest
from edgesvm.learners.randomized.rand_svm import RandSVM
from edgesvm.learners.stream.kernel_stream_svm import KernelStreamSVM
from edgesvm.learners.stream.stream_svm import StreamSVM
from edgesvm.learners.twin.incremental_decremental_svm import IncrementalDecrementalSVM
from edgesvm.learners.twin.twin_vector_machine import TwinVectorMachine
from edgesvm.preprocessing.standardized import Standardized

LEARNERS: dict[str, type[Learner]] = {
    kind.__name__: kind
    for kind in (
        StreamSVM,
        KernelStreamSVM,
        BatchSVM,
        ReservoirSVM,
        IncrementalSVM,
        WindowedSVM,
        RandSVM,
        CoreVectorMachine,
        BallVectorMachine,
        TwinVectorMachine,
        IncrementalDecrementalSVM,
        Standardized,
        OneVsOne,
        OneVsRest,
    )
}

__all__ = [
    "LEARNERS",
    "BallVectorMachine",
    "BatchSVM",
    "CoreVectorMachine",
    "IncrementalDecrementalSVM",
    "IncrementalSVM",
    "KernelStreamSVM",
    "OneVsOne",
    "OneVsRest",
    "RandSVM",
    "ReservoirSVM",
    "Standardized",
    "StreamSVM",
    "TwinVectorMachine",
    "WindowedSVM",
]
