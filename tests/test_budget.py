"""Bytes as arithmetic: sizes read and written, arrays laid out, plans that cannot be."""

import numpy as np
import pytest
from each import each

from edgesvm.budget import MemoryPlan, format_bytes, parse_bytes


@each(
    "size, n_bytes",
    [
        (0, 0), (65536, 65536), (np.int32(7), 7), ("65536", 65536), ("64KiB", 65536),
        ("64 kib", 65536), (" 1.5 MB ", 1_500_000), ("1GiB", 2**30), ("500kB", 500_000),
        ("12 B", 12), ("0.5KiB", 512),
    ],
)  # fmt: skip
def test_sizes_are_read(size, n_bytes):
    assert parse_bytes(size) == n_bytes


@each(
    "size", ["", "KiB", "64 bananas", "1e3", "-1", -1, "1,000", "0x10", None, True, "nan", "1TiB"]
)
def test_what_is_no_size_is_refused(size):
    with pytest.raises(ValueError, match="size"):
        parse_bytes(size)


@each(
    "n_bytes, text",
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1536, "1.5 KiB (1,536 B)"),
        (2**30, "1.0 GiB (1,073,741,824 B)"),
    ],
)
def test_sizes_are_written(n_bytes, text):
    assert format_bytes(n_bytes) == text


def test_layout():
    plan = MemoryPlan.of(
        [("count", "i8", ()), ("w", "f4", (3,)), ("K", "f8", (2, 2)), ("tag", "u1", ())]
    )
    assert [(a.name, a.offset, a.nbytes) for a in plan.arrays] == [
        ("count", 0, 8),
        ("w", 8, 12),
        ("K", 24, 32),
        ("tag", 56, 1),
    ]
    assert plan.total == 64
    assert plan.offsets == {"count": 0, "w": 8, "K": 24, "tag": 56}


def test_cut_gives_views_of_one_block():
    plan = MemoryPlan.of([("count", "i8", ()), ("K", "f4", (2, 3))])
    block = np.zeros(plan.total, np.uint8)
    arrays = plan.cut(block)
    arrays["count"][...] = 3
    arrays["K"][1, 2] = 1.5
    assert block[0] == 3 and block[8:].view("<f4").tolist() == [0, 0, 0, 0, 0, 1.5]


def test_every_byte_is_shown():
    text = str(MemoryPlan.of([("w", "f4", (3,)), ("K", "f8", (200, 100))]))
    assert "160,000 B" in text and "12 B" in text and "200x100" in text
    assert text.splitlines()[-1].split()[-2:] == ["160,016", "B"]


def test_a_plan_beyond_any_machine_is_refused():
    with pytest.raises(ValueError, match="more than any machine"):
        MemoryPlan.of([("K", "f8", (2**30, 2**30))])


def test_parts_are_one_array_of_the_plan():
    part = MemoryPlan.of([("n", "i8", ()), ("w", "f4", (3,))])
    plan = MemoryPlan.of([("count", "i8", ()), ("parts", "u1", (2, part.total))], {"parts": part})
    assert plan.total == 8 + 2 * part.total == 56
    assert [(a.name, a.offset, a.nbytes) for a in plan.leaves()] == [
        ("count", 0, 8),
        ("part0/n", 8, 8),
        ("part0/w", 16, 12),
        ("part1/n", 32, 8),
        ("part1/w", 40, 12),
    ]
    lines = str(plan).splitlines()
    assert "each of the 2 parts" in lines and "2x24" in str(plan)
    assert [line.split()[-2] for line in lines if line.startswith("total")] == ["56", "24"]


def test_two_arrays_of_one_name_are_refused():
    """A wrapper's array and the wrapped learner's would be the same memory."""
    with pytest.raises(ValueError, match="two arrays of a plan have one name: w, G, w"):
        MemoryPlan.of([("w", "f4", (3,)), ("G", "f8", ()), ("w", "f4", (3,))])
