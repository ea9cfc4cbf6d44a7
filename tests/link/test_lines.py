"""Text lines to rows: decimals, separators, checksums, and each way a line can be invalid."""

import binascii
import itertools
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from each import each
from hypothesis import example, given, settings
from hypothesis import strategies as st

from edgesvm.link import LineParser, SampleRing
from edgesvm.link._lines import parse_view

GOOD_NUMBERS = [
    *("0", "-0", "+1", "1.", ".5", "-.5", "007"),
    *("1e3", "1E+3", "1.5e-3", "340282346e30", "16777217"),
]


@each("text", GOOD_NUMBERS)
def test_decimals_by_hand(text):
    got = np.float32(parse_view(text.encode(), True))
    assert got.tobytes() == np.float32(float(text)).tobytes()


NO_NUMBERS = [
    *("-", "+", ".", "e5", "1e", "1e+", "--1", "1..2"),
    *("1.2.3", "0x10", "1_000", "é", "1f", "na", "nano"),
]


@each("text", ["", "1 2", *NO_NUMBERS])
def test_text_that_is_not_a_decimal(text):
    assert parse_view(text.encode(), True) == "bad_char"


@each(
    "text", ["nan", "NaN", "-nan", "inf", "-INF", "+Infinity", "ovf", "1e39", "-9e999999", "3.5e38"]
)
def test_text_that_is_not_a_finite_float32(text):
    assert parse_view(text.encode(), True) == "bad_value"


def nearest_float32(text):
    """By exact arithmetic: the float32 nearest to the decimal; on a tie, the even one."""
    exact = abs(Fraction(Decimal(text)))
    near = np.float32(float(exact))
    around = [np.nextafter(near, np.float32(0)), near, np.nextafter(near, np.float32(np.inf))]
    best = min(around, key=lambda f: (abs(Fraction(float(f)) - exact), f.view(np.uint32) & 1))
    return -best if text.startswith("-") else best


@given(st.integers(0, 10**15 - 1), st.integers(-22, 22), st.sampled_from(["", "-"]))
@example(16777217, 0, "")  # a true tie, to even
@example(16777219, 0, "")
@example(100000017881393, -14, "")  # 1 + 1.5 * 2**-23, a tie except for its last digits
@example(100000017881394, -14, "")
@example(100000005960464, -14, "")  # just below 1 + 2**-24
@example(100000005960465, -14, "-")
@example(127111154794693, -14, "")  # a tie once rounded to float64: above it, and below
@example(847638463973999, -14, "")
@settings(max_examples=500)
def test_ordinary_decimals_are_rounded_to_the_nearest_float32(mantissa, power, sign):
    text = f"{sign}{mantissa}e{power}"
    right = nearest_float32(text).tobytes()
    assert np.float32(parse_view(text.encode(), True)).tobytes() == right


@given(st.text(alphabet="0123456789+-.eEnaif", max_size=30))
def test_grammar_is_that_of_float_without_specials(text):
    try:
        expected = float(text)
    except ValueError:
        expected = None
    got = parse_view(text.encode(), True)
    if expected is None:
        assert got in ("bad_char", "bad_value")
        assert got == "bad_char" or "n" in text.lower()
    elif isinstance(got, float):
        assert got == pytest.approx(float(np.float32(expected)), rel=1e-6, abs=2e-45)
    else:
        assert got == "bad_value"
        assert not np.isfinite(expected) or abs(expected) > 3.4e38


def parser(n_features=2, capacity=64, **options):
    made = LineParser(n_features, **options)
    made.expect(SampleRing(capacity, n_features))
    return made


def feed(into, text):
    events = list(into.feed(text.encode("latin-1") if isinstance(text, str) else text))
    assert into.broken_identities() == []
    return events


def checked(text):
    xor = 0
    for byte in text.encode():
        xor ^= byte
    return f"{text}*{xor:02X}\n"


@each(
    "line",
    [
        "0.5,-3,1", "0.5, -3, 1", "0.5\t-3\t1", "0.5;-3;1", "0.5 -3 1", "  0.5   -3  1  ",
        "a:0.5,b:-3,class:1",
        "x:0.5 y:-3 z:1", "x:0.5\ty:-3\tz:1", "@7 0.5,-3,1", "+0.5,-3.0,1.0", "@7  0.5 -3 1",
    ],
)  # fmt: skip
@each("end", ["\n", "\r\n", " \n"])
def test_the_same_sample_in_every_notation(line, end):
    into = parser()
    feed(into, line + end)
    batch = into.ring.take()
    assert batch.X.tolist() == [[0.5, -3.0]]
    assert (batch.y.tolist(), batch.has_label.tolist()) == ([1], [True])
    assert batch.sequence.tolist() == [7 if line.startswith("@") else 0]


@each("line", ["1,2,", "1,2,?", "1\t2\t", "1\t2\t?", "1;2;", "1 2 ?", "1,2, ?"])
def test_absent_label(line):
    into = parser()
    feed(into, line + "\r\n")
    batch = into.ring.take()
    assert batch.X.tolist() == [[1, 2]]
    assert not batch.has_label[0]


def test_the_separator_is_determined_once():
    into = parser()
    feed(into, "1;2;0\n1,2,0\n3;4;1\n")
    assert into.separator == ";"
    assert into.counters()["bad_columns"] == 1
    assert len(into.ring) == 2


BAD = {
    "bad_columns": ["1,2", "1,2,3,4", "1", ",,,,,,,"],
    "bad_char": ["1,x,0", "1,,0", "1,0x2,0", "1,2\x00,0", "1,2\xb5,0", "1,--2,0", "1,2\x7f,0"],
    "bad_label": ["1,2,!a", "1,2,1.5", "1,2,40000", "1,2,nan", "1,2,-"],
    "bad_checksum": ["1,2,0*", "1,2,0*0", "1,2,0*FFFF", "1,2,0*GG", "*1,2,0"],
    "bad_sequence": [
        "@",
        "@ 1,2,0",
        "@x 1,2,0",
        "@4294967296 1,2,0",
        "@99999999999999999999 1,2,0",
        "@5",
    ],
    "bad_value": ["1,nan,0", "inf,2,0", "1,-ovf,0", "1,1e39,0"],
    "ignored": ["=5 1"],
    "comments": ["# hello", "#esvmx", "#"],
    "blank": ["", " ", "\t", "\r"],
    "too_long": ["1," + "0" * 600 + ",0"],
}


@each("name, line", [(name, line) for name, lines in BAD.items() for line in lines])
def test_each_kind_of_line_is_counted_and_affects_no_other_line(name, line):
    into = parser()
    feed(into, "3,4,1\n" + line + "\n5,6,0\n")
    assert into.counters()[name] == 1
    assert into.ring.take().X.tolist() == [[3, 4], [5, 6]]
    assert into.lines == 3


def test_an_unprintable_byte_is_found_wherever_it_is():
    line = b"1.2345678,-2.3456789,1"
    for at, byte in itertools.product(range(len(line)), (0, 8, 31, 127)):
        into = parser()
        feed(into, (line[:at] + bytes([byte]) + line[at + 1 :] + b"\n").decode("latin1"))
        assert into.counters()["bad_char"] == 1, (at, byte)


UNTIDY = """\x1b[32m1,2,1\x1b[0m\r; 1|2| 1; \r1,2,1; x=1, y = 2, z=1; x:1 y:2 label:1
T=1 | U = 2 | l=1; {"x": 1, "acc": 2, "label": "1"}; [1, 2.0, 1]; T: 1.0 C  Hum: 2 % on: 1
1 \xc2\xb0C,2\xc2\xb0,1"""


@each("line", re.split("; |\n", UNTIDY))
def test_what_is_no_value_is_taken_out_of_a_line(line):
    into = LineParser()
    for n_features in into.feed(f"I (12) boot: heap 5\n{line}\n".encode("latin-1") * 4):
        into.expect(SampleRing(8, n_features))
    batch = into.ring.take()
    assert batch.X.tolist() == [[1, 2]] * 2 and batch.y.tolist() == [1, 1]
    assert into.broken_identities() == []


def test_a_header_row_of_names_does_not_fix_the_columns():
    into = parser()
    feed(into, "temperature,humidity,class\n1,2,0\n")
    assert into.counters()["bad_char"] == 1
    assert into.separator == ","
    assert len(into.ring) == 1


def test_checksums_are_checked_and_two_in_a_row_make_them_required():
    into = parser()
    feed(into, checked("1,2,0"))
    assert not into.checksummed
    feed(into, "1,2,1\n")
    feed(into, checked("@9 1,2,0") + checked("1,2,1").lower())
    assert into.checksummed
    feed(into, "1,2,0\n" + "# a comment needs none\n\n" + checked("5,6,0"))
    assert into.counters()["no_checksum"] == 1
    assert len(into.ring) == 5
    feed(into, checked("1,2,0").replace("2", "3", 1))
    assert into.counters()["bad_checksum"] == 1


def crc_checked(line):
    return f"{line}*{binascii.crc_hqx(line.encode(), 0xFFFF):04X}\n"


def test_the_longer_checksum_is_a_crc_and_becomes_required_too():
    assert crc_checked("123456789") == "123456789*29B1\n"
    into = parser()
    feed(into, crc_checked("1,2,0") + checked("1,2,1"))
    assert not into.checksummed  # one of each kind is not enough
    feed(into, crc_checked("3,4,0") + crc_checked("5,6,0").lower())
    assert into.checksummed
    assert len(into.ring) == 4
    feed(into, checked("1,2,0") + crc_checked("1,2,0").replace("2", "3", 1) + "1,2,0\n")
    assert (into.counters()["bad_checksum"], into.counters()["no_checksum"]) == (2, 1)
    assert len(into.ring) == 4
    assert into.broken_identities() == []


def test_every_single_bit_flip_of_a_checked_line_is_caught():
    line = checked("@41 0.5,-3.25,1").encode()
    for bit in range(8 * (len(line) - 1)):
        into = parser()
        feed(into, checked("1,1,0") + checked("1,1,0"))
        into.ring.take()
        into.ring.release(2)
        hurt = bytearray(line)
        hurt[bit >> 3] ^= 1 << (bit & 7)
        feed(into, bytes(hurt))
        # A hexadecimal digit in the other case is the same digit.
        same = hurt.upper() == line.upper()
        assert len(into.ring) == same, bytes(hurt)


def test_numbered_lines_are_deduplicated_and_gaps_counted():
    into = parser()
    feed(into, "@0 1,2,0\n@1 1,2,0\n@1 1,2,0\n@5 1,2,0\n@4 1,2,0\n")
    assert into.ring.take().sequence.tolist() == [0, 1, 5, 4]
    assert (into.sequence.missing, into.sequence.duplicate, into.sequence.reordered) == (2, 1, 1)


def test_line_that_is_too_long_is_counted_once_and_not_stored():
    into = parser()
    for _ in range(100):
        feed(into, "7" * 1000)
        assert into.pending <= 512
    feed(into, "\n1,2,0\n")
    assert into.counters()["too_long"] == 1
    assert len(into.ring) == 1


def test_longest_line_and_most_columns():
    into = parser(256, label_column=False)
    feed(into, ",".join(["1"] * 256) + "\n")
    assert len(into.ring) == 1
    feed(into, ("1," * 256)[:511].rjust(512) + "\n")
    assert len(into.ring) == 2
    feed(into, ("1," * 256)[:511].rjust(513) + "\n")
    assert into.counters()["too_long"] == 1
    for n in (0, 257, -1):
        with pytest.raises(ValueError, match="n_features"):
            LineParser(n)
