"""Score samples with a saved model, without edgesvm: a reader that follows FORMATS.md alone.

    python examples/read_snapshot.py model.esvm samples.csv

The CSV has the features of one sample per line. Printed are decision values: positive stands for
the larger of the two labels. It is the pattern for a reader in another language: plain loops over
bytes read with `struct`. It reads five two-class learners, alone or
in `Standardized`.
"""

import csv
import math
import struct
import sys
import zlib
from pathlib import Path

SIZES = {"q": 8, "d": 8, "f": 4, "i": 4, "b": 1}


class Bytes:
    """Little-endian values one after the other, each array on a multiple of 8."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, code):
        values = struct.unpack_from("<" + code, self.data, self.at)
        self.at += struct.calcsize("<" + code)
        return values if len(values) > 1 else values[0]

    def array(self, code, n):
        self.at = -(-self.at // 8) * 8
        values = struct.unpack_from(f"<{n}{code}", self.data, self.at)
        self.at += n * SIZES[code]
        return values

    def scalars(self, codes):
        return [self.array(code, 1)[0] for code in codes]


def value(source):
    """One parameter or label."""
    kind = source.take("B")
    if kind == 0:
        return None
    if kind <= 3:
        return source.take({1: "?", 2: "q", 3: "d"}[kind])
    if kind == 5:
        return source.take("BHdd")
    if kind not in (4, 6):
        raise ValueError(f"a value of unknown kind {kind}")
    text = source.take(f"{source.take('H')}s")
    return text.decode() if kind == 4 else learner(text)


def values(section):
    source = Bytes(section)
    while source.at < len(section):
        yield value(source)


def learner(section):
    """Class name and parameters."""
    name, *rest = values(section)
    return name, dict(zip(rest[::2], rest[1::2], strict=True))


def read(data):
    """The function that scores one sample."""
    if data[:8] != b"ESVMSNAP" or zlib.crc32(data[:-4]) != struct.unpack("<I", data[-4:])[0]:
        raise ValueError("not a snapshot, or a damaged one")
    version, begin, width, length, n_arena, n_params, n_labels = struct.unpack_from(
        "<HHIQQII", data, 8
    )
    if version != 1 or length != len(data) or begin + n_params + n_labels + n_arena + 4 != length:
        raise ValueError("a snapshot of another version, or its lengths are wrong")
    name, params = learner(data[begin : begin + n_params])
    begin += n_params
    labels = list(values(data[begin + 1 : begin + n_labels]))
    if len(labels) != 2:
        raise ValueError("a model of fewer or more than two labels")
    arena = Bytes(data[begin + n_labels : -4])
    arena.scalars("qq")
    n_learned = sum(arena.array("q", 2))
    score = SCORERS[name](arena, params, width, n_learned)
    sign = 1.0 if labels[0] < labels[1] else -1.0
    return lambda x: sign * score(x)


def kernel(params, width):
    """k(x, z)"""
    kind, gamma = params["kernel"], params["gamma"] or 1.0 / width
    degree, coef0 = params["degree"], params["coef0"]
    if isinstance(kind, tuple):
        number, degree, gamma, coef0 = kind
        kind = ("linear", "rbf", "poly")[number]
    if kind == "rbf":
        return lambda x, z: math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))
    if kind == "linear":
        return dot
    return lambda x, z: (gamma * dot(x, z) + coef0) ** degree


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def real(params):
    """The code of the samples' type, and how many rows a tile has."""
    return ("f", 16) if params["dtype"] == "float32" else ("d", 8)


def up(n):
    return -(-n // 16) * 16


def tiled(arena, params, n, width):
    """n rows that are stored in tiles."""
    code, lanes = real(params)
    flat = arena.array(code, n * width)
    first = [(t // lanes) * lanes * width + t % lanes for t in range(n)]
    return [flat[at : at + width * lanes : lanes] for at in first]


def expansion(k, rows, coefficients, intercept=0.0):
    """f(x) = intercept + sum of coefficient times k(x, row)"""
    terms = [(c, row) for c, row in zip(coefficients, rows, strict=False) if c]
    return lambda x: intercept + sum(c * k(x, row) for c, row in terms)


def stream_svm(arena, params, width, n):
    arena.scalars("dddd")
    constant = [1.0] * params["fit_intercept"]
    w = arena.array(real(params)[0], width + len(constant))
    if params.get("average"):  # older files do not have it
        (s,) = arena.scalars("q")
        b = (n - s) * (n + s + 1) / (n * (n + 1))
        average = arena.array(real(params)[0], len(w))
        error_rates = arena.array("d", 2)
        if error_rates[1] <= error_rates[0]:
            w = [(1 - b) * u + b * last for u, last in zip(average, w, strict=True)]

    def score(x):
        z = [*x, *constant]
        norm = math.sqrt(dot(z, z)) if params["normalize"] else 1.0
        return dot(w, z) / (norm or 1.0)

    return score


def skip_forgetting(arena, params):
    if params.get("forgetting") is not None:  # older files do not have it
        arena.scalars("qdd")
        arena.array("d", 6)


def kernel_stream_svm(arena, params, width, _n):
    newton = params.get("when_full", "share") == "newton"
    arena.scalars("dddd")
    if newton:
        skip_forgetting(arena, params)
    (n_held,) = arena.scalars("q")
    slots = params["max_vectors"] + (not newton)
    share, sign, *_ = [arena.array("d", slots) for _ in range(5)]
    arena.array("d", slots * (slots + 1) // 2 if newton else 0)
    flat = arena.array(real(params)[0], slots * width)
    rows = [flat[i * width : (i + 1) * width] for i in range(n_held)]
    return expansion(kernel(params, width), rows, [a * y for a, y in zip(share, sign, strict=True)])


def batch_svm(arena, params, width, _n):
    n = params["max_samples"]
    intercept, _, _, _, solved, *_ = arena.scalars("dddqqqqq")
    if not solved:
        raise ValueError("the stored samples were not solved before saving")
    k = kernel(params, width)
    if params.get("by_plane") and k is dot:  # older files do not have it
        w = arena.array("d", width)
        return lambda x: dot(w, x) + intercept
    rows = tiled(arena, params, up(n), width)
    arena.array("d", n)
    return expansion(k, rows, arena.array("d", up(n)), intercept)


def ball_vector_machine(arena, params, width, _n):
    if params["normalize"] == "kernel":
        raise ValueError("normalize='kernel' is not read here; see FORMATS.md")
    n = params["max_core"]
    *_, intercept = arena.scalars("qqqqdd")
    arena.scalars("ddq")
    arena.array("d", n)
    rows = tiled(arena, params, up(n), width)
    f = expansion(kernel(params, width), rows, arena.array("d", up(n)), intercept)
    if not params["normalize"]:
        return f
    return lambda x: f([a / (math.sqrt(dot(x, x)) or 1.0) for a in x])


def twin_vector_machine(arena, params, width, _n):
    slots = params["max_twins"] + 2
    arena.scalars("qqqqqq")
    skip_forgetting(arena, params)
    mu, b, _, n, *_ = arena.scalars("dddqqqqqqqqq")
    coef = [arena.array("d", slots) for _ in range(9)][2]
    for _ in range(2):
        arena.array("d", slots + 1)
    m = slots if params["max_margin"] is None else min(params["max_margin"], slots)
    own_rows = 0 if params["max_margin"] is None else m * slots
    arena.array("d", own_rows + m * (m + 1) // 2)
    arena.array("i", slots)
    arena.array("b", slots)
    flat = arena.array(real(params)[0], slots * width)
    rows = [flat[i * width : (i + 1) * width] for i in range(n)]
    f = expansion(kernel(params, width), rows, coef, b)
    return lambda x: f(x) / mu


def scaled(x, center, scale, clip, code):
    """A scaled sample, each value limited and rounded to the learner's type."""
    most = math.inf if clip is None else clip
    units = [(a - m) / s if s else 0.0 for a, m, s in zip(x, center, scale, strict=True)]
    limited = [min(max(a, -most), most) for a in units]
    return struct.unpack(f"<{len(x)}{code}", struct.pack(f"<{len(x)}{code}", *limited))


def standardized(arena, params, width, n):
    name, inner = params["learner"] or ("StreamSVM", DEFAULTS)
    mean, spread = arena.array("d", width), arena.array("d", width)
    clip = params.get("clip")  # files of earlier releases have none
    if clip is not None:
        arena.scalars("q")
    code = real(inner)[0]
    arena.array(code, width)
    scale = [math.sqrt(s / n) for s in spread]
    score = SCORERS[name](arena, inner, width, n)

    def standard(x):
        return score(scaled(x, mean, scale, clip, code))

    return standard


DEFAULTS = {"normalize": True, "fit_intercept": True, "dtype": "float32"}
SCORERS = {
    "StreamSVM": stream_svm,
    "KernelStreamSVM": kernel_stream_svm,
    "BatchSVM": batch_svm,
    "BallVectorMachine": ball_vector_machine,
    "TwinVectorMachine": twin_vector_machine,
    "Standardized": standardized,
}


def main(model, samples):
    score = read(Path(model).read_bytes())
    with Path(samples).open(newline="") as lines:
        for row in csv.reader(lines):
            print(f"{score([float(field) for field in row]):.9g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
