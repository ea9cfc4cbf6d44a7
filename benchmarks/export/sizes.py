"""Models as C for a Cortex-M3: edgesvm's tables beside m2cgen, micromlgen and emlearn, trained on
the same rows with the same C and gamma; and edgesvm's learners that go on learning there.

Bytes are those of the function that decides, its tables and what it needs of the compiler's
library, linked without what is not called. The same C, compiled for this machine, decides about the
test rows: how many of its decisions are those of the model that it was exported from.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.arguments import arguments, parsed
from benchmarks.common.data import Split, Task, generated
from benchmarks.common.report import Report, Table, publish
from edgesvm import BatchSVM, FourierSVM, KernelStreamSVM, Standardized, StreamSVM
from edgesvm.data import Checkerboard, Gauss, Waveform
from edgesvm.export.boards import CORES
from edgesvm.export.compiled import deepest, sections
from edgesvm.export.folder import export

M3 = CORES["M3"]
RULES = "-ffp-contract=off -ffunction-sections -fdata-sections -w"
IN_FLASH, IN_RAM = (".text", ".rodata", ".data", ".ARM.ex"), (".data", ".bss")
C = 1.0
TASKS = [
    (Task("checkerboard", generated(Checkerboard, 600, 2000), redraws=True), 4.0),
    (Task("waveform", generated(Waveform, 600, 2000), redraws=True), 0.05),
]
QUICK = [(Task("gauss", generated(Gauss, 120, 200), redraws=True), 0.5)]
COLUMNS = ["data", "model", "exported by", "flash, bytes", "RAM, bytes", "stack, bytes"]
COLUMNS += ["agrees, %", "accuracy, %"]


class Program:
    """C or C++ of one decision, `decide(const float *x)`: 1 for the larger label."""

    def __init__(self, folder: Path, source: str, more: list[Path] = (), cpp: bool = False) -> None:
        self.folder, self.more, self.cpp = folder, list(more), cpp
        folder.mkdir(parents=True, exist_ok=True)
        self.source = folder / ("decide.cpp" if cpp else "decide.c")
        self.source.write_text(source, encoding="utf-8")

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """By the same C on this machine."""
        library = self.folder / "here.so"
        command = ["g++" if self.cpp else "gcc", "-O1", *RULES.split(), f"-I{self.folder}"]
        paths = map(str, [self.source, *self.more])
        built = [*command, "-fPIC", "-shared", *paths, "-o", str(library), "-lm"]
        subprocess.run(built, check=True)
        decide = ctypes.CDLL(str(library)).decide
        rows = np.ascontiguousarray(X, np.float32)
        return np.array([decide(row.ctypes.data_as(ctypes.c_void_p)) for row in rows], bool)

    def bytes_there(self) -> tuple[str | int, str | int, str | int]:
        """Flash, RAM and stack on the board; dashes without a compiler for it."""
        if M3.compiler is None:
            return "-", "-", "-"
        objects, graphs = [], ""
        for path in [self.source, *self.more]:
            objects.append(path.with_suffix(".o"))
            is_cpp = path.suffix == ".cpp"
            compiler = M3.compiler.replace("gcc", "g++") if is_cpp else M3.compiler
            std = ["-fno-exceptions", "-fno-rtti"] if is_cpp else ["-std=c99"]
            command = [compiler, *M3.flags.split(), "-Os", *RULES.split(), *std]
            command += [f"-I{self.folder}", "-fcallgraph-info=su", "-c", str(path)]
            subprocess.run([*command, "-o", str(objects[-1])], check=True)
            graphs += path.with_suffix(".ci").read_text()
        program = self.folder / "there.elf"
        link = [M3.compiler, *M3.flags.split(), "-nostartfiles", "-Wl,--gc-sections,-e,decide"]
        subprocess.run([*link, *map(str, objects), "-o", str(program), "-lm"], check=True)
        found = sections(M3, program)
        flash = sum(n for name, n in found.items() if name.startswith(IN_FLASH))
        ram = sum(n for name, n in found.items() if name.startswith(IN_RAM))
        return flash, ram, deepest(graphs, ["decide"]) or "-"


# -- exporters -------------------------------------------------------------------------------------


def by_m2cgen(model: Any, folder: Path, n_features: int) -> Program:
    import m2cgen

    sys.setrecursionlimit(100_000)
    text = m2cgen.export_to_c(model)
    wrapper = f"""
int decide(const float *x) {{
    double input[{n_features}];
    int i;
    for (i = 0; i < {n_features}; i++) input[i] = x[i];
    return score(input) > 0;
}}
"""
    return Program(folder, text + wrapper)


def by_micromlgen(model: Any, folder: Path, n_features: int) -> Program:
    from micromlgen import port

    text = port(model).replace("#include <cstdarg>", "#include <stdarg.h>")
    text = text.replace("#pragma once", "#include <stdint.h>\n#include <math.h>\n")
    wrapper = """
extern "C" int decide(float *x) {
    static Eloquent::ML::Port::SVM model;
    return model.predict(x);
}
"""
    return Program(folder, text + wrapper, cpp=True)


def by_emlearn(model: Any, folder: Path, n_features: int) -> Program:
    import emlearn

    emlearn.convert(model)  # raises ValueError for a machine of this kind
    raise RuntimeError("emlearn takes SVMs now: it belongs in this table")


def by_edgesvm(model: Any, folder: Path, n_features: int) -> Program:
    export(model, folder, "pump", inference=True)
    text = """#include "pump.h"
int decide(const float *x) {
    double score;
    return pump_predict(x, &score) == 1;
}
"""
    return Program(folder, text, [folder / "pump.c", *runtime(folder)])


def that_learns(model: Any, folder: Path, n_features: int) -> Program:
    export(model, folder, "pump")
    text = """#include "pump.h"
static pump_t model;
static int is_set;
int decide(const float *x) {
    double score;
    int index;
    if (!is_set) model = pump_saved, is_set = 1;
    index = pump_predict(&model, x, &score);
    pump_learn(&model, x, -1); /* linked; it refuses a class index of -1 */
    return index == 1;
}
"""
    return Program(folder, text, [folder / "pump.c", *runtime(folder)])


def runtime(folder: Path) -> list[Path]:
    return [folder / "edgesvm" / name for name in ("esvm.c", "soft.c")]


Maker = Callable[[Any, Path, int], Program]
THEIRS: dict[str, Maker] = {"m2cgen": by_m2cgen, "micromlgen": by_micromlgen, "emlearn": by_emlearn}


# -- the study -------------------------------------------------------------------------------------


def row(name: str, kind: str, how: str, make: Maker, *, model: Any, split: Split) -> list[Any]:
    """A line of the table."""
    X_test, y_test = split[2], split[3]
    with tempfile.TemporaryDirectory() as folder:
        try:
            program = make(model, Path(folder), X_test.shape[1])
        except (ValueError, TypeError) as why:
            return [name, kind, f"{how}: {why}", *["-"] * 5]
        decided = program.decisions(X_test)
        flash, ram, stack = program.bytes_there()
    agrees = 100 * (decided == model.predict(X_test.astype(np.float32))).mean()
    right = 100 * (decided == y_test).mean()
    return [name, kind, how, flash, ram, stack, f"{agrees:.2f}", f"{right:.1f}"]


def rows_of(task: Task, gamma: float, skipped: list[str]) -> list[list[Any]]:
    from sklearn.svm import SVC

    split = task.split(0)
    X, y = split[0].astype(np.float32), split[1].astype(int)
    found = []
    for kernel in ("rbf", "linear"):
        ours = BatchSVM(max_samples=len(X), kernel=kernel, C=C, gamma=gamma).fit(X, y)
        theirs = SVC(kernel=kernel, C=C, gamma=gamma).fit(X, y)
        n = len(theirs.support_)
        kind = f"SVC, {kernel}, {n} support vectors"
        mine = f"BatchSVM, {kernel}, {len(ours.support_vectors_)} support vectors"
        found.append(
            row(task.name, mine, "edgesvm --inference", by_edgesvm, model=ours, split=split)
        )
        for how, make in THEIRS.items():
            if how == "micromlgen" and shutil.which("g++") is None:
                skipped += [] if "micromlgen: no g++" in skipped else ["micromlgen: no g++"]
            elif find_spec(how) is not None:
                found.append(row(task.name, kind, how, make, model=theirs, split=split))
            elif f"{how} is not installed" not in skipped:
                skipped.append(f"{how} is not installed")
    for learner in (
        Standardized(learner=StreamSVM()),
        FourierSVM(n_directions=64, gamma=gamma),
        KernelStreamSVM(max_vectors=30, gamma=gamma),
    ):
        model = learner.partial_fit(X, y)
        kind = f"{type(getattr(model, 'learner', model)).__name__}, learns on"
        found.append(row(task.name, kind, "edgesvm", that_learns, model=model, split=split))
    return found


def main() -> None:
    args = parsed(arguments(__doc__))
    skipped: list[str] = []
    rows: list[list[Any]] = []
    if M3.compiler is None:
        skipped.append(f"bytes: no {M3.compilers[0]} here")
    for task, gamma in QUICK if args.quick else TASKS:
        rows += rows_of(task, gamma, skipped)
    versions = [f"{how} {version(how)}" for how in THEIRS if find_spec(how) is not None]
    publish(
        Report(
            "export/sizes",
            "Exported models on a Cortex-M3, beside other exporters",
            [Table("", COLUMNS, rows, NOTE)],
            about=[str(__doc__), "; ".join(versions) or "No other exporter is installed."],
            skipped=skipped,
        ),
        args.out,
    )


NOTE = """\
Where an exporter does not take the model, its own words are shown. Stack is a bound by GCC's call
graph, with 96 bytes allowed for a routine of the library. `agrees` compares with the model that was
exported, in its own library; micromlgen 1.1.28 takes the intercept of two classes with the other
sign. `accuracy` is on the test rows. RAM of a learner that goes on learning is the model itself;
its flash has the model as it was exported, too."""


def version(package: str) -> str:
    from importlib.metadata import version as of

    return of(package)


if __name__ == "__main__":
    main()
