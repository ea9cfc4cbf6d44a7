"""Every changed byte and every cut of a snapshot, and of what comes over a link, in C under the address
and undefined-behaviour sanitizers; and the same verdicts as the host's."""

import shutil
import struct
import subprocess
import zlib

import numpy as np
import pytest
from exported import SETTINGS
from on_host import STRICT, Compiled, at, hard_samples, run_here, write

from edgesvm import StreamSVM
from edgesvm.errors import CorruptModelError, FormatVersionError
from edgesvm.ingest import wire
from edgesvm.persist import restore
from edgesvm.persist.format import pack

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

SANITIZED = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
D = 3
# Where the host refuses what a board does not look at: sizes whose squares overflow, signs other than
# -1 and +1, the sum of shares, a factor that does not belong to its vectors, shares of errors beyond
# 0 to 1, more samples in an average than were learned; in a part of many, counts that contradict.
UNCHECKED = {
    "scaled stream": {"R", "xi2", "ww", "q", "w", "n_averaged", "average", "lapses"},
    "kernel stream": {"R", "ww", "q", "share", "sign", "weight", "L", "vectors"},
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
    good = pack(learner._snapshot())
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


SNAPSHOTS = """\
#include <stdio.h>
#include <stdlib.h>
#include "mod.h"
static mod_t model, before;
static unsigned char good[MOD_SNAPSHOT_BYTES];
static long tried, taken;
/* in memory of exactly this size, so that a read beyond it is seen */
static void attempt(unsigned n) {
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, good, n);
    if (mod_restore(&model, copy, n) != ESVM_BAD_SNAPSHOT) taken++;
    if (memcmp(&model, &before, sizeof model)) abort();
    free(copy);
    tried++;
}
static void fix(void) {
    unsigned crc = esvm_crc32(0, good, sizeof good - 4), i;
    for (i = 0; i < 4; i++) good[sizeof good - 4 + i] = (unsigned char)(crc >> 8 * i);
}
int main(void) {
    unsigned i, byte;
    mod_reset(&model);
    before = model;
    mod_snapshot_read(&mod_saved, 0, good, sizeof good);
    for (i = 0; i < sizeof good; i++) attempt(i);
    for (i = 0; i < sizeof good; i++)
        for (byte = 1; byte < 256; byte++) {
            good[i] ^= byte;
            attempt(sizeof good);
            good[i] ^= byte;
        }
    for (i = 0; i < MOD_HEAD_BYTES; i++) /* of another model, and whole */
        for (byte = 1; byte < 256; byte++) {
            good[i] ^= byte;
            fix();
            attempt(sizeof good);
            good[i] ^= byte;
        }
    fix();
    if (taken || mod_restore(&model, good, sizeof good)) abort();
    if (memcmp(&model, &mod_saved, MOD_ARENA_BYTES)) abort();
    printf("%ld\\n", tried);
    return 0;
}
"""

STREAMS = """\
#include <stdio.h>
#include <stdlib.h>
#define MOD_LINK_LATE 16
#define MOD_LINK_RESTORE 1
#define MOD_LINK_PUSH 5
#include "mod_link.h"
static mod_t model;
static mod_link *link_;
static unsigned long n_out;
static void send(void *context, const uint8_t *bytes, size_t n) {
    (void)context;
    for (; n; n--) n_out += *bytes++;
}
/* The identities of FORMATS.md */
static void check(const esvm_link_counts *c) {
    uint32_t labels = c->label_matched + c->label_duplicate + c->label_expired + c->label_unknown;
    if (c->bytes_in != c->bytes_ok + c->bytes_rejected + c->delimiters + c->pending) abort();
    if (c->frames != c->ok + c->bad_cobs + c->bad_crc + c->bad_len + c->oversize) abort();
    if (c->ok != c->samples + labels + c->bad_label + c->label_mismatch + c->schemas +
        c->scale_pages + c->heartbeats + c->acks + c->logs + c->ignored + c->bad_version +
        c->bad_control + c->snapshot_asks + c->snapshot_pages) abort();
    if (c->samples != c->taken + c->duplicate + c->too_old + c->bad_nan + c->bad_inf +
        c->bad_dimension + c->bad_flags + c->schema_mismatch) abort();
    if (c->span != c->unique + c->missing) abort();
    if (c->taken != c->learned + c->unlabelled + c->refused_value + c->unknown_label +
        c->label_expired + c->late_waiting) abort();
}
static void run(const unsigned char *bytes, unsigned long n) {
    mod_reset(&model);
    mod_link_begin(link_, &model, send, NULL, 77);
    mod_link_feed(link_, bytes, n);
    mod_link_tick(link_, 1000);
    check(mod_link_counts(link_));
}
int fuzz(const unsigned char *bytes, size_t n) {
    if (!link_) link_ = malloc(sizeof *link_); /* so that what is beyond it is guarded */
    run(bytes, n);
    return 0;
}
#ifdef FUZZ
int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t n) { return fuzz(bytes, n); }
#else
int main(int argc, char **argv) {
    static unsigned char stream[1 << 16];
    FILE *file = fopen(argv[1], "rb");
    unsigned long n = fread(stream, 1, sizeof stream, file), i;
    long tried = 0, step = argc > 2 ? atol(argv[2]) : 1;
    unsigned byte;
    fclose(file);
    fuzz(stream, n);
    if (mod_link_counts(link_)->frames != mod_link_counts(link_)->ok) abort();
    if (mod_link_counts(link_)->restored != 1) abort();
    for (i = 0; i < n; i++, tried++) fuzz(stream, i);
    for (i = 0; i < n; i++)
        for (byte = 1 + i % step; byte < 256; byte += step, tried++) {
            stream[i] ^= byte;
            fuzz(stream, n);
            stream[i] ^= byte;
        }
    free(link_);
    printf("%ld\\n", tried);
    return 0;
}
#endif
"""


def built(learner, folder, text, flags, cc="gcc"):
    write(learner, folder)
    (folder / "main.c").write_text("#include <string.h>\n" + text)
    sources = [*folder.glob("*.c"), *(folder / "edgesvm").glob("*.c")]
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


def test_no_changed_byte_and_no_cut_of_a_snapshot_is_taken(tmp_path):
    learner = small()
    n = len(pack(learner._snapshot()))
    main = built(learner, tmp_path, SNAPSHOTS, SANITIZED)
    n_head = n - learner.nbytes - 4
    tried = tries(main)
    assert tried == n + 255 * (n + n_head)
    print(f"\nrestore: {tried:,} snapshots refused, one taken")


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_no_changed_byte_and_no_cut_of_a_stream_breaks_a_link(step, tmp_path):
    """Each byte gets every other value, or every eighth."""
    learner = small()
    stream = recorded(pack(learner._snapshot()))
    (tmp_path / "stream.bin").write_bytes(stream)
    main = built(learner, tmp_path, STREAMS, SANITIZED)
    tried = tries(main, tmp_path / "stream.bin", str(step))
    assert tried > (256 // step - 1) * len(stream)
    print(f"\nlink: {tried:,} streams of {len(stream)} bytes, every identity held")
