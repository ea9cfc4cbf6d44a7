"""Learners that learned apart become one: what is exact is compared with what it must equal."""

import copy
import pickle

import numpy as np
import pytest

from edgesvm import Standardized, StreamSVM, TwinVectorMachine
from edgesvm.cli import main
from edgesvm.fleet import MergeError, merged
from edgesvm.learners import AdaGradSVM, ByteSVM, FourierSVM

rng = np.random.default_rng(3)
SPREAD = np.array([1.0, 5.0, 0.1])
X = (3 + rng.standard_normal((600, 3)) * SPREAD).astype(np.float32)
Z = ((X - 3) / SPREAD).astype(np.float32)
y = np.where(Z[:, 0] + 0.2 * Z[:, 1] > 0.1, "on", "off")


def apart(learner, rows, n=5):
    """Learners of every n-th row; odd ones meet the labels in the other order."""
    found = []
    for k in range(n):
        X_k, y_k = rows[k::n], y[: len(rows)][k::n]
        order = np.argsort(y_k, kind="stable")
        order = order[::-1] if k % 2 else order
        found.append(learner.like_new().partial_fit(X_k[order], y_k[order]))
    return found


def test_averaged_decision_values_are_the_mean_of_theirs_by_samples():
    for learner in (
        FourierSVM(n_directions=70, dtype="float64"),
        FourierSVM(n_directions=16, weigh_widths=False, dtype="float64"),
        AdaGradSVM(dtype="float64"),
    ):
        parts = apart(learner, Z, 3)
        parts[0].partial_fit(Z[:90], y[:90])  # weighs more
        for part in parts:  # the mean answers in all
            part.core.views["error_rates"][:] = 1, 0
        rows = Z.astype(float)
        expected = np.average(
            [part.decision_function(rows) for part in parts],
            axis=0,
            weights=[part.n_seen_ for part in parts],
        )
        got = merged(parts).decision_function(rows)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=repr(learner))


def test_a_tree_in_the_order_given_and_the_parts_unchanged():
    parts = apart(StreamSVM(bound="upper", average=False), Z)
    before = [bytes(part.arena) for part in parts]
    steps = []
    got = merged(parts, progress=lambda *step: steps.append(step))
    a, b, c, d, e = (pickle.loads(pickle.dumps(p)) for p in parts)
    assert bytes(got.arena) == bytes(a.merge(b).merge(c.merge(d)).merge(e).arena)
    assert before == [bytes(part.arena) for part in parts]
    assert steps == [(k, 4) for k in (1, 2, 3, 4)]


def test_what_differs_is_named():
    fitted = AdaGradSVM().partial_fit(Z, y)
    for other, message in (
        (
            AdaGradSVM(learning_rate=0.2).partial_fit(Z, y),
            r"AdaGradSVM\(learning_rate=0.2\) instead of",
        ),
        (FourierSVM().partial_fit(Z, y), r"FourierSVM\(\) instead of AdaGradSVM"),
        (AdaGradSVM().partial_fit(Z[:, :2], y), "2 features"),
        (AdaGradSVM().partial_fit(Z, np.where(y == "on", "on", "away")), r"'away'.*room for 2"),
        (AdaGradSVM(), "learned nothing"),
    ):
        with pytest.raises(MergeError, match=f"south: .*{message}"):
            merged([fitted, other], ["north", "south"])
    for learner, message in (
        (ByteSVM(), "ByteSVM cannot be merged"),
        (Standardized(learner=FourierSVM()), "FourierSVM behind .* statistics of its own.*until=N"),
        (Standardized(learner=AdaGradSVM()), "AdaGradSVM behind .* statistics of its own"),
        (Standardized(learner=TwinVectorMachine()), "TwinVectorMachine cannot be merged"),
    ):
        with pytest.raises(MergeError, match=message):
            merged([learner.fit(Z, y)] * 2)


def test_the_command(tmp_path, capsys):
    names = [str(tmp_path / f"{k}.esvm") for k in range(3)]
    parts = apart(AdaGradSVM(), Z, 3)
    for part, name in zip(parts, names, strict=True):
        part.save(name)
    out = tmp_path / "fleet.esvm"
    assert main(["merge", *names, "-o", str(out)]) == 0
    assert "n seen         600\n" in capsys.readouterr().out
    expected = tmp_path / "expected.esvm"
    merged(parts).save(expected)
    assert out.read_bytes() == expected.read_bytes()
    assert not list(tmp_path.glob("*.lock"))

    FourierSVM().partial_fit(Z, y).save(names[1])
    out.unlink()
    assert main(["merge", *names, "-o", str(out)]) == 2
    assert "1.esvm: it has other parameters" in capsys.readouterr().err and not out.exists()


def test_what_goes_on_from_one_model_is_merged_in_its_scale():
    for inner in (
        FourierSVM(n_directions=20, dtype="float64"),
        AdaGradSVM(dtype="float64"),
        StreamSVM(dtype="float64"),
    ):
        first = Standardized(learner=inner, until=20, clip=None).partial_fit(X[:20], y[:20])
        parts = [copy.deepcopy(first).partial_fit(X[20 + k :: 3], y[20 + k :: 3]) for k in range(3)]
        got = merged(parts)
        assert got.n_scaled_ == 20 and (got.mean_ == first.mean_).all()
        assert got.n_seen_ == sum(part.n_seen_ for part in parts)
        assert got.score(X, y) > 0.85
    other = Standardized(learner=inner, until=20, clip=None).partial_fit(X[20:40], y[20:40])
    with pytest.raises(MergeError, match=r"learner 1: .* other statistics than those of lea"):
        merged([first, other])


def test_values_far_out_are_counted_once():
    spiked = X.copy()
    spiked[[50, 300]] *= 1e4
    for inner in (AdaGradSVM(), StreamSVM()):
        learner = Standardized(learner=inner, until=20)
        first = learner.like_new().partial_fit(spiked[:20], y[:20])
        parts = [
            copy.deepcopy(first).partial_fit(spiked[at], y[at])
            for at in (slice(20, 300), slice(300, None))
        ]
        assert [part.far_out_ for part in parts] == [1, 1]
        assert merged(parts).far_out_ == 2
