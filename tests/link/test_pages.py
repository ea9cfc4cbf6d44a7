"""A learner's snapshot in pages: whatever is lost or mixed up, only whole ones come out."""

import random
import zlib

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st

from edgesvm.link import SnapshotFetch, SnapshotGift, wire


def snapshot_of(body):
    return body + zlib.crc32(body).to_bytes(4, "little")


def pages_of(snapshot, ask, size=wire.MAX_PAGE):
    """What a learner answers."""
    ask = wire.SnapshotAsk.unpack(ask)
    crc = int.from_bytes(snapshot[-4:], "little")
    end = min(ask.at + ask.n, len(snapshot))
    return [
        wire.SnapshotPage(ask.request, crc, len(snapshot), at, snapshot[at : min(at + size, end)])
        for at in range(ask.at, end, size)
    ]


@given(st.binary(min_size=1, max_size=900), st.integers(1, 300), st.randoms())
def test_lost_pages_are_asked_for_again(body, size, rng):
    snapshot, fetch, whole = snapshot_of(body), SnapshotFetch(), None
    while whole is None:
        for page in pages_of(snapshot, fetch.ask(), size):
            if rng.random() < 0.7:
                whole = whole or fetch.take(wire.SnapshotPage.unpack(page.pack()))
    assert whole == snapshot
    assert fetch.restarts == 0
    assert fetch.missing is None


def test_pages_of_two_moments_are_not_mixed():
    old, new = snapshot_of(b"a" * 500), snapshot_of(b"b" * 500)
    fetch = SnapshotFetch()
    first, *_ = pages_of(old, fetch.ask())
    assert fetch.take(first) is None
    assert fetch.missing == 504 - wire.MAX_PAGE
    pages = pages_of(new, fetch.ask())
    assert [fetch.take(page) for page in pages] == [None] * len(pages)
    assert fetch.restarts == 1
    assert [fetch.take(page) for page in pages_of(new, fetch.ask())][-1] == new


def test_a_wrong_whole_is_not_handed_out():
    good = snapshot_of(b"a" * 50)
    crc = int.from_bytes(good[-4:], "little")
    fetch = SnapshotFetch(max_bytes=60)
    assert fetch.take(wire.SnapshotPage(1, crc, 54, 0, b"b" + good[1:])) is None
    assert fetch.restarts == 1
    assert fetch.take(wire.SnapshotPage(1, crc, 61, 0, good)) is None
    assert fetch.foreign == 1
    assert fetch.take(wire.SnapshotPage(0, crc, 54, 0, good)) == good


def test_a_snapshot_is_given_from_where_the_learner_is():
    snapshot = snapshot_of(bytes(range(256)) * 3)
    gift, had = SnapshotGift(snapshot, 7, max_raw=100), b""
    rng = random.Random(1)
    while gift.outcome is None:
        page = wire.SnapshotPage.unpack(gift.page())
        assert page.request == 7
        assert len(page.part) <= 72
        if page.at == len(had):
            had += page.part
        done = wire.RESTORED if had == snapshot else wire.GO_ON
        gift.take(wire.SnapshotStatus(8, wire.NO_SNAPSHOT, 0))  # of another transfer
        if rng.random() < 0.7:
            gift.take(wire.SnapshotStatus.unpack(wire.SnapshotStatus(7, done, len(had)).pack()))
    assert had == snapshot
    assert gift.outcome == wire.RESTORED


@each(
    "kind, body",
    [
        (wire.SnapshotAsk, b"\0" * 12),
        (wire.SnapshotAsk, b"\1" * 12),
        (wire.SnapshotAsk, b"\1\0\0\0" + b"\0" * 9),
        (wire.SnapshotPage, b"\1\0\0\0" + b"\0" * 12),
        (wire.SnapshotPage, b"\1\0\0\0" + b"\0" * 14),
        (wire.SnapshotPage, b"\1\0\1\0\0\0\0\0\4\0\0\0\0\0\0\0a"),
        (wire.SnapshotStatus, b"\1\0\4\0" + b"\0" * 4),
        (wire.SnapshotStatus, b"\1\0\0\1" + b"\0" * 4),
    ],
)
def test_bad_bodies_are_refused(kind, body):
    with pytest.raises(wire.BadBody):
        kind.unpack(body)


@each("arguments", [(b"12345", 0), (b"12345", 1, 28), (b"1234", 1), (b"12345", 65536)])
def test_a_gift_that_cannot_be_given(arguments):
    with pytest.raises(ValueError, match=r"must be|too small|no snapshot"):
        SnapshotGift(*arguments)
