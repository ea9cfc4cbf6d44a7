"""The watch on a simulated clock: phases, alarms, answers, gaps, and what is counted."""

import numpy as np
import pytest
from each import each
from table import Table

from edgesvm import Chain, GaussianNovelty, KernelNovelty, StreamSVM, WindowFeatures
from edgesvm.learners.novelty.novelty import MOST_WARM_UP
from edgesvm.link import open_link
from edgesvm.serve.watch import watched
from firmware_sim.harness import InMemory
from firmware_sim.line import FaultInjector
from firmware_sim.node import FrameNode

RATE = 100.0


def noise(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def watcher_of(X, model, *, faults=None, dtype=None, **options):
    node = FrameNode(Table(X), rate=RATE, label_mode="none")
    world = InMemory(node, faults=faults)
    link = open_link("memory", opener=world.open, clock=world.clock, sleep=world.sleep)
    model.allocate(X.shape[1])
    return watched(link, model, clock=world.clock, **options), node, world


def watch_all(X, model, **options):
    """The watcher after all samples, its node, and the alarms that ended or are on."""
    watcher, node, world = watcher_of(X, model, **options)
    episodes = []
    while not (node.finished and world.pump.line.quiet) or watcher.step(0.5):
        watcher.step(0.1)
        if (ended := watcher.pupil.take_ended()) is not None:
            episodes.append(ended)
    watcher.step(0.5)
    assert watcher.check_identities() == []
    return watcher, node, [*episodes, *filter(None, [watcher.pupil.episode])]


def quiet(kind=GaussianNovelty, **params):
    return kind(**{"warm_up": 1000, "alarm_rate": 1e-5, "alarm": "3/5"} | params)


def planted(n=3000, at=2000, feature=1):
    """Noise, and from `at` on for 40 samples one feature far away."""
    X = noise(n)
    X[at : at + 40, feature] += 30
    return X


@each("kind", [GaussianNovelty, KernelNovelty])
def test_learns_then_tells_what_is_strange_and_which_feature(kind):
    watcher, node, episodes = watch_all(planted(), quiet(kind), learns=True)
    assert watcher.pupil.watching and watcher.pupil.rows == watcher.taken == 3000
    (episode,) = episodes
    assert episode.sequence == 2002 and episode.row == 2003, "3 of 5"
    assert episode.score > episode.threshold and episode.highest >= episode.score
    assert int(episode.shares.argmax()) == 1 and episode.shares[1] > 0.8
    # 40 strange samples; two are needed for three of five, and five calm ones end it.
    assert episode.ended - episode.began == pytest.approx(42 / RATE, abs=0.05)
    assert watcher.pupil.strange >= 40 and 101 <= watcher.pupil.not_learned <= 300
    assert node.scorer.received == 3000 and node.scorer.abstained == 1000
    assert node.scorer.alarms == 42, "the flag that lights a LED"


def test_a_step_returns_where_an_alarm_begins_and_where_it_ends():
    watcher, node, world = watcher_of(planted(), quiet())
    turns, episode = [], None
    while not (node.finished and world.pump.line.quiet) or watcher.step(0.1):
        world.sleep(3.0)  # 300 samples wait
        watcher.step(0.1)
        if watcher.pupil.episode is not episode:
            episode = watcher.pupil.episode
            turns.append(watcher.pupil.rows)
    assert turns == [2003, 2045]


def test_one_strange_sample_is_no_alarm_and_a_flicker_is_one():
    X = planted(at=2000)
    X[2001:2040, 1] -= 30
    watcher, _, episodes = watch_all(X, quiet())
    assert watcher.pupil.strange <= 3 and episodes == []
    X = planted()
    X[2003:2040:2, 1] -= 30  # every second one is normal
    watcher, _, episodes = watch_all(X, quiet())
    assert len(episodes) == watcher.pupil.alarms == 1
    watcher, _, episodes = watch_all(X, quiet(alarm="1/1"))
    assert episodes[0].sequence == 2000, "1 of 1"


def test_learning_for_a_time_ends_by_the_clock_and_not_before_a_hundred_rows():
    for seconds, least, most in ((12.0, 1190, 1210), (0.1, 100, 101)):
        model = quiet(warm_up=MOST_WARM_UP)
        watcher, node, episodes = watch_all(planted(), model, learn_s=seconds)
        assert watcher.pupil.watching and least <= model.warm_up <= most
        assert node.scorer.abstained == model.warm_up and len(episodes) == 1


def test_what_is_learned_while_watching():
    X = planted()
    for options, least, most in (({"learns": True}, 2600, 2800), ({}, 1000, 1000)):
        model = quiet()
        watcher, _, _ = watch_all(X, model, **options)
        assert least <= watcher.pupil.learned == model.n_updates_ <= most
    watcher, _, _ = watch_all(X, quiet(learn="all"), learns=True)
    assert watcher.pupil.learned == 3000


def ends(X, at, n, how):
    X = X.copy()
    X[at : at + n] = how(X[at : at + n])
    return X


def last_value(rows):
    return np.repeat(rows[:1], len(rows), axis=0)


@each("options, most", [({}, 1000), ({"learns": True}, 3700)])
def test_a_stuck_sensor_is_an_alarm_of_its_own_and_the_model_stays_whole(options, most):
    X = ends(noise(4000), 2000, 200, last_value)
    X[1000:1200, 2] = X[1000, 2]  # while it learns, too
    model = quiet()
    watcher, node, episodes = watch_all(X, model, **options)
    assert [(e.kind, e.row, e.ended - e.began) for e in episodes] == [
        ("stuck", 1051, pytest.approx(150 / RATE, abs=0.05)),
        ("stuck", 2051, pytest.approx(150 / RATE, abs=0.05)),
    ]
    assert episodes[0].shares.tolist() == [0, 0, 1] and len(set(episodes[1].shares)) == 1
    c = watcher.counters()
    assert c["stuck"] == 300 and c["strange"] <= 5 and c["lost"] == 0 and c["alarms"] == 2
    assert 0.9 * most < model.n_updates_ <= most and node.scorer.alarms == 300


@each("options", [{}, {"learns": True}])
def test_what_lasts_is_an_alarm_of_another_kind(options):
    X = ends(noise(1900), 1500, 400, lambda rows: rows + 30)
    model = quiet()
    watcher, _, episodes = watch_all(X, model, **options)
    assert [e.kind for e in episodes] == ["strange", "lost"] and watcher.pupil.lost == 1
    assert 1730 <= episodes[1].row < 1760
    assert model.n_apart_ > 350 and (watcher.pupil.learned > 1100) == bool(options)
    (line,) = watcher.pupil.remarks.look()
    assert "250 rows on end were strange" in line


def test_a_fault_while_the_learner_is_lost_is_an_alarm_and_the_other_goes_on():
    X = ends(noise(2600), 1500, 1100, lambda rows: rows + 30)
    X[2000:2030, 1] += 60
    watcher, _, episodes = watch_all(X, quiet(), learns=True)
    assert [(e.kind, e.number) for e in episodes] == [("strange", 1), ("strange", 3), ("lost", 2)]
    assert 2000 < episodes[1].row < 2006 and int(episodes[1].shares.argmax()) == 1
    assert watcher.pupil.alarms == 3 and episodes[2].ended is None


def spinning(n=24_000, at=16_000):
    """A tone, and from `at` on another besides."""
    t = np.arange(n) / RATE
    tone = np.sin(2 * np.pi * 3 * t) + 0.1 * np.random.default_rng(1).standard_normal(n)
    tone[at:] += np.sin(2 * np.pi * 20 * t[at:])
    return np.column_stack([tone, 0.1 * np.random.default_rng(2).standard_normal(n)]).astype("f4")


def chain():
    windows = WindowFeatures(window=100, hop=50, rate=RATE, bands="1-5,15-25")
    return Chain(windows=windows, learner=GaussianNovelty(warm_up=200, alarm_rate=1e-4))


def test_windows_of_raw_samples_and_the_number_of_the_last_sample():
    X = spinning()
    watcher, node, episodes = watch_all(X, chain())
    assert watcher.pupil.rows == (len(X) - 100) // 50 + 1 == node.scorer.received
    assert watcher.counters()["in_windows"] == len(X) - watcher.pupil.rows
    (episode,) = episodes
    assert episode.ended is None and (episode.sequence - 99) % 50 == 0
    assert 16_000 < episode.sequence < 16_000 + 3 * 100
    names = watcher.pupil.names
    assert (
        "15-25" in names[int(episode.shares.argmax())]
        or "x0" in names[int(episode.shares.argmax())]
    )


def test_a_window_with_a_gap_is_dropped_and_the_rest_equals_the_chain_by_hand():
    X = spinning()
    rates = {"lose": 0.0005, "flip": 0.0005, "duplicate": 0.001}
    watcher, _, _ = watch_all(X, chain(), faults=FaultInjector(rates, seed=3))
    c = watcher.counters()
    assert c["missing"] > 0 and c["windows_dropped"] > 0 and c["gaps"] > 1
    assert watcher.pupil.rows < (len(X) - 100) // 50 + 1
    assert watcher.taken == len(X) - c["missing"] - (len(X) - c["span"])


def test_a_huge_value_is_refused_counted_and_breaks_the_window():
    X = spinning(2000)
    X[500, 0] = 1e20
    watcher, node, _ = watch_all(X, chain())
    assert watcher.pupil.refused_value == 1 and watcher.counters()["windows_dropped"] > 0
    assert node.scorer.rejected == 1


def test_a_learner_with_labels_cannot_watch():
    with pytest.raises(ValueError, match="learns with labels"):
        watcher_of(noise(10), StreamSVM())
