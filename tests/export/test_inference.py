"""A model exported for inference: the host's decisions, to the bit unless it is folded into one
vector."""

import ctypes
import re
import shutil

import numpy as np
import pytest
from each import each
from exported import SETTINGS
from on_host import Compiled, at, built
from registry import BY_NAME, REGISTERED

from edgesvm import (
    LASVM,
    AdaGradSVR,
    BatchSVM,
    Calibrated,
    Chain,
    FourierSVR,
    Standardized,
    StreamSVM,
    WindowFeatures,
)
from edgesvm.cli import main
from edgesvm.core.status import Status
from edgesvm.export.folder import decides_only, export
from rig.boards import hard_samples

pytestmark = [
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path"),
    pytest.mark.filterwarnings("ignore:.*ended before it converged"),
]

# Several learners in one, and a solver's within one of several classes.
REFUSED = re.compile(
    r"nonzeros|CoreVectorMachine-normalised|BatchSVR|DecrementalSVR"
    r"|One.*(BatchSVM|RandSVM|CoreVector|Retrained)"
)
LEARNS = {"ByteSVM", "StreamSVM", "FourierSVM", "FourierSVR", "AdaGradSVR"}
LEARNS |= {"GaussianNovelty", "KernelNovelty", "Standardized", "Calibrated"}


def differs(model, folder, X, cc="gcc -O0"):
    """What differs between the two over rows, in words; empty if nothing does."""
    library, core, n = built(model, folder, cc), model.core, len(X)
    if model.regresses:
        return differs_in_numbers(model, library, X, folder)
    there = np.zeros((n, max(core.n_columns, 1)))
    decided, indices = np.zeros(n, np.int32), np.zeros(n, np.int32)
    library.decide(at(X), ctypes.c_long(n), at(there), at(decided), at(indices))
    here, good = np.zeros_like(there), np.zeros(n, bool)
    for i in range(n):
        out, _, status = core.decide_many(X[i : i + 1])
        here[i], good[i] = out.reshape(1, -1), status <= Status.CHANGED
    folded = "but for rounding" in (folder / "mod.h").read_text()
    if folded:
        small = good & (np.abs(X) < 1e4).all(axis=1)
        same = np.sign(here[small]) == np.sign(there[small])
        near = np.abs(here[small]) < 1e-3 * np.abs(here[small]).max()
        return "" if (same | near).all() else "signs differ"
    if not np.array_equal(decided == 0, good):
        return f"{np.sum((decided == 0) != good)} statuses differ"
    if here[good].tobytes() != there[good].tobytes():
        return f"{np.sum((here[good] != there[good]).any(axis=1))} of {good.sum()} decisions differ"
    if not np.array_equal(model.classes_[indices[good]], model.predict(X[good])):
        return "predictions differ"
    return ""


def differs_in_numbers(model, library, X, folder):
    """The same of a regressor: the prediction, and its interval."""
    n = len(X)
    there, here, decided = np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(n, np.int32)
    library.decide(at(X), ctypes.c_long(n), at(there), at(decided))
    good = np.zeros(n, bool)
    for i in range(n):
        out, _, status = model.core.decide_many(X[i : i + 1])
        good[i] = status <= Status.CHANGED
        if good[i]:
            here[i] = out[0], *model.predict_interval_one(X[i])
    if "but for rounding" in (folder / "mod.h").read_text():
        small = good & (np.nan_to_num(np.abs(X)) < 1e4).all(axis=1)
        same = np.allclose(here[small], there[small], rtol=1e-4, atol=1e-4 * np.abs(here).max())
        return "" if same and small.any() and not decided[small].any() else "predictions differ"
    if not np.array_equal(decided == 0, good):
        return f"{np.sum((decided == 0) != good)} statuses differ"
    return "" if here[good].tobytes() == there[good].tobytes() else "predictions differ"


def learned(model, n_features, labels, dtype):
    """The model after some samples, and hard rows."""
    if labels is None:
        X, y, _ = hard_samples(150, n_features, dtype, 1, None)
        fine = np.isfinite(y) & (np.abs(y) < 1e6)
    else:
        X, slots, _ = hard_samples(150, n_features, dtype, 1, range(len(labels)))
        fine = np.ones(len(X), bool)
        y = np.array(labels)[slots] if model.takes_labels else None
    fine &= np.isfinite(X).all(axis=1) & (np.abs(X) < 1e6).all(axis=1)
    model.fit(X[fine], None if y is None else y[fine])
    return model, hard_samples(400, n_features, dtype, 2)[0]


def first_of_each():
    seen = set()
    for entry in REGISTERED:
        if entry.family not in seen:
            seen.add(entry.family)
            yield entry


PARTS = 4  # each of them well below a test's time limit


@pytest.mark.parametrize("part", range(PARTS))
def test_decides_as_the_host(part, tmp_path):
    for number, entry in enumerate(list(first_of_each())[part::PARTS]):
        folder = tmp_path / entry.name
        check(entry, entry.dtypes[number % len(entry.dtypes)], folder, "gcc -O0")


@each("name, dtype", [("gaussian novelty", "float64"), ("kernel novelty, exact", "float32")])
def test_a_novelty_learner_decides_as_the_host(name, dtype, tmp_path):
    make, n_features, _ = SETTINGS[name]
    model, X = learned(make(dtype), n_features, (-1, 1), dtype)
    assert differs(model, tmp_path, X) == ""


@each(
    "make, dtype",
    [
        (lambda dtype: Standardized(learner=AdaGradSVR(dtype=dtype)), "float64"),
        (
            lambda dtype: Standardized(learner=AdaGradSVR(dtype=dtype), clip=0.8, missing="mean"),
            "float32",
        ),
        (
            lambda dtype: Standardized(
                learner=FourierSVR(n_directions=70, dtype=dtype), missing="mean"
            ),
            "float32",
        ),
        (lambda dtype: FourierSVR(directions="orthogonal", dtype=dtype), "float64"),
    ],
)
def test_a_regressor_decides_as_the_host(make, dtype, tmp_path):
    model, X = learned(make(dtype), 5, None, dtype)
    assert differs(model, tmp_path, X) == ""


def test_a_kernel_machine_stands_missing_values_as_the_host(tmp_path):
    model = Standardized(learner=LASVM(max_vectors=30), missing="mean")
    model, X = learned(model, 5, (0, 1), "float32")
    X[::3, 1] = np.nan
    assert differs(model, tmp_path, X) == ""


BATCH = BatchSVM(max_samples=200, dtype="float64")


@each(
    "model",
    [
        Standardized(learner=StreamSVM(), clip=0.8),
        Standardized(learner=BATCH, clip=0.8),
        Standardized(learner=BATCH, clip=None),
    ],
)
def test_values_are_limited_as_on_the_host(model, tmp_path):
    model, X = learned(model, 5, (9, 4), model.dtype)
    assert differs(model, tmp_path, X) == ""


def test_probabilities_are_the_hosts(tmp_path):
    model = Calibrated(learner=Standardized(learner=StreamSVM()), cost={4: 5.0})
    model, X = learned(model, 5, (9, 4), "float32")
    library = built(model, tmp_path / "flash")
    here, there = np.zeros(2), np.zeros(2)
    fine = X[(np.abs(X) < 1e6).all(axis=1)]
    for x in fine[:50]:
        model.predict_proba_one(x, out=here)
        assert library.mod_probabilities(at(x.copy()), at(there)) == 0
        assert here.tobytes() == there.tobytes()
    compiled = Compiled(model, tmp_path / "learning")
    assert (
        compiled.library.mod_probabilities(at(compiled.memory), at(fine[0].copy()), at(there)) == 7
    )


def test_what_is_no_decision_says_so(tmp_path, capsys):
    windows = WindowFeatures(rate=100, window=8, hop=8, features="std")
    chain = Chain(windows=windows, learner=StreamSVM()).allocate(1, [0, 1])
    for name, model in (("c", chain), ("s", StreamSVM().allocate(2, classes=[0, 1]))):
        model.save(tmp_path / name)
        args = ["export", str(tmp_path / name), "--c", str(tmp_path / "c"), "--inference"]
        assert main(args) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_where_float32_hides_too_much_kernel_values_are_float64(tmp_path):
    check(BY_NAME["IncrementalSVM"], "float32", tmp_path, "gcc -O0")
    assert "#define ESVM_WIDE 1" in (tmp_path / "mod.c").read_text()


@pytest.mark.long
@pytest.mark.parametrize(
    "entry, dtype",
    [(entry, dtype) for entry in REGISTERED for dtype in entry.dtypes],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_setting_decides_as_the_host(entry, dtype, tmp_path):
    check(entry, dtype, tmp_path, "gcc -O2 -march=native")


def test_which_learn_on_a_board():
    for entry in REGISTERED:
        kinds = {kind.__name__ for kind in entry.family if kind is not None}
        model = entry.make(entry.dtypes[0]).allocate(entry.n_features)
        assert decides_only(model) == (not kinds <= LEARNS), entry.name


def check(entry, dtype, folder, cc):
    """Of a registered learner; some say that they cannot."""
    model = entry.make(dtype)
    model, X = learned(model, entry.n_features, entry.labels, dtype)
    if REFUSED.search(entry.name):
        with pytest.raises(ValueError, match="cannot be exported to C to decide: use") as refused:
            export(model, folder, "mod", inference=True)
        assert "\n" not in str(refused.value)
    else:
        assert differs(model, folder, X, cc) == ""
