"""Tables 2 to 4 of Tsang, Kocsor & Kwok 2007: accuracy, training time and support vectors of the
ball and the core vector machine, the paper's figures and ours side by side; with --figures their
figures 2 to 4, drawn.

C = 1 (1e6 for intrusion), the Gaussian kernel exp(-|x - z|^2 / beta), beta the mean squared
distance of two training rows; and again with half of that, which is nearer to what the paper's
LIBSVM had. Many classes are learned pair by pair. scikit-learn's SVC (LIBSVM) has the same kernel
and C, 200 MB of cache, and sparse rows where the data are sparse. Every fit gets ten minutes of the
processor (the paper: 10,000 s).

Each cell is a process of its own and is kept as it is done; the same command goes on after an
interruption.
"""

from __future__ import annotations

import argparse
import json
import resource
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from cells import Cells, build_id
from data import Split, folder
from data_enclosing import SETS, mean_square_distance, nested
from figures_enclosing import FIGURES, draw, figure_cells
from report import HERE, OUT, markdown, publish, use_one_thread

from edgesvm import RBF, BallVectorMachine, CoreVectorMachine, OneVsOne

LIMIT_S = 600
CACHE_MIB = 200
MAX_CORE = 16_384
SEEDS, ENOUGH_S = 5, 5.0  # fits of a cell, fewer once they have taken so long
LEARNERS = {"BVM": BallVectorMachine, "CVM": CoreVectorMachine}
HOW = [*LEARNERS, "SVC"]
EPSILONS = (1e-4, 1e-5, 1e-6)
WIDTHS = (0.5, 1.0)
COLUMNS = [*((how, epsilon) for how in LEARNERS for epsilon in EPSILONS), ("SVC", 0.0)]
KEPT, KEPT_SVC = OUT / "table_enclosing.jsonl", OUT / "table_enclosing_svc.jsonl"
# In the order of COLUMNS.
PAPER: dict[str, dict[str, tuple[float | None, ...]]] = {
    "optdigits": {
        "accuracy": (96.38, 96.38, 96.38, 96.38, 96.38, 96.38, 96.77),
        "seconds": (1.65, 1.76, 1.87, 24.86, 26.07, 26.25, 1.79),
        "support": (1583, 1594, 1595, 2154, 2191, 2197, 1306),
    },
    "satimage": {
        "accuracy": (89.35, 89.60, 89.60, 89.55, 89.55, 89.60, 89.55),
        "seconds": (1.82, 2.67, 3.54, 14.81, 19.15, 19.67, 1.06),
        "support": (1956, 2048, 2058, 2333, 2581, 2611, 1433),
    },
    "w3a": {
        "accuracy": (97.89, 97.88, 97.88, 97.80, 97.81, 97.82, 97.70),
        "seconds": (0.85, 1.31, 1.75, 13.82, 30.71, 35.12, 1.46),
        "support": (694, 952, 1060, 1402, 2118, 2269, 1072),
    },
    "pendigits": {
        "accuracy": (97.97, 97.94, 97.91, 97.85, 97.85, 97.85, 97.91),
        "seconds": (1.31, 1.40, 1.45, 12.10, 13.31, 13.43, 0.82),
        "support": (1990, 2006, 2008, 2827, 2925, 2926, 1206),
    },
    "reuters": {
        "accuracy": (96.75, 96.78, 96.75, 96.96, 96.96, 96.96, 97.15),
        "seconds": (6.32, 7.78, 8.25, 63.51, 136.04, 162.89, 9.76),
        "support": (925, 1059, 1076, 1496, 2217, 2389, 1356),
    },
    "letter": {
        "accuracy": (94.47, 94.47, 94.47, 94.12, 94.10, 94.10, 94.25),
        "seconds": (19.87, 24.84, 28.40, 215.73, 244.25, 250.43, 10.85),
        "support": (10536, 10658, 10673, 12440, 12820, 12843, 8436),
    },
    "web": {
        "accuracy": (99.13, 99.13, 99.08, 99.09, 99.07, 99.08, 99.01),
        "seconds": (32.59, 235.26, 576.95, 54.46, 670.28, 1235.32, 168.84),
        "support": (2522, 4786, 6263, 2960, 9986, 12984, 4674),
    },
    "ijcnn1": {
        "accuracy": (97.58, 98.38, 98.25, 98.67, 98.11, 98.23, 98.19),
        "seconds": (99.95, 1019.58, 2385.14, 62.78, 433.35, 784.78, 57.96),
        "support": (4006, 7409, 7981, 3637, 9041, 11097, 5700),
    },
    "usps": {
        "accuracy": (99.42, 99.52, 99.52, 99.52, 99.52, 99.51, 99.53),
        "seconds": (150.46, 319.20, 324.17, 288.96, 998.96, 1753.12, 1578.27),
        "support": (1524, 2128, 2163, 2576, 4224, 4429, 2178),
    },
    "intrusion": {
        "accuracy": (91.97, 91.97, 91.97, 81.68, 92.44, 92.44, None),
        "seconds": (0.73, 0.73, 0.73, 0.51, 0.84, 0.70, None),
        "support": (99, 100, 100, 26, 44, 51, None),
    },
}
TABLE_SETS = [*PAPER, "usps, 10 classes"]
SHORTEST_FIRST = ["satimage", "optdigits", "pendigits", "w3a", "reuters", "letter"]
SHORTEST_FIRST += ["usps, 10 classes", "ijcnn1", "web", "intrusion", "usps"]
REASONS = {
    "ijcnn1": "With 1e-4 both machines stop before the optimum, the paper's at 97.58 and 98.67,"
    " LIBSVM being at 98.2: ours stop elsewhere.",
    "reuters": "Ours is nearer to LIBSVM, whose figure is the paper's.",
    "letter": "LIBSVM too is above its figure in the paper: something differs that the paper does"
    " not say.",
    "intrusion": "Another test set, see above.",
}
AT_BETA = "Only with this kernel: the paper's was narrower, see above."
FOREWORD = """Accuracies of ours are means, and deviations, of as many as five seeds of the draws,
where fits are short; times are medians. \\*: not every row is known to be inside. -: out of time;
Table 3 has the limit. Empty: not run. The figures are drawn with `--figures`.

**The kernel.** The paper has beta, the mean squared distance of two training rows. LIBSVM with
that kernel does not give the paper's column of LIBSVM; with half of it, twice the gamma, it
does, in accuracy and in support vectors, where the data are the same to the row (the last two
columns of Tables 2 and 4). So half of beta comes first, and the paper's word second.

**The data.** optdigits, satimage and pendigits are UCI's, with mean 0 and deviation 1: so again
says LIBSVM's column, as UCI's own values and [-1, 1] give another. w3a, letter, web (w8a) and
ijcnn1 are LIBSVM's files as they are, reuters has the paper's counts of rows and features. usps
is not the ten-class set of that name but, as in the authors' paper on core vector machines, its
digits 0 and 1, in a frame of 26 x 26 pixels, moved by up to five in all directions: 121 images
of each, which gives the paper's 266,079 and 75,383 rows and 676 features. The paper's intrusion
is the whole KDD Cup file of 4,898,431 rows with the contest's own test rows, in which there are
attacks that training has not seen; here it is the 10 % file, 400,000 rows to learn and 94,021 to
be tested, at random, counts by their logarithm, all columns to [0, 1]: compare times only in
order of magnitude, accuracies not at all."""
SHOWN = {
    2: "As in the paper, accuracy is the same from 1e-8 to 1e-3 and falls above, and the ball"
    " vector machine's time hardly grows below 1e-4. The core vector machine's goes on growing:"
    " its solver is made as exact as epsilon asks.",
    3: "As in the paper, the ball vector machine with 1e-3 fails on w3a from C = 10 on. Otherwise"
    " than there, both machines fail with 1e-4 from C = 1,000 on: |c|^2 falls with 1 / C, and"
    " where it is below epsilon times the squared radius nearly any ball is good enough. epsilon"
    " has to fall with 1 / C: 1e-6 holds to the end.",
    4: "Nested parts of w8a at random, of the sizes of w1a to w8a: the files themselves are not all"
    " here. SVC has sparse rows.",
}
AFTER_RATIOS = """Times are of a fit, not of reading. SVC's rows are sparse for w3a, reuters and
web, ours dense: that is most of the difference on reuters, where 0.5 % of the numbers are not
zero. Here the data are looked through first, and the (1 + epsilon) guarantee is checked by a whole
pass at the end: the paper's 0.7 s for 4.9 million rows of intrusion had no room for either."""
DOES_NOT_SHOW = """Does not show: LASVM and SimpleSVM, other rounds of Algorithm 4 (one, as in
the paper), what a larger cache would do. The plan is mostly the cache, 200 MiB in all or what
holds every row of the kernel, as SVC's; models learn the same with less, more slowly."""


@dataclass(frozen=True)
class Setting:
    """One fit. `epsilon` = 0 is SVC's, `width` is of the kernel, in beta, `rows` = 0 are all."""

    set: str
    how: str
    epsilon: float = 0.0
    C: float = 1.0
    width: float = 1.0
    rows: int = 0

    @property
    def key(self) -> tuple:
        return (self.set, self.how, self.epsilon, self.C, self.width, self.rows)

    def split(self) -> Split:
        split = SETS[self.set].load()
        return nested(split, self.rows) if self.rows else split


def measure(setting: Setting, limit: int) -> dict[str, Any]:
    split = setting.split()
    gamma = 1.0 / (setting.width * mean_square_distance(split[0]))
    how = measure_svc if setting.how == "SVC" else measure_ours
    return {**how(setting, gamma, split, limit), "gamma": gamma}


def measure_ours(setting: Setting, gamma: float, split: Split, limit: int) -> dict[str, Any]:
    """Means over several seeds of the draws, where a fit is short; seconds are the median."""
    fits: list[dict[str, Any]] = []
    while len(fits) < SEEDS and sum(fit["seconds"] for fit in fits) < ENOUGH_S:
        fits.append(fitted(setting, gamma, split, len(fits), limit))
    scores = [fit["accuracy"] for fit in fits]
    return {
        "accuracy": float(np.mean(scores)),
        "deviation": float(np.std(scores, ddof=1)) if len(scores) > 1 else None,
        "seconds": median(fit["seconds"] for fit in fits),
        "converged": all(fit["converged"] for fit in fits),
        "bytes": fits[0]["bytes"],
        **{
            what: round(np.mean([fit[what] for fit in fits]))
            for what in ("support", "core", "iterations", "passes")
        },
    }


def fitted(setting: Setting, gamma: float, split: Split, seed: int, limit: int) -> dict[str, Any]:
    X, y, X_test, y_test = split
    model = learner(setting, gamma, y, seed)
    n_classes = int(y.max()) + 1
    model.allocate(X.shape[1], classes=list(range(n_classes)))
    passes = 0

    def note(n_passes: int, *_: Any) -> None:
        nonlocal passes
        passes = n_passes

    begin = limited(limit)
    model.fit(X, y, progress=note if n_classes == 2 else None)
    seconds = unlimited(begin)
    parts = [model] if n_classes == 2 else model.parts_
    return {
        "accuracy": 100 * float((model.predict(X_test) == y_test).mean()),
        "seconds": seconds,
        "support": len(model.support_) if n_classes == 2 else n_distinct(model, y),
        "core": sum(part.n_core_ for part in parts),
        "iterations": sum(part.n_iter_ for part in parts),
        "converged": all(part.converged_ for part in parts),
        "passes": passes,  # of two classes only
        "bytes": model.nbytes,
    }


def learner(setting: Setting, gamma: float, y: np.ndarray, seed: int) -> Any:
    """Of two classes, or of their pairs; the cache is so many bytes in all."""
    per_class = np.bincount(y)
    n_classes = len(per_class)
    n_pairs = n_classes * (n_classes - 1) // 2
    max_core = min(MAX_CORE, int(np.sort(per_class)[-2:].sum()))
    part = LEARNERS[setting.how](
        epsilon=setting.epsilon,
        C=setting.C,
        kernel=RBF(gamma),
        max_core=max_core,
        cache=max((CACHE_MIB << 20) // n_pairs, 128 * max_core),
        seed=seed,
    )
    return part if n_classes == 2 else OneVsOne(learner=part, n_classes=n_classes)


def n_distinct(model: OneVsOne, y: np.ndarray) -> int:
    """Rows that are a support vector of any pair, as LIBSVM counts them."""
    n_classes = model.n_classes
    pairs = [(i, j) for j in range(n_classes) for i in range(j)]
    is_support = np.zeros(len(y), bool)
    for (i, j), part in zip(pairs, model.parts_, strict=True):
        is_support[np.flatnonzero((y == i) | (y == j))[part.support_]] = True
    return int(is_support.sum())


def measure_svc(setting: Setting, gamma: float, split: Split, limit: int) -> dict[str, Any]:
    from scipy.sparse import csr_matrix
    from sklearn.svm import SVC

    X, y, X_test, y_test = split
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    if SETS[setting.set].is_sparse:
        X, X_test = csr_matrix(X), csr_matrix(X_test)
    model = SVC(C=setting.C, gamma=gamma, cache_size=CACHE_MIB)
    begin = limited(limit)
    model.fit(X, y)
    seconds = unlimited(begin)
    return {
        "accuracy": 100 * float(model.score(X_test, y_test)),
        "seconds": seconds,
        "support": int(model.n_support_.sum()),
        "converged": model.fit_status_ == 0,
    }


def limited(seconds: int) -> float:
    """From here on the process has so many seconds of the processor; its clock."""
    begin = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(begin) + 1 + seconds, resource.RLIM_INFINITY))
    return begin


def unlimited(begin: float) -> float:
    seconds = time.process_time() - begin
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return seconds


# -- cells -----------------------------------------------------------------------------------------


class Results:
    """Cells of both: those of SVC do not go by our build."""

    def __init__(self, any_build: bool) -> None:
        from sklearn import __version__

        ours = build_id("learners/enclosing", "learners", "core")
        self._ours = Cells(KEPT, ours, any_build=any_build)
        self._svc = Cells(KEPT_SVC, __version__)

    def _of(self, setting: Setting) -> Cells:
        return self._svc if setting.how == "SVC" else self._ours

    def __contains__(self, setting: Setting) -> bool:
        return setting.key in self._of(setting)

    def get(self, setting: Setting) -> dict[str, Any] | None:
        """None where there is none, or it was out of time."""
        if setting not in self:
            return None
        result = self._of(setting)[setting.key]
        return None if "limit" in result else result

    def limit(self, setting: Setting) -> int:
        """Seconds in which it did not end; 0 where it did."""
        return int(self._of(setting)[setting.key].get("limit", 0)) if setting in self else 0

    def __setitem__(self, setting: Setting, result: dict[str, Any]) -> None:
        self._of(setting)[setting.key] = result

    @property
    def builds(self) -> int:
        return len(self._ours.builds)

    def as_list(self) -> list[dict[str, Any]]:
        return [
            {"setting": key, "result": cells[key]}
            for cells in (self._ours, self._svc)
            for key in cells
        ]


def run(settings: list[Setting], results: Results, limit: int) -> None:
    """Fill in what is missing, or had less time. Where a larger epsilon was out of time, a smaller
    is not tried.
    """
    missing = [s for s in settings if s not in results or 0 < results.limit(s) < limit]
    for n, setting in enumerate(missing, start=1):
        if not SETS[setting.set].is_here:
            say(f"{setting.set}: skipped, there is no {SETS[setting.set].file}.npz in {folder()}")
            continue
        if any(results.limit(other) >= limit for other in settings if is_easier(other, setting)):
            results[setting] = {"limit": limit}
            continue
        result = in_a_process(setting, limit)
        if result is None:
            continue
        results[setting] = result
        told = "out of time"
        if "limit" not in result:
            told = f"{result['accuracy']:.2f} %, {result['seconds']:.2f} s"
        say(f"{n}/{len(missing)}: {' '.join(map(str, setting.key))}: {told}")


def is_easier(other: Setting, setting: Setting) -> bool:
    return replace(other, epsilon=setting.epsilon) == setting and other.epsilon > setting.epsilon


def in_a_process(setting: Setting, limit: int) -> dict[str, Any] | None:
    command = [sys.executable, __file__, "--limit", str(limit)]
    command += ["--cell", json.dumps(asdict(setting))]
    child = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    if child.returncode == -signal.SIGXCPU:
        return {"limit": limit}
    if child.returncode:
        say(f"{setting}: failed, exit code {child.returncode}")
        return None
    return json.loads(child.stdout)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


# -- the tables ------------------------------------------------------------------------------------


def column(name: str, how: str, epsilon: float, width: float) -> Setting:
    C = 1e6 if name == "intrusion" else 1.0
    return Setting(name, how, epsilon, C, width)


def table_settings(names: list[str], widths: list[float]) -> list[Setting]:
    names = sorted(names, key=SHORTEST_FIRST.index)
    return [column(name, *which, width) for name in names for width in widths for which in COLUMNS]


def figure_settings(numbers: list[int]) -> list[Setting]:
    return [Setting(**cell) for number in numbers for cell in figure_cells(number)]


def table(what: str, width: float, names: list[str], results: Results) -> str:
    """The paper's and our column of every method."""
    header = ["data"]
    for how, epsilon in COLUMNS:
        title = f"{how} {power(epsilon)}" if epsilon else "LIBSVM"
        header += [f"{title} paper", "ours" if epsilon else "SVC"]
    rows = []
    for name in names:
        row = [name]
        for k, (how, epsilon) in enumerate(COLUMNS):
            paper = PAPER[name][what][k] if name in PAPER else None
            row += [
                number(what, paper),
                shown(what, column(name, how, epsilon, width), results),
            ]
        if any(row[2::2]):
            rows.append(row)
    return markdown(header, rows)


def shown(what: str, setting: Setting, results: Results) -> str:
    result = results.get(setting)
    if result is None:
        limit = results.limit(setting)
        return f"> {limit}" if what == "seconds" and limit else "-" if limit else ""
    text = number(what, result[what])
    if what == "accuracy" and result.get("deviation") is not None:
        text += f" ± {result['deviation']:.2f}"
    return text + ("" if result["converged"] else " *")


def number(what: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if what == "support" else f"{value:.2f}"


def power(epsilon: float) -> str:
    return f"1e{round(np.log10(epsilon))}"


def differences(width: float, names: list[str], results: Results) -> str:
    """Where we are more than 0.3 points from the paper, and why."""
    lines = []
    for name in names:
        if name not in PAPER:
            continue
        gaps = []
        for k, (how, epsilon) in enumerate(COLUMNS):
            result = results.get(column(name, how, epsilon, width))
            paper = PAPER[name]["accuracy"][k]
            gaps.append(None if result is None or paper is None else result["accuracy"] - paper)
        if not any(gap is not None and abs(gap) > 0.3 for gap in gaps):
            continue
        said = [
            f"{how} {' '.join(f'{gap:+.2f}' for gap in part if gap is not None)}"
            for how, part in (("BVM", gaps[:3]), ("CVM", gaps[3:6]), ("SVC", gaps[6:]))
            if any(gap is not None for gap in part)
        ]
        of_kernel = width != WIDTHS[0] and (name not in REASONS or abs(gaps[-1] or 0.0) > 0.3)
        reason = AT_BETA if of_kernel else REASONS.get(name, "No reason known.")
        lines.append(f"- {name}: {'; '.join(said)}. {reason}")
    return "\n".join(["More than 0.3 points from the paper:", "", *(lines or ["- nowhere"])])


def ratios(epsilon: float, names: list[str], widths: list[float], results: Results) -> str:
    """How many times as long as the ball vector machine the others took, theirs and ours."""
    others = [("CVM", epsilon), ("SVC", 0.0)]
    header = ["data"]
    for other in ("CVM", "LIBSVM"):
        header += [f"{other} / BVM {power(epsilon)} paper"]
        header += [f"ours, {width:g} beta" for width in widths]
    rows = []
    for name in names:
        row = [name]
        for other in others:
            times = PAPER[name]["seconds"] if name in PAPER else [None] * len(COLUMNS)
            theirs = [times[COLUMNS.index(which)] for which in (other, ("BVM", epsilon))]
            row.append("-" if None in theirs else f"{theirs[0] / theirs[1]:.2g}")
            row += [multiple(ratio(name, other, epsilon, width, results)) for width in widths]
        rows.append(row)
    return markdown(header, rows)


def ratio(
    name: str, other: tuple[str, float], epsilon: float, width: float, results: Results
) -> tuple[float, bool] | None:
    """Seconds of the other by those of the ball vector machine; whether it was out of time."""
    ball = results.get(column(name, "BVM", epsilon, width))
    setting = column(name, *other, width)
    result, limit = results.get(setting), results.limit(setting)
    if ball is None or (result is None and not limit):
        return None
    seconds = limit if result is None else result["seconds"]
    return seconds / ball["seconds"], result is None


def multiple(found: tuple[float, bool] | None) -> str:
    return "-" if found is None else f"{'> ' if found[1] else ''}{found[0]:.2g}"


def faster(names: list[str], width: float, results: Results) -> str:
    """Where the ball vector machine was the faster one."""
    epsilon, lines = EPSILONS[0], []
    for other in (("CVM", epsilon), ("SVC", 0.0)):
        found = {name: ratio(name, other, epsilon, width, results) for name in names}
        won = [name for name, r in found.items() if r is not None and r[0] > 1]
        lost = [name for name, r in found.items() if r is not None and r[0] <= 1 and not r[1]]
        lines.append(f"- faster than {other[0]}: {'; '.join(won)}. Not: {'; '.join(lost) or '-'}")
    return f"The ball vector machine, {power(epsilon)}, {width:g} beta:\n\n" + "\n".join(lines)


def costs(names: list[str], width: float, results: Results) -> str:
    header = ["data", "learner", "core", "moves", "passes", "all inside", "plan MiB"]
    rows = []
    for name in names:
        for how, epsilon in COLUMNS[:-1]:
            result = results.get(column(name, how, epsilon, width))
            if result is not None:
                rows.append(
                    [
                        name,
                        f"{how} {power(epsilon)}",
                        f"{result['core']:,}",
                        f"{result['iterations']:,}",
                        result["passes"] or "",
                        "yes" if result["converged"] else "no",
                        f"{result['bytes'] / 2**20:.0f}",
                    ]
                )
    return markdown(header, rows)


def report(names: list[str], widths: list[float], results: Results) -> None:
    done = [
        name
        for name in names
        if any(setting in results for setting in table_settings([name], widths))
    ]
    text = [FOREWORD]
    for width in widths:
        beta = "beta" if width == 1.0 else f"{width:g} beta"
        text += [
            f"### Table 2: accuracy in per cent, kernel exp(-d / {beta})",
            table("accuracy", width, done, results),
            differences(width, done, results),
            f"### Table 3: seconds of the processor, kernel exp(-d / {beta})",
            table("seconds", width, done, results),
            f"### Table 4: support vectors, kernel exp(-d / {beta})",
            table("support", width, done, results),
        ]
    text += ["### Time as a multiple of the ball vector machine's"]
    text += [ratios(epsilon, done, widths, results) for epsilon in (EPSILONS[0], EPSILONS[-1])]
    text += [faster(done, widths[0], results), AFTER_RATIOS]
    text += [f"### What it took, kernel exp(-d / {widths[0]:g} beta)"]
    text += [costs(done, widths[0], results)]
    for number, figure in FIGURES.items():
        if (HERE / "figures" / figure.file).exists():
            text += [
                f"### Figure {number}",
                f"![{figure.caption}](figures/{figure.file})",
            ]
            text += [f"{figure.caption}. {SHOWN[number]}"]
    if results.builds > 1:
        text.append(f"Cells of {results.builds} builds of the learners.")
    text.append(DOES_NOT_SHOW)
    publish(
        "table_enclosing",
        "Tables 2 to 4: core and ball vector machines",
        "\n\n".join(text),
        {"paper": PAPER, "ours": results.as_list()},
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", metavar="NAME", choices=TABLE_SETS, default=TABLE_SETS)
    parser.add_argument(
        "--widths",
        nargs="+",
        type=float,
        default=list(WIDTHS),
        help="of the kernel, in beta",
    )
    parser.add_argument("--how", nargs="+", choices=HOW, default=HOW, help="fill in only these")
    parser.add_argument(
        "--figures",
        nargs="*",
        type=int,
        choices=tuple(FIGURES),
        help="draw these, or all",
    )
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT_S,
        help=f"seconds of a fit (default {LIMIT_S})",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the cells of earlier runs")
    parser.add_argument(
        "--done", action="store_true", help="run nothing: show the cells that are done"
    )
    parser.add_argument("--any-build", action="store_true", help="cells of other builds too")
    parser.add_argument("--quick", action="store_true", help="the two smallest sets, no more")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    args = parser.parse_args()
    use_one_thread()
    if args.cell:
        print(json.dumps(measure(Setting(**json.loads(args.cell)), args.limit)))
        return
    if not folder().is_dir():
        print(f"table_enclosing: skipped, there is no data folder {folder()} (set EDGESVM_DATA)")
        return
    if args.quick:
        args.sets = ["optdigits", "satimage"]
    if args.fresh:
        KEPT.unlink(missing_ok=True)
        KEPT_SVC.unlink(missing_ok=True)
    results = Results(args.any_build)
    if args.figures is None:
        settings = table_settings(args.sets, args.widths)
    else:
        settings = figure_settings(args.figures or list(FIGURES))
    if not args.done:
        run([s for s in settings if s.how in args.how], results, args.limit)
    if args.figures is not None:
        for number in args.figures or list(FIGURES):
            draw(number, lambda cell: results.get(Setting(**cell)))
    report(args.sets, args.widths, results)


if __name__ == "__main__":
    main()
