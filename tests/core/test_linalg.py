"""Sums of core/linalg.pxd against the order that sums_of.h states, bit for bit."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from each import each

from edgesvm.core.views import (
    dot_square_rows_view,
    dot_square_view,
    dot_view,
    square_distance_view,
)

LENGTHS = [*range(201), 784]
DTYPES = [np.float32, np.float64]


def stated_sum(terms):
    """The sum of `terms` in the order of sums_of.h; NumPy adds lane to lane here, it never sums."""
    lanes = 64 // terms.itemsize
    n, rest = len(terms), len(terms) % lanes
    even, odd, tail = np.zeros((3, lanes), terms.dtype)
    for i, vector in enumerate(terms[: n - rest].reshape(-1, lanes)):
        if i % 2:
            odd += vector
        else:
            even += vector
    total = even + odd
    if rest:
        place = slice(lanes - rest, None) if n >= lanes else slice(rest)
        tail[place] = terms[n - rest :]
        total += tail
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    return total[0]


def vectors(n, dtype):
    """Two vectors whose exponents differ widely, so that another order shows in the last bits."""
    rng = np.random.default_rng([n, 7])
    x, z = rng.standard_normal((2, n)) * 2.0 ** rng.integers(-12, 12, (2, n))
    return x.astype(dtype), z.astype(dtype)


def bits(value, dtype):
    return dtype(value).tobytes().hex()


@each("dtype", DTYPES)
@each("n", LENGTHS)
def test_stated_order_to_the_last_bit(n, dtype):
    x, z = vectors(n, dtype)
    difference = x - z
    dot, square = stated_sum(x * z), stated_sum(x * x)
    assert bits(dot_view(x, z), dtype) == bits(dot, dtype)
    assert [bits(v, dtype) for v in dot_square_view(x, z)] == [
        bits(dot, dtype),
        bits(square, dtype),
    ]
    assert bits(square_distance_view(x, z), dtype) == bits(
        stated_sum(difference * difference), dtype
    )


@each("dtype", DTYPES)
@each("n", LENGTHS[1:])
@each("n_rows", [4, 5, 9])
def test_four_rows_together_are_four_alone(n, n_rows, dtype):
    """Whatever follows them, which may be read and must not count."""
    X = np.stack([vectors(n + k, dtype)[0][:n] for k in range(n_rows)])
    X[4:] = np.nan
    w = vectors(n, dtype)[1]
    together = zip(*dot_square_rows_view(X, w), strict=True)
    alone = [dot_square_view(row, w) for row in X[:4]]
    assert [[bits(v, dtype) for v in sums] for sums in together] == [
        [bits(v, dtype) for v in sums] for sums in alone
    ]


@each("dtype", DTYPES)
@each("n", LENGTHS[1:])
@each("n_rows", [4, 5, 9])
def test_the_sums_of_four_rows_are_the_same_one_by_one(n, n_rows, dtype):
    X = np.stack([vectors(n + k, dtype)[0][:n] for k in range(n_rows)])
    w = vectors(n, dtype)[1]
    apart = zip(*dot_square_rows_view(X, w, apart=True), strict=True)
    together = zip(*dot_square_rows_view(X, w), strict=True)
    assert [[bits(v, dtype) for v in sums] for sums in apart] == [
        [bits(v, dtype) for v in sums] for sums in together
    ]


@each("dtype", DTYPES)
def test_the_order_matters_for_these_vectors(dtype):
    """The control: summed left to right, most of the vectors above give other bits."""
    differs = 0
    for n in LENGTHS:
        x, z = vectors(n, dtype)
        left_to_right = dtype(0)
        for term in x * z:
            left_to_right += term
        differs += bits(left_to_right, dtype) != bits(dot_view(x, z), dtype)
    assert differs > len(LENGTHS) // 2


@each("dtype", DTYPES)
@each("n", [1, 7, 8, 9, 15, 16, 17, 33, 100])
@each("bad", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_shows_in_the_square(n, dtype, bad):
    for place in range(n):
        x, z = vectors(n, dtype)
        x[place] = bad
        with np.errstate(invalid="ignore"):
            assert not np.isfinite(dot_square_view(x, z)[1])


@each("dtype", DTYPES)
def test_read_only_vectors_off_the_lane_boundary(dtype):
    x, z = vectors(100, dtype)
    expected = dot_view(x, z)
    raw = np.zeros(101 * x.itemsize, np.uint8)
    shifted = raw[x.itemsize :].view(dtype)
    shifted[:] = x
    shifted.flags.writeable = z.flags.writeable = False
    assert dot_view(shifted, z) == expected


# In a child, where a read outside dies alone; isolated (-I), so that it imports the installed
# package. `x` and `z` each have a page of their own between two forbidden ones.
GUARDED = """
import ctypes, mmap, sys
import numpy as np
from edgesvm.core.views import (
    dot_square_rows_view, dot_square_view, dot_view, square_distance_view)

page = mmap.PAGESIZE
mprotect = ctypes.CDLL(None, use_errno=True).mprotect
mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

def guarded_page():
    pages = mmap.mmap(-1, 3 * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for start in (address, address + 2 * page):
        assert mprotect(start, page, 0) == 0, ctypes.get_errno()
    return pages

pages = [guarded_page(), guarded_page()]
dtype, past = np.dtype(sys.argv[1]), int(sys.argv[2])

def vector(n, pages, at_end):
    start = 2 * page - n * dtype.itemsize if at_end else page
    return np.frombuffer(pages, dtype, n + past, start)

for at_end in (True, False):
    for n in range(201):
        x, z = (vector(n, p, at_end) for p in pages)
        dot_view(x, z)
        dot_square_view(x, z)
        square_distance_view(x, z)
    for n in range(1, page // 5 // dtype.itemsize):
        z = vector(n, pages[1], at_end)
        for n_rows in (4, 5):
            X = vector(n_rows * n, pages[0], at_end).reshape(n_rows, n)
            for apart in (False, True):
                dot_square_rows_view(X, z, apart)
print("read nothing outside")
"""


def run_guarded(dtype, past):
    return subprocess.run(
        [sys.executable, "-I", "-c", GUARDED, np.dtype(dtype).name, str(past)],
        capture_output=True,
        text=True,
        check=False,
    )


linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs mprotect")


@linux_only
@each("dtype", DTYPES)
def test_no_read_outside_the_vectors(dtype):
    child = run_guarded(dtype, past=0)
    assert child.stdout == "read nothing outside\n", child.stderr


@linux_only
@each("dtype", DTYPES)
def test_one_number_more_would_die(dtype):
    """The control: the pages are where the test above says."""
    assert run_guarded(dtype, past=1).returncode == -signal.SIGSEGV
