"""PageHinkley: equal to its definition, however the stream is cut; and a learner watched by it."""

import copy
import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from allocations import hook_calls, preload_calls
from each import each

from edgesvm import CorruptModelError, Standardized, StreamSVM, load
from edgesvm.cli import main, reports
from edgesvm.cli.learner_settings import DriftSettings
from edgesvm.data import Source
from edgesvm.learners.drift import DriftWatch, PageHinkley
from edgesvm.serve.taught import predict_then_learn


def rates(*parts, seed=0):
    """Errors, 0 or 1, of parts (rate, length)."""
    rng = np.random.default_rng(seed)
    return np.concatenate([(rng.random(n) < rate).astype(float) for rate, n in parts])


STEP = rates((0.1, 2000), (0.4, 1000), (0.05, 1000), (0.3, 1000))
SMOOTH = np.clip(0.5 * STEP + 0.25 * np.sin(np.arange(5000) / 300) ** 2, 0, 1)  # any loss


@each("errors", [STEP, SMOOTH], ids=["0 or 1", "any loss"])
@each(
    "params",
    [{}, {"delta": 0.05, "threshold": 20.0}, {"min_samples": 1, "delta": 0.2, "threshold": 9.0}],
)
def test_page_hinkley_is_its_definition(errors, params):
    """m_t and its minimum, from the whole history."""
    detector, found, start = PageHinkley(**params), [], 0
    for t in range(1, len(errors) + 1):
        x = errors[start:t]
        n = np.arange(1, len(x) + 1)
        means = np.cumsum(x) / n
        s = np.sqrt(np.maximum(np.cumsum(x * x) / n - means**2, 0.01))
        m = np.concatenate([[0.0], np.cumsum(x - means - detector.delta * s)])
        is_drift = len(x) >= detector.min_samples and m[-1] - m.min() > detector.threshold * s[-1]
        assert detector.add(errors[t - 1]) == is_drift
        if is_drift:
            low = m.argmin()
            assert detector.before_ == pytest.approx(x[:low].mean())
            assert detector.now_ == pytest.approx(x[low:].mean())
            found.append(t)
            start = t
    assert len(found) == detector.n_drifts_ > 0
    assert not detector.reset()._core.views["state"].any() and detector.n_added_ == len(errors)


@each("cuts", [[], [1], [33, 34, 2100], list(range(7, 5000, 331))])
def test_cut_copied_and_continued_anywhere_it_gives_the_same_bits(cuts):
    whole = PageHinkley()
    found = whole.add_many(STEP)
    detector, parts = PageHinkley(), []
    for i, part in enumerate(np.split(STEP, cuts)):
        if i % 2:
            detector = pickle.loads(pickle.dumps(detector))
            parts.append(np.array([detector.add(error) for error in part.tolist()], bool))
        else:
            detector = copy.deepcopy(detector)
            parts.append(detector.add_many(part))
    np.testing.assert_array_equal(np.concatenate(parts), found)
    assert bytes(detector.arena) == bytes(whole.arena) and found.sum() == whole.n_drifts_


def test_more_errors_are_a_drift_and_fewer_are_not():
    now = []
    for seed in range(9):
        worse = PageHinkley()
        worse.add_many(rates((0.1, 2000), (0.4, 1000), seed=seed))
        assert worse.n_drifts_ == 1
        assert worse.before_ == pytest.approx(0.1, abs=0.05)
        now.append(worse.now_)
    assert np.mean(now) == pytest.approx(0.4, abs=0.1)
    assert not PageHinkley().add_many(rates((0.5, 300), (0.2, 3000), (0.02, 3000))).any()


@each("rate", [0.005, 0.1, 0.5])
def test_false_alarms_are_rare_at_any_rate(rate):
    found = PageHinkley().add_many(rates((rate, 300_000), seed=5))
    assert found.sum() <= 6


def test_what_is_no_error_is_refused_and_leaves_no_trace():
    detector = PageHinkley()
    detector.add_many(STEP[:100])
    before = bytes(detector.arena)
    for wrong in (np.nan, -0.001, 1.001, np.inf):
        with pytest.raises(ValueError, match=r"give a number from 0, right, to 1, wrong"):
            detector.add(wrong)
        with pytest.raises(ValueError, match="in row 2: give"):
            detector.add_many([0.0, 1.0, wrong])
    with pytest.raises(TypeError):
        detector.add("wrong")
    with pytest.raises(ValueError, match="one number a sample"):
        detector.add_many([[0.0, 1.0]])
    assert bytes(detector.arena) == before
    assert not detector.add(True) and not detector.add(np.bool_(False))
    assert detector.n_added_ == 102


def test_no_allocator_call_a_sample(alloc_preload):
    setup = """
import numpy as np
from edgesvm.learners.drift import PageHinkley
errors = [float(x) for x in np.random.default_rng(0).random(997) < 0.3]
cases = {
    "floats": (PageHinkley().add, [errors]),
    "bools": (PageHinkley().add, [[bool(x) for x in errors]]),
}
"""
    measured = hook_calls(setup, 20_000)
    assert len(measured) == 2
    assert {case: calls.excess for case, calls in measured.items() if any(calls.excess)} == {}
    beneath = preload_calls(setup, alloc_preload, 20_000, through_malloc=True)
    assert {c: calls for c, calls in beneath.items() if max(calls.excess) > calls.control} == {}


def test_bytes_that_no_stream_can_have_left_are_not_taken_up():
    for name, at, value in (
        ("n_drifts", (), 5001),
        ("before", (), 1.5),
        ("state", 1, 2.0),
        ("state", 3, np.nan),
        ("state", 2, -1.0),
        ("state", 5, 1.1),
        ("now", (), np.inf),
    ):
        detector = PageHinkley()
        detector.add_many(STEP)
        detector._core.views[name][at] = value
        with pytest.raises(CorruptModelError):
            pickle.loads(pickle.dumps(detector))


N, FLIP = 3000, 1500
rng = np.random.default_rng(3)
X = rng.standard_normal((N, 3)).astype(np.float32)
Y = ((X[:, 0] > 0) ^ (np.arange(N) >= FLIP)).astype(int)


def watched(learner, **options):
    return DriftWatch(learner.allocate(3), PageHinkley(), **options)


@each("reset", [False, True])
def test_a_concept_that_flips_is_found_once(reset):
    said = []
    learner = Standardized(learner=StreamSVM())
    watch = watched(learner, reset=reset, report=said.append)
    at = learner.arena.memory.ctypes.data
    found = predict_then_learn(Source(X, Y), learner, drift=watch)
    assert watch.detector.n_drifts_ == len(said) == len(watch.last) == 1
    assert FLIP < said[0].sample < FLIP + 150 and said == list(watch.last)
    assert said[0].before < 0.1 and said[0].now > 0.5
    assert reports.drifts(watch) == "  drifts 1"
    assert watch.n_resets == reset and learner.arena.memory.ctypes.data == at
    assert watch.detector.n_added_ == found.learned - 1 - reset == N - 1 - reset
    assert learner.classes_.tolist() == [0, 1]
    if reset:
        alone = Standardized(learner=StreamSVM())
        alone.partial_fit(X[said[0].sample + 1 :], Y[said[0].sample + 1 :], classes=[0, 1])
        assert learner.n_seen_ == alone.n_seen_ == N - 1 - said[0].sample
        assert (learner.predict(X) == alone.predict(X)).all()


def test_a_refused_sample_is_no_error():
    learner = StreamSVM()
    watch = watched(learner)
    bad = X[:100].copy()
    bad[50] = np.nan
    found = predict_then_learn(Source(bad, Y[:100]), learner, drift=watch)
    assert (found.learned, found.refused_value, watch.detector.n_added_) == (99, 1, 98)


# -- the command line ------------------------------------------------------------------------------


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [",".join(map(str, [*x.tolist(), label])) for x, label in zip(X, Y, strict=True)]
    path.write_text("a,b,c,label\n" + "\n".join(lines) + "\n")
    return str(path)


def evaluated(capsys, rows, *words):
    assert main(["eval", rows, "--learner", "stream", *words]) == 0
    return capsys.readouterr()


def test_eval_says_where_and_resets_only_if_told(rows, tmp_path, capsys):
    plain = json.loads(evaluated(capsys, rows, "--json").out)
    assert "drift" not in plain
    noted = json.loads(evaluated(capsys, rows, "--json", "--drift").out)
    drift = noted.pop("drift")
    assert (drift["drifts"], drift["resets"], len(drift["last"])) == (1, 0, 1)
    assert noted["accuracy"] == plain["accuracy"]
    saved = str(tmp_path / "m.esvm")
    words = ["--drift", "reset", "--save", saved]
    said = evaluated(capsys, rows, *words)
    at = drift["last"][0]["sample"]
    line = f"drift at sample {at:,}: error {100 * drift['last'][0]['before']:.0f} % before, "
    assert f"drifts: 1, the learner started over 1 times\n{line}" in said.out
    assert any(
        text.startswith(line) and text.endswith("; the learner starts over")
        for text in said.err.splitlines()
    )
    assert load(saved).n_seen_ == N - 1 - at


@each("drift, n_told", [("reset", 1), ("note", 0)])
def test_the_checkpoint_is_told_of_a_new_start(drift, n_told):
    told, said = [], []
    saver = SimpleNamespace(forget=lambda: told.append(learner.n_seen_))
    learner = StreamSVM().allocate(3)
    watch = DriftSettings(drift=drift).watch(learner, said.append, saver)
    predict_then_learn(Source(X, Y), learner, drift=watch)
    assert told == [0] * n_told and len(said) == 1
    assert said[0].endswith("; the learner starts over") == bool(n_told)
