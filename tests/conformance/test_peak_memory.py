"""Leaks: from sample 10,000 to 1,000,000 the peak of the process does not grow.

Here one learner goes so far, and one of each kind to 100,000; the long run takes them all.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from each import first_of
from registry import OWN_METHODS, REGISTERED

HERE = Path(__file__).parent
SAMPLES, FEWER_SAMPLES = 1_000_000, 100_000
LIMIT_KIB = 256  # the kernel's counters are batched; this is their resolution, not a need

CHILD = """
import itertools, json, sys
from collections import deque
sys.path[:0] = {paths!r}
from registry import BY_NAME

def peak_kib():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0])

def growth(name):
    entry = BY_NAME[name]
    X, y = entry.stream(600, "float32")
    learner = entry.make("float32").allocate(entry.n_features)
    step = {step}
    samples, labels = itertools.cycle(list(X)), itertools.cycle(y.tolist())

    def learn(n):
        deque(map(step, itertools.islice(samples, n), labels), maxlen=0)

    learn(10_000)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # VmHWM begins again at what is resident now
    before = peak_kib()
    learn({samples} - 10_000)
    return peak_kib() - before

print(json.dumps({{name: growth(name) for name in {names!r}}}))
"""


def growth_kib(names, samples=SAMPLES, step="learner.learn_one"):
    """Of each learner, one after the other in one process."""
    if not sys.platform.startswith("linux"):
        pytest.skip("VmHWM is Linux's")
    paths = [str(HERE), str(HERE.parent)]
    code = CHILD.format(paths=paths, names=names, samples=samples, step=step)
    child = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False
    )
    if "clear_refs" in child.stderr:
        pytest.skip("this system does not let a process reset its VmHWM")
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_peak_does_not_grow():
    growth = growth_kib(OWN_METHODS, FEWER_SAMPLES)
    assert {name: kib for name, kib in growth.items() if kib > LIMIT_KIB} == {}
    assert len(growth) == len(OWN_METHODS)


NAMES = [entry.name for entry in REGISTERED]


@pytest.mark.parametrize("name", first_of(NAMES))
def test_peak_does_not_grow_in_a_million_samples(name):
    assert growth_kib([name])[name] <= LIMIT_KIB


def test_a_leak_of_one_byte_a_sample_is_noticed():
    """The control: a bytearray that keeps one byte of each sample."""
    leak = "(lambda kept: lambda x, y: (learner.learn_one(x, y), kept.append(1)))(bytearray())"
    assert growth_kib(NAMES[:1], step=leak)[NAMES[0]] > LIMIT_KIB
