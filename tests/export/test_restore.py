"""Every changed byte and every cut of a snapshot, and of what comes over a link, in C under the
address and undefined-behaviour sanitizers; and the same verdicts as the host's."""

import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from exported import SETTINGS
from on_host import Compiled, at

from edgesvm import StreamSVM
from edgesvm.errors import CorruptModelError, FormatVersionError
from edgesvm.link import wire
from edgesvm.persist import restore
from edgesvm.persist.format import pack
from rig.boards import STRICT, hard_samples, run_here, write

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

HOSTILE = Path(__file__).parent / "hostile"
SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
D = 3
# Where the host refuses what a board does not look at: sizes whose squares overflow, signs other
# than -1 and +1, the sum of shares, a factor that does not belong to its vectors, shares of errors
# beyond 0 to 1, more samples in an average than were learned; in a part of many, counts too.
UNCHECKED = {
    "scaled stream": {"R", "xi2", "ww", "q", "w", "n_averaged", "average", "lapses"},
    "kernel stream": {"R", "xi2", "ww", "q", "share", "sign", "weight", "L", "vectors"},
    "adagrad": {"G", "w", "w_mean", "lapses"},
    "one vs rest": {"parts"},
}
SCRATCH = {"scores", "sums", "scaled"}  # all bits 0 on a board, where a host takes -0.0 too


def learned(name, n=80):
    make, n_features, classes = SETTINGS[name]
    learner = make("float32").allocate(n_features, classes=classes)
    run_here(learner, *hard_samples(n, n_features, "float32", 1, classes))
    return learner, n_features


def verdict_here(data):
    try:
        restore(data)
    except (CorruptModelError, FormatVersionError):
        return False
    return True


@pytest.mark.parametrize("name", UNCHECKED)
def test_a_board_takes_what_a_host_takes(name, tmp_path):
    """Snapshots with a changed byte and a right CRC: a board refuses none that the host takes, and
    what it takes beyond that is in arrays that are known."""
    learner, n_features = learned(name)
    compiled = Compiled(learner, tmp_path, "gcc -O1")
    good = pack(learner.snapshot())
    head = len(good) - learner.nbytes - 4
    offsets = sorted((a.offset, a.name) for a in learner.plan(n_features).arrays)
    rng, beyond, n_taken = np.random.default_rng(0), set(), 0
    every = np.arange(head, len(good) - 4)
    for i in every if len(every) < 700 else np.sort(rng.choice(every, 700, replace=False)):
        for change in (1, 0x40, 0x80):
            body = bytearray(good[:-4])
            body[i] ^= change
            data = bytes(body) + struct.pack("<I", zlib.crc32(body))
            before = compiled.memory.tobytes()
            buffer = np.frombuffer(data, np.uint8).copy()
            taken = compiled.library.restore(at(compiled.memory), at(buffer), len(data)) == 0
            here = verdict_here(data)
            assert taken or compiled.memory.tobytes() == before
            array = [name for offset, name in offsets if offset <= i - head][-1]
            assert taken or not here or array in SCRATCH, f"byte {i} ^ {change}, of {array}"
            if taken:
                assert compiled.arena.tobytes() == data[head:-4]
                n_taken += 1
            if taken and not here:
                beyond |= {array}
    assert n_taken > 100
    assert beyond <= UNCHECKED[name]


def built(learner, folder, program, flags, cc="gcc"):
    """A program of `hostile/` with a learner's C."""
    write(learner, folder)
    sources = [HOSTILE / program, *folder.glob("*.c"), *(folder / "edgesvm").glob("*.c")]
    command = [cc, *STRICT, *flags, f"-I{folder}", *sources, "-o", folder / "main", "-lm"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "cannot find" in done.stderr:
        pytest.skip(f"{cc} has no sanitizers here")
    assert done.returncode == 0, done.stderr
    return folder / "main"


def tries(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


def recorded(snapshot):
    """A stream with a frame of every type, and the snapshot given over it."""
    late = wire.Schema(77, 5, D, label_mode=wire.LABEL_LATE)
    crc, pages = wire.scale_table([0.5, 1e-3, 2.0], [0.0, 1.0, -1.0], max_raw=40)
    coarse = wire.Schema(0, 6, D, wire.DTYPE_I16, wire.LABEL_LATE, scale_crc=crc)
    one, two = late.schema_id, coarse.schema_id
    out = b"\0" + wire.encode_frame(wire.SCHEMA, late.pack())
    x = np.random.default_rng(0).standard_normal((6, D)).astype(np.float32)
    for i in range(4):
        out += wire.encode_sample(one, i, x[i], label=(0, 1, None, None)[i], time_us=1000 * i)
    out += wire.encode_frame(wire.LABEL, wire.Label(2, 1, 0.5).pack(), schema_id=one)
    out += wire.encode_frame(wire.HEARTBEAT, wire.Heartbeat(5, 9).pack())
    out += wire.encode_frame(wire.LOG, b"hello")
    out += wire.encode_frame(wire.ACK, wire.Ack(1, 1).pack())
    out += wire.encode_frame(wire.SCHEMA, coarse.pack())
    out += b"".join(wire.encode_frame(wire.SCALES, page, schema_id=two) for page in pages)
    out += wire.encode_sample_i16(two, 0, [1, -2, 300], label=1)
    out += wire.encode_frame(wire.SNAPSHOT_ASK, wire.SnapshotAsk(3, 400, 50).pack())
    crc = int.from_bytes(snapshot[-4:], "little")
    for begin in range(0, len(snapshot), 200):
        page = wire.SnapshotPage(7, crc, len(snapshot), begin, snapshot[begin : begin + 200])
        out += wire.encode_frame(wire.SNAPSHOT_PAGE, page.pack())
    return out


def small():
    learner = StreamSVM().allocate(D, classes=[0, 1])
    run_here(learner, *hard_samples(20, D, "float32", 1))
    return learner


def test_counts_that_cannot_be_are_refused_or_safe_to_learn_with(tmp_path):
    """A compact KernelNovelty rounds the mean of two centres, by their counts, to whole numbers."""
    learner, n_features = learned("kernel novelty, all")
    [counts] = [array for array in learner.plan(n_features).arrays if array.name == "counts"]
    main = built(learner, tmp_path, "arenas.c", [*SANITIZED, "-fsanitize=float-cast-overflow"])
    for count in (1.0, 0.0, -1.0, 1e308, -1e308, np.inf, np.nan):
        arena = bytearray(bytes(learner.arena))
        np.frombuffer(arena, np.float64, counts.shape[0], counts.offset)[:] = count
        (tmp_path / "arena").write_bytes(arena)
        assert tries(main, tmp_path / "arena") == np.isfinite(count)


def test_no_changed_byte_and_no_cut_of_a_snapshot_is_taken(tmp_path):
    learner = small()
    n = len(pack(learner.snapshot()))
    main = built(learner, tmp_path, "snapshots.c", SANITIZED)
    n_head = n - learner.nbytes - 4
    tried = tries(main)
    assert tried == n + 255 * (n + n_head)
    print(f"\nrestore: {tried:,} snapshots refused, one taken")


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_no_changed_byte_and_no_cut_of_a_stream_breaks_a_link(step, tmp_path):
    """Each byte gets every other value, or every eighth."""
    learner = small()
    stream = recorded(pack(learner.snapshot()))
    (tmp_path / "stream.bin").write_bytes(stream)
    main = built(learner, tmp_path, "streams.c", SANITIZED)
    tried = tries(main, tmp_path / "stream.bin", str(step))
    assert tried > (256 // step - 1) * len(stream)
    print(f"\nlink: {tried:,} streams of {len(stream)} bytes, every identity held")
