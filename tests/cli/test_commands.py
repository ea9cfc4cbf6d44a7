"""Every command as a user gives it: what it prints, and what it returns."""

import json
import subprocess
import sys

import command
import numpy as np
import pytest
from each import each

from edgesvm import (
    Chain,
    FourierSVM,
    KernelStreamSVM,
    OneVsOne,
    Standardized,
    StreamSVM,
    WindowFeatures,
    load,
)
from edgesvm.cli import COMMANDS, _parse, learner_settings, main, parameters
from edgesvm.cli.options import read
from edgesvm.cli.saved_model import SavingSettings
from edgesvm.cli.simulate import OfProfile, Settings, edge_command
from edgesvm.link import open_rows


@pytest.fixture
def table(tmp_path):
    """A CSV of two classes, with a date that is no feature."""
    X = np.random.default_rng(0).standard_normal((300, 3)).round(4)
    words = np.where(X[:, 0] > 0, "on", "off")
    path = tmp_path / "room.csv"
    lines = [f"d{i},{a},{b},{c},{w}" for i, ((a, b, c), w) in enumerate(zip(X, words, strict=True))]
    path.write_text("\n".join(["date,a,b,c,state", *lines]) + "\n")
    return path


@pytest.fixture
def digits(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 400)
    X = (rng.standard_normal((400, 4)) + 3 * np.eye(4)[y]).astype(np.float32)
    path = tmp_path / "digits.npz"
    np.savez(path, X=X, y=y)
    return path


FLOATS = ["--learner", "fourier"]


def said(capsys, *argv):
    return command.said(capsys, *argv)[0]


def said_json(capsys, *argv):
    return json.loads(said(capsys, *argv, "--json"))


# Help.


@each("name", sorted(set(COMMANDS) - {"demo"}))
def test_help_of_a_command_has_an_example(name, capsys):
    with pytest.raises(SystemExit) as done:
        main([name, "--help"])
    assert done.value.code == 0 and f"\n  edgesvm {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "argv", [["--help"], ["run", "--help"], ["plan", "1KiB", "--features", "2"]]
)
def test_a_command_does_not_import_what_it_does_not_need(argv):
    code = (
        "import sys\nfrom edgesvm.cli import main\n"
        f"try: main({argv!r})\nexcept SystemExit: pass\n"
        "heavy = ('firmware_sim', 'matplotlib', 'sklearn', 'scipy')\n"
        "sys.exit(', '.join(name for name in heavy if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# plan


@each("budget", ["1400", "4KiB", "1MiB"])
@each("raw", [(), ("--raw",)])
def test_the_table_is_what_the_learners_plan(budget, raw, capsys):
    argv = ["plan", budget, "--features", 7, "--all", *raw]
    told = said_json(capsys, *argv)
    assert [row["learner"] for row in told["learners"]] == list(learner_settings.KINDS)
    text = said(capsys, *argv)
    for row in told["learners"]:
        kind = learner_settings.class_of(row["learner"])
        given = learner_settings.DEFAULTS.get(row["learner"], {})
        if "needs" in row:  # the smallest of some learners is larger than of others
            assert row["needs"] > told["budget"] and budget == "1400"
            continue
        inner = kind(**given, **row["capacity"])
        total = (inner if raw or kind.scales_itself else Standardized(inner)).plan(7).total
        assert row["bytes"] == total <= told["budget"] and f"{total:,}" in text


def test_a_table_of_what_does_not_fit_says_what_would_do(capsys):
    told = said_json(capsys, "plan", "10", "--features", 7)
    assert all(row["needs"] > 10 for row in told["learners"])
    needs = told["learners"][0]["needs"]
    assert f"needs {needs:,}" in said(capsys, "plan", "10", "--features", 7)
    fits = said_json(capsys, "plan", needs, "--features", 7)["learners"][0]
    assert fits["bytes"] == needs


def test_plan_of_one_learner_lists_its_arrays(capsys):
    argv = [
        "plan",
        "4KiB",
        "--features",
        3,
        "--learner",
        "kernel-stream",
        "--raw",
        "--set",
        "gamma=0.5",
    ]
    told = said_json(capsys, *argv)
    plan = KernelStreamSVM(gamma=0.5, bound="lower").fitted_into("4KiB", 3).plan(3)
    assert told["bytes"] == plan.total and told["budget"] == 4096 and told["features"] == 3
    assert [(a["name"], a["bytes"]) for a in told["arrays"]] == [
        (a.name, a.nbytes) for a in plan.arrays
    ]
    assert str(plan) in said(capsys, *argv)


@each("options", [(), ("--learner", "twin")])
def test_parts_too_small_to_be_of_use_are_told(options, capsys):
    assert main(["plan", "64KiB", "--features", "64", "--classes", "10", *options]) == 0
    errors = capsys.readouterr().err.splitlines()
    assert errors == [
        "edgesvm: OneVsOne with max_twins=1 in each of its 45 parts answers little better than"
        " chance: take OneVsRest, SharedTwinSVM, FourierSVM or more memory, for max_twins=3"
    ]


# Parameters of a learner.


def test_every_parameter_is_explained(capsys):
    for kind in learner_settings.KINDS:
        text = said(capsys, "plan", "--learner", kind)
        for name in parameters.types_of(learner_settings.class_of(kind)):
            assert f"\n  {name}=" in text, (kind, name)
        assert ("\n  --raw\n" in text) == (not learner_settings.class_of(kind).scales_itself)
    assert "max_vectors=100\n      int, default 100\n" in said(
        capsys, "plan", "--learner", "KernelStreamSVM"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("C=10", 10.0),
        ("max_twins=7", 7),
        ("kernel=poly", "poly"),
        ("gamma=none", None),
        ("gamma=0.5", 0.5),
        ("control_C=false", False),
        ("rejection=paper", "paper"),
        ("max_margin=none", None),
    ],
)
def test_a_parameter_has_the_type_of_its_field(text, value):
    name, _, text_of_value = text.partition("=")
    got = parameters.parsed(learner_settings.class_of("twin"), name, text_of_value, {})
    assert got == value and type(got) is type(value)


# eval


def test_eval_of_a_table_of_an_office_program(tmp_path, capsys):
    """A byte order mark before names that are numbers: each row is learned, the names are not."""
    X = np.random.default_rng(0).standard_normal((50, 2)).round(4)
    lines = [f"{a},{b},{int(a > 0)}" for a, b in X]
    path = tmp_path / "office.csv"
    path.write_text("\n".join(["0,1,2", *lines]), encoding="utf-8-sig")
    assert said_json(capsys, "eval", path)["n_seen"] == 50
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    assert said_json(capsys, "eval", path)["n_seen"] == 50


def test_eval_equals_test_then_train(table, tmp_path, capsys):
    save = tmp_path / "m.esvm"
    argv = ["eval", table, "--drop-column", "date", "--learner", "fourier", "--raw"]
    argv += ["--save", save, "--last", 50]
    told = said_json(capsys, *argv, "--set", "dtype=float64", "--memory", "2KiB")
    X, y = next(open_rows(table, drop_columns=("date",)).chunks(1000))
    plain = FourierSVM(dtype="float64").fitted_into("2KiB", 3)
    hits = []
    for x, label in zip(X.astype(float), y.tolist(), strict=True):
        if plain.is_fitted:
            hits.append(plain.predict_one(x) == label)
        plain.learn_one(x, label)
    assert told["predicted"] == 299 and told["n_seen"] == 300
    assert told["accuracy"] == pytest.approx(np.mean(hits))
    assert told["rolling_accuracy"] == pytest.approx(np.mean(hits[-50:]))
    assert told["first_accuracy"] == pytest.approx(np.mean(hits[:50]))
    assert told["bytes_allocated"] == plain.nbytes and told["n_updates"] == plain.n_updates_
    assert told["window"] == 50 and told["seconds"] > 0 and told["learner"] == repr(plain)
    assert told["counters"]["refused_value"] == 0
    assert 0.5 <= told["majority"] < 0.7 and told["balanced_accuracy"] > 0.8
    assert bytes(load(save).arena) == bytes(plain.arena)


def test_shuffled_is_another_order_and_the_seed_repeats(digits, capsys):
    runs = [
        said_json(capsys, "eval", digits, "--positive", 1, "--shuffle", seed) for seed in (4, 4, 5)
    ]
    for run in runs:
        del run["seconds"], run["samples_per_second"]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("word", ["on", "off"])
def test_positive_may_be_a_word(word, table, tmp_path, capsys):
    save = tmp_path / "m.esvm"
    argv = ["eval", table, "--drop-column", "date", "--positive", word, "--save", save]
    assert said_json(capsys, *argv)["accuracy"] > 0.8
    shares = np.mean([line.endswith(f",{word}") for line in table.read_text().splitlines()[1:]])
    counts = load(save).core.views["n_per_class"]
    assert counts.sum() == 300 and round(300 * shares) in counts.tolist()


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (["--classes", 3, "--learner", "stream"], "OneVsOne"),
        (["--multiclass", "one-vs-one"], "OneVsOne"),
        (["--multiclass", "one-vs-rest", "--learner", "kernel-stream"], "OneVsRest"),
        (["--classes", 5, "--multiclass", "one-vs-rest", *FLOATS, "--raw"], "OneVsRest"),
    ],
)
def test_all_labels_at_once(options, kind, digits, tmp_path, capsys):
    save = tmp_path / "m.esvm"
    told = said_json(capsys, "eval", digits, *options, "--save", save, "--memory", "16KiB")
    assert told["accuracy"] > 0.75 and kind in told["learner"] and told["bytes_allocated"] <= 16384
    model = load(save)
    assert model.classes_.tolist() == [0, 1, 2] and model.n_seen_ == 400
    shown = said(capsys, "inspect", save)
    assert kind in shown and "parts" in shown and len(shown.splitlines()) < 50


@each(
    "words",
    [
        [],
        ["--classes", "3", "--multiclass", "one-vs-rest", "--learner", "fourier"],
        ["--cost", "1=20.0,0=0.5", "--probabilities"],
        ["--min-recall", "1=0.9", "--set", "C=2", "--learner", "stream"],
        ["--learner", "stream", "--set", "n_balls=3", "--set", "bound=lower"],
        ["--checkpoint", "m.ckpt", "--every", "500", "--raw", "--memory", "3KiB"],
    ],
)
def test_simulate_hands_on_what_the_learner_is(words):
    host = read(Settings, _parse(["simulate", *words]))
    told = edge_command(host.learner, host.saving, text=True)
    *_, quiet = start = edge_command(OfProfile(), SavingSettings())
    assert quiet == "--quiet" and told[: len(start)] == start
    assert sorted(told[len(start) :]) == sorted([*words, "--text"])


def test_a_plan_for_many_classes(capsys):
    argv = ["plan", "256KiB", "--features", 16, "--classes", 26]
    told = said_json(capsys, *argv, "--learner", "kernel-stream")
    (parts,) = (array for array in told["arrays"] if array["name"] == "parts")
    n_parts, part_bytes = parts["shape"]
    assert n_parts == 325 and part_bytes >= sum(array["bytes"] for array in told["part"])
    assert told["bytes"] <= told["budget"]


def test_support_vectors_that_found_no_room_are_told(digits, capsys):
    argv = ["eval", digits, "--positive", 2, "--learner", "incremental", "--set", "max_vectors=5"]
    argv += ["--set", "C=0.1", "--memory", "64KiB"]
    given_up = said_json(capsys, *argv)["n_given_up"]
    assert given_up > 0
    full = f"note: no room for more: {given_up:,} support vectors were given up"
    assert full in said(capsys, *argv)
    assert "no room" not in said(capsys, "eval", digits, "--positive", 2)


def test_a_value_far_out_is_told(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((500, 2)).round(3)
    y = (X[:, 0] > 0).astype(int)
    X[[100, 300], 1] = 1e6, -1e4
    path = tmp_path / "spikes.csv"
    np.savetxt(path, np.column_stack([X, y]), "%g", delimiter=",", header="a,b,y", comments="")
    assert said_json(capsys, "eval", path)["counters"]["far_out"] == 2
    line = "far out: 2 rows learned with a value far outside what was seen"
    assert line in said(capsys, "eval", path)
    assert "far outside" not in said(capsys, "eval", path, "--learner", "fourier", "--raw")


def test_a_picture(table, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    png = tmp_path / "a.png"
    said(capsys, "eval", table, "--drop-column", "date", "--plot", png)
    assert png.read_bytes().startswith(b"\x89PNG")


# inspect


def test_inspect_says_what_is_in_a_snapshot(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    learner = StreamSVM(lookahead=4).partial_fit(X, np.where(X[:, 0] > 0, "on", "off"))
    path = tmp_path / "m.esvm"
    learner.save(path)
    told = said_json(capsys, "inspect", path)
    assert told.pop("parameters") == [{"of": "StreamSVM"} | learner.get_params()]
    assert told.pop("file_written").startswith("20")
    assert told == {
        "format_version": 1,
        "learner": repr(learner),
        "n_features": 3,
        "feature_names": [],
        "labels": [repr(label) for label in learner.core.labels.in_slots],
        "bytes": learner.nbytes,
        "file_bytes": path.stat().st_size,
        "n_seen": 40,
        "n_updates": learner.n_updates_,
        "remarks": [],
    }
    text = said(capsys, "inspect", path)
    assert (
        repr(learner) in text and "\nn seen         40\n" in text and str(learner.plan(3)) in text
    )


def test_inspect_says_what_windows_and_a_chain_hold(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((200, 2)).astype(np.float32)
    windows = WindowFeatures(window=60, hop=25, rate=100.0, bands="2-9", features="std,power")
    chain = Chain(windows=windows, learner=OneVsOne(n_classes=3), label="last")
    names = ["x0_std", "x0_power_2-9", "x1_std", "x1_power_2-9"]
    path = tmp_path / "m.esvm"
    for model in (windows, chain):
        model.allocate(2)
        for i, x in enumerate(X):
            model.push(*((x,) if model is windows else (x, "ab"[i % 2])))
        model.gap()
        model.save(path)
        told = said_json(capsys, "inspect", path)
        assert (told["n_pushed"], told["n_rows"], told["n_dropped"]) == (200, 6, 2)
        assert (told["n_channels"], told["features"]) == (2, names)
        assert told["bytes"] == model.plan(2).total
        assert told.get("n_seen") == (6 if model is chain else None)
        text = said(capsys, "inspect", path)
        assert "n pushed       200\nn rows         6\nn dropped      2\n" in text
        assert "WindowFeatures(window=60" in text and f"features       {', '.join(names)}" in text
        assert str(model.plan(2)) in text
    for words in (
        "OneVsOne(",
        "'a', 'b'",
        "label='last'",
        "n seen         6",
        "each of the 3 parts",
    ):
        assert words in text
    windows.save(path)
    assert main(["plot", str(path), "-o", str(tmp_path / "m.png")]) == 2
    assert "holds windows of raw samples, and no learner" in capsys.readouterr().err


# Probabilities, and the price of errors.


def test_eval_reports_probabilities_beside_what_needs_none(table, capsys):
    argv = ["eval", table, "--drop-column", "date", "--probabilities"]
    told = said_json(capsys, *argv)
    p = told["probabilities"]
    assert p["log_loss"] < p["log_loss_raw"] and p["log_loss"] < 0.6 * p["log_loss_of_shares"]
    assert 290 < sum(n for n, _, _ in p["reliability"]) <= told["predicted"]
    assert f"log loss {p['log_loss']:.4f}" in said(capsys, *argv)


def test_eval_moves_the_decision_of_words(table, capsys):
    argv = ["eval", table, "--drop-column", "date"]
    plain = said_json(capsys, *argv, "--probabilities")["recalls"]
    for words in (["--cost", "on=1000,off=1"], ["--min-recall", "on=0.999"]):
        told = said_json(capsys, *argv, *words)
        assert told["recalls"]["on"] > max(plain.values()) and "'on'" in told["learner"]


@pytest.mark.parametrize(
    "words, problem",
    [
        (["--cost", "no=2"], "--cost: no sample has the label 'no'; the labels are ['off', 'on']"),
        (["--cost", "on=0"], "cost of 'on'=0.0: give a number > 0"),
        (["--min-recall", "on=1"], "min_recall of 'on'=1.0: give a share between 0 and 1"),
        (["--min-recall", "on=0.9,off=0.9"], "give one label and its share"),
        (["--cost", "on=2", "--min-recall", "on=0.9"], "give one of them"),
    ],
)
def test_prices_that_cannot_be(words, problem, table, capsys):
    assert main(["eval", str(table), "--drop-column", "date", *words]) != 0
    told = capsys.readouterr().err.rstrip("\n").split("\n")[-1]
    assert problem in told


# simulate


# Without flow control a busy host loses what no longer fits the terminal.
FAST = ["--baud", 921600, "--flow-control"]


def test_simulate_a_signal(capsys):
    argv = ["simulate", "--samples", 300, *FAST]
    told = said_json(capsys, *argv)
    assert told["edge"]["counters"]["taken"] == told["predictions"] == 300
    assert told["edge"]["broken_identities"] == [] and told["exit_code"] == 0


def test_simulate_replays_a_file_as_text_over_tcp(table, capsys):
    argv = ["simulate", "--replay", table, "--drop-column", "date", "--text", "--link", "tcp"]
    told = said_json(capsys, *argv, "--learner", "kernel-stream", "--memory", "2KiB")
    assert told["edge"]["counters"]["taken"] == 300 and told["edge"]["bytes_allocated"] <= 2048
    assert told["edge"]["counters"]["predictions_sent"] == 0
