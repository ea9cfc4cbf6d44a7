"""A small edge process: `python edge_script.py PORT [--grow BYTES] [--text]`.

Shakes hands, answers each labelled sample with the nearest class mean so far, test then train, and
prints one JSON line on SIGTERM or when the port dies for good.
"""

import json
import signal
import sys
import time

import numpy as np
import serial

from edgesvm.link import wire
from edgesvm.link._frames import FrameDecoder

counts = {"samples": 0, "duplicates": 0, "schemas": 0, "reopened": 0, "lines": 0, "memory_error": 0}
stopping = []
signal.signal(signal.SIGTERM, lambda *_: stopping.append(True))


def open_port(url):
    deadline = time.monotonic() + 60
    while True:
        try:
            return serial.serial_for_url(url, timeout=0.05)
        except OSError:
            if time.monotonic() > deadline or stopping:
                return None
            time.sleep(0.01)


def answer(port, url, grow, state):
    decoder, means, seen = state
    hello = wire.encode_frame(wire.HELLO, wire.Hello(nonce=7).pack())
    port.write(b"\0" + hello)
    schema, tried = None, time.monotonic()
    while not stopping:
        chunk = port.read(port.in_waiting or 1)
        if url.startswith("socket:"):
            port.timeout = 0
            chunk += port.read(65536)
            port.timeout = 0.05
        out = []
        for frame in decoder.feed(chunk):
            if frame.kind == wire.SCHEMA:
                schema = wire.Schema.unpack(frame.body)
                counts["schemas"] += 1
            elif frame.kind == wire.SAMPLE_F32:
                if frame.sequence in seen:
                    counts["duplicates"] += 1
                    continue
                seen.add(frame.sequence)
                counts["samples"] += 1
                out.append(predict(frame, means))
        if out:
            port.write(b"".join(out))
        # More than the first burst has: since the handshake the simulator has set its cap.
        if grow and counts["samples"] > 500:
            try:
                np.ones(grow, np.uint8)
            except MemoryError:
                counts["memory_error"] = 1
            grow = 0
        if schema is None and time.monotonic() - tried > 0.5:
            port.write(hello)
            tried = time.monotonic()


def predict(frame, means):
    label = int.from_bytes(frame.body[:2], "little", signed=True)
    x = np.frombuffer(frame.body, "<f4", offset=4)
    flags, guess = wire.TRAINED, 0
    if means:
        guess = min(means, key=lambda k: float(((x - means[k][0] / means[k][1]) ** 2).sum()))
    else:
        flags |= wire.ABSTAIN
    total = means.setdefault(label, [np.zeros(len(x)), 0])
    total[0] += x
    total[1] += 1
    body = wire.Prediction(frame.sequence, guess, flags, 0.0).pack()
    return wire.encode_frame(wire.PREDICTION, body, sequence=frame.sequence)


def main(url, grow, text):
    state = decoder, _, _ = FrameDecoder(), {}, set()
    while not stopping and (port := open_port(url)) is not None:
        try:
            if text:
                while not stopping:
                    counts["lines"] += port.read(port.in_waiting or 1).count(b"\n")
            answer(port, url, grow, state)
        except OSError:
            counts["reopened"] += 1
        finally:
            port.close()
    print("not the last line")
    print(json.dumps({**counts, "frames": decoder.counters()}))


if __name__ == "__main__":
    arguments = sys.argv[1:]
    size = int(arguments[arguments.index("--grow") + 1]) if "--grow" in arguments else 0
    main(arguments[0], size, "--text" in arguments)
