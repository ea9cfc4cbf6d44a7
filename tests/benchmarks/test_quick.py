"""Every study runs with --quick, without the real data, and leaves a report; most are long."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.common.report import RESULTS, rendered, stem_of  # noqa: E402
from benchmarks.run import STUDIES, index  # noqa: E402

pytest.importorskip("sklearn")
pytest.importorskip("cobs")
HELPERS = {
    "board",
    "compare",
    "contestants",
    "counter",
    "counts",
    "data",
    "entry_points",
    "fits",
    "hysteresis",
    "node",
    "quartiles",
    "results",
    "rival_fits",
    "rows",
    "series",
    "stack",
    "streams",
    "systems",
    "watched",
    "worker",
}  # what studies import


def test_every_module_is_a_study_or_a_helper():
    folder = ROOT / "benchmarks"
    modules = {
        f"{path.parent.name}/{path.stem}"
        for path in folder.glob("*/*.py")
        if path.parent.name != "common" and path.stem not in HELPERS
    }
    assert modules == set(STUDIES)


ALONE = pytest.mark.xdist_group("one at a time")  # they open pseudo-terminals
ON_PORTS = {"link/reading", "link/ports", "link/flood"}
# What `make test` starts: a few that are short, and those that compute from committed figures.
USUAL = {"stream/table", "fleet/horizon", "ledger/moved"}


def marks(study):
    return [ALONE] * (study in ON_PORTS) + [pytest.mark.long] * (study not in USUAL)


STARTED = [pytest.param(study, marks=marks(study)) for study in STUDIES]


@pytest.mark.parametrize("study", STARTED)
def test_a_quick_run_leaves_a_report(study, tmp_path):
    content, stdout = run(study, tmp_path, "--quick")
    assert content["study"] == study
    assert content["measured"]["command"].endswith(f"--quick --out {tmp_path}")
    assert all(table["rows"] for table in content["tables"])
    markdown = (tmp_path / f"{stem_of(study)}.md").read_text()
    assert markdown == rendered(content)
    assert stdout.strip() == markdown.strip()


def test_a_study_without_its_data_says_so(tmp_path):
    content, _ = run("batch/libsvm", tmp_path, "--rounds", "1")
    assert content["tables"][0]["rows"] == []
    assert "there is no banana.npz in" in content["skipped"][0]


def test_results_are_reports_of_studies_and_their_index():
    names = {path.name for path in RESULTS.iterdir()}
    assert names == {"README.md"} | {f"{stem_of(study)}.md" for study in STUDIES}
    assert (RESULTS / "README.md").read_text() == index(RESULTS)


COARSE_CLOCK = """import time
exact = time.process_time
time.process_time = lambda: exact() // 1
"""


def run(study, out, *options):
    """Report and output of a study that finds no data, on a machine whose processor clock stands
    still for a second at a time.
    """
    (out / "sitecustomize.py").write_text(COARSE_CLOCK)
    command = [sys.executable, "-m", f"benchmarks.{study.replace('/', '.')}", *options]
    environment = {**os.environ, "EDGESVM_DATA": str(out / "no data"), "PYTHONPATH": str(out)}
    done = subprocess.run(
        [*command, "--out", str(out)],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((out / f"{stem_of(study)}.json").read_text()), done.stdout
