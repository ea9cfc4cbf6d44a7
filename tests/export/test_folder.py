"""The folder that an export writes: strict C99 that allocates nothing, beside other models."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from exported import SETTINGS
from on_host import Compiled, at, compilers, differences

from edgesvm import BatchSVM, BatchSVR, ByteSVM, Standardized, StreamSVM, load
from edgesvm.cli import main
from edgesvm.export.folder import export
from rig.boards import STRICT, hard_samples, run_here

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")

LIBRARY = {
    "bcmp",
    "memcpy",
    "memset",
    "memcmp",
    "memmove",
    "sqrt",
    "floor",
    "rint",
    "frexp",
    "__stack_chk_fail",
}
BAD_SNAPSHOT = 8


def objects(folder, cc="gcc"):
    """Compile all sources of a folder."""
    made = []
    for source in sorted([*folder.glob("*.c"), *folder.glob("edgesvm/*.c")]):
        made.append(source.with_suffix(".o"))
        flags = [cc, *STRICT, "-O2", "-I", folder, "-c", source, "-o", made[-1]]
        subprocess.run(flags, check=True)
    return made


def names(objects, kind):
    """Symbols of some objects: "U" those that they need, "T" and so on those that they have."""
    listed = subprocess.run(["nm", "-P", *objects], check=True, capture_output=True, text=True)
    return {
        line.split()[0]
        for line in listed.stdout.splitlines()
        if line.split()[1:2] and line.split()[1] in kind
    }


@pytest.mark.parametrize("cc", compilers())
def test_compiles_strictly_and_allocates_nothing(cc, tmp_path):
    make, n_features, classes = SETTINGS["kernel novelty, exact"]
    export(make("float32").allocate(n_features, classes=classes), tmp_path, "pump")
    built = objects(tmp_path, cc)
    public = names(built, "TDRBGC")
    assert all(name.startswith(("pump_", "esvm_")) for name in public)
    assert names(built, "U") - public <= LIBRARY
    # no state but the caller's; the table of functions is constant, and filled in when loaded
    assert names(built, "BDC") == set()


def test_models_live_side_by_side(tmp_path):
    one = Standardized(learner=StreamSVM()).allocate(3, classes=[0, 1])
    other = StreamSVM(dtype="float64").allocate(2, classes=["off", "on"])
    export(one, tmp_path, "pump")
    export(other, tmp_path, "fan")
    text = '#include "pump.h"\n#include "fan.h"\nint main(void) { return PUMP_N_FEATURES - 3; }\n'
    (tmp_path / "main.c").write_text(text)
    built = objects(tmp_path)
    subprocess.run(["gcc", *built, "-o", tmp_path / "main", "-lm"], check=True)
    subprocess.run([tmp_path / "main"], check=True)
    assert json.loads((tmp_path / "library.json").read_text())["name"] == "fan"
    subprocess.run(["make", "-C", tmp_path, "libfan.a"], check=True, capture_output=True)


def test_a_snapshot_goes_there_and_back(tmp_path):
    make, n_features, classes = SETTINGS["scaled stream"]
    learner = make("float32").allocate(n_features, classes=classes)
    X, slots, weights = hard_samples(600, n_features, "float32", 1)
    half = slice(0, 300), slice(300, 600)
    run_here(learner, X[half[0]], slots[half[0]], weights[half[0]])
    compiled = Compiled(learner, tmp_path / "c")
    learner.save(tmp_path / "half.esvm")
    restore(compiled, (tmp_path / "half.esvm").read_bytes())
    compiled.run(*(np.ascontiguousarray(a[half[1]]) for a in (X, slots, weights)))
    (tmp_path / "whole.esvm").write_bytes(snapshot(compiled))
    run_here(learner, X[half[1]], slots[half[1]], weights[half[1]])
    learner.save(tmp_path / "here.esvm")
    assert snapshot(compiled) == (tmp_path / "here.esvm").read_bytes()
    assert bytes(load(tmp_path / "whole.esvm").arena) == bytes(learner.arena)
    # in pages of any size, and nothing beyond the end
    whole = snapshot(compiled)
    assert restore(compiled, whole + b"\0") == BAD_SNAPSHOT and snapshot(compiled) == whole
    for size in (1, 7, 64, len(whole) + 9):
        pages = b"".join(page(compiled, i, size) for i in range(0, len(whole), size))
        assert pages[: len(whole)] == whole
        assert not any(pages[len(whole) :])


def test_a_warm_up_that_was_ended_is_over_there(tmp_path):
    make, n_features, classes = SETTINGS["kernel novelty"]
    learner = make("float32").allocate(n_features, classes=classes)
    run_here(learner, *hard_samples(20, n_features, "float32", 1, classes))
    learner.end_warm_up()
    compiled = Compiled(learner, tmp_path / "c")
    learner.save(tmp_path / "warm.esvm")
    restore(compiled, (tmp_path / "warm.esvm").read_bytes())
    before = learner.n_alarms_
    samples = hard_samples(300, n_features, "float32", 2, classes)
    assert differences(learner, compiled, samples) == ""
    assert learner.n_alarms_ > before


def restore(compiled, data):
    padded = np.frombuffer(data + b"\0", np.uint8).copy()
    return compiled.library.restore(at(compiled.memory), at(padded), len(data))


def page(compiled, begin, n):
    out = np.full(n, 0xEE, np.uint8)
    compiled.library.snapshot(at(compiled.memory), begin, at(out), n)
    return out.tobytes()


def snapshot(compiled):
    text = (compiled.folder / "mod.h").read_text()
    n = int(text.split("MOD_SNAPSHOT_BYTES ")[1].split("u")[0])
    return page(compiled, 0, n)


def test_self_test_passes_here(tmp_path):
    learner = StreamSVM().allocate(2, classes=[0, 1])
    for cc in compilers():
        for flags in ("-O0", "-O3 -march=native", "-Os -DESVM_SOFT_DOUBLE=1"):
            compiled = Compiled(learner, tmp_path / f"{cc}{flags[:3]}", f"{cc} {flags}")
            assert compiled.library.self_test() == compiled.library.expected()


def test_what_cannot_be_exported_says_so_in_a_line(tmp_path, capsys):
    BatchSVR(max_samples=8).fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "b.esvm")
    StreamSVM().allocate(2).save(tmp_path / "s.esvm")
    for name, why in (
        ("b.esvm", "BatchSVR cannot be exported to C to decide: use FourierSVR"),
        ("s.esvm", "does not know its classes"),
    ):
        assert main(["export", str(tmp_path / name), "--c", str(tmp_path / "c")]) == 2
        said = capsys.readouterr().err
        assert why in said and said.count("\n") == 1
    StreamSVM().allocate(2, classes=[0, 1]).save(tmp_path / "s.esvm")
    args = ["export", str(tmp_path / "s.esvm"), "--c", str(tmp_path / "c"), "--prefix"]
    assert main([*args, "2pump"]) == 2
    assert main([*args, "pump"]) == 0
    assert (tmp_path / "c" / "pump.h").exists()


REFUSED = "float time clock register string math stdint double int8 uint_least8 size key Stream"
COMPILE = "byte core sums linalg model int main loop delay volatile Serial abs"


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on the path")
def test_a_name_compiles_or_is_refused(tmp_path):
    for learner in (ByteSVM(n_bytes=300), StreamSVM()):
        learner.partial_fit(np.eye(3, dtype=np.float32), [0, 1, 0])
        for name in REFUSED.split():
            with pytest.raises(ValueError, match=f"'{name}': C or Arduino has .*; give another"):
                export(learner, tmp_path, name)
        for name in COMPILE.split():
            folder = tmp_path / type(learner).__name__ / name
            try:
                export(learner, folder, name)
            except ValueError:  # a name that the runtime has, in some models
                assert name in COMPILE[:21]
                continue
            command = ["gcc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", f"-I{folder}"]
            subprocess.run([*command, *folder.glob("*.c"), *folder.glob("*/esvm.c")], check=True)


def test_a_kernel_machine_decides_only(tmp_path, capsys):
    BatchSVM(max_samples=8).fit([[0.0], [1.0]], [0, 1]).save(tmp_path / "b.esvm")
    assert main(["export", str(tmp_path / "b.esvm"), "--c", str(tmp_path / "c")]) == 0
    assert "it decides there and learns no more" in capsys.readouterr().out
    assert "learns no more" in (tmp_path / "c/model.h").read_text()
    with pytest.raises(ValueError, match="BatchSVM cannot be exported to C to learn: export it to"):
        export(load(tmp_path / "b.esvm"), tmp_path / "c", inference=False)


def test_a_folder_has_what_is_included_and_no_more(tmp_path):
    learner = Standardized(learner=StreamSVM()).allocate(3, classes=[0, 1])
    learner.partial_fit(np.eye(3, dtype=np.float32), [0, 1, 0])
    for inference in (False, True):
        export(learner, tmp_path / str(inference), "pump", inference=inference)
        sources = [*(tmp_path / str(inference)).glob("*.c")]
        sources += (tmp_path / str(inference)).glob("edgesvm/*.c")
        command = ["gcc", "-MM", f"-I{tmp_path / str(inference)}", *sources]
        read = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        unread = {"targets.h", "labels.h"}  # one of the two, as it has labels or targets
        for path in (tmp_path / str(inference)).glob("edgesvm/*"):
            assert path.name in read or path.name in unread, path.name


def test_names_compile_in_c_and_cost_nothing(tmp_path):
    labels = ['say "a?"\\', "weiß"]
    learner = StreamSVM().allocate(2, classes=labels).name_features(["heat */", "°C"])
    export(learner.partial_fit(np.eye(2), labels), tmp_path, "pump")
    objects(tmp_path)
    program = tmp_path / "names.c"
    program.write_text(
        '#include <stdio.h>\n#include "pump.h"\n'
        "int main(void) { return puts(pump_label_names[0]) + puts(pump_label_names[1]) < 0; }\n"
    )
    subprocess.run(["gcc", *STRICT, "-o", tmp_path / "names", program], check=True)
    told = subprocess.run([tmp_path / "names"], check=True, capture_output=True).stdout.decode()
    assert told.splitlines() == labels and "0 heat * /, 1 °C" in (tmp_path / "pump.h").read_text()
