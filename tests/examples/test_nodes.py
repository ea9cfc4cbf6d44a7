"""The nodes of examples/, built and run here, against our own link: handshake, samples, answers,
lines.
"""

import os
import select
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import native
import numpy as np
import pytest
from cobs import cobs
from each import each

from edgesvm import Chain, Standardized, StreamSVM, WindowFeatures
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link import (
    FrameDecoder,
    LineParser,
    SampleRing,
    open_link,
    wire,
)
from edgesvm.serve.taught import taught

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples"
SKETCH = EXAMPLES / "arduino" / "edgesvm_node"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes as ports are POSIX")


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compile something of the Arduino example, warnings being errors."""
    folder = tmp_path_factory.mktemp("nodes")

    def compiled(name, compiler, *arguments):
        path = shutil.which(compiler)
        if path is None:
            pytest.skip(f"no {compiler} on the path")
        output = folder / name
        command = [path, "-O1", "-Wall", "-Wextra", "-Werror", f"-I{SKETCH}", *arguments]
        done = subprocess.run(
            [*command, "-o", str(output)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return str(output)

    return compiled


@pytest.fixture(scope="module")
def host_node(build):
    try:
        compiler = native.compiler()
    except native.Unavailable as why:
        pytest.skip(str(why))
    return build("host_node", compiler, "-std=c99", "-pedantic", str(HERE / "host_node.c"))


@pytest.fixture(scope="module")
def built(build):
    """A sketch of the Arduino examples, behind a stand-in for Arduino.h."""

    def compiled(source, *defined):
        flags = ["-std=c++11", "-Wno-unused-function", "-Wno-unused-variable", *defined]
        flags += [f"-I{HERE / 'arduino'}", "-include", "Arduino.h", "-x", "c++"]
        name = f"{Path(source).stem}{len(defined)}{defined[:1]}"
        return build(name, "g++", *flags, str(EXAMPLES / "arduino" / source))

    return compiled


@pytest.fixture(scope="module")
def sketch(built):
    """The node, frames or lines."""

    def node(text, key=None):
        keyed = [] if key is None else [f"-DESVM_KEY={','.join(str(byte) for byte in key)}"]
        return built("edgesvm_node/edgesvm_node.ino", f"-DESVM_TEXT={text}", *keyed)

    return node


def run(command, *arguments, given=b""):
    return subprocess.run(
        [command, *arguments], input=given, capture_output=True, check=True
    ).stdout


# The header as plain C.


@each("n", [0, 1, 2, 24, 253, 254, 255, 508, 509, 1000])
def test_the_header_s_cobs_and_crc(host_node, n):
    rng = np.random.default_rng(n)
    for raw in (bytes(n), b"\x07" * n, rng.bytes(n), rng.integers(0, 2, n, np.uint8).tobytes()):
        run_ = run(host_node, "cobs", given=raw)
        assert run_ == cobs.encode(raw)
        assert run(host_node, "uncobs", given=run_) == raw
        assert int(run(host_node, "crc", given=raw)) == zlib.crc32(raw)


VALUES = [0.0, -0.0, 1.0, -2.5, 3.14159274, 1e-5, -0.00005, 0.99996, 123456.789, -9.9e6, 4e9]
NO_LABEL = 99999


def samples():
    rng = np.random.default_rng(5)
    X = rng.choice(VALUES, (60, 3)).astype(np.float32)
    labels = rng.choice([0, 1, -1, 32767, -32768, NO_LABEL], 60).tolist()
    text = "".join(
        f"{label} {' '.join(f'{v:.9g}' for v in x)}\n" for x, label in zip(X, labels, strict=True)
    )
    return X, labels, text.encode()


def test_the_header_s_frames(host_node):
    X, labels, given = samples()
    hello = b"\0" + wire.encode_frame(wire.HELLO, wire.Hello(4242).pack())
    frames = FrameDecoder().feed(run(host_node, "frames", given=hello + given))
    schema = wire.Schema.unpack(frames[0].body)
    assert schema == wire.Schema(4242, 77, 3, n_classes=2, max_raw=schema.max_raw, nominal_us=1000)
    sent = [frame for frame in frames if frame.kind == wire.SAMPLE_F32]
    assert [frame.sequence for frame in sent] == list(range(60))
    assert {frame.schema_id for frame in frames} == {schema.schema_id}
    for frame, x, label in zip(sent, X, labels, strict=True):
        head = b"" if label == NO_LABEL else struct.pack("<hH", label, 256)
        assert frame.body == head + x.tobytes()
        assert frame.flags == (label != NO_LABEL)
    # One heartbeat a second, of 40 ms a sample.
    beats = [wire.Heartbeat.unpack(frame.body) for frame in frames if frame.kind == wire.HEARTBEAT]
    assert [beat.samples_made for beat in beats] == [25, 50]
    assert {beat.boot_id for beat in beats} == {77}


def test_the_header_s_lines(host_node):
    X, labels, given = samples()
    ring = SampleRing(100, 3)
    parser = LineParser(3)
    parser.expect(ring)
    assert list(parser.feed(run(host_node, "lines", given=given))) == []
    assert parser.checksummed
    batch = ring.take()
    assert batch.sequence.tolist() == list(range(60))
    # Four decimals, and rounding in float32.
    assert (np.abs(batch.X - X) <= 0.51e-4 + np.spacing(np.abs(X))).all()
    assert batch.has_label.tolist() == [label != NO_LABEL for label in labels]
    assert batch.y[batch.has_label].tolist() == [v for v in labels if v != NO_LABEL]


def test_lines_of_what_is_no_number_are_bad_values_to_the_host(host_node):
    lines = run(host_node, "lines", given=b"1 nan 1 1\n0 inf 1 1\n1 -5e9 0 0\n0 1 2 3\n")
    parser = LineParser(3)
    parser.expect(SampleRing(10, 3))
    assert list(parser.feed(lines)) == []
    counts = parser.counters()
    assert (counts["samples"], counts["bad_value"], counts["ring_in"]) == (4, 3, 1)


def test_the_header_passes_over_what_is_no_frame_of_the_host(host_node):
    """Noise, an over-long run, a wrong CRC, another version; then a HELLO, and it answers."""
    good = wire.encode_frame(wire.HELLO, wire.Hello(9).pack())
    hurt = bytes([good[0], good[1] ^ 1]) + good[2:]
    raw = bytearray(cobs.decode(good[:-1])[:-4])
    raw[1] = 0x20
    other = cobs.encode(bytes(raw) + zlib.crc32(raw).to_bytes(4, "little")) + b"\0"
    noise = b"\xff\x01" * 500 + b"\0" + b"\x05\0\x01\0" + hurt + other
    frames = FrameDecoder().feed(run(host_node, "frames", given=noise + good + b"1 1 2 3\n"))
    assert [frame.kind for frame in frames] == [wire.SCHEMA, wire.SAMPLE_F32]
    assert wire.Schema.unpack(frames[0].body).nonce == 9


# Whole nodes, as processes behind a pipe.


class Pipe:
    """A process as a `Port`."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )

    def read(self, timeout, limit=65536):
        data = os.read(self.process.stdout.fileno(), min(limit, 65536))
        if not data:
            raise LinkDown("the node ended")
        return data

    def write(self, data):
        return os.write(self.process.stdin.fileno(), data)

    def close(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()
        self.said = self.process.stderr.read().decode()
        self.process.stderr.close()


SCALE = np.float32(5.0) / np.float32(1023.0)


def expected(n):
    i = np.arange(n)
    X = ((37 * np.arange(4) + 11 * i[:, None]) % 1024).astype(np.float32) * SCALE
    return X, (i % 3 == 0).astype(int), i % 5 != 0


def rows_of(link, n):
    """The next n rows, and an answer to each."""
    got = []
    while len(got) < n:
        link.poll(1.0)
        batch = link.take(n - len(got))
        for k in range(len(batch.y)):
            got.append((batch.X[k].copy(), int(batch.y[k]), bool(batch.has_label[k])))
            link.send_prediction(int(batch.sequence[k]), int(batch.y[k]), 0.5)
        link.flush()
        link.release(len(batch.y))
    return got


KEY = bytes(range(16))


@each("key", [None, KEY])
def test_a_node_of_frames_shakes_hands_and_every_sample_is_its_own(sketch, key):
    port = Pipe([sketch(0, key)])
    with open_link("node", opener=lambda: port, ring=64, key=key) as link:
        said = link.schema.n_features, link.schema.label, link.schema.n_classes
        assert said == (4, "inline", 2)
        rows = rows_of(link, 300)
        # until a prediction of class 1 has come through and it says so
        while not select.select([port.process.stderr], [], [], 0)[0]:
            rows_of(link, 50)
        while link.last_heartbeat is None:
            rows_of(link, 50)
        counters = link.counters
        assert link.check_identities() == [] and link.last_heartbeat.frames_bad == 0
    X, y, has_label = expected(300)
    assert np.array([x for x, _, _ in rows]).tobytes() == X.tobytes()
    assert [label for _, _, label in rows] == has_label.tolist()
    assert [y for _, y, label in rows if label] == y[has_label].tolist()
    assert counters["frames"] == counters["ok"]
    bad = "missing", "duplicate", "bytes_rejected", *(("bad_tag", "replayed") if key else ())
    assert not any(counters[name] for name in bad)
    assert port.said.startswith("LED 1\n")


def test_the_sketch_of_raw_signals_is_learned_window_by_window(built):
    port = Pipe([built("raw_accelerometer/raw_accelerometer.ino")])
    with open_link("node", mode="text", opener=lambda: port) as link:
        windows = WindowFeatures(window=8, hop=4, rate=250, bands="2-20,20-60")
        chain = Chain(windows=windows, label="last").allocate(link.schema.n_features)
        runner = taught(link, chain, answers=False)
        while runner.taken < 400:
            runner.step(1.0)
        assert chain.n_features_in_ == 3 and runner.check_identities() == []
        assert runner.pupil.learned == runner.counters()["windows"] == (runner.taken - 8) // 4 + 1
        assert set(chain.learner_.classes_) == {0, 1}
        link.send_prediction(7, 1, -0.5)
        link.flush()
        while not select.select([port.process.stderr], [], [], 0)[0]:
            runner.step(1.0)
        assert link.counters["bytes_rejected"] == runner.counters()["gaps"] - 1 == 0
    assert port.said.startswith("LED 1\n")


def vibration(n):
    """Features and label of the sketch's first n windows, from the stand-in's readings."""
    window = 250
    reading = lambda k: 11 * (k // 4) % 1024  # noqa: E731
    middle, above, rows = reading(0), False, []
    for begin in range(1, 1 + n * window, window):
        x = np.array([reading(k) for k in range(begin, begin + window)])
        side = [above, *(x > middle)]
        above = side[-1]
        crossings = np.count_nonzero(np.diff(side)) / (window * 1e-3)
        peak = np.abs(x - x.mean()).max()
        middle = int(x.mean())
        turn = (begin + window) // 4 - 1
        label = (turn % 3 == 0) if turn % 5 else None
        rows.append(([x.mean(), x.std(), peak, peak / x.std(), crossings], label))
    return rows


def test_the_sketch_of_a_vibration_s_features(built):
    """Each line has the features of its window, and what it sends can be learned."""
    port = Pipe([built("vibration_features/vibration_features.ino")])
    with open_link("node", mode="text", opener=lambda: port, ring=64) as link:
        got = rows_of(link, 60)
        while not select.select([port.process.stderr], [], [], 0)[0]:
            rows_of(link, 10)  # an answer of class 1 lights the LED
        assert link.counters["bytes_rejected"] == 0
    expected_rows = vibration(62)
    means = [row[0] for row, _ in expected_rows]
    first = int(np.abs(np.array(means) - got[0][0][0]).argmin())  # two rows tell the columns
    assert first <= 2
    model = Standardized(learner=StreamSVM())
    for (x, y, labelled), (row, label) in zip(got, expected_rows[first:], strict=False):
        np.testing.assert_allclose(x, row, atol=0.006, rtol=2e-6)
        assert labelled == (label is not None) and (not labelled or y == label)
        if labelled:
            model.learn_one(x, y)
    assert set(model.classes_) == {0, 1} and port.said.startswith("LED 1\n")


@pytest.mark.parametrize("ours", [None, bytes(16)])
def test_a_node_with_a_key_does_not_answer_a_host_without_it(sketch, ours):
    port = Pipe([sketch(0, KEY)])
    os.set_blocking(port.process.stdout.fileno(), False)
    read = port.read

    def read_or_wait(timeout, limit=65536):
        ready = select.select([port.process.stdout], [], [], min(timeout, 0.1))[0]
        return read(timeout, limit) if ready else b""

    port.read = read_or_wait
    with pytest.raises(NoSchema):
        open_link("node", opener=lambda: port, key=ours, handshake_timeout=1.5)


def test_a_node_of_lines_needs_no_handshake(sketch):
    port = Pipe([sketch(1)])
    with open_link("node", mode="text", opener=lambda: port, ring=64) as link:
        assert link.schema.n_features == 4  # its first line says so
        rows = []
        while len(rows) < 300:
            link.poll(1.0)
            batch = link.take()
            rows += [(x.copy(), int(v), bool(h)) for x, v, h in zip(*batch[:3], strict=True)]
            link.release(len(batch.y))
        assert link.counters["unprotected"] == 0
        assert link.counters["missing"] == 0
    X, y, has_label = expected(len(rows))
    assert np.abs(np.array([x for x, _, _ in rows]) - X).max() <= 0.51e-4
    assert [label for _, _, label in rows] == has_label.tolist()
    assert [v for _, v, label in rows if label] == y[has_label].tolist()
