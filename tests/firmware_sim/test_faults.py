"""Faults: what each does to a frame, and that the ledger is what a receiver counts."""

import io
import json
from itertools import pairwise

import numpy as np
import pytest

from edgesvm.ingest import wire
from edgesvm.ingest._frames import FrameDecoder
from firmware_sim.faults import FAULTS, MIXES, FaultInjector, Unplug, fault_rates


def sample(sequence):
    rng = np.random.default_rng(sequence)
    return wire.encode_sample(9, sequence, rng.standard_normal(8).astype(np.float32), label=1)


STREAM = [sample(i) for i in range(3000)]


def damage(rates, *, seed=0, cuts=None, stream=None):
    injector = FaultInjector(rates, seed=seed)
    data = b"".join(STREAM if stream is None else stream)
    edges = [0, *(cuts if cuts is not None else []), len(data)]
    pieces = [p for a, b in pairwise(edges) for p in injector.feed(data[a:b])]
    return injector, pieces


def received(pieces):
    decoder = FrameDecoder()
    frames = []
    for piece in pieces:
        if isinstance(piece, Unplug):
            decoder.resync()
        else:
            frames += decoder.feed(piece)
    return decoder, [f.sequence for f in frames]


def test_no_faults_no_change():
    injector, pieces = damage({})
    assert b"".join(pieces) == b"".join(STREAM)
    assert injector.frames == 3000 and injector.ledger.counts() == {}


@pytest.mark.parametrize("kind", ["flip", "drop", "insert", "truncate", "lose", "duplicate"])
def test_a_receiver_counts_what_the_ledger_says(kind):
    injector, pieces = damage({kind: 0.1})
    ledger = injector.ledger
    assert 200 < ledger.counts()[kind] < 400 and len(ledger) == ledger.counts()[kind]
    decoder, sequences = received(pieces)
    assert decoder.frames - decoder.ok == ledger.bad_frames
    assert len(set(sequences)) == 3000 - ledger.frames_lost
    assert len(sequences) - len(set(sequences)) == ledger.counts().get("duplicate", 0)
    lost = set(range(3000)) - set(sequences)
    assert lost == {e.frame for e in ledger.entries if FAULTS[kind].loses_frame}


def test_the_noisy_mix_adds_up_exactly():
    injector, pieces = damage(MIXES["noisy"], seed=4)
    ledger = injector.ledger
    assert set(ledger.counts()) == set(MIXES["noisy"])
    decoder, sequences = received(pieces)
    assert decoder.frames - decoder.ok == ledger.bad_frames
    assert len(set(sequences)) == 3000 - ledger.frames_lost


def test_disconnecting_loses_the_cut_frame_only():
    injector, pieces = damage({"disconnect": 0.02})
    unplugs = [p for p in pieces if isinstance(p, Unplug)]
    assert len(unplugs) == len(injector.ledger) > 20
    # A host that opens anew discards up to the first delimiter, with which the node's answer
    # begins.
    greeted = [q for p in pieces for q in ([p, b"\0"] if isinstance(p, Unplug) else [p])]
    _, sequences = received(greeted)
    assert set(range(3000)) - set(sequences) == {e.frame for e in injector.ledger.entries}


def test_the_same_seed_gives_the_same_faults_in_any_cutting():
    whole, pieces = damage(MIXES["noisy"], seed=7)
    rng = np.random.default_rng(1)
    cuts = np.sort(rng.integers(0, sum(map(len, STREAM)), 500)).tolist()
    cut, cut_pieces = damage(MIXES["noisy"], seed=7, cuts=cuts)
    assert b"".join(cut_pieces) == b"".join(pieces)
    assert cut.ledger.entries == whole.ledger.entries
    assert damage(MIXES["noisy"], seed=8)[0].ledger.entries != whole.ledger.entries


def test_a_flip_is_where_the_ledger_says_and_makes_no_delimiter():
    injector, pieces = damage({"flip": 1.0})
    clean, dirty = b"".join(STREAM), b"".join(pieces)
    different = [i for i in range(len(clean)) if clean[i] != dirty[i]]
    assert different == [e.offset for e in injector.ledger.entries]
    assert all((clean[i] ^ dirty[i]).bit_count() == 1 for i in different)
    assert dirty.count(0) == clean.count(0) == 3000


def test_only_samples_are_hit_unless_told_otherwise():
    beat = wire.encode_frame(wire.HEARTBEAT, wire.Heartbeat(1, 0).pack())
    injector, pieces = damage({"flip": 1.0}, stream=[beat, STREAM[0], b"\0", beat])
    assert [(e.frame, e.frame_type) for e in injector.ledger.entries] == [(1, wire.SAMPLE_F32)]
    assert pieces[0] == beat and pieces[2:] == [b"\0", beat]
    all_of_them = FaultInjector({"flip": 1.0}, only_samples=False)
    all_of_them.feed(beat + STREAM[0])
    assert len(all_of_them.ledger) == 2


def test_text_lines_can_be_hit_too():
    injector = FaultInjector({"flip": 0.5, "truncate": 0.5}, delimiter=10)
    out = b"".join(injector.feed(b"1,2,0\n" * 100 + b"unfinished"))
    assert out.count(b"\n") == 100 and len(injector.ledger) == 100


def test_the_ledger_can_be_written():
    injector, _ = damage({"drop": 0.01})
    file = io.StringIO()
    injector.ledger.write(file)
    lines = [json.loads(line) for line in file.getvalue().splitlines()]
    assert [line["index"] for line in lines] == list(range(len(injector.ledger)))
    assert lines[0]["kind"] == "drop" and lines[0]["frame_type"] == wire.SAMPLE_F32


def test_every_mix_is_of_known_faults():
    for rates in MIXES.values():
        FaultInjector(rates)


def test_rates_from_the_command_line():
    assert fault_rates("noisy", ["flip=0", "lose=0.5"])["lose"] == 0.5
    assert fault_rates("noisy", ["flip=0"])["flip"] == 0
    with pytest.raises(ValueError, match="no fault mix 'spam'"):
        fault_rates("spam")
    with pytest.raises(ValueError, match="must be kind=rate"):
        fault_rates("none", ["flip"])


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ({"spam": 0.1}, "no fault 'spam'"),
        ({"flip": -0.1}, "from 0 to 1"),
        ({"flip": float("nan")}, "from 0 to 1"),
        ({"flip": 0.6, "drop": 0.6}, "add up"),
    ],
)
def test_rates_out_of_range(rates, message):
    with pytest.raises(ValueError, match=message):
        FaultInjector(rates)
