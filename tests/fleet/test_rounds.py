"""A fleet's recipe: statistics merged, a start of them, learners that go on from it, in rounds."""

import copy

import numpy as np
import pytest

from edgesvm import RBF, RobustStandardized, Standardized, StreamSVM, TwinVectorMachine, load
from edgesvm.cli import main
from edgesvm.data.rows import Rows
from edgesvm.fleet import MergeError, merged, start
from edgesvm.fleet.federated import statistics_of
from edgesvm.fleet.rounds import joined, own_part
from edgesvm.fleet.scales import Statistics
from edgesvm.learners import AdaGradSVM, ByteSVM, FourierSVM

rng = np.random.default_rng(3)
SPREAD = np.array([1.0, 50.0, 0.01])
X = (3 + rng.standard_normal((600, 3)) * SPREAD).astype(np.float32)
Z = (X - 3) / SPREAD
y = np.where(Z[:, 0] + 0.5 * Z[:, 1] * Z[:, 2] > 0.1, "on", "off")
PARTS = [slice(k * k, None, 3) for k in range(3)]  # of different lengths
FOURIER = FourierSVM(n_directions=20, dtype="float64")


def scaled(inner):
    return Standardized(learner=inner, clip=None)


def started(inner):
    return start(
        [scaled(inner).partial_fit(X[at], y[at]) for at in (slice(None, 250), slice(250, None))]
    )


def continued(model, rows):
    return copy.deepcopy(model).partial_fit(X[rows], y[rows])


def test_a_start_has_the_statistics_of_all_and_has_learned_nothing():
    for inner in (FOURIER, StreamSVM(), TwinVectorMachine(max_twins=20, kernel=RBF(0.5))):
        model = started(inner)
        np.testing.assert_allclose(model.mean_, X.mean(axis=0, dtype=float), rtol=1e-12)
        np.testing.assert_allclose(model.scale_, X.std(axis=0, dtype=float), rtol=1e-9)
        assert (model.n_seen_, model.until, model.n_scaled_) == (0, 600, 600)
        assert not model.is_fitted and sorted(model.classes_) == ["off", "on"]
        mean = model.mean_
        assert (model.partial_fit(X[:100], y[:100]).mean_ == mean).all()


def test_what_learned_from_one_start_is_merged_as_it_is_without_a_scaler():
    for inner in (
        FOURIER,
        StreamSVM(dtype="float64"),
        AdaGradSVM(dtype="float64"),
        TwinVectorMachine(max_twins=200, kernel=RBF(0.5), dtype="float64"),
    ):
        model = started(inner)
        parts = [continued(model, at) for at in PARTS]
        rows = (X - model.mean_) / model.scale_
        bare = [inner.like_new().partial_fit(rows[at], y[at]) for at in PARTS]
        got, expected = merged(parts), merged(bare)
        assert got.n_seen_ == expected.n_seen_ and got.n_scaled_ == 600
        np.testing.assert_allclose(
            got.decision_function(X.astype(float)),
            expected.decision_function(rows),
            rtol=1e-6,
            atol=1e-8,
            err_msg=repr(inner),
        )
        got.partial_fit(X[:50], y[:50])


def test_what_the_start_had_learned_counts_once():
    for inner in (FOURIER, StreamSVM(dtype="float64"), AdaGradSVM(n_classes=3, dtype="float64")):
        begun = continued(started(inner), slice(0, 200))
        parts = [continued(begun, at) for at in PARTS]
        one = merged(parts, since=begun)
        own = sum(part.n_seen_ - 200 for part in parts)
        assert one.n_seen_ == 200 + own
        counts = [int((y[:200] == label).sum()) for label in ("off", "on")]
        counts = np.array(counts) + [sum((y[at] == v).sum() for at in PARTS) for v in ("off", "on")]
        labels = one.core.labels.in_slots
        per_class = one.core.views["n_per_class"][:2]
        assert dict(zip(labels, per_class, strict=True)) == dict(
            zip(("off", "on"), counts, strict=True)
        )


def test_one_learner_in_rounds_is_that_learner():
    """Merged with nobody, what was taken off for the round is put back."""
    for inner in (FOURIER, StreamSVM(dtype="float64"), AdaGradSVM(dtype="float64")):
        begun = continued(started(inner), slice(0, 200))
        alone = continued(begun, slice(200, 500))
        silent = copy.deepcopy(begun)
        one = merged([alone, silent], since=begun)
        expected = dict(alone.core.views)
        if "average" in expected:
            expected["average"] = alone.core.inner.mean_of_w()
            expected["n_averaged"] = 500
        for name, values in one.core.views.items():
            if name in {"w_mean", "average"}:
                continue  # of other amplitudes, see below
            np.testing.assert_allclose(values, expected[name], rtol=1e-9, err_msg=name)
        if inner is not FOURIER:
            name = "average" if "average" in expected else "w_mean"
            values = one.core.views[name]
            np.testing.assert_allclose(values, expected[name], rtol=1e-9, atol=1e-12)


def test_the_mean_of_the_weights_is_that_of_all_steps():
    """Against the definition: step t of all those of the start and of the round weighs t."""
    begun, rounds = started(AdaGradSVM(dtype="float64")), []
    for _ in range(2):
        steps, parts = [], []
        s = int(begun.core.views["n_per_class"].sum())
        for at in PARTS:
            part, own = copy.deepcopy(begun), []
            for x, label in zip(X[at], y[at], strict=True):
                part.learn_one(x, label)
                own.append(part.core.views["w"].copy())
            t = np.arange(s + 1, s + len(own) + 1)
            steps.append((len(own), np.average(own, axis=0, weights=t)))
            parts.append(part)
        old = begun.core.views["w_mean"].copy()
        begun = merged(parts, since=begun)
        round_mean = np.average([u for _, u in steps], axis=0, weights=[m for m, _ in steps])
        n = s + sum(m for m, _ in steps)
        a = s * (s + 1) / (n * (n + 1))
        rounds.append(a * old + (1 - a) * round_mean)
        np.testing.assert_allclose(begun.core.views["w_mean"], rounds[-1], rtol=1e-9)


def test_squared_gradients_are_averaged_by_samples():
    begun = continued(started(AdaGradSVM(dtype="float64")), slice(0, 100))
    parts = [continued(begun, at) for at in PARTS]
    G = begun.core.views["G"]
    more = [part.core.views["G"] - G for part in parts]
    weights = [part.n_seen_ - 100 for part in parts]
    got = merged(parts, since=begun).core.views["G"]
    np.testing.assert_allclose(got, G + np.average(more, axis=0, weights=weights), rtol=1e-12)


def test_rounds_come_near_one_learner():
    model = started(FourierSVM())
    scores = []
    for _ in range(5):
        model = merged([continued(model, at) for at in PARTS], since=model)
        scores.append(model.score(X, y))
    assert scores[-1] > 0.9 and scores[-1] > scores[0]


def test_what_cannot_be_is_named():
    model = started(FOURIER)
    parts = [continued(model, at) for at in PARTS]
    other = continued(start([scaled(FOURIER).partial_fit(X[:600:2], y[:600:2])] * 2), PARTS[0])
    moving = Standardized(learner=FOURIER, until=600).partial_fit(X[:300], y[:300])
    twin = started(TwinVectorMachine(max_twins=20, kernel=RBF(0.5)))
    on, off = (AdaGradSVM().partial_fit(Z[y == name], y[y == name]) for name in ("on", "off"))
    longer = copy.deepcopy(off).partial_fit(Z, y)
    for learners, since, message in (
        ([parts[0], other], None, "learner 1: FourierSVM .* other statistics than those of l"),
        ([moving, moving], None, "learner 0: FourierSVM .*statistics of its own, which still chan"),
        ([other, parts[0]], model, "learner 0: .*than those of the start"),
        ([model], model, "none of them has learned anything"),
        ([parts[0]], parts[1], "learner 0: it did not start as this model: it has seen"),
        ([longer], on, r"learner 0: .* its labels are \['off', 'on'\], and not \['on'\] first"),
        ([continued(twin, PARTS[0])], twin, "TwinVectorMachine cannot be merged by what it lear"),
    ):
        with pytest.raises(MergeError, match=message):
            merged(learners, since=since)
    for learner, message in (
        (AdaGradSVM().partial_fit(Z, y), "south: AdaGradSVM has no statistics"),
        (RobustStandardized().partial_fit(X, y), "south: RobustStandardized has no statistics"),
        (scaled(FOURIER), "south: it has learned nothing"),
        (
            scaled(StreamSVM()).partial_fit(X, y),
            "south: it has other parameters than .*: StreamSVM",
        ),
    ):
        with pytest.raises(MergeError, match=message):
            start([scaled(FOURIER).partial_fit(X, y), learner], ["north", "south"])


def test_statistics_of_a_partition_are_those_of_a_learner():
    weight = (np.arange(600) % 3 > 0).astype(float)
    one = scaled(AdaGradSVM(dtype="float64")).partial_fit(X, y, sample_weight=weight)
    found = statistics_of(_Weighted(), "AdaGradSVM", "float64")
    mine = Statistics.of(one)
    assert found.n == mine.n == 400
    np.testing.assert_allclose(found.mean, mine.mean, rtol=1e-12)
    np.testing.assert_allclose(found.spread, mine.spread, rtol=1e-9)


class _Weighted:
    """A partition of rows with weights."""

    n_features = 3

    def source(self, owner):
        return self

    def chunks(self, rows, dtype):
        weight = (np.arange(600) % 3 > 0).astype(float)
        for at in (slice(0, 1), slice(1, 250), slice(250, 600)):
            yield Rows(X[at].astype(dtype), y[at], weight[at])


def test_parts_of_a_round_are_learners():
    begun = continued(started(FOURIER), slice(0, 100))
    part = own_part(begun, continued(begun, PARTS[1]))
    assert part.n_seen_ == len(X[PARTS[1]])
    assert joined(begun, part).n_seen_ == 100 + part.n_seen_


def test_the_recipe_on_the_command_line(tmp_path, capsys):
    def path(name):
        return str(tmp_path / f"{name}.esvm")

    days = []
    for day in range(3):
        days.append([path(f"{day}-{k}") for k in range(3)])
    for name, at in zip(days[0], PARTS, strict=True):
        ByteSVM().partial_fit(X[at], y[at]).save(name)
    assert main(["merge", *days[0], "-o", path("fleet")]) == 2
    assert "edgesvm merge --start" in capsys.readouterr().err
    assert main(["merge", "--start", *days[0], "-o", path("start")]) == 0
    assert "has learned nothing yet" in capsys.readouterr().out
    for name, at in zip(days[1], PARTS, strict=True):
        load(path("start")).partial_fit(X[at], y[at]).save(name)
    assert main(["merge", *days[1], "-o", path("fleet")]) == 0
    capsys.readouterr()
    for name, at in zip(days[2], PARTS, strict=True):
        load(path("fleet")).partial_fit(X[at], y[at]).save(name)
    assert main(["merge", "--since", path("fleet"), *days[2], "-o", path("new")]) == 0
    n = sum(len(X[at]) for at in PARTS)
    told = capsys.readouterr().out
    assert f"3 models of {n:,} samples merged" in told
    assert f"with the {n:,} samples of {path('fleet')}: {2 * n:,}" in told
    assert load(path("new")).n_seen_ == 2 * n
    assert load(path("new")).score(X, y) > 0.8
    assert main(["merge", *days[1], "-o", path("small"), "--budget", "100"]) in {1, 2}
    assert "--budget 100: the merged model needs" in capsys.readouterr().err
