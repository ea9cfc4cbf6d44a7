"""The snapshot format: every byte of a small one written out by hand, and files that must stay
readable for ever.
"""

import json
import math
import re
import struct
import zlib
from dataclasses import replace

import make_golden
import numpy as np
import pytest
from each import each
from make_golden import GOLDEN, answers, golden_files, learned, samples, stream

from edgesvm import (
    RBF,
    CorruptModelError,
    KernelStreamSVM,
    Linear,
    Polynomial,
    StreamSVM,
    load,
)
from edgesvm.catalogue import MODULE_OF
from edgesvm.contract.registry import GONE, LEARNERS
from edgesvm.persist import Snapshot, pack, restore, unpack
from edgesvm.persist.format import MAX_DEPTH, Wrapped

# -- by hand ---------------------------------------------------------------------------------------

PARAMS = (
    b"\x04\x09\x00StreamSVM"  # kind 4, a string; its length; its bytes
    b"\x04\x01\x00C" + b"\x03" + struct.pack("<d", 2.0)  # kind 3, a float
    + b"\x04\x07\x00n_balls" + b"\x02\x07\x00\x00\x00\x00\x00\x00\x00"  # kind 2, an 8-byte integer
    + b"\x04\x09\x00normalize" + b"\x01\x01"  # kind 1, a boolean
    + b"\x04\x05\x00gamma" + b"\x00"  # kind 0, None
)  # fmt: skip
LABELS = b"\x01" + b"\x04\x03\x00off" + b"\x04\x02\x00on"  # named up front; in slot order
ARENA = bytes(range(24))
HEADER = (
    b"ESVMSNAP"
    b"\x01\x00"  # version 1
    b"\x38\x00"  # header of 56 bytes
    b"\x05\x00\x00\x00"  # n_features
    + struct.pack("<Q", 56 + len(PARAMS) + len(LABELS) + 24 + 4)  # bytes of the file
    + struct.pack("<Q", 24)  # of the arena
    + struct.pack("<I", len(PARAMS))
    + struct.pack("<I", len(LABELS))
    + bytes(16)  # reserved
)
BODY = HEADER + PARAMS + LABELS + ARENA
FILE = BODY + struct.pack("<I", zlib.crc32(BODY))
SNAPSHOT = Snapshot(
    "StreamSVM",
    {"C": 2.0, "n_balls": 7, "normalize": True, "gamma": None},
    5,
    ("off", "on"),
    True,
    ARENA,
)


def sealed(body):
    return body + struct.pack("<I", zlib.crc32(body))


def file_of(params=PARAMS, labels=LABELS, arena=ARENA, names=b"", version=1):
    n_bytes = 56 + len(params) + len(labels) + len(names) + len(arena) + 4
    head = struct.pack("<8sHHIQ", b"ESVMSNAP", version, 56, 5, n_bytes)
    head += struct.pack("<QIII12x", len(arena), len(params), len(labels), len(names))
    return sealed(head + params + labels + names + arena)


def test_every_byte():
    assert pack(SNAPSHOT) == FILE
    assert unpack(FILE) == SNAPSHOT


def test_every_byte_of_names():
    named = replace(SNAPSHOT, names=("a", "b", "°C", "d", "e"))
    names = b"".join(b"\x04" + struct.pack("<H", len(n.encode())) + n.encode() for n in named.names)
    assert pack(named) == file_of(names=names, version=2)
    assert unpack(pack(named)) == named


@each("names", [b"\x04\x01\x00a" * 4, b"\x02" + bytes(8) + b"\x04\x01\x00a" * 4])
def test_names_that_are_not_one_for_each_feature(names):
    with pytest.raises(CorruptModelError, match="one for each feature"):
        unpack(file_of(names=names, version=2))
    with pytest.raises(CorruptModelError, match="names are missing"):
        unpack(file_of(version=2))


@pytest.mark.parametrize(
    "kernel, code",
    [
        (Linear(), b"\x05\x00\x01\x00" + struct.pack("<dd", 0.0, 0.0)),
        (RBF(0.25), b"\x05\x01\x01\x00" + struct.pack("<dd", 0.25, 0.0)),
        (Polynomial(3, 0.5, 2.0), b"\x05\x02\x03\x00" + struct.pack("<dd", 0.5, 2.0)),
    ],
)
def test_every_byte_of_a_kernel(kernel, code):
    data = pack(Snapshot("K", {"kernel": kernel}, 1, (), False, b""))
    assert code in data
    assert unpack(data).params == {"kernel": kernel}


def test_every_byte_of_numbers_by_label():
    numbers = {"hot": 20.0, -1: 1, True: 0.5}
    section = (
        b"\x04\x03\x00hot\x03" + struct.pack("<d", 20.0)
        + b"\x02" + struct.pack("<q", -1) + b"\x02" + struct.pack("<q", 1)
        + b"\x01\x01\x03" + struct.pack("<d", 0.5)
    )  # fmt: skip
    data = pack(Snapshot("K", {"cost": numbers}, 1, (), False, b""))
    assert b"\x07" + struct.pack("<H", len(section)) + section in data
    assert unpack(data).params == {"cost": numbers}


@each(
    "labels",
    [
        (),
        ("on",),
        (-1, 1),
        (False, True),
        (0.5, -1e308),
        ("", "é\n"),
        (-(2**63), 2**63 - 1),
        (1, "1"),
        ("x" * 1024, "y"),
    ],
)
def test_labels_come_back(labels):
    read = unpack(pack(Snapshot("StreamSVM", {}, 1, labels, False, b""))).labels
    assert read == labels
    assert [type(y) for y in read] == [type(y) for y in labels]


@each("label", [None, (1, 2), 2**63, b"on", "x" * 1025, "é" * 513, RBF(1.0), 1j])
def test_labels_the_format_has_no_place_for(label):
    with pytest.raises(TypeError, match="cannot save the label"):
        pack(Snapshot("StreamSVM", {}, 1, (label,), False, b""))


def test_learners_nest_only_so_deep():
    inner = Wrapped("StreamSVM", {"C": 1.0})
    for depth in range(1, MAX_DEPTH + 2):
        snapshot = Snapshot("Standardized", {"learner": inner}, 5, (), False, ARENA)
        if depth <= MAX_DEPTH:
            assert unpack(pack(snapshot)).params == {"learner": inner}
        else:
            with pytest.raises(CorruptModelError, match="cannot be read"):
                unpack(pack(snapshot))
        inner = Wrapped("Standardized", {"learner": inner})


# -- golden files ----------------------------------------------------------------------------------

FILES = golden_files()
GONE_IN = {
    "auto_f32": "Auto",
    "settled_twins_sides_f64": "TwinDictionarySVM",
    "fourier_features_f32": "FourierFeatures",
    "robust_stream_f64": "RobustStandardized",
}


def golden(name):
    assert f"{name}.esvm" in FILES, f"no {name}: run python tests/persist/make_golden.py"
    return FILES[f"{name}.esvm"]


@each("name", GOLDEN)
def test_golden_file_is_what_we_write(name, tmp_path):
    """The same stream gives the same bytes on every machine, and the format has not crept. Most
    files are older than `mean_weight`, which is 1 here, or than the labels that wait."""
    model, then = learned(name), unpack(golden(name))
    model.save(tmp_path / "model")
    arena = bytes(then.arena)
    later = model.plan(then.n_features).offsets.get("candidates", model.nbytes)
    if len(arena) < later:
        arena += struct.pack("<d", 1.0)
    arena += bytes(model.nbytes - later)
    assert (tmp_path / "model").read_bytes() == pack(replace(then, arena=arena))


@each("name", GOLDEN)
def test_golden_file_is_read_and_goes_on(name):
    model, never_stopped = restore(golden(name)), learned(name)
    assert repr(model) == repr(never_stopped)
    named = tuple(getattr(model, "feature_names_in_", ()))
    assert named == make_golden.FEATURES.get(name, ())
    if not model.regresses:
        labels = ["cold", "hot", "mild"][: model.n_classes_planned]
        assert model.classes_.tolist() == (labels if model.takes_labels else [-1, 1])
    X, y = samples(model, 300)
    assert answers(model) == answers(never_stopped)
    model.partial_fit(X[200:], y[200:])
    never_stopped.partial_fit(X[200:], y[200:])
    assert bytes(model.arena) == bytes(never_stopped.arena)


def gone(name):
    """The class in this golden file that edgesvm no longer has."""
    kind = GONE_IN.get(name, name)
    return kind if kind in GONE else None


def answers_as_it_did(model, name):
    then, now = json.loads(FILES[f"{name}.json"]), answers(model)
    assert now.keys() == then.keys()
    if not model.regresses:
        assert now["predict"] == then.pop("predict"), name
        n_classes = min(model.n_classes_planned, 3)
        assert len(set(now["predict"])) == n_classes or not model.takes_labels, name
    rtol = 1e-5 if model.dtype == "float32" else 1e-12
    for what, values in then.items():
        np.testing.assert_allclose(now[what], values, rtol, rtol, err_msg=f"{name} {what}")


def test_golden_files_answer_as_they_did():
    """Every file, those of older releases too: labels, and decisions to rounding."""
    seen = set()
    for name in [file.removesuffix(".esvm") for file in FILES if file.endswith(".esvm")]:
        if not gone(name):
            model = restore(golden(name))
            answers_as_it_did(model, name)
            seen.update(re.findall(r"\w+(?=\()", repr(model)))
    ours = {name for name, kind in LEARNERS.items() if kind.__module__.startswith("edgesvm.")}
    assert len(ours) >= 14
    assert seen.issuperset(ours), f"no file of {ours - seen}"


def test_what_is_gone_is_refused_by_one_line():
    for name in GONE_IN:
        line = f"^the snapshot is of {gone(name)}, which edgesvm no longer has: use "
        with pytest.raises(CorruptModelError, match=f"{line}{GONE[gone(name)]}$"):
            restore(golden(name))
    assert not GONE.keys() & MODULE_OF.keys()


def test_a_golden_file_is_never_written_again(tmp_path, monkeypatch, capsys):
    lost = "stream_weighed_f32.esvm", "twins_rbf_sides_f32.json", "two_saves_weighed.ckpt"
    monkeypatch.setattr(make_golden, "HERE", tmp_path)
    for name, data in FILES.items():
        if name not in lost:
            make_golden.add(name, data)
    capsys.readouterr()
    make_golden.main()
    assert set(capsys.readouterr().out.split()) == {*lost}
    assert golden_files() == FILES
    with pytest.raises(FileExistsError):
        make_golden.add(lost[0], b"")


# -- sound in its CRC, wrong in what it says -------------------------------------------------------


def patched(offset, code, value):
    body = bytearray(BODY)
    struct.pack_into(code, body, offset, value)
    return sealed(bytes(body))


@each("offset, code", [(16, "<Q"), (24, "<Q"), (32, "<I"), (36, "<I")])
@each("change", [-1, 1, 1 << 31])
def test_each_length_must_add_up(offset, code, change):
    (value,) = struct.unpack_from(code, BODY, offset)
    with pytest.raises(CorruptModelError):
        unpack(patched(offset, code, (value + change) % 2 ** (8 * struct.calcsize(code))))


@each("offset", [10, *range(40, 56)])
def test_header_length_and_reserved_bytes_are_fixed(offset):
    with pytest.raises(CorruptModelError, match="header"):
        unpack(patched(offset, "<B", 1))


HOT, ONE = b"\x04\x03\x00hot", b"\x02" + struct.pack("<q", 1)
NO_NUMBERS_BY_LABEL = [
    HOT,
    HOT + HOT,
    HOT + ONE + HOT + ONE,
    b"\x00" + ONE,
    HOT + b"\x00",
    b"\x03" + struct.pack("<d", math.nan) + ONE,
    b"\x07\x00\x00" + ONE,
    HOT + b"\x07\x00\x00",
]
NO_PARAMS = [
    b"",
    b"\x03" + bytes(8),  # the class's name is a number
    b"\x04\x01\x00A" + b"\x04\x01\x00C",  # a name with no value
    b"\x04\x01\x00A" + b"\x01\x01" + b"\x01\x01",  # a name that is no string
    b"\x04\x01\x00A\x04\x01\x00k\x05\x07\x01\x00" + bytes(16),  # a kernel of no kind
    b"\x04\x01\x00A\x04\x01\x00k\x05\x01\x01\x00" + struct.pack("<dd", math.nan, 0.0),
    b"\x04\x01\x00A\x04\x01\x00k\x05\x01\x01\x00" + struct.pack("<dd", -1.0, 0.0),
    b"\x04\x01\x00A\x04\x01\x00k\x05\x02\xff\xff" + struct.pack("<dd", 1.0, 0.0),
    b"\x04\x01\x00A\x04\x01\x00k\x05",
]
NO_LABELS = [
    b"",  # not even the flag
    b"\x02",
    b"\x00\x00",  # None is no label
    b"\x00\x03" + struct.pack("<d", math.nan),
    b"\x00\x03" + struct.pack("<d", math.inf),
    b"\x00" + 2 * b"\x01\x01",  # twice the same
    b"\x00\x01\x01\x02" + struct.pack("<q", 1),  # True and 1 are the same
    b"\x00" + b"".join(b"\x02" + struct.pack("<q", i) for i in range(128)),  # one too many
    b"\x01\x01\x00",  # named up front, but one
    b"\x00\x01\x02",  # a boolean that is neither
    b"\x00\x04\xff\xffshort",
    b"\x00\x04\x02\x00\xff\xfe",  # no UTF-8
    b"\x00\x02\x01",
    b"\x00\x09",
    b"\x00\x05\x00\x01\x00" + bytes(16),  # a kernel is no label
]


SECTIONS = [({"params": params}, None) for params in NO_PARAMS]
SECTIONS += [({"labels": labels}, None) for labels in NO_LABELS]
for section in NO_NUMBERS_BY_LABEL:
    numbers = b"\x04\x01\x00K\x04\x01\x00c\x07" + struct.pack("<H", len(section)) + section
    SECTIONS.append(({"params": numbers}, "cannot be read"))


@each("of, message", SECTIONS)
def test_sections_that_are_none(of, message):
    with pytest.raises(CorruptModelError, match=message):
        unpack(file_of(**of))


# -- parameters as a search hands them over --------------------------------------------------------


@each(
    "learner",
    [
        StreamSVM(C=np.float64(2.0), lookahead=np.int64(3), normalize=np.bool_(True)),
        StreamSVM(C=np.float32(0.5), n_balls=np.int8(2), dtype=np.str_("float64")),
        KernelStreamSVM(max_vectors=np.int32(4), gamma=np.float32(0.5), kernel="rbf"),
        StreamSVM(C=3),
    ],
)
def test_numpy_scalars_as_parameters(learner, tmp_path):
    """np.arange and np.logspace in a grid search yield them."""
    learner.fit(*stream(50, learner.dtype)).save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.get_params() == learner.get_params()
    assert bytes(again.arena) == bytes(learner.arena)
