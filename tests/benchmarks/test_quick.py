"""Every study runs with --quick, without the real data, and leaves a report; most are long."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

pytest.importorskip("sklearn")
pytest.importorskip("cobs")

from benchmarks.common.report import RESULTS, rendered, stem_of  # noqa: E402
from benchmarks.rivals.streams import GENERATED, ORDERS, stream  # noqa: E402
from benchmarks.run import STUDIES  # noqa: E402

USUAL = "stream/table"
STARTED = [pytest.param(s, marks=[pytest.mark.long] * (s != USUAL)) for s in STUDIES]


@pytest.mark.parametrize("study", STARTED)
def test_a_quick_run_leaves_a_report(study, tmp_path):
    command = [sys.executable, "-m", f"benchmarks.{study.replace('/', '.')}", "--quick"]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"EDGESVM_DATA": str(tmp_path / "no data")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    content = json.loads((tmp_path / f"{stem_of(study)}.json").read_text())
    assert content["study"] == study
    assert all(table["rows"] for table in content["tables"])
    markdown = (tmp_path / f"{stem_of(study)}.md").read_text()
    assert markdown == rendered(content)
    assert done.stdout.strip() == markdown.strip()


def test_every_study_has_a_page_and_no_other_page_is_there():
    pages = {path.name for path in RESULTS.iterdir()}
    assert pages == {f"{stem_of(study)}.md" for study in (*STUDIES, "ledger/boards")}


def test_orders_have_the_same_rows():
    at_random, sorted_by_class, source = (stream(GENERATED, order, 3) for order in ORDERS)
    assert (np.diff(sorted_by_class[1]) != 0).sum() == 2  # three classes, each in one piece
    for X, y, X_test, y_test in (at_random, sorted_by_class):
        for (rows, labels), (X_of, y_of) in (
            ((X, y), source[:2]),
            ((X_test, y_test), source[2:]),
        ):
            assert {(*x, c) for x, c in zip(rows, labels, strict=True)} == {
                (*x, c) for x, c in zip(X_of, y_of, strict=True)
            }
