"""An exported model, compiled for this machine, beside the learner that it came from."""

import ctypes
import shlex
import shutil
import subprocess

import numpy as np

from edgesvm.core.status import Status
from edgesvm.export.folder import export
from rig.boards import STRICT, n_values, run_here, write

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
#ifdef MOD_N_VALUES
void run(mod_t *m, const mod_value *x, const signed char *slot, const double *weight, long n,
         double *values, int *decided, int *learned) {
    long i;
    for (i = 0; i < n; i++, x += MOD_N_FEATURES, values += MOD_N_VALUES) {
        decided[i] = mod_decide(m, x, values);
        learned[i] = mod_learn_weighted(m, x, slot[i], weight[i]);
    }
}
#else /* a regressor */
void run(mod_t *m, const mod_value *x, const double *target, const double *weight, long n,
         double *values, int *decided, int *learned) {
    long i;
    for (i = 0; i < n; i++, x += MOD_N_FEATURES, values += 6) {
        decided[i] = mod_predict(m, x, values);
        mod_forecast(m, x, values + 1);
        mod_interval(m, x, values + 4);
        learned[i] = mod_learn(m, x, target[i], weight[i]);
    }
}
#endif
"""

DECIDES = """\
#include "mod.h"
#ifdef MOD_N_VALUES
void decide(const mod_value *x, long n, double *values, int *decided, int *indices) {
    double score;
    for (; n--; x += MOD_N_FEATURES, values += MOD_N_VALUES) {
        *decided++ = mod_decide(x, values);
        *indices++ = mod_predict(x, &score);
    }
}
#else /* a regressor */
void decide(const mod_value *x, long n, double *values, int *decided) {
    for (; n--; x += MOD_N_FEATURES, values += 3) {
        *decided = mod_predict(x, values);
        *decided++ += mod_interval(x, values + 1);
    }
}
#endif
int predict(const mod_value *x, double *score) { return mod_predict(x, score); }
"""


def compilers():
    """gcc, and clang if it is there."""
    return [cc for cc in ("gcc", "clang") if shutil.which(cc)]


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
        n = len(X)
        values = np.zeros((n, n_values(self.learner)))
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


def built(model, folder, cc="gcc -O0"):
    """The library of its C for inference."""
    export(model, folder, "mod", inference=True)
    (folder / "driver.c").write_text(DECIDES)
    flags = [*cc.split(), *STRICT, "-fPIC", "-shared", f"-I{folder}"]
    files = [folder / "mod.c", folder / "edgesvm/soft.c", folder / "driver.c"]
    subprocess.run([*flags, *files, "-o", folder / "m.so", "-lm"], check=True)
    return ctypes.CDLL(str(folder / "m.so"))


def at(array):
    assert array.flags.c_contiguous
    return array.ctypes.data_as(ctypes.c_void_p)


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
