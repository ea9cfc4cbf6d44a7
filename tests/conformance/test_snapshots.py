"""A snapshot is untrusted: whatever its bytes are, a sound learner or a typed error, nothing else.

Damage is found by the CRC. The rest here has a right CRC, as a hostile writer's file would: what a
snapshot says is then checked against its own length and against what a stream could have made.
"""

import contextlib
import pickle
import struct
import tempfile
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from each import each, each_of, first_of
from registry import CHECKS, OWN_METHODS

import edgesvm
from edgesvm import CorruptModelError, FormatVersionError
from edgesvm.persist.format import Wrapped, pack, unpack
from edgesvm.persist.store import restore

pytestmark = pytest.mark.raw
in_the_file = pytest.mark.entries(*OWN_METHODS)
in_the_arena = pytest.mark.entries(*CHECKS)

CRC_BYTES = 4


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.esvm"


def snapshot_of(subject):
    """The bytes of a small learned model."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.esvm"
        subject.learned().save(path)
        return path.read_bytes()


def load_bytes(path, data):
    path.write_bytes(data)
    return edgesvm.load(path)


def sealed(body):
    """`body` with the CRC that belongs to it."""
    return bytes(body) + struct.pack("<I", zlib.crc32(body))


def is_refused_or_works(subject, data):
    """Whether reading refuses; a learner it gives must predict and learn without harm."""
    try:
        learner = restore(bytes(data))
    except CorruptModelError:
        return True
    subject.entry.used(learner)
    return False


# Of a long snapshot: its head whole, and places spread over the rest; of a long array, so many.
HEAD, SPREAD, MANY = 250, 120, 12


def some(places):
    return [*places[:HEAD], *places[HEAD :: max(1, len(places[HEAD:]) // SPREAD)], *places[-8:]]


@in_the_file
@each_of("subject", saved=snapshot_of)
@each("mask", [0x01, 0xFF])
def test_flipped_bytes(saved, mask):
    for place in some(range(len(saved))):
        damaged = bytearray(saved)
        damaged[place] ^= mask
        with pytest.raises(CorruptModelError):
            restore(bytes(damaged))


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_truncations(saved):
    for length in some(range(len(saved) - CRC_BYTES)):
        for data in (saved[:length], sealed(saved[:length])):
            with pytest.raises(CorruptModelError):
                restore(data)


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_bytes_behind_the_end(saved, path):
    for data in (saved + b"\0", saved + saved, sealed(saved[:-CRC_BYTES] + b"\0" * 8)):
        with pytest.raises(CorruptModelError):
            load_bytes(path, data)


@in_the_file
@each("data", [b"", b"\0" * 500, b"PK\x03\x04" * 50, pickle.dumps(list(range(99)))])
def test_foreign_files(path, data):
    with pytest.raises(CorruptModelError):
        load_bytes(path, data)


PARTS = 6  # of the places that are tried; `make test` takes the first part


@in_the_arena
@pytest.mark.parametrize("part", first_of(range(PARTS)))
@each_of("subject", saved=snapshot_of)
def test_changed_bytes_with_a_right_crc(subject, saved, part):
    body = saved[:-CRC_BYTES]
    refused = 0
    for place in some(range(len(body)))[part::PARTS]:
        for value in {0x7F, 0x80, body[place] ^ 1} - {body[place]}:
            hostile = bytearray(body)
            hostile[place] = value
            refused += is_refused_or_works(subject, sealed(hostile))
    assert refused > 50 / PARTS


HOSTILE_INTS = [-1, -(2**63), 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 0, 1, 1000]
HOSTILE_FLOATS = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e300, -1e300, 5e-324]


@in_the_arena
@pytest.mark.parametrize("part", first_of(range(PARTS)))
@each_of("subject", saved=snapshot_of)
def test_hostile_counts_and_numbers_of_the_arena(subject, saved, path, part):
    """Entries of each planned array, spread over long ones, with values that no stream makes."""
    learner = load_bytes(path, saved)
    plan = learner.plan(subject.n_features)
    begin = saved.index(bytes(learner.arena))
    non_finite_accepted = []
    for array in plan.leaves():
        values = HOSTILE_INTS if array.dtype.kind in "iu" else HOSTILE_FLOATS
        step = array.dtype.itemsize
        places = range(array.offset, array.offset + array.nbytes, step)
        spread = places[:: max(1, len(places) // MANY)]
        for i, place in enumerate(spread):
            of_part = values[(i + part) % PARTS :: PARTS]
            for value in of_part if array.shape else values:
                with np.errstate(over="ignore"):
                    number = np.array(value).astype(array.dtype, casting="unsafe")
                hostile = bytearray(saved[:-CRC_BYTES])
                hostile[begin + place : begin + place + step] = number.tobytes()
                refused = is_refused_or_works(subject, sealed(hostile))
                if array.dtype.kind == "f" and not np.isfinite(number) and not refused:
                    non_finite_accepted.append((array.name, place - array.offset, value))
    assert non_finite_accepted == []


@in_the_arena
@each_of("subject", saved=snapshot_of)
def test_counters_that_no_stream_reaches_are_refused(subject, saved, path):
    """They would overflow with the samples to come."""
    plan = load_bytes(path, saved).plan(subject.n_features)
    begin = len(saved) - CRC_BYTES - plan.total
    accepted = []
    for array in plan.leaves():
        if array.dtype != np.int64 or array.shape:
            continue
        for value in (2**62, 2**63 - 1):
            hostile = bytearray(saved[:-CRC_BYTES])
            struct.pack_into("<q", hostile, begin + array.offset, value)
            try:
                restore(sealed(hostile))
            except CorruptModelError:
                continue
            accepted.append((array.name, value))
    assert accepted == []


@in_the_arena
@pytest.mark.parametrize("seed", first_of(range(4)))
@each_of("subject", saved=snapshot_of)
def test_random_changes_with_a_right_crc(subject, saved, seed):
    rng = np.random.default_rng(seed)
    body = saved[:-CRC_BYTES]
    refused = 0
    for _ in range(100):
        hostile = bytearray(body)
        for _ in range(rng.integers(1, 6)):
            width = int(rng.choice([1, 2, 4, 8]))
            place = int(rng.integers(0, len(body) - width))
            hostile[place : place + width] = rng.bytes(width)
        refused += is_refused_or_works(subject, sealed(hostile))
    assert refused > 10


ODD_VALUES = [
    None,
    True,
    False,
    -1,
    0,
    3,
    2**62,
    -(2**63),
    0.0,
    1.0,
    4.0,
    2.5,
    np.nan,
    np.inf,
    -1e308,
    "",
    "1",
    "x" * 900,
]


def with_each_set(params, value):
    """`params` with one after the other set to `value`, those of a wrapped learner too."""
    for name, old in params.items():
        yield {**params, name: value}
        if isinstance(old, Wrapped):
            for inner in with_each_set(old.params, value):
                yield {**params, name: replace(old, params=inner)}


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_every_parameter_hostile(subject, saved):
    """Written by our own writer, so that all but the value is in order."""
    snapshot = unpack(saved)
    refused = 0
    for value in ODD_VALUES:
        for params in with_each_set(snapshot.params, value):
            refused += is_refused_or_works(subject, pack(replace(snapshot, params=params)))
    assert refused >= len(ODD_VALUES)
    for params in ({}, {**snapshot.params, "self": 1}, {**snapshot.params, "": 1}):
        is_refused_or_works(subject, pack(replace(snapshot, params=params)))


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_learner_labels_and_width_hostile(subject, saved, path):
    snapshot = unpack(saved)
    too_many = () if subject.entry.takes_more else tuple(range(subject.entry.n_classes + 1))
    changes = [
        *({"learner": name} for name in ("", "Learner", "object", "os.system", "x" * 900)),
        *(
            {"labels": labels}
            for labels in ((), (1,), (1, 1), (1, True), ("a", "a"), (np.nan, 1), too_many)
            if labels != snapshot.labels
        ),
        *({"n_features": n} for n in (0, 1, subject.n_features + 8, 2**31, 2**32 - 1)),
        {"labels": (1,), "closed": True},
        {"arena": b""},
        {"arena": bytes(snapshot.arena) + b"\0" * 8},
    ]
    for change in changes:
        with pytest.raises(CorruptModelError):
            load_bytes(path, pack(replace(snapshot, **change)))


@pytest.mark.entries("StreamSVM", "BatchSVM", "TwinVectorMachine", "Standardized-OneVsOne")
@each_of("subject", saved=snapshot_of)
def test_no_snapshot_takes_more_memory_than_its_length_allows(subject, saved, path):
    """Fields of header, parameters and labels claim the largest count they can hold; each width
    begins at every third byte, so that every field is met by one of the claims."""
    learner = load_bytes(path, saved)
    head = saved.index(bytes(learner.arena))
    limit = 16 * len(saved) + 64 * 1024
    claims = [
        claim for width in (2, 8) for claim in (b"\xff" * width, b"\0" * (width - 1) + b"\x10")
    ]
    tracemalloc.start()
    try:
        for claim in claims:
            for place in range(len(claim) % 3, head - len(claim), 3):
                hostile = bytearray(saved[:-CRC_BYTES])
                hostile[place : place + len(claim)] = claim
                path.write_bytes(sealed(hostile))
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                with contextlib.suppress(CorruptModelError):
                    edgesvm.load(path)
                assert tracemalloc.get_traced_memory()[1] - before < limit, (place, claim)
    finally:
        tracemalloc.stop()


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_another_version_is_told_apart(saved, path):
    """The version is the u16 behind the eight bytes of magic (FORMATS.md)."""
    assert issubclass(FormatVersionError, CorruptModelError)
    for version in (0, 3, 0xFFFF):
        body = bytearray(saved[:-CRC_BYTES])
        body[8:10] = struct.pack("<H", version)
        with pytest.raises(FormatVersionError, match=str(version)):
            load_bytes(path, sealed(body))


@in_the_file
@each_of("subject", saved=snapshot_of)
def test_a_snapshot_runs_no_code(saved):
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(saved)
