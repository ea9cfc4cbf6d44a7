"""Every registered learner is exported, and learns as the host, or says in a line why not."""

import re
import shutil

import numpy as np
import pytest
from on_host import Compiled, differences
from registry import REGISTERED

from edgesvm.cli import main
from rig.boards import hard_samples

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

# Learners that solve for many samples at once, and several in one.
REFUSED = re.compile("BatchSV|Reservoir|RandSVM|IncrementalSVM|Windowed|CoreVector|DecrementalSVR")


# What test_parity.py does not compile: the wrapped ones in other combinations.
FIRSTS = list({entry.family: entry for entry in reversed(REGISTERED)}.values())
WRAPPED = [
    entry for entry in FIRSTS if entry.wrapper is not None or REFUSED.search(entry.kind.__name__)
]
REST = [entry for entry in REGISTERED if entry not in WRAPPED]


@pytest.mark.timeout(1800)  # beside other work
@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(WRAPPED, id="wrapped"),
        pytest.param(REST, id="others", marks=pytest.mark.long),
    ],
)
def test_learns_as_the_host_or_says_why_not(entries, tmp_path, capsys):
    for number, entry in enumerate(entries):
        check(number, entry, tmp_path / entry.name, capsys)


def check(number, entry, folder, capsys):
    folder.mkdir()
    dtype = entry.dtypes[number % len(entry.dtypes)]
    model = entry.make(dtype)
    classes = None if model.regresses else list(entry.labels)
    model = model.allocate(entry.n_features, classes=classes)
    kinds = [kind.__name__ for kind in entry.family if kind is not None]
    if "max_nonzeros" in entry.params or any(REFUSED.search(kind) for kind in kinds):
        model.save(folder / "m.esvm")
        capsys.readouterr()
        assert main(["export", str(folder / "m.esvm"), "--c", str(folder / "c")]) == 2
        said = capsys.readouterr().err
        assert re.search(r"\w+ cannot be exported to C to learn: .*; use \w+", said)
        assert said.count("\n") == 1
        return
    compiled = Compiled(model, folder / "c", "gcc -O0")
    slots_of = None if classes is None else range(len(classes))
    X, slots, weights = hard_samples(200, entry.n_features, dtype, number, slots_of)
    if not model.takes_labels:
        slots = np.ones_like(slots)
    assert differences(model, compiled, (X, slots, weights)) == ""
    assert model.n_updates_ > 0
