"""``edgesvm plot``: what is drawn, of what it is drawn, and what it refuses."""

import sys

import numpy as np
import pytest
from command import complaint

from edgesvm import (
    RBF,
    IncrementalDecrementalSVM,
    KernelStreamSVM,
    OneVsRest,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
    plot,
)
from edgesvm.cli import main
from edgesvm.data import Gauss, TwoNorm
from edgesvm.persist import Checkpoint
from edgesvm.plot import panel_of, stored_points

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")


def kernel_learner(**params):
    return KernelStreamSVM(max_vectors=30, kernel=RBF(0.5), bound="lower", **params)


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Learners by name; their snapshots are in the working folder, and rows to go with them."""
    monkeypatch.chdir(tmp_path)
    X, y = Gauss(0).read(500)
    wide = TwoNorm(0).read(200)
    np.savez("rows.npz", X=X, y=y)
    np.savez("wide.npz", X=wide.X, y=wide.y)
    words = np.where(y > 0, "fine", "worn")
    twins = TwinVectorMachine(max_twins=20, kernel=RBF(0.5))
    learners = {
        "twins": twins.partial_fit(X, words),
        "scaled_twins": Standardized(learner=twins).partial_fit(X * [1000, 0.01], words),
        "exact": IncrementalDecrementalSVM(max_vectors=60).partial_fit(X[:60], words[:60]),
        "kernel": kernel_learner().partial_fit(X, y),
        "linear": StreamSVM(bound="lower").partial_fit(X, y),
        "scaled": Standardized(learner=kernel_learner()).partial_fit(X * [1000, 0.01], words),
        "scaled_linear": Standardized(learner=StreamSVM()).partial_fit(X, words),
        "one_class": kernel_learner().partial_fit(X[y > 0], y[y > 0]),
        "wide": kernel_learner().partial_fit(*wide),
        "wide_linear": StreamSVM().partial_fit(*wide),
        "narrow": StreamSVM().partial_fit(X[:, :1], y),
        "empty": StreamSVM().allocate(2, classes=[-1, 1]),
    }
    for name, learner in learners.items():
        learner.save(tmp_path / f"{name}.esvm")
    return learners


def drawn(tmp_path, *argv):
    """The picture's bytes."""
    png = tmp_path / "out.png"
    assert main(["plot", *map(str, argv), "-o", str(png)]) == 0
    return png.read_bytes()


@pytest.mark.parametrize(
    "argv",
    [
        ["kernel.esvm"],
        ["twins.esvm"],
        ["scaled_twins.esvm", "exact.esvm"],
        ["one_class.esvm"],
        ["scaled.esvm"],
        ["scaled_linear.esvm"],
        ["linear.esvm", "--data", "rows.npz"],
        ["kernel.esvm", "linear.esvm", "--data", "rows.npz"],
        ["wide.esvm", "--features", "3,0"],
    ],
)
def test_a_picture(argv, models, tmp_path, capsys):
    assert drawn(tmp_path, *argv).startswith(b"\x89PNG")
    assert capsys.readouterr().out == f"{tmp_path / 'out.png'}\n"


def test_a_checkpoint(models, tmp_path, capsys):
    checkpoint = Checkpoint(tmp_path / "m.ckpt")
    checkpoint.prepare(models["kernel"])
    checkpoint.save(models["kernel"])
    checkpoint.close()
    as_snapshot = drawn(tmp_path, tmp_path / "kernel.esvm")
    assert drawn(tmp_path, tmp_path / "m.ckpt") == as_snapshot


def test_vectors_are_where_the_learner_has_them(models):
    """Of a standardized learner too, whose vectors are in deviations."""
    learner = models["kernel"]
    found = stored_points(learner)
    np.testing.assert_array_equal(found.points, learner.support_vectors_)
    share = found.weights[:, 1] - found.weights[:, 0]
    np.testing.assert_array_equal(share, learner.dual_coef_[0])
    assert found.weights.min() == 0
    scaled = models["scaled"]
    inner = (stored_points(scaled).points - scaled.mean_) / scaled.scale_
    assert abs(inner).max() < 6
    core = scaled.core
    held = core.views["vectors"][: int(core.views["n_held"])]
    np.testing.assert_allclose(inner, held, rtol=1e-6, atol=1e-6)
    assert (
        stored_points(models["linear"]) is None and stored_points(models["scaled_linear"]) is None
    )


def test_twins_and_exact_vectors_are_told_as_the_learner_tells_them(models):
    twins = models["twins"]
    found = stored_points(twins)
    np.testing.assert_array_equal(found.points, twins.twins_)
    np.testing.assert_array_equal(found.weights, twins.weights_)
    np.testing.assert_array_equal(found.on_margin, twins.margin_)
    assert found.weights.all(axis=1).any() and found.on_margin.sum() > 0
    exact = models["exact"]
    found = stored_points(exact)
    np.testing.assert_array_equal(found.points, exact.vectors_)
    np.testing.assert_array_equal(found.weights.sum(axis=1), exact.sample_weights_)
    np.testing.assert_array_equal(found.weights[:, 1] > 0, exact.labels_ == "worn")
    scaled = models["scaled_twins"]
    assert len(stored_points(scaled).points) == 20
    assert (abs(stored_points(scaled).points) < [6000, 0.06]).all()


def test_the_picture_is_of_the_decision_function(models):
    from edgesvm.plot import MARGIN, PIXELS, _decisions, draw_panel

    learner = models["wide"]
    panel = panel_of(learner, features=(3, 0), at={7: -0.5})
    assert panel.title.endswith("a slice at feature 7 = -0.5, the median of the other 17 features")
    points = learner.support_vectors_.astype(float)
    expected = np.median(points, axis=0)
    expected[7] = -0.5
    others = [j for j in range(20) if j not in (0, 3)]
    np.testing.assert_array_equal(panel.at[others], expected[others])
    low, high = points[:, [3, 0]].min(axis=0), points[:, [3, 0]].max(axis=0)
    np.testing.assert_allclose(np.array(panel.box[::2]), low - MARGIN * (high - low))
    xs, ys = np.linspace(*panel.box[:2], PIXELS), np.linspace(*panel.box[2:], PIXELS)
    values = _decisions(panel, xs, ys)
    for i, j in [(0, 0), (5, 300), (PIXELS - 1, 17)]:
        x = panel.at.copy()
        x[3], x[0] = xs[j], ys[i]
        assert values[i, j] == learner.decision_one(x.astype(np.float32))
    figure = matplotlib.figure.Figure()
    axes = figure.add_subplot()
    draw_panel(axes, panel)
    dots = axes.collections[-1]
    weight = stored_points(learner).weights.sum(axis=1)
    order = np.argsort(-weight)
    np.testing.assert_allclose(dots.get_offsets(), points[order][:, [3, 0]])
    assert (np.diff(dots.get_sizes()) <= 0).all() and np.ptp(dots.get_sizes()) > 0


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        (["linear.esvm"], "give --data DATA"),
        (["wide.esvm"], "20 features: choose two, --features I,J"),
        (["wide.esvm", "--features", "0,20"], "0 to 19"),
        (["wide.esvm", "--features", "0,0"], "two different features"),
        (["wide.esvm", "--features", "0"], "two different features"),
        (["wide_linear.esvm", "--features", "0,1"], "set feature 2 from: give --data DATA"),
        (["narrow.esvm"], "one feature"),
        (["empty.esvm"], "not learned a sample yet"),
        (["kernel.esvm", "--data", "wide.npz"], "20 features, the model has 2"),
    ],
)
def test_wrong_use(argv, word, models, tmp_path, capsys):
    assert word in complaint(capsys, 2, "plot", *argv, "-o", "a.png")
    assert not (tmp_path / "a.png").exists()


def test_a_file_that_is_no_model_and_a_picture_that_is_no_picture(models, tmp_path, capsys):
    (tmp_path / "junk.esvm").write_bytes(b"junk")
    assert "junk.esvm" in complaint(
        capsys, 1, "plot", tmp_path / "junk.esvm", "-o", tmp_path / "a.png"
    )
    argv = [tmp_path / "kernel.esvm", "-o", tmp_path / "a.xyz"]
    assert "'xyz' is not supported" in complaint(capsys, 2, "plot", *argv)
    assert "does not exist" in complaint(
        capsys, 2, "plot", argv[0], "-o", tmp_path / "no" / "a.png"
    )


def test_without_matplotlib(models, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "edgesvm.cli.figures", raising=False)
    monkeypatch.delattr("edgesvm.cli.figures", raising=False)
    argv = [tmp_path / "kernel.esvm", "-o", tmp_path / "a.png"]
    assert "edgesvm[plot]" in complaint(capsys, 1, "plot", *argv)


def test_a_picture_has_the_names_of_classes_and_features(models):
    rows, labels = Gauss(0).read(200)
    learner = (
        OneVsRest(learner=StreamSVM(), n_classes=3).allocate(2).name_features(["heat", "load"])
    )
    third = np.where(rows[:, 0] > 1, "c", np.where(labels > 0, "a", "b"))
    axes = plot.decision_boundary(learner.partial_fit(rows, third), rows, third)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("heat", "load")
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b", "c"]
    low, high = rows[:, 0].min(), rows[:, 0].max()
    assert np.allclose(axes.get_xlim(), [low, high], atol=0.03 * (high - low))


def test_features_are_chosen_by_name_or_number(models, tmp_path, capsys):
    wide = models["wide"]
    wide.name_features([f"ch{j}" for j in range(wide.n_features_in_)]).save("named.esvm")
    by_name = drawn(tmp_path, "named.esvm", "--features", "ch3,ch1")
    assert by_name == drawn(tmp_path, "named.esvm", "--features", "3,1")
    assert by_name != drawn(tmp_path, "named.esvm", "--features", "1,3")
    capsys.readouterr()
    told = complaint(capsys, 2, "plot", "named.esvm", "-o", "x.png", "--features", "ch3,light")
    assert "no feature 'light': the model has ch0, ch1" in told
    assert "one feature, twice" in complaint(
        capsys, 2, "plot", "named.esvm", "-o", "x.png", "--features", "ch3,3"
    )
