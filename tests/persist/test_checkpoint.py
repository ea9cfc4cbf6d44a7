"""The two slots of a checkpoint: which one is written, which is loaded, and what a failing disk or
a hostile file does. Power cuts are in tests/firmware_sim/test_power.py.
"""

import errno
import os
import struct
import tracemalloc
import zlib

import make_golden
import numpy as np
import pytest
from each import each
from forked import forked

from edgesvm import CorruptModelError, FormatVersionError, MemoryBudgetError, StreamSVM
from edgesvm.persist import (
    Checkpoint,
    Disk,
    inspect_slots,
    is_checkpoint,
    slot_bytes,
)
from edgesvm.persist.checkpoint import ALIGNMENT, HEADER, HEADER_BYTES
from edgesvm.persist.files import Claim
from rig.power.disk import Fault, SimulatedDisk


def learned(n_samples, n_features=50, **params):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((n_samples, n_features)), rng.choice([-1, 1], n_samples)
    return StreamSVM(**params).partial_fit(X, y)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ckpt"


def state(learner):
    return None if learner is None else bytes(learner.arena)


def saved(path, *n_samples, **options):
    """A checkpoint with those saves, closed."""
    checkpoint = Checkpoint(path, **options)
    for n in n_samples:
        checkpoint.save(learned(n))
    checkpoint.close()
    return checkpoint


def sealed(n_slot, sequence, snapshot, *, version=1, n_snapshot=None, stated=None, reserved=b""):
    """A slot with right CRCs, whatever it says."""
    fields = [b"ESVMSLOT", version, HEADER_BYTES, sequence, stated or n_slot]
    n_snapshot = len(snapshot) if n_snapshot is None else n_snapshot
    header = bytearray(HEADER.pack(*fields, n_snapshot, zlib.crc32(snapshot[:-4]), 0))
    header[12 : 12 + len(reserved)] = reserved
    header[-4:] = struct.pack("<I", zlib.crc32(header[:-4]))
    return (bytes(header) + snapshot).ljust(n_slot, b"\0")[:n_slot]


# Saving and loading.


def test_no_file_is_no_learner(path):
    checkpoint = Checkpoint(path)
    assert checkpoint.load() is None and (checkpoint.sequence, checkpoint.slot_rejected) == (0, 0)
    assert not path.exists()


def test_saves_alternate_and_the_newest_is_loaded(path):
    checkpoint = Checkpoint(path)
    for n in range(1, 6):
        checkpoint.save(learned(10 * n))
        slots = inspect_slots(path)
        assert slots[n & 1].sequence == n and slots[1 - (n & 1)].sequence == n - 1
        again = Checkpoint(path)
        assert state(again.load()) == state(learned(10 * n))
        assert (again.sequence, again.slot_rejected) == (n, 0)
    assert (checkpoint.saves, checkpoint.save_failed) == (5, 0)


def test_the_file_never_changes_its_size_and_slots_are_aligned(path):
    sizes = set()
    checkpoint = Checkpoint(path)
    checkpoint.prepare(learned(1))
    for n in (1, 2, 300):
        sizes.add(path.stat().st_size)
        checkpoint.save(learned(n))
    sizes.add(path.stat().st_size)
    assert sizes == {2 * slot_bytes(learned(1))} and slot_bytes(learned(1)) % ALIGNMENT == 0
    assert os.listdir(path.parent) == [path.name]


def test_fresh_begins_anew_and_stays_newest(path):
    saved(path, 10, 20, 30)
    fresh = Checkpoint(path, fresh=True)
    assert fresh.load() is None
    fresh.save(learned(5))
    assert state(Checkpoint(path).load()) == state(learned(5))


def test_a_file_enlarged_through_a_symbolic_link(path, tmp_path):
    folder = tmp_path / "medium"
    folder.mkdir()
    saved(folder / "file", 10)
    path.symlink_to(folder / "file")
    learner = learned(20, n_features=3000)
    checkpoint = Checkpoint(path, fresh=True)
    checkpoint.save(learner)
    checkpoint.close()
    assert path.is_symlink() and state(Checkpoint(folder / "file").load()) == state(learner)
    assert os.listdir(folder) == ["file"] and len(os.listdir(tmp_path)) == 2


def test_a_link_to_no_file_is_an_error_until_the_file_is_back(path, tmp_path):
    target = tmp_path / "file"
    path.symlink_to(target)
    checkpoint = Checkpoint(path)
    with pytest.raises(FileNotFoundError, match="symbolic link"):
        checkpoint.save(learned(10))
    assert checkpoint.save_failed and path.is_symlink() and not target.exists()
    target.touch()
    checkpoint.save(learned(10))
    assert state(Checkpoint(target).load()) == state(learned(10))


def test_room_for_the_longest_labels(path):
    """The slots are made before a label is known."""
    learner = StreamSVM().allocate(3)
    checkpoint = Checkpoint(path)
    checkpoint.prepare(learner)
    for text in ("ä" * 512, "b" * 1024):
        learner.learn_one([1.0, 2.0, 3.0], text)
        checkpoint.save(learner)
    assert Checkpoint(path).load().classes_.tolist() == sorted(["ä" * 512, "b" * 1024])


def test_a_label_that_cannot_be_saved_leaves_the_last_save(path):
    checkpoint = saved(path, 10)
    odd = StreamSVM()
    odd.learn_one(np.ones(50), (1, 2))
    with pytest.raises(TypeError, match="cannot save the label"):
        checkpoint.save(odd)
    assert state(Checkpoint(path).load()) == state(learned(10))


def test_golden_bytes(path):
    """The file of two saves, byte for byte; only a new format version may change it."""
    golden = make_golden.golden_files()
    learner = make_golden.checkpoint(path)
    assert path.read_bytes() == golden["two_saves_weighed.ckpt"]
    assert state(Checkpoint(path).load()) == state(learner)
    path.write_bytes(golden["two_saves.ckpt"])
    older = Checkpoint(path).load()  # without a mean weight
    assert bytes(older.arena)[:-8] == bytes(learner.arena)[:-8]


# Two files.


def test_either_file_will_do(path, tmp_path):
    spare = tmp_path / "spare"
    saved(path, 10, 20, second=spare)
    for lost in (path, spare):
        data = lost.read_bytes()
        lost.unlink()
        assert state(Checkpoint(path, second=spare).load()) == state(learned(20))
        lost.write_bytes(data)


def test_a_damaged_file_is_made_anew_from_the_other(path, tmp_path):
    spare = tmp_path / "spare"
    saved(path, 10, 20, second=spare)
    data = bytearray(path.read_bytes())
    for at in (100, len(data) // 2 + 100):
        data[at] ^= 1
    path.write_bytes(data)
    checkpoint = Checkpoint(path, second=spare)
    assert state(checkpoint.load()) == state(learned(20)) and checkpoint.slot_rejected == 2
    checkpoint.save(learned(30))
    assert state(Checkpoint(path).load()) == state(Checkpoint(spare).load()) == state(learned(30))


def test_one_of_two_files_fails():
    disk = SimulatedDisk()
    checkpoint = Checkpoint("model", second="spare", disk=disk)
    checkpoint.save(learned(10))
    disk.faults.append(Fault("pwrite", errno.EIO))  # the first file's
    with pytest.raises(OSError, match="Input/output"):
        checkpoint.save(learned(20))
    assert (checkpoint.saves, checkpoint.save_failed) == (2, 1)
    disk.cut_power()
    assert state(Checkpoint("model", second="spare", disk=disk).load()) == state(learned(20))


# A disk that fails, once or for ever.

ERRORS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT]


@each("for_ever", [False, True], ids=["once", "for ever"])
@each("error", ERRORS)
def test_every_operation_of_a_save_fails_in_turn(error, for_ever):
    """The newest state stays; a power cut after the failure does not take it either."""
    for operation in ("pwrite", "fdatasync"):
        for seed in range(10):
            disk = SimulatedDisk(seed, max_write=1024)
            checkpoint = Checkpoint("model", disk=disk)
            checkpoint.save(learned(10))
            checkpoint.save(learned(20))
            disk.faults.append(Fault(operation, error, 1, for_ever))
            for failures in range(1, 3 if for_ever else 2):
                with pytest.raises(OSError) as caught:
                    checkpoint.save(learned(30))
                assert caught.value.errno == error and checkpoint.save_failed == failures
            if seed % 2:  # the process goes on
                disk.faults.clear()
                checkpoint.save(learned(40))
                expected = [learned(40)]
            else:
                expected = [
                    learned(20),
                    learned(30),
                ]  # whole on the medium, though not acknowledged
            disk.cut_power()
            assert state(Checkpoint("model", disk=disk).load()) in map(state, expected)


@each("error", ERRORS)
def test_a_failed_sync_then_a_new_process_then_a_cut(error):
    """The cache shows the failed save whole; who builds on it goes over the only state the medium
    has.
    """
    for seed in range(30):
        disk = SimulatedDisk(seed)
        checkpoint = Checkpoint("model", disk=disk)
        checkpoint.save(learned(10))
        disk.faults.append(Fault("fdatasync", error))
        with pytest.raises(OSError):
            checkpoint.save(learned(20))
        disk.kill()
        disk.faults.clear()
        disk.operations, disk.cut_at = 0, 3
        again = Checkpoint("model", disk=disk)
        found = state(again.load())
        with pytest.raises(BaseException):  # noqa: B017
            again.save(learned(30))
            again.save(learned(40))
        disk.cut_power()
        left = state(Checkpoint("model", disk=disk).load())
        assert left in (found, state(learned(30)), state(learned(40)))


@each("for_ever", [False, True], ids=["once", "for ever"])
@each("error", ERRORS)
def test_every_operation_of_making_the_file_fails_in_turn(error, for_ever):
    count = SimulatedDisk()
    Checkpoint("model", disk=count).prepare(learned(10))
    for nth in range(1, count.operations + 1):
        disk = SimulatedDisk()
        disk.faults.append(Fault("any", error, nth, for_ever))
        checkpoint = Checkpoint("model", disk=disk)
        with pytest.raises(OSError) as caught:
            checkpoint.prepare(learned(10))
        assert caught.value.errno == error and checkpoint.save_failed == 1
        if for_ever:
            with pytest.raises(OSError):
                checkpoint.save(learned(10))
            disk.faults.clear()
        checkpoint.save(learned(10))
        disk.cut_power()
        assert state(Checkpoint("model", disk=disk).load()) == state(learned(10))


# What a file may say.


def two_slots(path):
    """(bytes, slot length) of a checkpoint whose saves 2 and 1 lie in slots 0 and 1."""
    saved(path, 10, 20)
    data = path.read_bytes()
    return data, len(data) // 2


@pytest.mark.parametrize("index", [0, 1])
def test_any_byte_of_a_slot_damaged(path, index):
    data, n_slot = two_slots(path)
    used = HEADER_BYTES + inspect_slots(path)[index].snapshot_bytes
    other = state(learned(10 if index == 0 else 20))
    for place in (*range(HEADER_BYTES), *range(HEADER_BYTES, used, 5)):
        damaged = bytearray(data)
        damaged[index * n_slot + place] ^= 0x40
        path.write_bytes(damaged)
        checkpoint = Checkpoint(path)
        assert state(checkpoint.load()) == other and checkpoint.slot_rejected == 1, place


def test_both_slots_damaged_is_an_error_and_nothing_is_written(path):
    data, n_slot = two_slots(path)
    damaged = bytearray(data)
    damaged[60] ^= 1
    damaged[n_slot + 60] ^= 1
    path.write_bytes(damaged)
    checkpoint = Checkpoint(path)
    with pytest.raises(CorruptModelError, match="damaged"):
        checkpoint.save(learned(30))
    assert checkpoint.slot_rejected == 2 and path.read_bytes() == damaged
    Checkpoint(path, fresh=True).save(learned(30))
    assert state(Checkpoint(path).load()) == state(learned(30))


@pytest.mark.parametrize(
    "data",
    [b"x", b"ESVMSNAP" * 100, bytes(2 * ALIGNMENT), b"PK\x03\x04" * 2 * ALIGNMENT, b"\xff" * 4095],
)
@pytest.mark.parametrize("fresh", [False, True])
def test_a_foreign_file_is_refused_and_left_alone(path, data, fresh):
    path.write_bytes(data)
    checkpoint = Checkpoint(path, fresh=fresh)
    with pytest.raises(CorruptModelError):
        checkpoint.save(learned(10))
    assert path.read_bytes() == data
    assert not is_checkpoint(path)


@pytest.mark.parametrize(
    "says",
    [
        {"version": 2},
        {"n_snapshot": 2**63},
        {"n_snapshot": 1},
        {"stated": 8192 * 1000},
        {"sequence": 2**62},
        {"sequence": 2**64 - 1},
        {"reserved": b"\1"},
        {"snapshot": b""},
        {"snapshot": b"ESVMSNAP" + bytes(200)},
        {"snapshot": b"x" * 60},
    ],
    ids=str,
)
def test_hostile_slots_with_right_crcs(path, says):
    """The other slot is loaded, and it is the hostile one that the next save goes over."""
    data, n_slot = two_slots(path)
    n_snapshot = inspect_slots(path)[0].snapshot_bytes
    fields = {"sequence": 9, "snapshot": data[HEADER_BYTES : HEADER_BYTES + n_snapshot], **says}
    path.write_bytes(sealed(n_slot, **fields) + data[n_slot:])
    checkpoint = Checkpoint(path)
    assert state(checkpoint.load()) == state(learned(10)) and checkpoint.slot_rejected == 1
    checkpoint.save(learned(30))
    assert [slot.sequence for slot in inspect_slots(path)] == [2, 1]


def test_no_more_memory_than_allowed(path):
    """A sound slot of a learner larger than the budget is refused before it is in memory."""
    large = learned(20, n_features=200_000)
    checkpoint = Checkpoint(path)
    checkpoint.save(large)
    checkpoint.close()
    tracemalloc.start()
    try:
        with pytest.raises(MemoryBudgetError, match=r"the limit is") as caught:
            Checkpoint(path).load(max_bytes=16384)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * (1 << 16) < large.nbytes == caught.value.required
    assert Checkpoint(path, fresh=True).load(max_bytes=16384) is None


@pytest.mark.parametrize(
    "step", ["fdatasync", "fsync", "pwrite", "pread", "size", "sync_folder", "replace"]
)
def test_what_fails_on_a_disk_names_the_file(path, step, monkeypatch):
    def failing(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    disk = Disk()
    checkpoint = Checkpoint(path, disk=disk)
    if step in ("fdatasync", "pread", "size"):
        checkpoint.save(learned(10))
    monkeypatch.setattr(disk, step, failing)
    for act in (checkpoint.save, *([lambda _: inspect_slots(path, disk=disk)] * (step == "pread"))):
        with pytest.raises(OSError) as caught:
            act(learned(20))
        assert str(caught.value) == f"[Errno 5] Input/output error: '{path}'"


# Other processes, and files that change under the one that saves.


def test_in_a_forked_child_the_files_are_the_parents(path):
    checkpoint = Checkpoint(path)
    checkpoint.save(learned(10))
    before = path.read_bytes()
    held = f"BlockingIOError: {path} is being written by another process (pid {os.getpid()})"
    assert forked(lambda: checkpoint.save(learned(20))) == held
    assert forked(checkpoint.close) is None
    assert path.read_bytes() == before
    with pytest.raises(BlockingIOError):
        Checkpoint(path).claim()
    claim = Claim(f"{path}.lock")
    assert forked(claim.release) is None
    with pytest.raises(BlockingIOError):
        Claim(f"{path}.lock")
    checkpoint.save(learned(20))
    assert state(Checkpoint(path).load()) == state(learned(20))


def test_of_two_processes_the_holder_is_named_and_the_other_writes_nothing(path):
    first, second = Checkpoint(path), Checkpoint(path)
    first.save(learned(10))
    before = path.read_bytes()
    second.load()
    for act in (second.claim, lambda: second.save(learned(20))):
        with pytest.raises(BlockingIOError, match=rf"another process \(pid {os.getpid()}\)"):
            act()
    assert second.save_failed > 0 and path.read_bytes() == before
    first.close()
    second.claim()
    assert state(second.load()) == state(learned(10))
    second.save(learned(20))


def test_a_claim_without_a_save_leaves_no_file(path):
    checkpoint = Checkpoint(path)
    checkpoint.claim()
    with pytest.raises(BlockingIOError):
        Checkpoint(path).claim()
    checkpoint.close()
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("n_bytes", [0, 1, 4096, 8191])
def test_a_file_emptied_or_cut_between_two_saves(path, n_bytes):
    """Every save that returns can be loaded."""
    checkpoint = Checkpoint(path)
    for n in (10, 20, 30):
        checkpoint.save(learned(n))
        assert state(Checkpoint(path).load()) == state(learned(n))
        os.truncate(path, n_bytes)


def test_a_save_made_between_load_and_save_is_not_overwritten(path):
    saved(path, 10)
    slow = Checkpoint(path)
    slow.load()
    quick = Checkpoint(path)
    quick.load()
    quick.save(learned(20))
    quick.close()
    with pytest.raises(FileExistsError, match="another process"):
        slow.save(learned(30))
    assert state(Checkpoint(path).load()) == state(learned(20))


@pytest.mark.parametrize("in_place", [False, True], ids=["renamed over", "copied into"])
def test_a_checkpoint_put_in_the_place_of_ours_is_not_overwritten(path, tmp_path, in_place):
    other = tmp_path / "other"
    saved(other, 5, 6, 7)
    checkpoint = Checkpoint(path)
    for n in (10, 20, 30, 40):
        checkpoint.save(learned(n))
    if in_place:
        path.write_bytes(other.read_bytes())
    else:
        os.replace(other, path)
    for _ in range(2):
        with pytest.raises(FileExistsError, match="another process"):
            checkpoint.save(learned(50))
    assert checkpoint.saves == 4 and state(Checkpoint(path).load()) == state(learned(7))


def test_a_medium_that_is_back_with_our_saves_is_written_again(path, tmp_path):
    checkpoint = Checkpoint(path)
    checkpoint.save(learned(10))
    os.rename(path, tmp_path / "away")
    (tmp_path / "model.ckpt").mkdir()
    with pytest.raises(OSError):
        checkpoint.save(learned(20))
    (tmp_path / "model.ckpt").rmdir()
    os.rename(tmp_path / "away", path)
    checkpoint.save(learned(30))
    assert state(Checkpoint(path).load()) == state(learned(30))


def test_a_file_removed_during_a_save_is_not_acknowledged(path, monkeypatch):
    checkpoint = Checkpoint(path)
    checkpoint.save(learned(10))
    sync = os.fdatasync

    def remove(descriptor):
        sync(descriptor)
        path.unlink()

    monkeypatch.setattr(Disk, "fdatasync", staticmethod(remove))
    with pytest.raises(FileNotFoundError, match="during the save"):
        checkpoint.save(learned(20))
    monkeypatch.undo()
    assert (checkpoint.saves, checkpoint.save_failed, checkpoint.sequence) == (1, 1, 1)
    checkpoint.save(learned(30))
    assert state(Checkpoint(path).load()) == state(learned(30))


# Numbers at their end.


def test_the_last_sequence_is_not_followed_by_one_that_cannot_be_read(path):
    data, n_slot = two_slots(path)
    n_snapshot = inspect_slots(path)[0].snapshot_bytes
    snapshot = data[HEADER_BYTES : HEADER_BYTES + n_snapshot]
    path.write_bytes(sealed(n_slot, 2**62 - 1, snapshot) + data[n_slot:])
    checkpoint = Checkpoint(path)
    assert state(checkpoint.load()) == state(learned(20))
    with pytest.raises(ValueError, match="the last that a checkpoint can number"):
        checkpoint.save(learned(30))
    assert state(Checkpoint(path).load()) == state(learned(20))


@pytest.mark.parametrize("header_bytes", [48, 4096, 5000])
def test_a_newer_version_of_any_layout_is_told_from_damage(path, header_bytes):
    """Of a version to come only magic and version are known: no CRC of ours, no size."""
    path.write_bytes(b"ESVMSLOT" + struct.pack("<H", 2) + bytes(header_bytes))
    with pytest.raises(FormatVersionError, match=r"newer .* version 2; .* version 1"):
        Checkpoint(path).load()
