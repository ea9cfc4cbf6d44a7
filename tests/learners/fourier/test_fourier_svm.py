"""FourierSVM against its formulas, written out with the directions as a matrix."""

import numpy as np
from each import each

from edgesvm import FourierSVM
from edgesvm.learners.fourier._fourier import key_of
from edgesvm.learners.fourier.constants import ENTRY_DEVIATION
from reference.fourier import drawn


def disc(n, seed=0, dtype="float64"):
    """Points inside a circle against those outside: no line separates them."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    return X.astype(dtype), np.where((X**2).sum(axis=1) < 1.4, 1, -1)


def directions(learner, n_features, gammas):
    """v_p, ndarray of shape (n_directions, n_features)."""
    numbers = drawn(key_of(learner.seed), learner.n_directions, n_features)
    gamma = np.resize(gammas, learner.n_directions)
    return np.sqrt(2 * gamma)[:, None] * numbers / ENTRY_DEVIATION


def written_out(X, y, v, *, rate, slope, weighed):
    """Last weights and mean weights of cos(v x), sin(v x), x, 1, and the amplitudes of these; step
    by step."""
    P, D = v.shape
    group = np.concatenate([np.arange(P) % 4, np.arange(P) % 4, np.full(D + 1, 4)])
    w = mean = np.zeros(2 * P + D + 1)
    G = H = 0.0
    a = np.array([1, 1 / 2, 1 / 4, 1 / 8, 1]) if weighed else np.ones(5)
    for t, (x, side) in enumerate(zip(X, y, strict=True), 1):
        a = a / np.sqrt((a**2).mean())
        f = a[group] * np.concatenate([np.cos(v @ x), np.sin(v @ x), x, [1.0]])
        g = slope(side * (w @ f))
        G += g**2 * (f @ f) / len(f)
        if weighed:
            c = g * side * np.array([(w * f)[group == k].sum() for k in range(5)])
            H += c @ c
            a = a * np.exp(c / 2 / np.sqrt(1 + H))
            a = np.maximum(a, a.max() / 100)
        if g > 0:
            w = w + rate * g * side * f / np.sqrt(G)
        mean = mean + 2 / (t + 1) * (w - mean)
    return w, mean, (a / np.sqrt((a**2).mean()))[group]


def test_numbers_of_directions_are_standard_normal_to_the_eye():
    numbers = drawn(key_of(5), 400, 25) / ENTRY_DEVIATION
    assert abs(numbers.mean()) < 0.02 and abs(numbers.std() - 1) < 0.02
    assert abs((numbers**4).mean() - 3 + 0.3) < 0.1  # four bytes: an excess of -0.3
    correlated = np.corrcoef(numbers.T) - np.eye(25)
    assert abs(correlated).max() < 4.5 / np.sqrt(400)
    assert len(np.unique(numbers, axis=0)) == 400
    assert not np.array_equal(numbers, drawn(key_of(6), 400, 25) / ENTRY_DEVIATION)


@each("n_directions", [1, 15, 64, 65, 200])
def test_steps_are_those_written_out(n_directions):
    X, y = disc(60)
    forms = {
        "weighed": {"learning_rate": 0.5},
        "even": {"weigh_widths": False, "learning_rate": 0.5},
        "one": {"loss": "logistic", "gamma": 0.7, "learning_rate": 0.2},
    }
    for widths, params in forms.items():
        learner = FourierSVM(n_directions=n_directions, seed=9, dtype="float64", **params)
        learner.partial_fit(X, y)
        gammas = {"weighed": [0.05, 0.25, 1.1, 5.0], "even": [0.15, 0.5, 1.5, 5.0], "one": [0.7]}
        v = directions(learner, 2, gammas[widths])
        *both, amplitudes = written_out(
            X,
            y,
            v,
            rate=learner.learning_rate,
            slope=(lambda m: 1 / (1 + np.exp(m)))
            if learner.loss == "logistic"
            else (lambda m: float(m < 1)),
            weighed=widths == "weighed",
        )
        w = both[learner.answers_ == "mean"]
        f = np.hstack([np.cos(X @ v.T), np.sin(X @ v.T), X, np.ones((60, 1))]) * amplitudes
        # angles are kept in 1/65536 of a turn
        np.testing.assert_allclose(learner.decision_function(X), f @ w, atol=2e-3)


def test_features_are_those_of_the_gaussian_kernel():
    """The mean of cos(v (x - z)) is exp(-gamma |x - z|^2)."""
    X, _ = disc(30)
    for gamma in (0.1, 1.0, 4.0):
        v = directions(FourierSVM(n_directions=4000), 2, [gamma])
        mean = np.cos((X[:, None] - X) @ v.T).mean(axis=2)
        kernel = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
        assert abs(mean - kernel).max() < 5 / np.sqrt(4000)


def test_a_board_that_no_line_divides_is_learned_in_two_kilobytes():
    X, y = disc(4000, dtype="float32")
    learner = FourierSVM.within("2KiB", n_features=2).partial_fit(X[:3000], y[:3000])
    assert learner.nbytes <= 2048
    assert learner.score(X[3000:], y[3000:]) > 0.96


def test_a_stream_that_drifts_is_answered_by_the_last_weights():
    """And one without order by their mean."""
    X, y = disc(4000)
    flips = np.where(np.arange(4000) // 500 % 2, -1, 1)
    still = FourierSVM().partial_fit(X, y)
    drifting = FourierSVM().partial_fit(X, y * flips)
    assert (still.answers_, drifting.answers_) == ("mean", "last")
    right = [still.score(X, y), drifting.score(X[-200:], (y * flips)[-200:])]
    assert right[0] > 0.97 and right[1] > 0.8


def test_classes_have_weights_of_their_own_on_the_same_features():
    """Each is one against the rest: three classes cost three times two, less what is shared."""
    X, _ = disc(3000)
    y = np.digitize((X**2).sum(axis=1), [0.8, 2.0])
    even = {"n_directions": 64, "weigh_widths": False}  # all classes share the amplitudes
    learner = FourierSVM(n_classes=3, **even).partial_fit(X[:2000], y[:2000])
    assert learner.score(X[2000:], y[2000:]) > 0.9
    for k in range(3):
        alone = FourierSVM(**even).partial_fit(X[:2000], y[:2000] == k)
        slot = list(learner.core.labels.in_slots).index(k)
        ours, theirs = learner.core.views["w"][slot], alone.core.views["w"][0]
        np.testing.assert_allclose(ours, theirs * alone.core.labels.sign, atol=1e-5)


def test_large_features_bound_every_angle():
    """Angles of features in the thousands wrap around; nothing overflows."""
    X, y = disc(200, dtype="float32")
    for scale in (1e3, 1e9, 1e17):
        learner = FourierSVM().partial_fit(X * np.float32(scale), y)
        assert np.isfinite(learner.decision_function(X * np.float32(scale))).all()
