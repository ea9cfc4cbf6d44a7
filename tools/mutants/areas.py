"""The areas: a file belongs to the first that names it, by its path or a folder above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Area:
    """A part of the sources, and the tests that must find a mistake in it."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]
    learners: tuple[str, ...] = ()  # those whose twins and snapshots are compared, too

    def has(self, file: str) -> bool:
        return any(file == name or file.startswith(f"{name}/") for name in self.files)

    def runs(self) -> list[list[str]]:
        """What pytest is given, in the order in which it is run."""
        of_learners = [f"tests/conformance/test_{name}.py" for name in ("twin", "snapshots")]
        selected = ["-k", " or ".join(self.learners), *of_learners]
        return [list(self.tests), selected] if self.learners else [list(self.tests)]


def area(name: str, files: str, tests: str, learners: str = "") -> Area:
    """The files lie in edgesvm/ unless they say otherwise, the tests in tests/."""
    elsewhere = ("firmware_sim", "tests/")
    paths = (f if f.startswith(elsewhere) else f"edgesvm/{f}" for f in files.split())
    found = (f"tests/{test}" for test in tests.split())
    return Area(name, tuple(paths), tuple(found), tuple(learners.split()))


def learner(folder: str, learners: str, tests: str = "") -> Area:
    own = tests or f"learners/{folder}"
    return area(folder.rsplit("/", maxsplit=1)[-1], f"learners/{folder}", own, learners)


STREAM = ("average", "formulas", "geometry", "merge", "samples")

AREAS = [
    area(
        "core",
        "core budget.py",
        "core test_budget.py learners/test_blocks_of_kernel_values.py "
        "preprocessing/test_standardized.py",
    ),
    area(
        "contract",
        "contract learner.py catalogue.py kernels.py errors.py",
        "contract test_lazy.py conformance/test_refusals.py conformance/test_labels.py "
        "conformance/test_inputs.py conformance/test_memory.py conformance/test_threads.py "
        "conformance/test_jobs.py conformance/test_sparse.py",
    ),
    learner(
        "stream",
        "StreamSVM",
        "learners/test_kernel_stream_svm.py learners/test_extremes.py "
        + " ".join(f"learners/test_stream_svm_{part}.py" for part in STREAM),
    ),
    learner(
        "twin",
        "TwinVectorMachine SharedTwinSVM IncrementalDecrementalSVM SimpleSVM",
    ),
    learner("byte", "ByteSVM"),
    learner("batch", "BatchSVM ReservoirSVM"),
    learner("papers/incremental", "IncrementalSVM WindowedSVM"),
    learner("papers/randomized", "RandSVM"),
    learner("papers/enclosing", "BallVectorMachine CoreVectorMachine"),
    learner("papers/online", "Perceptron PassiveAggressive Pegasos Forgetron LASVM"),
    learner("gradient", "AdaGradSVM"),
    learner("fourier", "FourierSVM"),
    learner("novelty", "Novelty"),
    learner("regression", "SVR FourierRLS"),
    area("series", "series", "series"),
    area("multiclass", "learners", "learners/test_multiclass.py", "OneVs"),
    area(
        "preprocessing",
        "preprocessing",
        "preprocessing conformance/test_raw.py",
        "Standardized WindowFeatures Chain",
    ),
    area("calibration", "calibration", "calibration", "Calibrated"),
    area("drift", "drift", "drift"),
    area("data", "data", "data"),
    area("link", "link", "link fuzz"),
    area("persist", "persist", "persist", "StreamSVM"),
    area(
        "runner",
        "runner.py prequential window_runner.py evaluation.py journal.py regression.py asking.py "
        "teaching.py",
        "test_runner.py test_evaluation.py test_main_job.py test_window_runner.py test_journal.py "
        "test_asking.py test_teaching.py"
        " test_regression.py",
    ),
    area(
        "watch",
        "watcher.py remarks.py",
        "test_watcher.py test_remarks.py cli/test_watch.py",
    ),
    area("outputs", "outputs", "outputs"),
    area("page", "page", "page cli/test_http_options.py test_outputs_page.py"),
    area("plot", "plot", "cli"),
    area("cli", "cli __init__.py __main__.py lazy.py", "cli test_run_on_a_pty.py test_lazy.py"),
    area("compat", "compat", "compat"),
    area("fleet", "fleet", "fleet core/test_exact_sum.py"),
    area("export", "export", "export"),
    area("firmware_sim", "firmware_sim", "firmware_sim link/test_link.py"),
    area("rig", "tests/rig", "rig"),
]


def area_of(file: str) -> Area:
    for each in AREAS:
        if each.has(file):
            return each
    raise LookupError(f"no area of tools/mutants/areas.py has {file}")
