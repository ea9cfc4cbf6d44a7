"""Raw samples, their windows and a learner behind them: as the host's Chain, to the bit."""

import ctypes
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from each import each
from on_host import at

from edgesvm import (
    Chain,
    ClockFeatures,
    FourierSVM,
    GaussianNovelty,
    KernelNovelty,
    KernelStreamSVM,
    OneVsRest,
    Standardized,
    StreamSVM,
    WindowFeatures,
)
from edgesvm.cli import main
from edgesvm.errors import SampleRefused
from edgesvm.persist.format import pack
from rig.boards import STRICT

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

N = 3000
GAPS = range(777, N, 1000)
DRIVER = """\
#include "mod.h"
unsigned long size(void) { return sizeof(mod_t); }
void restart(mod_t *m) { mod_reset(m); }
void gap(mod_t *m) { mod_gap(m); }
int push(mod_t *m, const mod_value *x, int slot, int *predicted, double *score) {
    return mod_push(m, x, slot, predicted, score);
}
int restore(mod_t *m, const unsigned char *bytes, unsigned n) { return mod_restore(m, bytes, n); }
"""


FOR_INFERENCE = """\
#include "mod.h"
unsigned long size(void) { return sizeof(mod_t); }
void gap(mod_t *m) { mod_gap(m); }
int push(mod_t *m, const mod_value *x, double *score) { return mod_push(m, x, score); }
"""


def library_of(chain, tmp_path, driver, *options):
    """The chain's C, exported by the command, and memory for its NAME_t."""
    chain.save(tmp_path / "chain.esvm")
    args = ["export", str(tmp_path / "chain.esvm"), "--c", str(tmp_path / "c"), "--prefix", "mod"]
    assert main([*args, *options]) == 0
    folder = tmp_path / "c"
    (folder / "driver.c").write_text(driver)
    sources = [folder / "mod.c", folder / "edgesvm/esvm.c", folder / "edgesvm/soft.c"]
    flags = ["gcc", "-O1", "-DESVM_SOFT_DOUBLE=1", *STRICT, "-fPIC", "-shared", f"-I{folder}"]
    output = ["-o", folder / "mod.so", "-lm"]
    subprocess.run([*flags, *sources, folder / "driver.c", *output], check=True)
    library = ctypes.CDLL(str(folder / "mod.so"))
    library.size.restype = ctypes.c_ulong
    return library, np.zeros(library.size() // 8, np.uint64)


def compiled(chain, tmp_path):
    """The form that learns, as the chain is."""
    library, memory = library_of(chain, tmp_path, DRIVER)
    library.restart(at(memory))
    memory[: chain.nbytes // 8] = np.frombuffer(bytes(chain.arena), np.uint64)
    return library, memory


def check_arena(chain, library, memory):
    """It is the host's, and again after a restart from a snapshot of the host."""
    assert memory.tobytes()[: chain.nbytes] == bytes(chain.arena)
    saved = np.frombuffer(pack(chain.snapshot()), np.uint8).copy()
    library.restart(at(memory))
    assert library.restore(at(memory), at(saved), len(saved)) == 0
    assert memory.tobytes()[: chain.nbytes] == bytes(chain.arena)


def cut(dtype, bands, features):
    return WindowFeatures(rate=1000, window=64, hop=24, dtype=dtype, features=features, bands=bands)


def raw_samples(dtype):
    """Two sines in noise, with values that are refused and samples without a label."""
    rng = np.random.default_rng(0)
    t = np.arange(N)
    slots = (t // 300 % 2).astype(int)
    wave = np.sin(2 * np.pi * np.where(slots, 120, 30) * t / 1000)
    X = (wave[:, None] + 0.3 * rng.standard_normal((N, 3))).astype(dtype)
    X[rng.random(N) < 0.01, 1] = np.nan
    X[rng.random(N) < 0.01, 2] = 1e20
    slots[rng.random(N) < 0.1] = -1
    return X, slots


def chain_of(dtype, bands, label, learner):
    windows = cut(dtype, bands, "all" if bands is not None and len(bands) > 1 else "rocket")
    behind, classes = learner(dtype=dtype), None
    if learner is not KernelNovelty:  # which scales itself, and has no labels
        behind, classes = Standardized(learner=behind), [0, 1]
    return Chain(windows=windows, learner=behind, label=label).allocate(3, classes)


def test_classes_are_counted_as_they_sort(tmp_path):
    windows = WindowFeatures(rate=100, window=8, hop=8, features=["mean", "std"])
    chain = Chain(windows=windows, learner=StreamSVM())
    x = np.random.default_rng(0).standard_normal((400, 1)).astype(np.float32)
    label = 9 - 5 * (np.arange(400) // 8 % 2)  # 9 comes first
    x[:, 0] += label
    for i in range(80):
        chain.push(x[i], label[i])
    library, memory = compiled(chain, tmp_path)
    predicted, score = np.zeros(1, np.int32), np.zeros(1)
    for i in range(80, 400):
        library.push(at(memory), at(x[i]), int(label[i] == 9), at(predicted), at(score))
        if (answer := chain.push(x[i], label[i])) is not None:
            assert ([4, 9][predicted[0]], score[0]) == answer
    assert memory.tobytes()[: chain.nbytes] == bytes(chain.arena)


@each(
    "dtype, bands, label, learner",
    [
        ("float32", [(10, 50), (50, 200)], "majority", FourierSVM),
        ("float64", None, "last", StreamSVM),
        ("float32", [(10, 50)], "majority", KernelNovelty),
    ],
)
def test_a_chain_takes_raw_samples_as_the_host(dtype, bands, label, learner, tmp_path):
    chain = chain_of(dtype, bands, label, learner)
    library, memory = compiled(chain, tmp_path)
    labels = chain.learner_.classes_
    predicted, score, refused, answered = np.zeros(1, np.int32), np.zeros(1), 0, 0
    for i, (x, slot) in enumerate(zip(*raw_samples(dtype), strict=True)):
        if i in GAPS:
            library.gap(at(memory))
            chain.gap()
        status = library.push(at(memory), at(x.copy()), int(slot), at(predicted), at(score))
        try:
            answer = chain.push(x, int(slot) if slot >= 0 else None)
        except SampleRefused:
            refused += 1
            assert status == 2
            continue
        assert status <= 1
        if answer is None:
            assert predicted[0] == -2
        elif answer[0] is None:
            assert predicted[0] == -1
        else:
            answered += 1
            assert (labels[predicted[0]], score[0]) == answer
    assert refused > 10
    assert answered > 50
    check_arena(chain, library, memory)


def learned(dtype, learner, classes, bands):
    """A chain that has learned, and raw samples that follow."""
    windows = cut(dtype, bands, "rocket" if bands is None else "all")
    chain = Chain(windows=windows, learner=learner).allocate(3, classes)
    X, slots = raw_samples(dtype)
    fine = np.flatnonzero((np.abs(X) < 1e15).all(axis=1))
    for i in fine[:2000]:
        chain.push(X[i], None if classes is None else classes[slots[i]])
    chain.gap()
    X[2600:] *= 30  # which no novelty learner takes for normal
    return chain, X[2000:]


@each(
    "dtype, learner, classes, bands",
    [
        ("float32", Standardized(learner=FourierSVM()), [0, 1], [(10, 50), (50, 200)]),
        ("float64", Standardized(learner=KernelStreamSVM(dtype="float64")), [0, 1], None),
        ("float32", Standardized(learner=StreamSVM(normalize=False)), [0, 1], [(10, 50)]),
        ("float32", KernelNovelty(), None, None),
        (
            "float32",
            OneVsRest(learner=Standardized(learner=StreamSVM()), n_classes=3),
            ["b", "a", "c"],
            None,
        ),
    ],
)
def test_a_chain_that_learns_no_more_answers_as_the_host(dtype, learner, classes, bands, tmp_path):
    """To the bit, unless it is folded into one vector."""
    chain, X = learned(dtype, learner, classes, bands)
    library, memory = library_of(chain, tmp_path, FOR_INFERENCE, "--inference")
    assert memory.nbytes == chain.windows_.nbytes
    folded = "but for rounding" in (tmp_path / "c/mod.h").read_text()
    apart, score, answered = replace(chain.windows_).allocate(3), np.zeros(1), set()
    before = bytes(chain.arena)
    for i, x in enumerate(X):
        if i in (400, 810):
            library.gap(at(memory))
            apart.gap()
        index = library.push(at(memory), at(x.copy()), at(score))
        try:
            row = apart.push(x)
        except SampleRefused:
            assert index == -3
            continue
        if row is None:
            assert index == -2
            continue
        label, value = chain.learner_.predict_with_score(row)
        answered.add(label)
        assert chain.learner_.classes_[index] == label
        assert np.allclose(score, value, rtol=1e-4, atol=1e-4) if folded else score[0] == value
    assert memory.tobytes() == bytes(apart.arena)
    assert bytes(chain.arena) == before
    assert len(answered) > 1


@each("dtype, learner", [("float32", GaussianNovelty), ("float64", KernelNovelty)])
def test_a_chain_knows_the_hour_as_the_host(dtype, learner, tmp_path):
    """Of five weeks, with a clock that is set back, gaps, samples that are refused, and spikes."""
    chain = Chain(windows=ClockFeatures(dtype=dtype), learner=learner(dtype=dtype)).allocate(3)
    library, memory = compiled(chain, tmp_path)
    rng = np.random.default_rng(0)
    hours = np.cumsum(rng.choice([0.0, 0.25, -0.25, 1.0, 50.0], N, p=[0.1, 0.7, 0.05, 0.14, 0.01]))
    X = np.column_stack([np.sin(hours / 24 * 2 * np.pi), rng.normal(0, 1e4, N), hours % 168 * 3600])
    X[:, :2] += rng.normal(0, 0.1, (N, 2))
    X[rng.random(N) < 0.01, 0] = 1e12
    X[rng.random(N) < 0.01, 2] = np.nan
    predicted, score, refused = np.zeros(1, np.int32), np.zeros(1), 0
    for i, x in enumerate(X.astype(dtype)):
        if i in GAPS:
            library.gap(at(memory))
            chain.gap()
        status = library.push(at(memory), at(x), -1, at(predicted), at(score))
        try:
            answer = chain.push(x)
        except SampleRefused:
            refused += 1
            assert status == 2
            continue
        if answer[0] is not None:
            assert (chain.learner_.classes_[predicted[0]], score[0]) == answer
    assert refused > 10 and chain.windows_.visits_.max() > 2
    check_arena(chain, library, memory)
    (tmp_path / "decides").mkdir()
    library, memory = library_of(chain, tmp_path / "decides", FOR_INFERENCE, "--inference")
    apart = ClockFeatures(dtype=dtype).allocate(3)  # a board begins without any hour
    for x in X[~np.isnan(X).any(axis=1)][:500].astype(dtype):
        index = library.push(at(memory), at(x), at(score))
        answer = chain.learner_.predict_with_score(apart.push(x))
        assert (chain.learner_.classes_[index], score[0]) == answer
    assert memory.tobytes() == bytes(apart.arena)
