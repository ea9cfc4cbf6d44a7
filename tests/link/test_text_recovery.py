"""Text links that come back: from a damaged first line, a wrong guess, a restart, a wrong rate."""

import numpy as np
import pytest
from each import each
from fake_port import Clock, FakePort, rows, sound, text_link

from edgesvm.errors import NoSchema, SchemaChanged
from edgesvm.link import open_link


@pytest.fixture
def clock():
    return Clock()


def xor(line):
    check = 0
    for byte in line:
        check ^= byte
    return b"%s*%02X\n" % (line, check)


def wide_row(i, d=12):
    return b",".join(b"%d" % (i + j) for j in range(d)) + b",%d\n" % (i % 2)


def wide_rows(n, d=12):
    return b"".join(wide_row(i, d) for i in range(n))


def read_all(link, port):
    got = []
    while port.inbox:
        link.poll(0.0)
        while batch := rows(link):
            got += batch
    return got


ANNOUNCED = b"#esvm 1 d=12 label=last\n"


@each("lost", range(len(ANNOUNCED)))
def test_one_byte_lost_from_the_first_announcement_costs_at_most_three_rows(clock, lost):
    damaged = ANNOUNCED[:lost] + ANNOUNCED[lost + 1 :]
    session = b"\n" + damaged + wide_rows(50)
    session += (ANNOUNCED + wide_rows(50)) * 6
    link, port = text_link(clock, session)
    assert link.schema.n_features == 12
    assert len(read_all(link, port)) >= 347
    sound(link)


@pytest.mark.parametrize("announced", [b"", ANNOUNCED])
def test_two_short_lines_at_opening_decide_nothing(clock, announced):
    link, port = text_link(clock, b"\n1,2\n3,4\n" + announced + wide_rows(100))
    assert link.schema.n_features == 12
    assert len(read_all(link, port)) >= 98
    sound(link)


def test_an_announcement_with_its_checksum_opens_the_link_at_once(clock):
    link, _ = text_link(clock, b"\n" + xor(b"#esvm 1 d=12 label=last"))
    assert link.schema.n_features == 12
    assert clock.now == 100.0


def test_a_bare_announcement_without_rows_opens_the_link_when_the_wait_is_over(clock):
    link, port = text_link(clock, b"\n" + ANNOUNCED)  # a sketch that prints once a minute
    assert clock.now == pytest.approx(110.0)
    port.inbox += wide_rows(2)
    assert read_all(link, port) == [0, 1]


def test_an_announcement_with_a_wrong_checksum_changes_nothing(clock):
    line = xor(b"#esvm 1 d=12 label=last").replace(b"d=12", b"d=13")
    link, port = text_link(clock, b"\n" + line + wide_rows(10))
    assert link.schema.n_features == 12
    assert sound(link)["bad_checksum"] == 1
    assert len(read_all(link, port)) >= 8


def test_a_bare_announcement_changes_nothing_where_rows_carry_checksums(clock):
    link, port = text_link(clock, b"\n" + b"".join(xor(b"@%d 1,2,1" % n) for n in range(5)),
                           n_features=2)  # fmt: skip
    assert read_all(link, port) == [0, 1, 2, 3, 4]
    port.inbox += b"#esvm 1 d=2 label=none\n" + xor(b"@5 1,2,1")
    assert read_all(link, port) == [5]
    c = sound(link)
    assert (c["no_checksum"], c["epochs"], c["bad_columns"]) == (1, 1, 0)
    port.inbox += xor(b"#esvm 1 d=2 label=last") + xor(b"@0 1,2,1")
    assert read_all(link, port) == [0]
    assert sound(link)["epochs"] == 2


def test_rows_that_contradict_the_schema_for_long_end_the_link(clock):
    link, port = text_link(clock, b"\n" + b"1,2,0\n" * 3)
    port.inbox += b"1,2,0\n" + wide_rows(31) + b"1,2,0\n" + wide_rows(31)
    assert len(read_all(link, port)) == 3
    port.inbox += wide_row(31)
    assert read_all(link, port) == []
    clock.now += 9.0
    port.inbox += wide_rows(32)
    assert read_all(link, port) == []
    clock.now += 1.0
    port.inbox += b"1,2,0\n" + wide_rows(32)  # a row of the known kind: it begins anew
    assert len(read_all(link, port)) == 1
    clock.now += 10.0
    port.inbox += wide_rows(32)
    with pytest.raises(SchemaChanged, match="12 features per sample instead of 2"):
        read_all(link, port)
    assert sound(link)["bad_columns"] == 63 + 32 + 32 + 32


@each("length", [4, 10, 50, 63, 64, 65, 300])
@each("lost", [0, 1, 2])
def test_a_numbered_sketch_that_restarts_is_learned_from_again(clock, length, lost):
    """Its first `lost` lines after the reset do not arrive; nothing is announced."""
    n_boots = 10
    session = b"".join(
        b"@%d 1,2,1\n" % n for boot in range(n_boots) for n in range(lost * (boot > 0), length)
    )
    link, port = text_link(clock, b"\n" + session, n_features=2)
    n = len(read_all(link, port))
    if lost < 2:
        assert n >= length + (n_boots - 1) * (length - lost - 4)
    sound(link)


def test_a_restart_whose_first_lines_are_lost_is_seen_by_64_old_numbers(clock):
    session = b"".join(b"@%d 1,2,1\n" % n for n in [*range(5000), *range(10, 600)])
    link, port = text_link(clock, b"\n" + session, n_features=2)
    assert len(read_all(link, port)) == 5000 + 590 - 63
    assert sound(link)["epochs"] == 2


def test_lines_that_come_twice_are_not_a_restart(clock):
    order = [*range(10), 0, 9, 10, 1, 2, 11, 0, 1, 2, 12, 0, 0, 0, 0, 13, 3, 2, 1, 0]
    session = b"".join(b"@%d 1,2,1\n" % n for n in order)
    link, port = text_link(clock, b"\n" + session, n_features=2)
    assert read_all(link, port) == list(range(14))
    assert sound(link)["epochs"] == 1


class NoisyPort(FakePort):
    """A line at the wrong rate: it never ends."""

    def __init__(self, clock):
        super().__init__(clock)
        self.rng = np.random.default_rng(5)
        self.n = 0

    def read(self, timeout, limit=65536):
        chunk = self.rng.bytes(min(limit, 4096))
        self.n += len(chunk)
        assert self.n < 1 << 20, "a megabyte of noise, and no word of it"
        self.clock.now += 1e-4 * len(chunk)
        return chunk


@pytest.mark.parametrize("options", [{}, {"n_features": 1}, {"n_features": 4, "label": "none"}])
def test_noise_that_never_becomes_lines_is_no_schema(clock, options):
    def listen():
        port = NoisyPort(clock)
        link = open_link("noisy", mode="text", opener=lambda: port, clock=clock, **options)
        while True:
            link.poll(0.0)

    with pytest.raises(NoSchema, match="wrong baud rate"):
        listen()


def test_noise_after_good_rows_is_only_counted(clock):
    link, port = text_link(clock, b"\n" + b"1,2,0\n" * 12000, n_features=2)
    assert len(read_all(link, port)) == 12000
    port.inbox += np.random.default_rng(1).bytes(1 << 18) + b"\n1,2,0\n"
    assert len(read_all(link, port)) >= 1
    sound(link)
