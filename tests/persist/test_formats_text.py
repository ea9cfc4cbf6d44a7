"""The tables of FORMATS.md say what the learners' plans and parameters are."""

import math
import re
from pathlib import Path

import numpy as np
from each import each

from edgesvm import (
    LASVM,
    RBF,
    AdaGradSVM,
    AdaGradSVR,
    BallVectorMachine,
    BatchSVM,
    BatchSVR,
    ByteSVM,
    Calibrated,
    ClockFeatures,
    CoreVectorMachine,
    Forgetron,
    FourierRLS,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    IncrementalDecrementalSVM,
    IncrementalDecrementalSVR,
    IncrementalSVM,
    KernelNovelty,
    KernelPerceptron,
    KernelStreamSVM,
    Linear,
    OneClassBallVectorMachine,
    OneClassCoreVectorMachine,
    OneVsOne,
    OneVsRest,
    PassiveAggressive,
    Pegasos,
    Perceptron,
    RandSVM,
    ReservoirSVM,
    RobustStandardized,
    SharedTwinSVM,
    SimpleSVM,
    Standardized,
    StreamSVM,
    TwinVectorMachine,
    WindowedSVM,
    WindowFeatures,
)
from edgesvm.contract.registry import LEARNERS, kind_of
from edgesvm.learners.fourier._directions import key_of

TEXT = (Path(__file__).parents[2] / "docs" / "FORMATS.md").read_text()
TYPES = {
    "i64": "<i8",
    "u64": "<u8",
    "f64": "<f8",
    "f32": "<f4",
    "i32": "<i4",
    "i16": "<i2",
    "i8": "i1",
    "u8": "u1",
}
D = 5

# One setting or two of each learner, and the sizes that the table of learners gives for it.
SOLVER = {"N": 40}
NONZEROS = {"N": 40, "R": 40, "Z": 139}
CORE = {"N": 40, "p": 9, "E": D}
WIDER = {"E": D + 1}
SETTINGS = [
    (StreamSVM(), {"W": D + 1, "H": 1}),
    (StreamSVM(n_balls=3, fit_intercept=False, dtype="float64"), {"W": D, "H": 4}),
    (StreamSVM(lookahead=1, average=False), {"W": D + 1, "H": 2}),
    (KernelStreamSVM(max_vectors=7), {"M": 7, "P": 28}),
    (KernelStreamSVM(max_vectors=7, when_full="share"), {"M": 8}),
    (BatchSVM(max_samples=40, cache="1KiB"), SOLVER),
    (BatchSVM(max_samples=40, max_nonzeros=99, cache="1KiB"), NONZEROS),
    (BatchSVM(max_samples=40, max_nonzeros=99, kernel=Linear()), NONZEROS),
    (ReservoirSVM(max_samples=40, cache="1KiB", dtype="float64"), SOLVER),
    (BatchSVR(max_samples=40, cache="1KiB"), SOLVER | {"K": 1}),
    (IncrementalSVM(max_vectors=30, batch_size=10), SOLVER),
    (IncrementalSVM(scheme="active", max_vectors=30, batch_size=10), SOLVER),
    (
        WindowedSVM(window=2, max_vectors=27, batch_size=13, dtype="float64"),
        {"w": 2, "b": 13, "B": 32, "N": 40},
    ),
    (CoreVectorMachine(max_core=40, n_probes=9, dtype="float64"), CORE),
    (CoreVectorMachine(max_core=40, n_probes=9, kernel="poly", normalize="kernel"), CORE | WIDER),
    (BallVectorMachine(max_core=40, n_probes=9), CORE),
    (
        CoreVectorMachine(max_core=40, n_probes=9, max_nonzeros=99, kernel="poly", normalize=True),
        CORE | {"R": 49, "Z": 148},
    ),
    (
        BallVectorMachine(
            max_core=40, n_probes=9, max_nonzeros=99, kernel=Linear(), normalize=True
        ),
        CORE | {"R": 49, "Z": 148},
    ),
    (OneClassCoreVectorMachine(max_core=40, n_probes=9), CORE),
    (OneClassBallVectorMachine(max_core=40, n_probes=9), CORE),
    (TwinVectorMachine(max_twins=7), {"M": 9, "P": 45}),
    (
        TwinVectorMachine(max_twins=7, max_margin=4, dtype="float64", forgetting=None),
        {"M": 9, "P": 4 * 9 + 10},
    ),
    (SharedTwinSVM(max_twins=7), {"K": 2, "V": 1, "M": 7, "P": 28}),
    (SharedTwinSVM(max_twins=7, n_classes=3), {"K": 3, "V": 3, "M": 7, "P": 28}),
    (IncrementalDecrementalSVM(max_vectors=7), {"M": 8, "P": 36}),
    (IncrementalDecrementalSVR(max_vectors=7), {"K": 1, "M": 8, "P": 36}),
    (SimpleSVM(max_vectors=7), {"M": 7, "P": 28}),
    (FourierSVM(n_directions=70), {"K": 2, "V": 1, "P": 70, "W": 140 + D + 1}),
    (FourierSVM(n_directions=70, gamma=0.3), {"K": 2, "V": 1, "P": 70, "W": 140 + D + 1}),
    (
        FourierSVM(directions="orthogonal", n_classes=4, n_directions=70),
        {"K": 4, "V": 4, "P": 70, "W": 140 + D + 1, "O": 16},
    ),
    (FourierSVM(n_classes=3, dtype="float64"), {"K": 3, "V": 3, "P": 128, "W": 256 + D + 1}),
    (ByteSVM(n_bytes=901), {"K": 2, "B": 901}),
    (ByteSVM(n_classes=3), {"K": 3, "B": 4096}),
    (AdaGradSVM(), {"K": 2, "V": 1, "W": D + 1}),
    (AdaGradSVM(n_classes=4, dtype="float64"), {"K": 4, "V": 4, "W": D + 1}),
    (AdaGradSVR(), {"K": 1, "W": D + 1}),
    (FourierSVR(n_directions=70), {"K": 1, "P": 70, "W": 140 + D + 1}),
    (
        FourierSVR(directions="orthogonal", gamma=0.3, dtype="float64"),
        {"K": 1, "P": 128, "W": 256 + D + 1, "O": 16},
    ),
    (FourierRLS(n_directions=9), {"K": 1, "P": 9, "W": 24, "U": 276}),
    (
        Standardized(learner=FourierSVR(n_directions=7), missing="mean", clip=None),
        {"K": 1, "P": 7, "W": 14 + D + 1},
    ),
    (Perceptron(), {"W": D + 1}),
    (PassiveAggressive(fit_intercept=False, dtype="float64"), {"W": D}),
    (Pegasos(batch_size=20), {"W": D + 1}),
    (KernelPerceptron(max_vectors=7), {"M": 7}),
    (Forgetron(max_vectors=7, dtype="float64"), {"M": 7}),
    (LASVM(max_vectors=7), {"M": 8}),
    (GaussianNovelty(), {"G": D * (D + 1) // 2, "T": 3 * D + 2, "R": 1}),
    (GaussianNovelty(covariance="diagonal", dtype="float64", alarm="3/5"), {"R": 5}),
    (GaussianNovelty(stuck="learn"), {"G": D * (D + 1) // 2, "T": 3 * D + 2, "R": 1}),
    (KernelNovelty(max_vectors=7), {"M": 7, "P": 28, "R": 1}),
    (KernelNovelty(max_vectors=7, storage="exact", dtype="float64"), {"M": 7, "P": 28, "R": 1}),
    (Standardized(learner=KernelStreamSVM(max_vectors=7, dtype="float64")), {"M": 7, "P": 28}),
    (Standardized(learner=StreamSVM(average=False), until=9), {"W": D + 1, "H": 1}),
    (Standardized(learner=StreamSVM(average=False), clip=None), {"W": D + 1, "H": 1}),
    (RobustStandardized(learner=KernelStreamSVM(max_vectors=7)), {"M": 7, "P": 28}),
    (Calibrated(learner=Perceptron()), {"V": 1, "W": D + 1}),
    (Calibrated(learner=Perceptron(), coverage=0.9), {"V": 1, "W": D + 1}),
    (
        Calibrated(learner=FourierSVM(n_classes=3), min_recall={"a": 0.9}),
        {"K": 3, "V": 3, "P": 128, "W": 256 + D + 1},
    ),
    (RandSVM(solver=BatchSVM(max_samples=40, cache="1KiB")), {"N": 40, "q": 40}),
    (
        RandSVM(solver=BatchSVM(max_samples=40, max_nonzeros=99, kernel=Linear())),
        NONZEROS | {"q": 40},
    ),
    (OneVsOne(n_classes=4), {"K": 4, "Q": 6}),
    (OneVsRest(n_classes=4), {"K": 4, "Q": 4}),
]
WRAPPED = {
    **dict.fromkeys(("Standardized", "RobustStandardized", "Calibrated"), "learner"),
    "RandSVM": "solver",
}


def rows_after(heading):
    """Cells of the rows of the table whose heading is this."""
    lines = TEXT[TEXT.index(heading) :].splitlines()[2:]
    table = lines[: next(i for i, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def arrays_of_blocks():
    """Name, type and shape of the arrays of each block, from the listing."""
    listing = TEXT.split("\n    common\n")[1].split("\n\n")[0]
    blocks, current = {"common": []}, "common"
    for line in listing.splitlines():
        if heading := re.fullmatch(r"    (\w[\w ]*)", line):
            current = heading[1]
        elif arrays := re.match(r"      (\w+(?: \w+)*)  +(\w+)(?:\[(.*?)\])?(?=  )", line):
            names, kind, shape = arrays.groups("")
            blocks.setdefault(current, []).extend((name, kind, shape) for name in names.split())
    return blocks


BLOCKS = arrays_of_blocks()
SEQUENCES = {
    name.strip("`"): blocks for name, blocks, _ in rows_after("| learner | blocks | sizes |")
}


def blocks_of(learner, sizes):
    """The blocks of a learner, those of the wrapped one included."""
    name = type(learner).__name__
    own, _, after = SEQUENCES[name].partition(";")
    newton = getattr(learner, "when_full", "newton") == "newton"
    left_out = {"sensors": getattr(learner, "stuck", "") == "learn"}
    left_out["forgetting"] = getattr(learner, "forgetting", None) is None or not newton
    sequence = [block.strip() for block in own.split(",")]
    sequence = [block for block in sequence if not left_out.get(block)]
    if "average, if" in after and learner.average:
        sequence.append("average")
    if name == "Standardized":
        absent = {"settling": learner.until is None, "far out": learner.clip is None}
        absent["missing"] = learner.missing == "refuse"
        sequence = [block for block in sequence if not absent.get(block)]
    if "generator before" in after and learner.scheme == "active":
        sequence.insert(-1, "generator")
    if "if H > 1" in after and sizes["H"] > 1:
        sequence.append("balls")
    if "mixed, if" in after and learner.directions == "orthogonal":
        sequence += [block for block in ("angles", "mixed") if block not in sequence]
    weighs = getattr(learner, "weigh_widths", True)
    if "amplitudes, if" in after and weighs and learner.gamma is None:
        sequence.append("amplitudes")
    if "if K > 2" in after and sizes["K"] > 2:
        sequence.append("scores")
    if "if min_recall" in after:
        given = {"quantile": learner.min_recall, "sets": learner.coverage}
        sequence += [block for block, value in given.items() if value]
    if getattr(learner, "covariance", "") == "diagonal":
        sequence = [block for block in sequence if "covariance" not in block]
    if "for codes" in after and learner.storage == "exact":
        sequence = [block.replace("codes", "centres") for block in sequence]
    if "for vectors" in after and newton:
        sequence[-1] = "newton vectors"
    sequence[-1:] = last_blocks(learner, sequence[-1])
    if name in WRAPPED:
        inner = getattr(learner, WRAPPED[name])
        sequence += blocks_of(inner, sizes)[1:]
    return sequence


def last_blocks(learner, last):
    """The last block of a sequence, or those that a learner of non-zeros has instead."""
    if getattr(learner, "max_nonzeros", None) is None:
        return [last]
    w = ["plane of nonzeros"] if isinstance(learner.kernel, Linear) else []
    return [*w, "nonzeros", last]


def arrays_of(blocks):
    """Those of the blocks, in order; rows of non-zeros are instead of dense ones."""
    arrays = [array for block in blocks for array in BLOCKS[block]]
    if "nonzeros" not in blocks:
        return arrays
    drawn = [(f"drawn_{name}", *rest) for name, *rest in BLOCKS["nonzeros"]]
    whole = [drawn if array[0] == "drawn_rows" else [array] for array in arrays]
    return [array for some in whole for array in some if array[0] not in ("rows", "block_rows")]


def dtype_of(learner):
    inner = WRAPPED.get(type(learner).__name__)
    return dtype_of(getattr(learner, inner)) if inner else learner.get_params().get("dtype")


def evaluated(shape, sizes):
    """A shape of the table, as whole numbers; the lengths it leaves open are given in `sizes`."""
    python = (
        shape.replace("bytes of a part", "part")
        .replace("rest bytes", "4 * rest")
        .replace("8 p", "8 * p")
        .replace("4 c", "4 * c")
        .replace("/", "//")
    )
    up = {"up": lambda n: math.ceil(n / 16) * 16}
    return tuple(eval(python, up, sizes) for python in python.split(",") if python)


@each("learner, sizes", SETTINGS, ids=repr)
def test_arena(learner, sizes):
    plan = learner.plan(D)
    real = np.dtype(dtype_of(learner) or "float32")
    part = plan.arrays[-2].shape[-1] if "Q" in sizes else 0
    sizes = {"K": 2, "D": D, "L": 64 // real.itemsize, "part": part} | sizes
    at = 0
    blocks = blocks_of(learner, sizes) + learner.takes_labels * ["mean weight"]
    expected = arrays_of(blocks)
    assert [array.name for array in plan.arrays] == [name for name, _, _ in expected]
    for array, (name, kind, shape) in zip(plan.arrays, expected, strict=True):
        at = -(-at // 8) * 8
        dtype = real if kind == "real" else np.dtype(TYPES[kind])
        sizes["rest"] = (plan.total - 8 * learner.takes_labels - at) // 4
        assert (name, array.dtype, array.offset) == (name, dtype, at)
        assert array.shape == evaluated(shape, sizes), name
        at += dtype.itemsize * math.prod(array.shape)
    assert -(-at // 8) * 8 == plan.total


def test_every_learner_and_block_is_tried():
    tried = [(type(learner).__name__, blocks_of(learner, sizes)) for learner, sizes in SETTINGS]
    assert SEQUENCES.keys() == LEARNERS.keys(), (
        f"docs/FORMATS.md, the rows of | learner | blocks | sizes |: {SEQUENCES.keys() ^ LEARNERS}"
    )
    untried = LEARNERS.keys() - {name for name, _ in tried}
    assert not untried, f"{untried}: a line each in SETTINGS, with the sizes of its arrays"
    assert {block for _, blocks in tried for block in blocks} | {"mean weight"} == BLOCKS.keys()


def test_parameters():
    listed, explained = {}, set()
    for names, params in rows_after("| learner | parameters, in order |"):
        for name in re.findall(r"`(\w+)`", names):
            listed[name] = re.findall(r"`(\w+)`", params)
    for names, _, _ in rows_after("| parameter | type | meaning |"):
        explained |= set(re.findall(r"`(\w+)`", names))
    for name in LEARNERS:
        own = list(kind_of(name)().get_params(deep=False))
        row = f"| `{name}` | {', '.join(f'`{param}`' for param in own)} |"
        assert listed.get(name) == own, (
            f"docs/FORMATS.md, | learner | parameters, in order |: {row}"
        )
    assert listed.keys() == LEARNERS.keys()
    assert explained == {param for params in listed.values() for param in params}


# -- scoring: what examples/read_snapshot.py does not read ----------------------------------------


def sums(rows, beta, intercept, X, kernel):
    flat = rows.transpose(0, 2, 1).reshape(-1, X.shape[1]).astype(float)
    return intercept + kernel(X.astype(float), flat) @ beta


def windowed(v, X, kernel):
    w = len(v["intercept"])
    a = int(v["n_batches"]) % w if v["n_batches"] >= w else 0
    return sums(v["model_rows"][a], v["model_beta"][a], v["intercept"][a], X, kernel)


def expansion(v, X, kernel):
    return sums(v["rows"], v["beta"], v["intercept"], X, kernel)


def samples(v, X, kernel):
    n = int(v["n"])
    return (v["b"] + kernel(X, v["vectors"][:n]) @ v["coef"][:n]) / v["mu"]


def samples_of_nu(v, X, kernel):
    return samples(v | {"mu": v["nu"]}, X, kernel)


def shared_twins(v, X, kernel):
    n = int(v["n"])
    k = kernel(X, v["vectors"][:n])
    if v["settled_at"]:
        return (k + v["lift"]) @ v["coef"][0, :n]
    near = [(2 * k[:, v["twin_class"][:n] == c] - 2).max(axis=1) for c in (0, 1)]
    return near[1] - near[0]


KERNEL = RBF(0.5)
SCORED = [
    (ReservoirSVM(kernel=KERNEL, max_samples=50), expansion),
    (BatchSVR(kernel=KERNEL, max_samples=150), expansion),
    (RandSVM(solver=BatchSVM(kernel=KERNEL, max_samples=150, cache="64KiB")), expansion),
    (IncrementalSVM(kernel=KERNEL, batch_size=30, max_vectors=60), expansion),
    (CoreVectorMachine(kernel=KERNEL, max_core=40), expansion),
    (WindowedSVM(kernel=KERNEL, batch_size=30, max_vectors=60), windowed),
    (WindowedSVM(kernel=KERNEL, batch_size=70, max_vectors=90), windowed),
    (IncrementalDecrementalSVM(kernel=KERNEL, C=3.0), samples),
    (IncrementalDecrementalSVR(kernel=KERNEL, C=3.0), samples_of_nu),
    (SimpleSVM(kernel=KERNEL, C=3.0, max_vectors=40), samples),
    (SharedTwinSVM(kernel=KERNEL, max_twins=9, settle_after=60), shared_twins),
    (SharedTwinSVM(kernel=KERNEL, max_twins=9), shared_twins),
]


@each("learner, formula", SCORED, ids=repr)
def test_scoring(learner, formula):
    X = np.random.default_rng(5).standard_normal((150, 3)).astype(np.float32)
    y = X[:, 0] + X[:, 1] ** 2 > 0.5
    y[:2] = False, True  # class index 1 is the larger label
    if learner.regresses:
        f = learner.partial_fit(X, X[:, 0] + y).predict(X)
    else:
        f = learner.partial_fit(X, y, classes=[False, True]).decision_function(X)
    arrays = learner.plan(3).arrays
    memory = learner.core.arena.memory
    v = {a.name: np.ndarray(a.shape, a.dtype, memory.tobytes(), a.offset) for a in arrays}
    assert np.abs(formula(v, X, KERNEL) - f).max() <= 1e-5 * np.abs(f).max()


def places_of(D, P, k, key):
    """Features that each direction of ByteSVM looks at."""

    def h(a, b):
        v = key + a * 0x9E3779B1 + b * 0x85EBCA6B & 0xFFFFFFFF
        v = (v ^ v >> 16) * 0x7FEB352D & 0xFFFFFFFF
        v = (v ^ v >> 15) * 0x846CA68B & 0xFFFFFFFF
        return v ^ v >> 16

    t = [1] + [1 + (h(0, j) * D >> 32) for j in range(1, 8)]
    t = [next(n for n in range(n, n + D + 1) if math.gcd(n, D) == 1) for n in t]
    starts = [h(p, 7) * D >> 32 if D > 8 else 0 for p in range(P)]
    return [[(s + i * t[p // 8 % 8]) % D for i in range(k)] for p, s in enumerate(starts)]


def cut(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def cosine(i):
    a = 2 * ((i + 64) % 256) + 1
    a -= 512 * (a >= 256)
    b = a * (256 - abs(a))
    b = b * (12698 + (abs(b) * 3686 >> 14)) >> 14
    return 127 * b + 8192 >> 14


def in_bytes(model, D, key, X):
    """The decision values of ByteSVM, each feature with its scale, of two classes."""
    k, P, has_mean = min(8, D), (len(model) - 56 - 5 * D) // (min(8, D) + 4), True
    if P < 40:
        P, has_mean = (len(model) - 56 - 5 * D) // (k + 2), False
    amplitude = model[26:36].view("<u2").astype(int).tolist()
    lapses = model[36:40].view("<u2").astype(int).tolist()
    e, units = model[52:54].tolist(), model[54:56].view("i1").astype(int).tolist()
    scales = model[56 : 56 + 5 * D].reshape(D, 5)
    u = model[56 + 5 * D :][: P * k].view("i1").astype(int).reshape(P, k)
    w = model[56 + 5 * D + P * k :][: 4 * P].view("i1").astype(int)
    w = w[: 2 * P * (1 + has_mean)].reshape(-1, P, 2)
    q, r = (2 if k > 4 else 1 if k > 2 else 0), math.isqrt(65536 * k)
    angle = [(2**q * c + r // 2) // r for c in (940, 2102, 4410, 9403)]
    root = math.isqrt(2048 * P)
    f = next(f for f in range(1, 64) if (24 << f) // (16129 * root) >= 2**15)
    places = places_of(D, P, k, key)
    for x in X:
        z = []
        for value, (se, s, *m) in zip(x.tolist(), scales.tolist(), strict=True):
            v = math.floor(value / 2.0 ** (se - 256 * (se > 127)) + 0.5)
            v = max(-(1 << 29), min(v, 1 << 29)) - int.from_bytes(m, "little", signed=True)
            v = max(-4 * s, min(v, 4 * s))
            z.append(max(-127, min(cut(64 * v + (s if v > 0 else -s), 2 * s), 127)))
        A = [amplitude[4] * 127 * one for one in units]
        for p in range(P):
            uz = sum(int(u[p, j]) * z[i] for j, i in enumerate(places[p]))
            i = ((uz >> q) * angle[p % 4] >> 8) % 256
            for part in range(1 + has_mean):
                c, s = w[part, p].tolist()
                A[part] += amplitude[p % 4] * (c * cosine(i) + s * cosine(i - 64))
        g = (24 << f) // (16129 * root)
        last, mean = (max(-20480, min(a * g >> f - b, 20480)) for a, b in zip(A, e, strict=True))
        both = has_mean and lapses[1] <= lapses[0] + lapses[0] // 2
        yield (cut(last + 2 * mean, 3) if both else last) / 1024


@each("n_bytes, D", [(300, 3), (700, 3), (900, 13)])
def test_scoring_in_bytes(n_bytes, D):
    rng = np.random.default_rng(8)
    X = (rng.standard_normal((300, D)) * 10.0 ** rng.integers(-3, 4, D)).astype(np.float32)
    y = X[:, 0] > 0
    learner = ByteSVM(n_bytes=n_bytes, seed=3).partial_fit(X, y, classes=[False, True])
    found = in_bytes(learner.core.views["model"], D, key_of(3), X[:40])
    assert learner.decision_function(X[:40]).tolist() == list(found)


@each("moved", [{}, {"cost": {True: 20.0}}, {"min_recall": {False: 0.9}}])
def test_scoring_by_a_sigmoid(moved):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((150, 3)).astype(np.float32)
    y = X[:, 0] + rng.standard_normal(150) > 0.5
    y[:2] = False, True
    learner = Calibrated(learner=Perceptron(), **moved).partial_fit(X, y, classes=[False, True])
    v = learner.core.views
    f = np.hstack([X, np.ones((150, 1))]) @ v["w"]
    expected = v["slope"][0] * f / v["score_size"] + v["offset"][0]
    expected += math.log(20) if "cost" in moved else 0.0
    expected += v["quantile"][0] if "min_recall" in moved else 0.0
    assert np.abs(learner.decision_function(X) - expected).max() <= 1e-5 * np.abs(expected).max()


@each("params", [{}, {"label_delay": 2}, {"loss": "pinball", "quantile": 0.3}])
def test_scoring_of_a_regressor(params):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((150, 3))
    y = 9.0 + 2.0 * X[:, 0] + np.sin(np.arange(150) / 5.0)
    learner = AdaGradSVR(dtype="float64", **params).partial_fit(X, y)
    v, X = learner.core.views, X[:20] / 4.0
    mean, spread, least, most, last, predicted, *_ = v["target"].tolist()
    s = math.sqrt(spread / 150)
    f = np.clip(mean + s * (np.hstack([X, np.ones((20, 1))]) @ v["w"]), least, most)
    size, below, above = v["interval"][0].tolist()
    np.testing.assert_allclose(learner.predict(X), f, rtol=1e-12)
    expected = np.stack([f - below * size, f + above * size], axis=1)
    np.testing.assert_allclose(learner.predict_interval(X), expected, rtol=1e-12)
    if not params:
        size, below, above = v["interval"][1].tolist()
        z = np.stack([f - mean, np.full(20, last - mean), np.full(20, predicted - mean)])
        f = np.clip(mean + v["stack"] @ z, least, most)
        expected = np.stack([f - below * size, f + above * size], axis=1)
    found = np.array([learner.forecast_one(x) for x in X])
    np.testing.assert_allclose(found, np.column_stack([f, expected]), rtol=1e-12)


@each("kind", [OneVsOne, OneVsRest])
@each("labels", [(2, 0, 1), (1, 0)])
def test_scoring_of_many_classes(kind, labels):
    y = np.resize(labels, 150)
    X = np.random.default_rng(6).standard_normal((150, 3)) + 1.5 * np.eye(3)[y]
    X = X.astype(np.float32)
    model = kind(learner=StreamSVM(average=False), n_classes=4).partial_fit(X, y)
    z = np.hstack([X, np.ones((150, 1))])
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    f = [z @ part[64:80].view("<f4") for part in model.core.views["parts"]]
    K = len(labels)
    votes, sums = np.zeros((2, K, 150))
    for j in range(K):
        for i in range(j):
            pair = f[j * (j - 1) // 2 + i]
            votes[j] += pair > 0
            votes[i] += pair <= 0
            sums[j] += pair
            sums[i] -= pair
    score = votes + sums / (3 * (1 + np.abs(sums))) if kind is OneVsOne else np.array(f[:K])
    expected = score[np.argsort(labels)].T
    if K == 2:
        larger, smaller = labels.index(1), labels.index(0)
        expected = sums[larger] if kind is OneVsOne else (f[larger] - f[smaller]) / 2
    assert np.abs(model.decision_function(X) - expected).max() <= 1e-5 * np.abs(expected).max()


def same_arrays(plan, head, sizes):
    rows = rows_after(head)
    assert [array.name for array in plan.arrays] == [name.strip("`") for name, *_ in rows]
    for array, (name, kind, shape, _) in zip(plan.arrays, rows, strict=True):
        assert array.dtype == np.dtype("float32" if kind == "real" else TYPES[kind]), name
        assert array.shape == evaluated(shape, sizes), name


def test_arena_of_the_clock():
    same_arrays(ClockFeatures().plan(5), "| clock array | type | shape | holds |", {"c": 4})


@each(
    "features, n_streams, pairs, levels",
    [
        ("std,power", 5, 0, {"L": 0, "K": 0, "P": 0}),
        ("all", 6, 10, {"L": 6, "K": 0, "P": 0}),
        ("rocket", 5, 0, {"L": 6, "K": 3, "P": 28}),
    ],
)
def test_arena_of_windows(features, n_streams, pairs, levels):
    windows = WindowFeatures(window=100, hop=30, rate=100.0, bands="1-2,3-9", features=features)
    plan = windows.plan(5)
    sizes = {"S": n_streams, "B": 2, "w": 4, "pairs": pairs, "row": len(windows.names(5))}
    has_patterns = levels["K"] > 0
    sizes |= levels | {"H": 10 if levels["L"] else 0, "C": 5 * has_patterns, "T": int(has_patterns)}
    same_arrays(plan, "| window array | type | shape | holds |", sizes)
    saved = windows.allocate(5).snapshot().params
    assert f"`WindowFeatures` are {' '.join(f'`{name}`' for name in saved)}:" in TEXT
