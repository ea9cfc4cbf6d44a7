"""An exported model, compiled for this machine, beside the learner that it came from."""

import ctypes
import shlex
import shutil
import subprocess

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import NotFittedError
from edgesvm.export.folder import export

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
NOT_FITTED = 6
DRIVER = """\
#include "mod.h"
unsigned self_test(void) { return esvm_self_test(); }
unsigned expected(void) { return ESVM_SELF_TEST; }
unsigned long size(void) { return sizeof(mod_t); }
void restart(mod_t *m) { mod_reset(m); }
int restore(mod_t *m, const unsigned char *bytes, unsigned n) { return mod_restore(m, bytes, n); }
void snapshot(const mod_t *m, unsigned at, unsigned char *out, unsigned n) {
    mod_snapshot_read(m, at, out, n);
}
int predict(mod_t *m, const mod_value *x, double *score) { return mod_predict(m, x, score); }
void run(mod_t *m, const mod_value *x, const signed char *slot, const double *weight, long n,
         double *values, int *decided, int *learned) {
    long i;
    for (i = 0; i < n; i++, x += MOD_N_FEATURES, values += MOD_N_VALUES) {
        decided[i] = mod_decide(m, x, values);
        learned[i] = mod_learn_weighted(m, x, slot[i], weight[i]);
    }
}
"""


def compilers():
    """gcc, and clang if it is there."""
    return [cc for cc in ("gcc", "clang") if shutil.which(cc)]


def write(learner, folder, without=""):
    """Export it as "mod"; a control leaves out a line of floor.h."""
    for path in export(learner, folder, "mod"):
        if without and path.name == "floor.h":
            assert without in path.read_text()
            path.write_text(path.read_text().replace(without, ""))


class Compiled:
    """The model's C on this machine, with its arena in `arena`."""

    def __init__(self, learner, folder, cc="gcc -O2", without=""):
        self.learner, self.folder = learner, folder
        write(learner, folder, without)
        (folder / "driver.c").write_text(DRIVER)
        library = folder / "mod.so"
        sources = [
            folder / "mod.c",
            folder / "edgesvm/esvm.c",
            folder / "edgesvm/soft.c",
            folder / "driver.c",
        ]
        flags = [*shlex.split(cc), *STRICT, "-fPIC", "-shared", f"-I{folder}"]
        subprocess.run([*flags, *sources, "-o", library, "-lm"], check=True)
        self.library = ctypes.CDLL(str(library))
        self.library.size.restype = ctypes.c_ulong
        self.memory = np.zeros(self.library.size() // 8, np.uint64)
        self.arena = self.memory[: learner.nbytes // 8]  # behind it, scratch
        self.library.restart(at(self.memory))

    def run(self, X, slots, weights):
        """Decide about each sample, then learn it."""
        n, n_values = len(X), max(self.learner._allocated.n_columns, 1)
        values = np.zeros((n, n_values))
        decided, learned = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self.library.run(
            at(self.memory),
            at(X),
            at(slots),
            at(weights),
            ctypes.c_long(n),
            at(values),
            at(decided),
            at(learned),
        )
        return values, decided, learned


def at(array):
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.c_void_p)


def run_here(learner, X, slots, weights):
    """The same by the learner itself."""
    core = learner._allocated
    n = len(X)
    values = np.zeros((n, max(core.n_columns, 1)))
    decided, learned = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for i in range(n):
        try:
            out, _, decided[i] = core.decide_many(X[i : i + 1])
            values[i] = out.reshape(1, -1)
        except NotFittedError:
            decided[i] = NOT_FITTED
        before = int(core.views["n_updates"])
        _, status = core.learn_many(X[i : i + 1], slots[i : i + 1], weights[i : i + 1])
        changed = int(core.views["n_updates"]) > before
        learned[i] = Status.CHANGED if changed else status
    return values, decided, learned


def hard_samples(n, n_features, dtype, seed, classes=(0, 1)):
    """Rows of all sizes, with zeros, subnormal numbers, NaN, infinities and huge ones; class
    indices; weights, some of them 0, tiny, huge or useless."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features)) * 10.0 ** rng.integers(-2, 3, n_features)
    n_classes = len(classes)
    towards = X[:, 0] / X[:, 0].std() + 0.7 * rng.standard_normal(n)
    slots = np.digitize(towards, np.linspace(-1, 1, n_classes + 1)[1:-1]).astype(np.int8)
    X = X.astype(dtype)
    X[rng.random(n) < 0.01] = 0
    X[rng.random((n, n_features)) < 0.02] *= np.array(
        1e-42 if dtype == "float32" else 1e-312, dtype
    )
    for value in (np.nan, np.inf, np.finfo(dtype).max, -np.finfo(dtype).max):
        X[rng.random(n) < 0.002, rng.integers(n_features)] = value
    if tuple(classes) == (-1, 1):  # of a novelty learner, which learns what is normal
        slots[:] = 1
    weights = np.where(rng.random(n) < 0.8, 1.0, rng.integers(0, 9, n) / 2.0)
    odd = rng.random(n) < 0.01
    weights[odd] = rng.choice([1e-300, 1e-12, 1e9, -1.0, np.nan, np.inf], odd.sum())
    return np.ascontiguousarray(X), slots, weights


def differences(learner, compiled, samples, block=500):
    """What differs between the two over a stream, in words; empty if nothing does. The arenas are
    compared after every block."""
    assert bytes(learner.arena) == compiled.arena.tobytes()
    X, slots, weights = samples
    for begin in range(0, len(X), block):
        part = slice(begin, begin + block)
        args = np.ascontiguousarray(X[part]), slots[part].copy(), weights[part].copy()
        differs = difference(learner, run_here(learner, *args), compiled, compiled.run(*args))
        if differs:
            return f"{differs} before row {begin + block}"
    return ""


def difference(learner, here, compiled, there):
    """The same, of what came out of a stream and is in the arenas."""
    good = here[1] <= Status.CHANGED
    if not np.array_equal(here[1], there[1]) or not np.array_equal(here[2], there[2]):
        return "statuses differ"
    if here[0][good].tobytes() != there[0][good].tobytes():
        return "decisions differ"
    return "" if bytes(learner.arena) == compiled.arena.tobytes() else "arenas differ"
