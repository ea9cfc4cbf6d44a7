"""KernelStreamSVM: the ball in feature space, by brute force from the Gram matrix of all that was
seen.

One feature more, of value (i + 1) 2^-500, says which sample a held vector is: too small to be felt
by any kernel value, and so the centre c = sum a_i z_i is known in every coordinate, own axes
included, without a look at what the learner caches.
"""

import numpy as np
from each import each
from geometry import MARK, smallest_ball
from streams import STREAMS, gaussian

from edgesvm import RBF, KernelStreamSVM, Linear, Polynomial, StreamSVM
from edgesvm.learners.stream.constants import RIDGE

KERNELS = (Linear(), RBF(0.5), RBF(20.0), Polynomial(2, 0.5, 1.0))

kernels = each("kernel", KERNELS, ids=str)
bounds = each("bound", ["upper", "lower"])
streams = each("stream", STREAMS)


def tagged(X):
    return np.hstack([X, (1 + np.arange(len(X)))[:, None] * MARK["float64"]])


def learner(**params):
    """The form whose ball goes on at capacity; by default the paper's bound."""
    params = {"when_full": "share", "bound": "upper", "C": 1.0, **params}
    return KernelStreamSVM(dtype="float64", **params)


def shares_of_samples(model, n):
    """a (n,): the share of each sample seen in the centre."""
    views = model.core.views
    held = int(views["n_held"])
    which = np.round(views["vectors"][:held, -1] / MARK["float64"]).astype(int) - 1
    assert len(set(which)) == held
    a = np.zeros(n)
    a[which] = views["share"][:held]
    return a


def gram(kernel, X, y, C):
    """Of the augmented points."""
    return kernel(X, X) * np.outer(y, y) + np.eye(len(X)) / C


def check_cache(model, X, y, weights=None, rtol=1e-9):
    """ww, xi2, q, and V where it is the radius, from their definitions."""
    views, C, kernel = model.core.views, model.C, model.kernel_for(X.shape[1])
    a = shares_of_samples(model, len(X))
    assert a.min() >= 0.0
    np.testing.assert_allclose(a.sum(), 1.0, rtol=1e-9)
    K = kernel(X, X) * np.outer(y, y)
    scale = np.diag(K).max() + 1 / C
    own = 1 / (C * (np.ones(len(X)) if weights is None else weights))
    expected = {"ww": a @ K @ a, "xi2": a**2 @ own, "q": a @ np.diag(K) + 1 / C}
    for name, value in expected.items():
        np.testing.assert_allclose(
            float(views[name]), value, rtol=rtol, atol=rtol * scale, err_msg=name
        )
    return a


def distances(a, K):
    return np.sqrt(np.maximum(a @ K @ a - 2 * K @ a + np.diag(K), 0.0))


@bounds
def test_linear_kernel_with_room_for_all_is_stream_svm(bound):
    for C in (0.1, 1.0, 30.0):
        X, y = gaussian(np.random.default_rng(1), 150, 4)
        kernel = learner(max_vectors=150, kernel="linear", bound=bound, C=C).partial_fit(X, y)
        linear = StreamSVM(
            bound=bound,
            C=C,
            average=False,
            normalize=False,
            fit_intercept=False,
            dtype="float64",
        ).partial_fit(X, y)
        assert kernel.n_updates_ == linear.n_updates_
        np.testing.assert_allclose(kernel.radius_, linear.radius_, rtol=1e-9)
        np.testing.assert_allclose(
            kernel.dual_coef_ @ kernel.support_vectors_, linear.coef_, rtol=1e-8, atol=1e-10
        )
        np.testing.assert_allclose(
            kernel.decision_function(X), linear.decision_function(X), rtol=1e-7, atol=1e-9
        )
        for name in ("xi2", "ww", "q"):
            np.testing.assert_allclose(
                float(kernel.core.views[name]),
                float(linear.core.views[name]),
                rtol=1e-8,
                err_msg=name,
            )


@kernels
@streams
@each("max_vectors", [1, 2, 5, 60])
def test_ball_encloses_after_giving_up_vectors(max_vectors, stream, kernel):
    X, y = stream(np.random.default_rng(3), 60, 3)
    if stream.__name__ == "spiral_out" and kernel != RBF(0.5):
        X = X[:25] / X[24].max()  # squares and fourth powers of 1.3^60 drown all else
        y = y[:25]
    C = 4.0
    model = learner(max_vectors=max_vectors, kernel=kernel, C=C).partial_fit(
        tagged(X), y, classes=[-1, 1]
    )
    a = check_cache(model, X, y, rtol=1e-8)
    K = gram(kernel, X, y, C)
    assert distances(a, K).max() <= model.radius_ * (1 + 1e-9) + 1e-7 * np.sqrt(np.diag(K).max())


@kernels
@streams
@each("max_vectors", [1, 4, 40])
def test_lower_radius_is_the_dual_value(max_vectors, stream, kernel):
    X, y = stream(np.random.default_rng(3), 40, 3)
    if stream.__name__ == "spiral_out":
        X, y = X[:20] / np.abs(X[19]).max(), y[:20]
    C = 2.0
    model = learner(max_vectors=max_vectors, kernel=kernel, C=C, bound="lower")
    model.partial_fit(tagged(X), y, classes=[-1, 1])
    a = check_cache(model, X, y, rtol=1e-8)
    K = gram(kernel, X, y, C)
    V = a @ np.diag(K) - a @ K @ a
    scale = np.diag(K).max()
    np.testing.assert_allclose(model.radius_**2, V, rtol=1e-8, atol=1e-11 * scale)
    _, above = smallest_ball(K)
    assert model.radius_**2 <= above**2 * (1 + 1e-9) + 1e-13 * scale


def test_the_nearest_takes_the_share():
    """Room for two: the third update's loser is the smallest share, its heir the nearest vector."""
    X = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 20.0]])
    model = learner(max_vectors=2, kernel="linear", C=1e6).partial_fit(X, [1, 1, 1], classes=[0, 1])
    # R = 5, centre (5, 0); d = |(5, -20)| = 20.6155, gamma = (1 - 5/d)/2; shares (1-gamma)/2,
    # twice, and gamma.
    gamma = 0.5 * (1 - 5 / np.sqrt(425.0))
    np.testing.assert_allclose(np.sort(model.dual_coef_[0]), sorted([gamma, 1 - gamma]), rtol=1e-5)
    # The first of the two level shares goes, (0, 0), to (10, 0), which is nearer to it than (0,
    # 20).
    assert {tuple(v) for v in model.support_vectors_} == {(10.0, 0.0), (0.0, 20.0)}
    moved = 10.0 * (1 - gamma) / 2
    np.testing.assert_allclose(model.radius_, (5 + np.sqrt(425.0)) / 2 + moved, rtol=1e-5)


# -- when_full="newton" ----------------------------------------------------------------------------


def newton(**params):
    return KernelStreamSVM(**{"dtype": "float64", **params})


def normal_equations(model, seen):
    """The coefficients and the matrix, from all samples (k, y, C weight) that were inside the
    margin."""
    Z = model.support_vectors_
    A = model.kernel_for(Z.shape[1])(Z, Z)
    A[np.diag_indices_from(A)] *= 1 + RIDGE
    b = np.zeros(len(Z))
    for k, y, penalty in seen:
        if y * (k @ np.linalg.solve(A, b)) < 1:
            A, b = A + penalty * np.outer(k, k), b + penalty * y * k
    return np.linalg.solve(A, b), A


def factored(model):
    """L L' of the arena's L, column by column."""
    n = model.max_vectors
    L = np.zeros((n, n))
    L.T[np.triu_indices(n)] = model.core.views["L"]
    return L @ L.T


@kernels
@each("weighted", [False, True])
def test_newton_steps_solve_the_normal_equations(weighted, kernel):
    """Every step, by brute force: regularized least squares over the samples inside the margin,
    each judged by the solution of those before it."""
    rng = np.random.default_rng(7)
    X, y = gaussian(rng, 120, 3)
    weights = rng.choice([0.5, 1.0, 3.0], 120) if weighted else np.ones(120)
    model = newton(max_vectors=9, kernel=kernel, C=0.7).allocate(3, classes=[-1, 1])
    seen, begun = [], 0
    for n in range(120):
        model.learn_one(X[n], y[n], weights[n])
        if len(model.support_vectors_) < 9:
            continue
        Z = model.support_vectors_
        if not seen:  # the vectors themselves come first
            own = [int(np.flatnonzero((z == X).all(axis=1))[0]) for z in Z]
            seen = [(kernel(X[i : i + 1], Z)[0], y[i], 0.7 * weights[i]) for i in own]
        else:
            seen.append((kernel(X[n : n + 1], Z)[0], y[n], 0.7 * weights[n]))
            begun += 1
    coef, A = normal_equations(model, seen)
    np.testing.assert_allclose(factored(model), A, rtol=1e-9, atol=1e-9 * np.abs(A).max())
    f = kernel(X, model.support_vectors_) @ coef
    np.testing.assert_allclose(model.decision_function(X), f, rtol=1e-5, atol=1e-6)
    assert begun > 50 and model.n_updates_ > 30


def test_the_factor_does_not_drift():
    """Thousands of samples, two vectors equal, the kernel so wide that K is nearly singular."""
    X, y = gaussian(np.random.default_rng(2), 5000, 2)
    X[1] = X[0]
    kernel = RBF(0.01)
    model = newton(max_vectors=12, kernel=kernel, C=50.0).partial_fit(X, y)
    Z = model.support_vectors_
    A, updates = kernel(Z, Z), model.n_updates_
    A[np.diag_indices_from(A)] *= 1 + RIDGE
    again = newton(max_vectors=12, kernel=kernel, C=50.0).allocate(2, classes=[-1, 1])
    counted = False
    for n in range(len(X)):
        changed = again.learn_one(X[n], y[n])
        if counted and changed:
            k = kernel(X[n : n + 1], Z)[0]
            A += 50.0 * np.outer(k, k)
        elif not counted and len(again.support_vectors_) == 12:
            counted, A = True, factored(again)
    assert updates > 1000
    np.testing.assert_allclose(factored(model), A, rtol=1e-10)


def test_a_label_that_comes_late_has_a_vector():
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(-2, 0.5, (60, 2)), rng.normal(2, 0.5, (60, 2))])
    y = np.repeat([-1, 1], 60)
    model = newton(max_vectors=6, kernel=RBF(0.5)).partial_fit(X, y, classes=[-1, 1])
    assert sorted(np.sign(model.support_vectors_[:, 0])) == [-1] * 5 + [1]
    assert (model.predict(X) == y).mean() > 0.95
