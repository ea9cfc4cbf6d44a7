"""What edgesvm has, one entry each. The public names and their modules, the names of ``--learner``
and its help, and lists in documents and tests follow from this table.

A new learner is one more `Entry`. The table is read at each start, so it imports nothing of
edgesvm.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

FAMILIES = {
    "plane": "decides by a plane in the features",
    "kernel": "decides by kernels or random features",
    "multiclass": "one two-class learner for each class or pair of classes",
    "regressor": "predicts a number",
    "scaler": "standardizes the features in front of a learner",
    "threshold": "turns scores into probabilities",
    "novelty": "learns what is normal, without labels",
    "drift": "detects a change in a stream of errors",
    "windows": "takes raw samples",
    "series": "predicts one channel from the others",
    "base": "base class, for who writes a learner",
}


class Entry(NamedTuple):
    """A public class, or function, that is imported when it is first used.

    Parameters
    ----------
    name : str
    module : str
        Below `edgesvm`.
    family : str
        One of `FAMILIES`.
    command : str
        Its name on the command line; empty if it has none.
    help : str
        What it is for, in one line for the command line; empty: it is for comparisons.
    measured : str
        How accurate those to begin with were, and in which table of ``benchmarks/results``.
    takes : str
        Which of the parameters ``kernel``, ``n_classes`` and ``class_weight`` it has.
    weights : {"steps", "repeats", ""}
        What a sample of weight 2 is: one step of twice the cost, or two samples (to the tolerance
        of a solution). Empty: there are no weights.
    """

    name: str
    module: str
    family: str
    command: str = ""
    help: str = ""
    measured: str = ""
    takes: str = ""
    weights: str = ""


# fmt: off
CATALOGUE = (
    Entry("ByteSVM", "learners.byte.byte_svm", "kernel",
          "byte", "the default: curved boundaries, any number of classes as they come",
          "91.0 % right, 19 data sets in 16 KiB (rivals_table); ijcnn1 96.9 (rivals_marks)",
          takes="n_classes class_weight", weights="steps"),
    Entry("StreamSVM", "learners.stream.stream", "plane",
          "stream", "classes that a plane nearly separates; the fewest bytes, the least time",
          "91.47 % right of IJCNN, 85.60 of Waveform (stream_table)",
          takes="class_weight", weights="steps"),
    Entry("AdaGradSVM", "learners.fourier.fourier", "plane",
          "adagrad", "linear, gradient steps that scale themselves",
          takes="n_classes class_weight", weights="steps"),
    Entry("FourierSVM", "learners.fourier.fourier", "kernel",
          "fourier", "models of several gateways that are to be merged",
          "87.9 % right, 17 data sets in 16 KiB (rivals_table)",
          takes="n_classes class_weight", weights="steps"),
    Entry("KernelStreamSVM", "learners.stream.stream", "kernel",
          "kernel-stream", "the ball with a kernel", takes="kernel class_weight", weights="steps"),
    Entry("BatchSVM", "learners.batch.batch", "kernel",
          "batch", "solves the last samples again", takes="kernel", weights="repeats"),
    Entry("ReservoirSVM", "learners.batch.batch", "kernel",
          "reservoir", "solves a random sample of the stream", takes="kernel", weights="repeats"),
    Entry("IncrementalSVM", "learners.papers.incremental.incremental", "kernel",
          "incremental", "trains a batch at a time", takes="kernel", weights="repeats"),
    Entry("WindowedSVM", "learners.papers.incremental.incremental", "kernel",
          "windowed", "trains on the last batches only", takes="kernel", weights="repeats"),
    Entry("CoreVectorMachine", "learners.papers.enclosing.enclosing", "kernel",
          "core-vector", "smallest enclosing ball", takes="kernel", weights="repeats"),
    Entry("BallVectorMachine", "learners.papers.enclosing.enclosing", "kernel",
          "ball-vector", "ball of fixed radius, no solver", takes="kernel", weights="repeats"),
    Entry("OneClassCoreVectorMachine", "learners.papers.enclosing.enclosing", "novelty",
          takes="kernel"),
    Entry("OneClassBallVectorMachine", "learners.papers.enclosing.enclosing", "novelty",
          takes="kernel"),
    Entry("TwinVectorMachine", "learners.twin.twins", "kernel",
          "twin", "a kernel SVM at its exact optimum after every sample; two classes",
          "96.91 % right of IJCNN, 88.36 of Waveform, with 100 vectors (twin_table)",
          takes="kernel", weights="repeats"),
    Entry("SharedTwinSVM", "learners.twin.twins", "kernel",
          "shared-twin", "one dictionary of vectors for all classes",
          takes="kernel n_classes", weights="repeats"),
    Entry("IncrementalDecrementalSVM", "learners.twin.exact", "kernel",
          "incremental-decremental", "exact SVM of the last samples",
          takes="kernel", weights="repeats"),
    Entry("SimpleSVM", "learners.twin.exact", "kernel",
          "simple", "exact SVM of the samples that violated", takes="kernel", weights="repeats"),
    Entry("LASVM", "learners.papers.online.online", "kernel",
          "lasvm", "two steps of SMO per sample", takes="kernel class_weight", weights="steps"),
    Entry("Forgetron", "learners.papers.online.online", "kernel",
          "forgetron", takes="kernel", weights="steps"),
    Entry("KernelPerceptron", "learners.papers.online.online", "kernel",
          "kernel-perceptron", takes="kernel", weights="steps"),
    Entry("Perceptron", "learners.papers.online.online", "plane",
          "perceptron", takes="class_weight", weights="steps"),
    Entry("PassiveAggressive", "learners.papers.online.online", "plane",
          "passive-aggressive", takes="class_weight", weights="steps"),
    Entry("Pegasos", "learners.papers.online.online", "plane",
          "pegasos", takes="class_weight", weights="steps"),
    Entry("RandSVM", "learners.papers.randomized.rand_svm", "kernel", weights="repeats"),
    Entry("OneVsOne", "learners.multiclass", "multiclass",
          "one-vs-one", "one learner per pair of classes, K (K - 1) / 2 of them, and a vote",
          takes="n_classes", weights="steps"),
    Entry("OneVsRest", "learners.multiclass", "multiclass",
          "one-vs-rest", "one learner per class", takes="n_classes", weights="steps"),
    Entry("FourierSVR", "learners.fourier.regression", "regressor",
          "fourier", "kernel regression on random features, with an interval", weights="steps"),
    Entry("FourierRLS", "learners.fourier.regression", "regressor",
          "rls", "recursive least squares on a few random features: fits the whole stream at once",
          weights="steps"),
    Entry("AdaGradSVR", "learners.fourier.regression", "regressor",
          "adagrad", "linear, gradient steps that scale themselves", weights="steps"),
    Entry("IncrementalDecrementalSVR", "learners.twin.exact", "regressor",
          "incremental-decremental", "exact SVR of the last samples",
          takes="kernel", weights="repeats"),
    Entry("BatchSVR", "learners.batch.batch", "regressor",
          "batch", "solves the last samples again", takes="kernel", weights="repeats"),
    Entry("Standardized", "preprocessing.standardized", "scaler", weights="steps"),
    Entry("Calibrated", "learners.calibrated", "threshold", weights="steps"),
    Entry("KernelNovelty", "learners.novelty.novelty", "novelty",
          "kernel", "distances to stored samples"),
    Entry("GaussianNovelty", "learners.novelty.novelty", "novelty",
          "gaussian", "mean and covariance, for the smallest boards"),
    Entry("alarm_rate_of", "learners.novelty.novelty", "novelty"),
    Entry("PageHinkley", "learners.drift", "drift", "page-hinkley",
          "sums what is above their mean"),
    Entry("WindowFeatures", "preprocessing.window_features", "windows"),
    Entry("ClockFeatures", "preprocessing.clock_features", "windows"),
    Entry("Chain", "preprocessing.chain", "windows"),
    Entry("VirtualSensor", "preprocessing.virtual_sensor", "series"),
    Entry("KernelLearner", "learners.kernel_learner", "base"),
    Entry("KernelMethod", "learners.kernel_learner", "base"),
)
# fmt: on

MODULE_OF = {entry.name: f"edgesvm.{entry.module}" for entry in CATALOGUE}
LEARNERS = ("plane", "kernel")  # the families of ``--learner``


def public_names() -> list[str]:
    return sorted(entry.name for entry in CATALOGUE if entry.family != "base")


def names_in(package: str) -> dict[str, str]:
    """Modules by the names that are in this package below `edgesvm`."""
    below = [entry for entry in CATALOGUE if entry.module.startswith(f"{package}.")]
    return {entry.name: MODULE_OF[entry.name] for entry in below}


def names_of(package: str, modules: Mapping[str, str]) -> dict[str, str]:
    """Modules by the names in them, of a package's modules, or others by their whole names."""
    return {
        name: module if module.startswith("edgesvm.") else f"{package}.{module}"
        for module, names in modules.items()
        for name in names.split()
    }


def commands(*families: str) -> dict[str, str]:
    """Class by its name on the command line, of these families."""
    return {e.command: e.name for e in CATALOGUE if e.family in families and e.command}


def on_first_use(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """``__getattr__`` of a package whose names are imported on first use: each module costs a small
    board time and memory.

    Parameters
    ----------
    package : str
        Its name.
    modules : mapping of str to str
        The module that has each name; for a name that is itself a module, that module.
    """

    def of(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        value = module if modules[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return of
