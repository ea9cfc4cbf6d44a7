"""`edgesvm export --report`: what it says of flash, RAM and time before anything is flashed."""

import json

import numpy as np
import pytest
from exported import SETTINGS
from on_boards import board

from edgesvm import (
    AdaGradSVR,
    ByteSVM,
    Calibrated,
    Chain,
    FourierSVM,
    FourierSVR,
    GaussianNovelty,
    KernelStreamSVM,
    Standardized,
    StreamSVM,
    WindowFeatures,
)
from edgesvm.cli import main
from edgesvm.export.boards import BOARDS, CORES
from edgesvm.export.costs import parts, predicted, table
from edgesvm.export.folder import export
from edgesvm.export.report import details, needs
from rig.boards import run, run_here
from rig.boards.compiled import compiled, deepest


@pytest.fixture
def saved(tmp_path):
    model = Standardized(learner=StreamSVM()).allocate(9, classes=[0, 1])
    model.save(tmp_path / "pump.esvm")
    return str(tmp_path / "pump.esvm")


def test_says_of_every_board_whether_it_fits(saved, capsys):
    assert main(["export", saved, "--report", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [line["board"] for line in said["boards"]] == list(BOARDS)
    uno = said["boards"].pop(0)
    assert not uno["fits"] and "a double has 32 bits there" in uno["source"]
    for line in said["boards"]:
        assert line["fits"] and line["source"].startswith("estimated from")
        assert said["arena"] < line["ram"]["needs"] < line["ram"]["has"]
        assert line["instructions"]["decide"] < line["instructions"]["learn"]
    assert main(["export", saved, "--report"]) == 0
    assert len([line for line in capsys.readouterr().out.splitlines() if " yes" in line]) == 11


def test_what_does_not_fit_ends_with_2(tmp_path, capsys):
    FourierSVM(n_directions=4000).allocate(8, classes=[0, 1]).save(tmp_path / "big.esvm")
    args = ["export", str(tmp_path / "big.esvm"), "--report", "--board"]
    assert main([*args, "microbit"]) == 2
    out, err = capsys.readouterr()
    assert "It does not fit." in out and err.count("\n") == 1
    assert "does not fit on BBC micro:bit" in err
    assert main([*args, "pico"]) == 0
    assert "It fits." in capsys.readouterr().out


def test_an_uno_has_room_for_a_kib_of_integers(tmp_path, capsys):
    ByteSVM(n_bytes=1024).allocate(9, classes=[0, 1]).save(tmp_path / "m.esvm")
    assert main(["export", str(tmp_path / "m.esvm"), "--report", "--board", "uno"]) == 0
    said = capsys.readouterr().out
    assert "cycles, within a factor" in said and "It fits." in said


def test_options_that_make_no_sense_say_so(saved, capsys):
    for args, why in (
        ([], "give --c DIR, --report or both"),
        (["--board", "pico"], "--board needs --report"),
        (["--json"], "--json needs --report"),
    ):
        assert main(["export", saved, *args]) == 2
        assert why in capsys.readouterr().err
    with pytest.raises(SystemExit) as end:
        main(["export", saved, "--report", "--board", "abacus"])
    assert end.value.code == 2


def test_report_and_folder_in_one_go(saved, tmp_path, capsys):
    args = ["export", saved, "--c", str(tmp_path / "c"), "--report", "--board", "esp32-c3"]
    assert main(args) == 0
    assert (tmp_path / "c" / "model.h").exists()
    assert "ESP32-C3: RISC-V rv32imc, 160 MHz, no FPU" in capsys.readouterr().out


def test_every_learner_that_was_counted_has_all_cores():
    cores = table()["cores"]
    kinds = set(cores["M3"])
    assert set(cores["AVR"]) == {"ByteSVM"}
    cores = cores | {"AVR": dict.fromkeys(kinds)}  # has no other
    assert all(set(entries) == kinds for entries in cores.values())
    assert set(cores) == {core.counted_as for core in CORES.values()}
    for name, (make, n_features, _) in SETTINGS.items():
        assert {part.kind for part in parts(make("float32"), n_features)} <= kinds, name


@pytest.mark.parametrize("core", ["M0", "M3", "M4F", "M7", "rv32"])
def test_the_estimate_of_flash_is_near_what_a_compiler_makes(core, tmp_path):
    on = board(core)
    for name in ("kernel novelty, exact", "calibrated"):
        make, n_features, classes = SETTINGS[name]
        model = make("float32").allocate(n_features, classes=classes)
        export(model, tmp_path, "mod")
        made = compiled(tmp_path, "mod", on)
        text = (tmp_path / "mod.h").read_text()
        data = sum(
            int(text.split(f"MOD_{what} ")[1].split("u")[0]) for what in ("BYTES", "HEAD_BYTES")
        )
        cost = predicted(model, n_features, core)
        assert 0.8 < (cost.code + data) / made.flash < 1.25, name
        assert 0.8 < cost.stack / made.stack < 1.4, name


def test_inference_is_reported_without_learning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3)).astype(np.float32)
    model = StreamSVM().fit(X, X[:, 0] > 0)
    whole, tables = needs(model, ["pico"])[0], needs(model, ["pico"], inference=True)[0]
    assert tables.learn is None and tables.model == 0
    assert tables.flash < whole.flash / 2 and tables.decide < whole.decide
    [kernel] = needs(KernelStreamSVM(max_vectors=10).fit(X, X[:, 0] > 0), ["pico"])
    assert kernel.learn is None and kernel.decide > tables.decide


@pytest.mark.parametrize("name", ["M3", "M4F"])
def test_counts_are_within_the_factor_that_is_stated(name, tmp_path):
    """Of sizes that were not fitted to; and the stack that was used is below its bound."""
    on = board(name)
    for i, (learner, n_features) in enumerate(
        [
            (Standardized(learner=StreamSVM(C=10.0)), 9),
            (FourierSVM(n_directions=48), 7),
            (Calibrated(learner=Standardized(learner=StreamSVM())), 9),
            (Standardized(learner=FourierSVR(n_directions=48)), 7),
            (AdaGradSVR(), 9),
        ]
    ):
        model = learner.allocate(n_features, classes=None if learner.regresses else [0, 1])
        X, slots = rows(340, n_features, learner.dtype)
        if learner.regresses:
            slots = X[:, 0] + np.sin(2.0 * X[:, 1].astype(float))
        ones = np.ones(len(X))
        run_here(model, X[:300], slots[:300], ones[:300])
        folder = tmp_path / str(i)
        there = run(model, on, folder, (X[300:], slots[300:], ones[300:]), stack=6 << 10)
        cost = predicted(model, n_features, name)
        for what, count, within in zip(
            ("decide", "learn"), (there.decide, there.learn), cost.within, strict=True
        ):
            said = getattr(cost, what)
            assert count / within < said < count * within, f"{model!r} {what}: {count}, said {said}"
        if name == "M3":
            text = (folder / "mod.h").read_text()
            assert there.stack <= int(text.split("MOD_STACK_BYTES ")[1].split("u")[0])


def rows(n, n_features, dtype):
    """Of two classes that overlap."""
    rng = np.random.default_rng(1)
    slots = rng.integers(0, 2, n).astype(np.int8)
    X = rng.standard_normal((n, n_features)) + 0.7 * slots[:, None]
    return X.astype(dtype), slots


def test_a_chain_that_learns_no_more_needs_ram_for_its_windows():
    windows = WindowFeatures(rate=100, window=8, hop=8, features=["mean", "std"])
    for learner in (StreamSVM(), GaussianNovelty()):
        chain = Chain(windows=windows, learner=learner).allocate(2)
        for i in range(64):
            chain.push(np.full(2, i, np.float32), i // 8 % 2)
        alone = needs(chain.learner_, ["pico"], inference=True)[0]
        need = needs(chain, ["pico"], inference=True)[0]
        assert need.model == alone.model + chain.windows_.nbytes
        assert "of a window" in details(need)


def test_the_stack_is_that_of_the_deepest_way_down():
    graph = """
node: { title: "a" label: "a\\nf.c:1\\n16 bytes (static)" }
node: { title: "b" label: "b\\nf.c:2\\n40 bytes (static)" }
node: { title: "c" label: "c\\nf.c:3\\n8 bytes (static)" }
node: { title: "memcpy" label: "memcpy\\n<built-in>" shape : ellipse }
edge: { sourcename: "a" targetname: "b" }
edge: { sourcename: "a" targetname: "c" label: "f.c:9" }
edge: { sourcename: "c" targetname: "memcpy" }
"""
    assert deepest(graph, ["a"]) == 16 + 8 + 96
    assert deepest(graph, ["b", "c"]) == 8 + 96
    by_pointer = 'edge: { sourcename: "b" targetname: "__indirect_call" }\n'
    again = 'edge: { sourcename: "b" targetname: "a" }\n'
    dynamic = 'node: { title: "c" label: "c\\nf.c:3\\n8 bytes (dynamic)" }\n'
    for more in (by_pointer, again, dynamic):
        assert deepest(graph + more, ["a"]) is None
