"""``edgesvm train``: fit a model to files that were recorded, of a class each or of several."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from edgesvm.cli import arguments, reports, saved_model
from edgesvm.cli.learner_settings import LearnerSettings
from edgesvm.cli.link_settings import FileSettings, say_notes
from edgesvm.cli.options import AS_JSON, argument, option, required, section
from edgesvm.cli.window_settings import WindowSettings
from edgesvm.contract.names import word_of
from edgesvm.learner import Learner, learner_in
from edgesvm.serve.process import StatusLine
from edgesvm.serve.score import percent

HELP = """\
Fit a model to recorded files, given in any order, and tell how good it is on rows that it did not
learn: the last quarter of each class in each file.

  edgesvm record /dev/ttyACM0 wave.rec --label wave   each class in turn, until Ctrl-C
  edgesvm train wave.rec rest.rec circle.rec --window 50 --save m.esvm
  edgesvm train room.csv --save m.esvm                a file with a column of labels
  edgesvm train wave.csv rest.csv --by-file --save m.esvm
  edgesvm predict m.esvm /dev/ttyACM0                 use it

As many passes are made over the rows as help on those held out; the model that is saved learns all
rows, in as many passes.
"""
PASSES = (1, 2, 5, 10, 20, 50)
MOST_STEPS = 500_000  # samples learned in the passes of one trial
WORTH = 0.002  # of accuracy, for which more passes are made
PATIENCE = 2  # trials that are no better


@dataclass(frozen=True, kw_only=True)
class Settings:
    file: tuple[str, ...] = argument("a .rec, a .csv, or an .npz with X and y", repeat=True)
    save: str = required("snapshot to write", unit="FILE", check=arguments.new_file)
    by_file: bool = option(False, "a file's name, without its ending, is the label of its rows")
    holdout: float = option(
        0.25, "share of each class that tells how good it is", unit="SHARE", check=arguments.share
    )
    plot: str | None = option(
        None,
        "draw what the rows held out were taken for (needs matplotlib)",
        unit="PNG",
        check=arguments.new_file,
    )
    json: bool = option(False, AS_JSON)
    columns: FileSettings = section(FileSettings)
    windows: WindowSettings = section(WindowSettings)
    learner: LearnerSettings = section(LearnerSettings)


class Samples(NamedTuple):
    """Those of a file."""

    path: str
    X: np.ndarray
    labels: list[Any]
    names: tuple[str, ...]
    period_us: float


def act(settings: Settings) -> int:
    if settings.plot:
        from edgesvm.cli import figures  # noqa: F401  (reports a missing matplotlib right away)
    with saved_model.claimed(settings.save):
        status = StatusLine(quiet=settings.json)
        files = [read(settings, path) for path in settings.file]
        model = new_model(settings, files)
        X, y, trains = rows(settings, model, files)
        learner = learner_in(model)
        passes, scores = best_passes(learner, X, y, trains, status)
        status.show(lambda: f"learning all {len(y):,} rows")
        fit(learner, X, y, passes)
        status.end()
        model.name_features(files[0].names)  # `fit` had none
        model.save(settings.save)
    if settings.plot and scores:
        title = f"{percent(scores['accuracy'])} of {scores['rows']:,} rows held out are right"
        draw(settings.plot, title, scores["confusion"])
    report = {
        "learner": repr(model),
        "bytes": model.nbytes,
        "files": {one.path: counted(one.labels) for one in files},
        "rows": len(y),
        "passes": passes,
        "held_out": scores,
        "saved": settings.save,
    }
    if settings.json:
        reports.show(report, as_json=True)
    else:
        print(*words(report), sep="\n")
    return 0


def read(settings: Settings, path: str) -> Samples:
    """The samples of a file that have a label. Raises ValueError if none has."""
    columns = settings.columns
    if settings.by_file and path.lower().endswith(".csv"):
        columns = replace(columns, label_column="none")
    opened: Any = columns.open(path)
    try:
        if not (opened.labelled or settings.by_file):
            raise ValueError(
                f"{path} has no labels: record it with --label WORD, or give --by-file, which takes"
                f" {Path(path).stem} as the label of its rows"
            )
        chunks = list(opened.chunks(1024))
    finally:
        opened.close()
    if not chunks:
        raise ValueError(f"{path} has no rows with a label")
    X = np.concatenate([chunk.X for chunk in chunks])
    if lost := int((~np.isfinite(X).all(axis=1)).sum()):
        say_notes(path, [f"{lost:,} rows passed over: a value is missing"])
    labels = [Path(path).stem] * len(X)
    if not settings.by_file:
        labels = [word_of(opened.class_names, k) for c in chunks for k in c.y.tolist()]
    return Samples(path, X, labels, tuple(opened.feature_names), opened.period_us)


def counted(labels: Sequence[Any]) -> dict[str, int]:
    return {str(label): labels.count(label) for label in dict.fromkeys(labels)}


def new_model(settings: Settings, files: Sequence[Samples]) -> Any:
    """The learner, behind windows if these are asked for, for the classes of all files."""
    features = {one.names or one.X.shape[1]: one.path for one in files}
    if len(features) > 1:
        told = "; ".join(f"{path} has {found}" for found, path in features.items())
        raise ValueError(f"all files must have the same features: {told}")
    classes = {label for one in files for label in one.labels}
    if len(classes) < 2:
        raise ValueError(f"all rows are {classes.pop()!r}: give files of two classes or more")
    known = replace(settings.learner, classes=settings.learner.classes or len(classes))
    learner, fixed = known.requested(len(classes))
    n_features, memory = files[0].X.shape[1], settings.learner.memory
    period = files[0].period_us
    model = settings.windows.chain(learner, n_features, memory, period_us=period, fixed=fixed)
    return model.allocate(n_features)


def rows(
    settings: Settings, model: Any, files: Sequence[Samples]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the learner learns of the files, (n, d), its labels, (n,), and which rows a trial may
    learn (1), is told by (0), or neither, as they overlap with those (-1)."""
    apart = -(-(settings.windows.window or 1) // settings.windows.rows_apart)
    parts = [list(windows_of(model, one)) for one in files]
    X = np.array([x for part in parts for x, _ in part], learner_in(model).dtype)
    y = np.array([label for part in parts for _, label in part])
    if not len(y):
        raise ValueError(f"no file is as long as a window of {settings.windows.window} samples")
    use = np.ones(len(y), np.int8)
    for at in np.split(np.arange(len(y)), np.cumsum([len(part) for part in parts])[:-1]):
        for label in dict.fromkeys(y[at].tolist()):
            own = at[y[at] == label]
            first = len(own) - round(len(own) * settings.holdout)
            use[own[max(first - apart + 1, 0) : first]] = -1
            use[own[first:]] = 0
    return X, y, use


def windows_of(model: Any, samples: Samples) -> Iterator[tuple[np.ndarray, Any]]:
    """The rows of a file with their labels: windows, or the samples themselves. One with a value
    missing is none, and a gap for windows."""
    is_whole = np.isfinite(samples.X).all(axis=1).tolist()
    rows = zip(samples.X, samples.labels, is_whole, strict=True)
    if isinstance(model, Learner):
        yield from ((x, label) for x, label, whole in rows if whole)
        return
    model.gap()
    for x, label, whole in rows:
        if not whole:
            model.gap()
            continue
        window = model.window(x, label)
        if window is not None and window[1] is not None:
            yield window[0].copy(), window[1]


def fit(learner: Learner, X: np.ndarray, y: np.ndarray, passes: int) -> None:
    more: dict[str, Any] = {"epochs": passes} if passes else {}
    learner.fit(X, y, **more)


def best_passes(
    learner: Any, X: np.ndarray, y: np.ndarray, use: np.ndarray, status: StatusLine
) -> tuple[int, dict[str, Any] | None]:
    """The number of passes that is right most often on the rows held out, and its figures; 0 and
    None if the learner makes its own, or if there are none."""
    trained, told = use == 1, use == 0
    own = "epochs" not in inspect.signature(learner.fit).parameters
    best, figures, waited = 0, None, 0
    for passes in (0,) if own else PASSES:
        if not told.any() or (figures and (passes * trained.sum() > MOST_STEPS)):
            break
        status.show(lambda: f"trying {passes} passes over {trained.sum():,} rows")  # noqa: B023
        trial = learner.like_new()
        fit(trial, X[trained], y[trained], passes)
        found = scored(trial, X, y, trained, told)
        waited += 1
        if figures is None or found["accuracy"] > figures["accuracy"] + WORTH:
            best, figures, waited = passes, found, 0
        if waited == PATIENCE:
            break
    return best, None if figures is None else figures | baselines(X, y, use)


def scored(
    learner: Learner, X: np.ndarray, y: np.ndarray, trained: np.ndarray, told: np.ndarray
) -> dict[str, Any]:
    """How good it is on these rows."""
    truth, said = y[told], learner.predict(X[told])
    classes = np.intersect1d(y[trained], truth)
    confusion = {str(k): Counter(map(str, said[truth == k])) for k in classes}
    recalls = {k: row[k] / row.total() for k, row in confusion.items()}
    return {
        "rows": len(truth),
        "accuracy": float((said == truth).mean()),
        "balanced_accuracy": float(np.mean(list(recalls.values()))),
        "recalls": recalls,
        "confusion": confusion,
    }


def baselines(X: np.ndarray, y: np.ndarray, use: np.ndarray) -> dict[str, float]:
    """How good two answers that need no learner are on the rows held out."""
    told, trained = use == 0, use == 1
    classes, counts = np.unique(y[trained], return_counts=True)
    deviation = X[trained].std(axis=0) + 1e-30
    means = np.array([X[trained & (y == label)].mean(axis=0) for label in classes]) / deviation
    near = (X[told] / deviation) @ means.T - (means * means).sum(axis=1) / 2
    return {
        "larger_class": float((y[told] == classes[counts.argmax()]).mean()),
        "nearest_mean": float((classes[near.argmax(axis=1)] == y[told]).mean()),
    }


def draw(path: str, title: str, confusion: dict[str, Counter[str]]) -> None:
    """A picture: for each class, the shares of its rows that were taken for each."""
    from edgesvm.cli.figures import saved

    names = [*confusion]
    n = len(names)
    with saved(path, 1, 1, (2.5 + 0.6 * n, 2 + 0.5 * n)) as [[axis]]:
        shares = np.array([[row[k] / row.total() for k in names] for row in confusion.values()])
        axis.imshow(shares, cmap="Blues", vmin=0, vmax=1.3)
        axis.set_xticks(range(n), names, rotation=45, ha="right")
        axis.set_yticks(range(n), names)
        axis.set(xlabel="taken for", ylabel="class")
        axis.set_title(title, fontsize=9)
        for i, j in np.argwhere(shares > 0):
            axis.text(j, i, percent(shares[i, j]), ha="center", va="center", fontsize=8)


def words(report: dict[str, Any]) -> Iterator[str]:
    """The report as text."""
    for path, counts in report["files"].items():
        yield f"{path}: {', '.join(f'{n:,} {label}' for label, n in counts.items())}"
    if s := report["held_out"]:
        yield (
            f"accuracy {percent(s['accuracy'])} on {s['rows']:,} rows held out (larger class "
            f"{percent(s['larger_class'])}, nearest class mean {percent(s['nearest_mean'])}), "
            f"balanced {percent(s['balanced_accuracy'])}"
        )
        for label, recall in s["recalls"].items():
            others = (s["confusion"][label] - Counter({label: s["rows"]})).most_common(1)
            mostly = f", else mostly {others[0][0]}" if others else ""
            yield f"  {label:<16}{percent(recall)}{mostly}"
    passes = f" in {report['passes']} passes" if report["passes"] > 1 else ""
    yield f"{report['learner']}, {report['bytes']:,} B, learned {report['rows']:,} rows{passes}"
    yield f"saved to {report['saved']}; next: edgesvm predict {report['saved']} PORT"
