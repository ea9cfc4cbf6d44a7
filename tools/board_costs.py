"""Count what exported learners cost on boards' processors, and fit the factors of costs.json:
`python tools/board_costs.py [WORDS]`, of the parts whose name begins with one of the words.

Needs QEMU and the cross compilers of `make mcu`. A learner is filled on the host, then decides
about and learns some more rows on the emulator, which counts instructions. What a stage costs is
what it adds to the learner behind it.
"""

from __future__ import annotations

import json
import sys
import tempfile
from itertools import combinations
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "export")]

from edgesvm import (  # noqa: E402
    AdaGradSVM,
    AdaGradSVR,
    ByteSVM,
    Calibrated,
    Chain,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    KernelNovelty,
    KernelStreamSVM,
    Standardized,
    StreamSVM,
    WindowFeatures,
)
from edgesvm.export.costs import instructions, parts  # noqa: E402
from edgesvm.export.fixed import Fixed, table_bytes  # noqa: E402
from edgesvm.export.folder import export  # noqa: E402
from edgesvm.export.report import part_of  # noqa: E402
from rig.boards import BOARDS, UNO, Board, missing, program, run  # noqa: E402
from rig.boards.compiled import compiled  # noqa: E402

FILE = ROOT / "data" / "costs.json"
FILLED, COUNTED = 500, 40  # rows
TABLES_IN_RAM = 144  # of an AVR: the layout, and labels
# M0's code too, on a machine with more memory: its instructions are among those of an M3
WIDE = "qemu-system-arm -M mps2-an385"
WIDE_BOARDS = {
    name: Board(b.compiler, WIDE if name in ("M0", "M3") else b.emulator, 1 << 20, b.script)
    for name, b in BOARDS.items()
}
NOVELTY = {"alarm_rate": 0.05, "warm_up": 100}
SIZES = [(4, 8), (4, 24), (16, 8), (16, 24)]  # features, vectors
WIDTHS = [4, 12, 32]
FREE = {"decide": [0.0], "learn": [0.0]}
SAME = {"float64": {"decide": [1.0, 1.0], "learn": [1.0, 1.0]}}


def stores(make, n_classes=2):
    return [(make(M), D, n_classes) for D, M in SIZES]


def widths(make, n_classes=2):
    return [(make(), D, n_classes) for D in WIDTHS]


def settings(dtype):
    """Name of a part -> learners that end in it, with features and classes."""
    of = {"dtype": dtype}

    def fourier(directions):
        four = FourierSVM(n_directions=32, n_classes=4, directions=directions, **of)
        two = stores(lambda M: FourierSVM(n_directions=4 * M, directions=directions, **of))
        return [*two, (four, 4, 4)]

    def fourier_svr(directions):
        return stores(lambda M: FourierSVR(n_directions=4 * M, directions=directions, **of), None)

    def gaussian(covariance):
        return widths(lambda: GaussianNovelty(covariance=covariance, **NOVELTY, **of))

    def kernel(storage):
        more = {"gamma": 0.1, **NOVELTY, **of}
        return stores(lambda M: KernelNovelty(max_vectors=M, storage=storage, **more))

    return {
        "StreamSVM": widths(lambda: StreamSVM(C=10.0, **of)),
        "StreamSVM, lookahead": stores(lambda M: StreamSVM(lookahead=M // 2, **of)),
        "StreamSVM, several balls": stores(lambda M: StreamSVM(n_balls=M // 2, **of)),
        "GaussianNovelty, full": gaussian("full"),
        "GaussianNovelty, diagonal": gaussian("diagonal"),
        "KernelNovelty, compact": kernel("compact"),
        "KernelNovelty, exact": kernel("exact"),
        "ByteSVM": [  # on an AVR too
            *((ByteSVM(n_bytes=b), D, 2) for b, D in ((400, 4), (640, 9), (1024, 9), (800, 30))),
            *((ByteSVM(n_bytes=b, n_classes=4), 4, 4) for b in (500, 700)),
        ],
        "FourierSVM": fourier("independent"),
        "FourierSVM, orthogonal": fourier("orthogonal"),
        "AdaGradSVR": widths(lambda: AdaGradSVR(**of), None),
        "FourierSVR": fourier_svr("independent"),
        "FourierSVR, orthogonal": fourier_svr("orthogonal"),
        "Standardized": widths(lambda: Standardized(learner=StreamSVM(C=10.0, **of))),
        "Calibrated": [
            (Calibrated(learner=StreamSVM(C=10.0, **of)), 4, 2),
            *((Calibrated(learner=FourierSVM(n_classes=K, **of)), 4, K) for K in (4, 6)),
        ],
    }


def tables(kind, dtype):
    """Learners that are exported as such tables."""
    if kind == "kernel tables":
        return stores(lambda M: KernelStreamSVM(max_vectors=M, gamma=0.1, dtype=dtype))
    four = widths(lambda: AdaGradSVM(n_classes=4, dtype=dtype), 4)
    return [*widths(lambda: AdaGradSVM(dtype=dtype)), *four[:2]]


def samples(n, n_features, n_classes, dtype, learns_normal):
    """Rows as a sensor's, of classes that overlap; class indices and weights. Without a number of
    classes, targets."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, n_features)) + 0.5
    if n_classes is None:
        y = np.sin(X[:, 0]) * X[:, 1] + 0.1 * rng.standard_normal(n)
        return X.astype(dtype), y, np.ones(n)
    slots = rng.integers(0, n_classes, n).astype(np.int8)
    X[:, :3] += 0.8 * np.eye(3)[slots % 3] * (1 + slots[:, None] // 3)
    if learns_normal:
        slots[:] = 1
    return X.astype(dtype), slots, np.ones(n)


# What bulk.c calls, of a model that only decides.
DECIDES = """\
#include "edgesvm/esvm.h"
#include "tab.h"
#define MOD_N_FEATURES TAB_N_FEATURES
#define MOD_N_VALUES TAB_N_VALUES
#define MOD_ARENA_BYTES 8
typedef tab_value mod_value;
typedef struct { uint64_t words[1]; } mod_t;
static const mod_t mod_saved = {{0}};
#define mod_decide(model, x, values) tab_decide(x, values)
#define mod_learn_weighted(model, x, slot, weight) 0
"""


def write_tables(learner, folder, without=""):
    export(learner, folder, "tab", inference=True)
    (folder / "mod.h").write_text(DECIDES, encoding="utf-8")
    (folder / "mod.c").write_text('#include "tab.c"\n', encoding="utf-8")


def filled(learner, n_features, n_classes):
    """A learner that has learned, and rows to go on with."""
    one_class = not learner.takes_labels
    classes = (-1, 1) if one_class else n_classes and tuple(range(n_classes))
    rows = samples(FILLED + COUNTED, n_features, n_classes, learner.dtype, one_class)
    allocated = learner.like_new().allocate(n_features, classes=classes)
    allocated.core.learn_many(*(a[:FILLED] for a in rows))
    return allocated, [a[FILLED:] for a in rows]


def counted(learner, n_features, n_classes, core, folder):
    """What one learner costs on one core: decide, learn, code, stack."""
    allocated, rows = filled(learner, n_features, n_classes)
    there = run(allocated, WIDE_BOARDS.get(core, UNO), folder, rows, stack=8 << 10)
    built = compiled(folder, "mod", WIDE_BOARDS.get(core, UNO))
    stack = there.stack + TABLES_IN_RAM if built.stack is None else built.stack
    return there.decide, there.learn, built.flash - data_bytes(folder), stack


def data_bytes(folder):
    """Of a model's flash, what is the image and the head."""
    text = (folder / "mod.h").read_text(encoding="utf-8")
    return sum(int(text.split(f"MOD_{name} ")[1].split("u")[0]) for name in ("BYTES", "HEAD_BYTES"))


def fitted(sizes, counts):
    """Factors >= 0 of the sizes, whose sums and the counts are the least apart; by what factor."""
    A, best, least = np.array(sizes, float), None, np.inf
    A = A / np.maximum(counts, 1)[:, None]
    n = A.shape[1]
    for k in range(1, n + 1):
        for chosen in map(list, combinations(range(n), k)):
            x, *_ = np.linalg.lstsq(A[:, chosen], np.ones(len(A)), rcond=None)
            ratio = A[:, chosen] @ x
            if (x < 0).any() or (ratio <= 0).any():
                continue
            wrong = np.sqrt(ratio.max() / ratio.min())
            if wrong < 0.98 * least:
                best, least = np.zeros(n), wrong
                best[chosen] = x / np.sqrt(ratio.max() * ratio.min())
    return [float(f"{x:.4g}") for x in best], round(float(least), 2)


def wider(sizes, factors, counts):
    """By what float64 costs more: what is constant, and what grows."""
    terms = np.array(sizes) * factors
    return fitted(np.stack([terms[:, 0], terms[:, 1:].sum(axis=1)], axis=1), counts)[0]


def measure(kind, core, table, folder):
    """The entry of one part on one core. `wrong`: by what factor whole models are off at most."""
    single = settings("float32")[kind]
    sizes, counts, inner, made = points(single, core, table, folder, "float32")
    entry = {"decide": [], "learn": [], "float64": {}, "wrong": []}
    for j, what in enumerate(("decide", "learn")):
        entry[what], _ = fitted(sizes, np.maximum(counts[:, j] - inner[:, j], 1))
        ratio = (np.array(sizes) @ entry[what] + inner[:, j]) / counts[:, j]
        entry["wrong"].append(round(float(np.maximum(ratio, 1 / ratio).max()), 2))
    if kind == "ByteSVM":  # which takes float32 alone
        return entry | SAME | {"code": made[0], "stack": made[1]}
    wide = [settings("float64")[kind][i] for i in (0, -1)]
    sizes, counts, inner, _ = points(wide, core, table, folder, "float64")
    for j, what in enumerate(("decide", "learn")):
        more = np.maximum(counts[:, j] - inner[:, j], 1)
        entry["float64"][what] = wider(sizes, entry[what], more)
    return entry | {"code": max(made[0], 0), "stack": max(made[1], 0)}


def points(chosen, core, table, folder, dtype):
    """Of some learners: sizes of the outermost part, counts, instructions of what is inside; code
    and stack of the outermost part at most."""
    runs = [counted(*setting, core, folder) for setting in chosen]
    code, stack = (max(column) for column in list(zip(*runs, strict=True))[2:])
    sizes, inside = [], np.zeros((len(runs), 2))
    for i, (learner, n_features, _) in enumerate(chosen):
        outer, *inner = parts(learner, n_features)
        sizes.append(outer.sizes)
        for part in inner:
            inside[i] += instructions(table[part.kind], part, dtype)
    for part in inner:
        code, stack = code - table[part.kind]["code"], stack - table[part.kind]["stack"]
    return sizes, np.array([run[:2] for run in runs], float), inside, (code, stack)


def measure_tables(kind, core, _, folder):
    """The entry of a model exported for inference."""
    usual, program.write = program.write, write_tables
    found, counts, sizes, made = {}, {}, {}, []
    for dtype in ("float32", "float64"):
        counts[dtype], sizes[dtype] = [], []
        for setting in tables(kind, dtype):
            allocated, rows = filled(*setting)
            there = run(allocated, WIDE_BOARDS[core], folder, rows, stack=8 << 10)
            built, fixed = compiled(folder, "tab", WIDE_BOARDS[core]), Fixed.of(allocated, "tab")
            sizes[dtype].append(part_of(fixed).sizes)
            counts[dtype].append(there.decide)
            if dtype == "float32":
                made.append((built.flash - table_bytes(fixed), built.stack))
    program.write = usual
    found["decide"], wrong = fitted(sizes["float32"], np.array(counts["float32"]))
    wide = wider(sizes["float64"], found["decide"], np.array(counts["float64"]))
    found |= {"learn": [0.0] * len(found["decide"]), "wrong": [wrong, 1.0]}
    code, stack = map(max, zip(*made, strict=True))
    return found | {"float64": {"decide": wide, "learn": [1.0, 1.0]}, "code": code, "stack": stack}


def measure_windows(kind, core, _, folder):
    """The entry of `WindowFeatures`: what it adds in code, tables among it, and in stack."""
    bands = [(2, 10), (10, 30)]
    windows = WindowFeatures(window=32, hop=16, rate=100, bands=bands, features=WINDOWS[kind])
    chain = Chain(windows=windows, learner=StreamSVM()).allocate(3, classes=[0, 1])
    made = []
    for model in (chain, StreamSVM().allocate(chain.learner_.n_features_in_, classes=[0, 1])):
        export(model, folder, "mod")
        built = compiled(folder, "mod", WIDE_BOARDS.get(core, UNO))
        made.append((built.flash - data_bytes(folder), built.stack))
    code, stack = (max(a - b, 0) for a, b in zip(*made, strict=True))
    return FREE | SAME | {"wrong": [1.0, 1.0], "code": code, "stack": stack}


WINDOWS = {"WindowFeatures": "default", "WindowFeatures, patterns": "rocket"}
TABLES = ("linear tables", "kernel tables")


def as_text(content):
    """JSON with a line for each part on each core"""
    cores = []
    for core, table in sorted(content["cores"].items()):
        lines = [f'"{kind}": {json.dumps(table[kind], sort_keys=True)}' for kind in sorted(table)]
        cores.append(f'"{core}": {{\n' + ",\n".join(lines) + "\n}")
    return '{"cores": {\n' + ",\n".join(cores) + "\n}}\n"


def main(words):
    if why := missing(UNO, *WIDE_BOARDS.values()):
        sys.exit(why)
    content = json.loads(FILE.read_text(encoding="utf-8"))
    for kind in [*settings("float32"), *TABLES, *WINDOWS]:
        if words and not any(kind.startswith(word) for word in words):
            continue
        own = measure_tables if kind in TABLES else measure_windows if kind in WINDOWS else measure
        for core in [*WIDE_BOARDS, *(["AVR"] if kind == "ByteSVM" else [])]:
            with tempfile.TemporaryDirectory() as folder:
                table = content["cores"].setdefault(core, {})
                table[kind] = own(kind, core, table, Path(folder))
            print(core, kind, table[kind], flush=True)
            FILE.write_text(as_text(content), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
