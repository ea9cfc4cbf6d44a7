"""Labels that are numbers: float64 on the wire, in the ring, and in a recording."""

import math
import struct

import numpy as np
import pytest
from fake_port import Clock, Node, connect, sound, text_link

from edgesvm.errors import RecordingError
from edgesvm.link import LateLabel, Recording, RecordingSchema, RecordingWriter, wire
from edgesvm.link._lines import parse_view

VALUES = [0.1, -1e300, 5e-324, 1 / 3, -0.0, 12345.678901234567]
MODES = {name: mode | wire.TARGETS for name, mode in (("inline", 1), ("late", 2))}


@pytest.fixture
def clock():
    return Clock()


def framed(clock, mode="inline", **options):
    node = Node(n_features=2, label_mode=MODES[mode])
    return connect(clock, node, targets=True, **options), node


def sample(node, sequence, x=(1.0, 2.0), **label):
    return wire.encode_sample(node.schema.schema_id, sequence, x, **label)


def late(node, sequence, target, weight=1.0):
    body = wire.Target(sequence, target, weight).pack()
    return wire.encode_frame(wire.LABEL, body, schema_id=node.schema.schema_id)


def bits(values):
    return [struct.pack("<d", value) for value in values]


def test_a_target_crosses_the_wire_to_the_bit(clock):
    (link, port), node = framed(clock)
    assert link.schema.targets and link.schema.label == "inline"
    for k, value in enumerate(VALUES):
        port.inbox += sample(node, k, target=value, weight=0.5, time_us=k)
    port.inbox += sample(node, 6) + sample(node, 7, target=math.nan) + sample(node, 8, label=1)
    link.poll()
    batch = link.take()
    assert bits(batch.y[:6]) == bits(VALUES) and batch.y.dtype == np.float64
    assert batch.has_label.tolist() == [True] * 6 + [False, False]
    assert batch.weight.tolist() == [0.5] * 6 + [1.0, 1.0]
    assert sound(link)["bad_dimension"] == 1  # the class index, of another length


def test_a_late_target_finds_its_sample_and_what_was_predicted(clock):
    (link, port), node = framed(clock, "late", late_labels=4)
    port.inbox += sample(node, 0, (3.0, 4.0)) + sample(node, 1)
    link.poll()
    for k, x in enumerate(link.take().X):
        link.late.wait(x, k, (0.1, -1.5, 2.5) if k == 0 else None)
    link.release(2)
    port.inbox += late(node, 0, 1 / 3, 2.0) + late(node, 1, math.inf) + late(node, 1, -7.25)
    link.poll()
    first = link.take_labelled()
    assert (first.x.tolist(), first.label, first.weight) == ([3.0, 4.0], 1 / 3, 2.0)
    assert first.predicted == (0.1, -1.5, 2.5)
    second = link.take_labelled()
    assert (second.label, second.predicted) == (-7.25, None)
    assert sound(link)["bad_label"] == 1


def test_a_predicted_target_goes_back_with_its_interval(clock):
    (link, port), node = framed(clock)
    port.inbox += sample(node, 0, (1.0, math.inf), target=1.0)
    link.poll()  # answers the refused one itself
    assert link.send_estimate(7, 0.1, -1 / 3, 1e300, wire.TRAINED)
    link.flush()
    frames = node.kinds(wire.PREDICTION)
    assert [len(frame.body) for frame in frames] == [32, 32]
    refused, answer = (wire.Estimate.unpack(frame.body) for frame in frames)
    assert refused == wire.Estimate(0, wire.REJECTED, 0.0, 0.0, 0.0)
    assert answer == wire.Estimate(7, wire.TRAINED, 0.1, -1 / 3, 1e300)


@pytest.mark.parametrize(
    ("label_mode", "targets", "advice"), [(1, True, "leave out"), (5, False, "give")]
)
def test_classes_and_targets_are_refused_at_once_where_the_other_is_expected(
    clock, label_mode, targets, advice
):
    with pytest.raises(ValueError, match=f"{advice} targets=True"):
        connect(clock, Node(label_mode=label_mode), targets=targets)


def test_who_takes_no_labels_reads_the_features_of_either(clock):
    node = Node(n_features=2, label_mode=MODES["inline"])
    link, port = connect(clock, node, label="none")
    port.inbox += sample(node, 0, (5.0, 6.0), target=1.5)
    link.poll()
    batch = link.take()
    assert batch.X.tolist() == [[5.0, 6.0]] and not batch.has_label.any()
    link.send_prediction(0, -1, 0.5, wire.ALARM)
    link.flush()
    (answer,) = node.kinds(wire.PREDICTION)
    assert wire.Estimate.unpack(answer.body) == wire.Estimate(0, wire.ALARM, -1.0, 0.0, 0.0)


@pytest.mark.parametrize("label_mode", [1, 5])
def test_who_uses_no_labels_takes_either(clock, label_mode):
    node = Node(n_features=2, label_mode=label_mode)
    link, port = connect(clock, node, targets=None)
    label = {"target": 1e300} if link.schema.targets else {"label": 7}
    port.inbox += sample(node, 0, (5.0, 6.0), **label) + sample(node, 1, (math.nan, 6.0), **label)
    link.poll()
    assert link.take().X.tolist() == [[5.0, 6.0]] and sound(link)["bad_nan"] == 1
    link.flush()
    body = wire.Estimate if link.schema.targets else wire.Prediction
    assert body.unpack(node.kinds(wire.PREDICTION)[0].body).flags == wire.REJECTED
    lines, _ = text_link(clock, b"\n1,2,0.5\n3,4,1\n", n_features=2, targets=None)
    lines.poll()
    assert len(lines.take().y) == 2


def test_lines_have_a_number_last_and_a_feature_may_be_missing(clock):
    link, port = text_link(
        clock, b"\n1,2,0.1\n,nan,-3e2\n1,?,\n1,2,nan\n1,inf,2\n1,2,x\n", n_features=2, targets=True
    )
    link.poll()
    batch = link.take()
    assert batch.has_label.tolist() == [True, True, False, False]
    assert batch.y[:2].tolist() == [0.1, -300.0]
    assert np.isnan(batch.X).tolist() == [[False] * 2, [True] * 2, [False, True], [False] * 2]
    c = sound(link)
    assert (c["bad_value"], c["bad_label"]) == (1, 1)
    link.send_estimate(0, 1.5, -2.0, 1 / 3)
    link.flush()
    assert port.written.endswith(b"!0 1.5 0 -2 0.333333333\n")


def test_decimals_of_15_digits_become_the_nearest_float64():
    rng = np.random.default_rng(3)
    values = rng.standard_normal(2000) * 10.0 ** rng.integers(-5, 20, 2000)
    for text in (f"{value:.15g}" for value in values):
        assert parse_view(text.encode(), False) == float(text)
    for value in values:  # 17 digits
        assert abs(parse_view(repr(float(value)).encode(), False) - value) <= 2 * np.spacing(
            abs(value)
        )
    assert parse_view(b"1e400", False) == "bad_value" and parse_view(b"--1", False) == "bad_char"


def test_a_recording_keeps_targets_and_missing_features_to_the_bit(clock, tmp_path):
    (link, port), node = framed(clock, "late", late_labels=8)
    for k, value in enumerate(VALUES):
        port.inbox += sample(node, k, (k, math.nan), target=value)
    port.inbox += sample(node, 6) + late(node, 6, 1 / 3)
    link.poll()
    batch, path = link.take(), tmp_path / "flow.rec"
    schema = RecordingSchema(2, late=True, targets=True)
    with RecordingWriter(path, schema, number=1) as writer:
        writer.append(batch)
        link.release(7)
        writer.append_labels(list(link.take_labels()))
        with pytest.raises(ValueError, match="target is NaN"):
            writer.append_labels([LateLabel(0, math.nan, 1.0)])
    assert path.stat().st_size == 32 + 8 * (24 + 8)
    assert all(struct.pack("<d", value) in path.read_bytes() for value in VALUES)
    with Recording(path) as recording:
        assert recording.targets
        again = recording.read(0, 8)
        assert all(a.tobytes() == b.tobytes() for a, b in zip(again, batch, strict=True))
        (chunk,) = recording.chunks(9)
        assert bits(chunk.y.tolist()) == bits([*VALUES, 1 / 3])
    with pytest.raises(RecordingError, match="late targets; cannot append"):
        RecordingWriter(path, RecordingSchema(2, late=True))
    data = bytearray(path.read_bytes())
    data[32 + 24 + 16 + 5] ^= 1  # in the second target
    path.write_bytes(data)
    with Recording(path) as recording:
        assert bits(recording.read(0, 3).y) == bits([VALUES[0], VALUES[2]])
