"""The hand-written floor a function at a time, with numbers that models seldom meet."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from on_host import at

from edgesvm import StreamSVM
from rig.boards import STRICT, write

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

DRIVER = """\
#define ESVM_IS_FLOAT32 0
#include "floor.h"
#define EACH(name, what) \\
    void name(const double *a, const double *b, long n, double *out) { \\
        long i; \\
        (void)b; \\
        for (i = 0; i < n; i++) out[i] = what; \\
    }
EACH(quotient, ESVM_DIVIDE(a[i], b[i]))
EACH(root, esvm_sqrt(a[i]))
EACH(root_of_float, (double)esvm_root((float)a[i]))
EACH(greater, esvm_max(a[i], b[i]))
EACH(less, esvm_min(a[i], b[i]))
void powers(const double *a, const double *b, long n, double *out) {
    (void)b;
    memcpy(out, a, n * sizeof *a);
    tiles_exp_f64(1.0, out, (esvm_index)n);
}
"""


@pytest.fixture(scope="module")
def floor(tmp_path_factory):
    folder = tmp_path_factory.mktemp("floor")
    write(StreamSVM().allocate(2, classes=[0, 1]), folder)
    (folder / "floor.c").write_text(DRIVER)
    flags = [*STRICT, "-O1", "-Wno-unused-function", "-DESVM_SOFT_DOUBLE=1", "-fPIC", "-shared"]
    sources = [folder / "floor.c", folder / "edgesvm/soft.c"]
    command = ["gcc", *flags, f"-I{folder / 'edgesvm'}", *sources, "-o", folder / "f.so", "-lm"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "f.so"))

    def call(name, a, b=None):
        a = np.ascontiguousarray(a, np.float64)
        b = a if b is None else np.ascontiguousarray(b, np.float64)
        out = np.empty_like(a)
        getattr(library, name)(at(a), at(b), ctypes.c_long(len(a)), at(out))
        return out

    return call


def numbers(n=200_000):
    """Of every size, and of sizes that lie near one another; ends with all pairs of odd ones."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 1 << 64, (2, n), dtype=np.uint64).view(np.float64)
    pairs[:, ::2] = rng.random((2, n // 2)) + 1
    odd = [0.0, -0.0, 1.0, -1.0, 5e-324, 2.2e-308, 1.8e308, np.inf, -np.inf, np.nan]
    return np.concatenate([pairs, np.array(np.meshgrid(odd, odd)).reshape(2, -1)], axis=1)


def above_a_half(n=5000):
    """a, b whose quotient lies above the middle of two doubles by the least that there is: whole
    numbers of 53 bits with 2^53 a = 1, or 2^54 a = 1 where a < b, modulo b."""
    rng = np.random.default_rng(1)
    for b in map(int, rng.integers(1 << 51, 1 << 52, n) * 2 + 1):
        for a in (pow(1 << 53, -1, b) + b, pow(1 << 54, -1, b)):
            if a >> 52 == 1:
                yield a, b


def test_quotients_and_roots_are_rounded_as_the_processor_does(floor):
    a, b = np.concatenate([numbers(), np.array(list(above_a_half()), float).T], axis=1)
    assert len(a) > 203_000
    with np.errstate(all="ignore"):
        assert np.array_equal(floor("quotient", a, b), a / b, equal_nan=True)
        assert np.array_equal(floor("root", a), np.sqrt(a), equal_nan=True)
        squares = np.arange(1, 200_000.0) ** 2  # and their neighbours, which lie at a half
        for a in (squares, np.nextafter(squares, 0), np.nextafter(squares, np.inf)):
            assert np.array_equal(floor("root", a), np.sqrt(a))


def test_a_float_s_root_is_rounded_as_the_processor_does(floor):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 1 << 32, 300_000, dtype=np.uint32)
    squares = np.arange(1, 5000, dtype=np.float32) ** 2
    near = [np.nextafter(squares, np.float32(to)) for to in (0, np.inf)]
    a = np.concatenate([bits.view(np.float32), squares, *near, np.float32([0.0, -0.0, np.inf])])
    a = np.concatenate([a, np.arange(1, 3000, dtype=np.uint32).view(np.float32)])  # subnormal
    with np.errstate(all="ignore"):
        assert np.array_equal(floor("root_of_float", a), np.sqrt(a), equal_nan=True)


def test_the_greater_and_the_lesser_are_of_numbers(floor):
    a, b = numbers(1000)
    assert np.array_equal(floor("greater", a, b), np.fmax(a, b), equal_nan=True)
    assert np.array_equal(floor("less", a, b), np.fmin(a, b), equal_nan=True)


def test_exp_is_zero_from_where_its_power_of_two_would_be_subnormal(floor):
    x = -np.concatenate([np.linspace(0, 707.9, 10_000), [708.1, 745.0, 1e4, 1e300, np.inf]])
    found = floor("powers", x)
    assert np.all(np.abs(found[:-5] / np.exp(x[:-5]) - 1) < 1e-15)
    assert found[-5:].tolist() == [0.0] * 5
