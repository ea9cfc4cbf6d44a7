"""The learner's end of a link in C, compiled for this machine, and `edgesvm run` beside it."""

import ctypes
import re
import shlex
import subprocess

import numpy as np
from fake_port import Clock, FakePort
from on_host import at

from edgesvm.link import FrameDecoder, wire
from edgesvm.link.binary import BinaryLink
from edgesvm.serve.taught import taught
from rig.boards import STRICT, write

NONCE = 77
DRIVER = """\
#include "mod_link.h"
static mod_link link_;
static unsigned char out[1 << 20];
static size_t n_out;
static void send(void *context, const uint8_t *bytes, size_t n) {
    (void)context;
    if (n_out + n > sizeof out) n_out = 0;
    memcpy(out + n_out, bytes, n);
    n_out += n;
}
unsigned long size(void) { return sizeof(mod_t); }
void start(mod_t *m, unsigned boot_id) { mod_link_begin(&link_, m, send, NULL, boot_id); }
void restart(mod_t *m) { mod_reset(m); }
void feed(const unsigned char *bytes, unsigned long n) { mod_link_feed(&link_, bytes, n); }
void tick(unsigned now) { mod_link_tick(&link_, now); }
const void *counts(void) { return mod_link_counts(&link_); }
unsigned long sent(unsigned char *to) {
    size_t n = n_out;
    memcpy(to, out, n);
    n_out = 0;
    return n;
}
"""
# What a host does not have; it counts requests and pages of snapshots as `ignored`.
OWN = {"ignored", "snapshot_asks", "snapshot_pages", "restored", "restore_refused"}


def count_names(header):
    """Names in esvm_link_counts, in order."""
    body = re.search(r"typedef struct \{([^}]*)\} esvm_link_counts;", header)[1]
    return [name for line in re.findall(r"uint32_t ([^;]*);", body) for name in line.split(", ")]


def broken_identities(c):
    """Those of FORMATS.md that do not hold for a board's counters."""
    labels = sum(c[f"label_{fate}"] for fate in ("matched", "duplicate", "expired", "unknown"))
    sums = {
        "bytes_in": "bytes_ok bytes_rejected delimiters pending",
        "frames": "ok bad_cobs bad_crc bad_len oversize",
        "ok": "samples labels bad_label label_mismatch schemas scale_pages heartbeats acks logs"
        " ignored bad_version bad_control snapshot_asks snapshot_pages",
        "samples": "taken duplicate too_old bad_nan bad_inf bad_dimension bad_flags"
        " schema_mismatch",
        "span": "unique missing",
        "taken": "learned unlabelled refused_value unknown_label label_expired late_waiting",
    }
    c = {**c, "labels": labels}
    return [
        f"{name} = {parts}: {c}"
        for name, parts in sums.items()
        if c[name] != sum(c[part] for part in parts.split()) % (1 << 32)
    ]


class Linked:
    """A model's C and its link; `choices` are what is defined before the link is included."""

    def __init__(self, learner, folder, choices="", cc="gcc -O2"):
        write(learner, folder)
        defines = "".join(
            f"#define MOD_LINK_{name} {value}\n"
            for name, value in (choice.split("=") for choice in choices.split())
        )
        (folder / "driver.c").write_text(defines + DRIVER)
        sources = [*folder.glob("*.c"), *(folder / "edgesvm").glob("*.c")]
        flags = [*shlex.split(cc), *STRICT, "-fPIC", "-shared", f"-I{folder}"]
        subprocess.run([*flags, *sources, "-o", folder / "link.so", "-lm"], check=True)
        self.library = ctypes.CDLL(str(folder / "link.so"))
        self.library.size.restype = self.library.sent.restype = ctypes.c_ulong
        self.library.counts.restype = ctypes.c_void_p
        self.names = count_names((folder / "edgesvm/link.h").read_text())
        self._memory = np.zeros(self.library.size() // 8, np.uint64)
        self._n_arena = learner.nbytes // 8
        self._out = np.zeros(1 << 20, np.uint8)
        self.begin()

    def begin(self):
        """Switch the board on: nothing learned, nothing received."""
        self.library.restart(at(self._memory))
        self.library.start(at(self._memory), NONCE)
        self._decoder = FrameDecoder(wire.MAX_RAW)
        self._decoder.resync()
        self.library.sent(at(self._out))

    def feed(self, data):
        """Frames that it sends on these bytes."""
        self.library.feed(data, ctypes.c_ulong(len(data)))
        return self._sent()

    def tick(self, now_ms):
        self.library.tick(now_ms & 0xFFFFFFFF)
        return self._sent()

    def _sent(self):
        n = self.library.sent(at(self._out))
        return self._decoder.feed(b"\0" + self._out[:n].tobytes()) if n else []

    @property
    def counts(self):
        values = np.ctypeslib.as_array(
            ctypes.cast(self.library.counts(), ctypes.POINTER(ctypes.c_uint32)),
            (len(self.names),),
        )
        return dict(zip(self.names, values.tolist(), strict=True))

    @property
    def arena(self):
        return self._memory[: self._n_arena].tobytes()


class Beside:
    """`edgesvm run` on the same bytes; `first` are those of the handshake."""

    def __init__(self, learner, first, late=0, max_raw=wire.MAX_RAW):
        self.port = FakePort(Clock())
        self.port.inbox += first
        self.link = BinaryLink(
            lambda: self.port,
            clock=self.port.clock,
            n_features=learner.n_features_in_,
            max_raw=max_raw,
            late_labels=late,
            nonce=lambda: NONCE,
        )
        self.link.open()
        self.learner = learner
        self.runner = taught(self.link, learner)
        self._decoder = FrameDecoder(wire.MAX_RAW)
        self._take()

    def feed(self, data):
        """Frames that it sends on these bytes."""
        self.port.inbox += data
        while self.port.inbox:
            self.runner.step(0.0)
        return self._take()

    def _take(self):
        self.runner.handle_waiting()
        self.link.flush()
        data = bytes(self.port.written)
        self.port.written.clear()
        return self._decoder.feed(b"\0" + data)

    @property
    def counts(self):
        return self.runner.counters()


def differences(board, beside):
    """What differs between a board and `edgesvm run` on the same bytes, in words."""
    here, there = beside.counts, board.counts
    found = [
        f"{name}: {here.get(name, 0)} here, {there[name]} there"
        for name in there
        if name not in OWN and here.get(name, 0) != there[name]
    ]
    read = there["ignored"] + there["snapshot_asks"] + there["snapshot_pages"]
    if here["ignored"] != read:
        found.append(f"ignored: {here['ignored']} here, {read} there")
    if bytes(beside.learner.arena) != board.arena:
        found.append("arenas")
    return found + broken_identities(there) + beside.runner.check_identities()


def predictions(frames):
    """(header, body) of the PREDICTION frames."""
    return [(f.schema_id, f.sequence, f.body) for f in frames if f.kind == wire.PREDICTION]
