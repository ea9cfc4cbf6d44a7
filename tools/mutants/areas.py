"""The areas: a file belongs to the first that names it, by its path or a folder above it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Area:
    """A part of the sources, and the tests that must find a mistake in it."""

    name: str
    files: tuple[str, ...]
    tests: tuple[str, ...]

    def has(self, file: str) -> bool:
        return any(file == name or file.startswith(f"{name}/") for name in self.files)


def area(name: str, files: str, tests: str) -> Area:
    """The files lie in edgesvm/ unless they say otherwise, the tests in tests/."""
    elsewhere = ("firmware_sim", "tests/")
    paths = [f if f.startswith(elsewhere) else f"edgesvm/{f}" for f in files.split()]
    return Area(name, tuple(paths), tuple(f"tests/{test}" for test in tests.split()))


def learner(name: str, folder: str, tests: str = "") -> Area:
    own = tests or f"learners/{folder}"
    return area(name, f"learners/{folder}", f"{own} conformance/test_twin.py")


AREAS = [
    area("core", "core budget.py", "core test_budget.py learners/test_blocks_of_kernel_values.py"),
    area(
        "contract",
        "contract learner.py bases.py kernels.py errors.py",
        "contract test_bases.py conformance/test_refusals.py conformance/test_labels.py "
        "conformance/test_inputs.py conformance/test_memory.py conformance/test_threads.py "
        "conformance/test_jobs.py conformance/test_sparse.py",
    ),
    learner(
        "stream",
        "stream",
        "learners/test_kernel_stream_svm.py learners/test_extremes.py "
        + " ".join(
            f"learners/test_stream_svm_{part}.py"
            for part in ("average", "blocks", "formulas", "geometry", "merge", "samples")
        ),
    ),
    learner("twin", "twin"),
    learner("batch", "batch"),
    learner("incremental", "papers/incremental"),
    learner("randomized", "papers/randomized"),
    learner("enclosing", "papers/enclosing"),
    learner("online", "papers/online"),
    learner("gradient", "gradient"),
    learner("auto", "auto"),
    learner("fourier", "fourier"),
    learner("novelty", "novelty"),
    area("multiclass", "learners", "learners/test_multiclass.py conformance/test_twin.py"),
    area(
        "preprocessing",
        "preprocessing",
        "preprocessing conformance/test_twin.py conformance/test_raw.py "
        "conformance/test_snapshots.py",
    ),
    area("calibration", "calibration", "calibration conformance/test_twin.py"),
    area("drift", "drift", "drift"),
    area("data", "data", "data"),
    area("link", "link", "link fuzz"),
    area("persist", "persist", "persist conformance/test_snapshots.py"),
    area(
        "runner",
        "runner.py prequential window_runner.py evaluation.py journal.py",
        "test_runner.py test_evaluation.py test_main_job.py test_window_runner.py test_journal.py",
    ),
    area("watch", "watcher.py alarms.py", "test_watcher.py cli/test_watch.py"),
    area("outputs", "outputs", "outputs"),
    area("page", "page", "page cli/test_http_options.py test_outputs_page.py"),
    area(
        "cli",
        "cli __init__.py __main__.py lazy.py",
        "cli test_run_on_a_pty.py test_lazy.py",
    ),
    area("compat", "compat", "compat"),
    area("fleet", "fleet", "fleet core/test_exact_sum.py"),
    area("export", "export on_device.py", "export test_on_device.py"),
    area("firmware_sim", "firmware_sim", "firmware_sim link/test_link.py"),
    area("rig", "tests/rig", "rig"),
]


def area_of(file: str) -> Area:
    for each in AREAS:
        if each.has(file):
            return each
    raise LookupError(f"no area of tools/mutants/areas.py has {file}")
