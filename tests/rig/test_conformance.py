"""The conformance run with few samples, and its limits on doctored results."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from edgesvm.link.keys import write_new_key
from firmware_sim.line import MIXES, FaultInjector, Ledger
from firmware_sim.node import Mishaps, RotatingMachine
from firmware_sim.node.mishaps import MISHAP_MIXES
from firmware_sim.options import parse_count
from rig.__main__ import main
from rig.conformance import Section, as_json, conform
from rig.conformance import run as conformance_run
from rig.conformance.edge_run import run_edge, with_mishaps, with_rare_faults
from rig.conformance.expected import expected
from rig.conformance.link_sections import (
    frames_section,
    integrity_section,
    labels_section,
    ledger_section,
)

needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    if not hasattr(os, "openpty"):
        pytest.skip("no pseudo-terminals here")
    folder = tmp_path_factory.mktemp("run")
    return run_edge(
        lambda: RotatingMachine(3),
        folder,
        samples=6000,
        rates=with_rare_faults(MIXES["field"], 6000),
        mishaps=with_mishaps("field", 6000),
        seed=3,
    )


@needs_pty
@pytest.mark.parametrize("has_key", [pytest.param(False, marks=pytest.mark.long), True])
def test_the_command_prints_every_line_and_one_of_json(tmp_path, capsys, monkeypatch, has_key):
    sizes = {"ACCURACY_SAMPLES": 1000, "COUNTED_CALLS": 2000, "POWER_SEEDS": 1, "POWER_KILLS": 3}
    sizes |= {"LIVENESS_DEPTH": 1, "ATTACKS": 1000}
    sizes |= {"THREAD_SECONDS": 0.1, "FIRMWARE_ROWS": 50, "PARITY_ROWS": 500}
    for name, size in sizes.items():
        monkeypatch.setattr(conformance_run, name, size)
    monkeypatch.delenv("EDGESVM_DATA", raising=False)
    monkeypatch.chdir("/")
    key = tmp_path / "key"
    write_new_key(key)
    keyed = ["--key", str(key)] if has_key else []
    code = main(["--samples", "2k", "--seed", "4", *keyed])
    *lines, last = capsys.readouterr().out.splitlines()
    names = ["link", "frames", "integrity", "ledger", "latency", "link", "budget", "alloc"]
    names += ["process", "threads", "labels", "liveness", "tags", "firmware", "parity"]
    names += ["power", "accuracy"]
    # A thousand samples are too few to compare accuracies to half a point.
    broken = [what for what in json.loads(last)["broken"] if not what.startswith("accuracy")]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == names
    assert broken == [] and code in (0, 1)
    assert ("binary with tags" in lines[0]) == has_key
    assert all(line.endswith(")") for line in lines if not line.startswith(" "))


def test_a_run_holds_and_its_model_is_that_of_the_rows_that_arrived(run):
    want = expected(run.node, run.faults)
    for section in (frames_section(run), integrity_section(run, want), ledger_section(run)):
        assert section.broken == []
    assert 1000 < len(want.learned) < 6000
    counts = run.faults.ledger.counts()
    assert counts["dimension"] == run.counters["bad_dimension"] > 0
    assert counts["schema"] == run.counters["schema_mismatch"] > 0
    assert run.counters["disconnects"] == len(run.report.detect_s) == len(run.report.recover_s) > 0


def test_what_a_restart_hides_is_entered_as_that():
    ledger = Ledger()
    ledger.spare(5, "nan")
    ledger.spare(6, "nan")
    for ordinal in (6, 6, 7):  # 7: nothing was wrong with it
        ledger.dies(ordinal)
    assert ledger.counts() == {"nan": 1, "nan lost at a restart": 1}


@needs_pty
def test_labels_that_come_late_in_every_way(tmp_path):
    section = labels_section(tmp_path, seed=2, samples=3000)
    assert section.broken == []
    assert set(section.values["injected"]) == set(MISHAP_MIXES["late"])


@pytest.mark.parametrize("samples", [1, 10, 2000])
def test_few_samples_can_have_every_fault_and_mishap(samples):
    faults = with_rare_faults(MIXES["field"], samples)
    FaultInjector(faults)
    assert faults["overlong"] > 0
    assert "overlong" not in with_rare_faults(
        MIXES["field"], samples, 115200
    )  # a minute and a half
    assert with_rare_faults(MIXES["loss"], samples) == MIXES["loss"]
    Mishaps(with_mishaps("field", samples))


def test_a_damaged_frame_that_was_accepted_would_be_found(run):
    want = expected(run.node, run.faults)
    without = want.rows[np.arange(len(want.rows)) != 100]
    doctored = type(want)(want.unique, want.missing, want.epochs, without, want.learned)
    assert "1 damaged frames were accepted" in integrity_section(run, doctored).broken


def test_another_model_would_be_found(run):
    want = expected(run.node, run.faults)
    learned = want.learned.copy()
    learned[[100, 200]] = learned[[200, 100]]
    doctored = type(want)(want.unique, want.missing, want.epochs, want.rows, learned)
    assert any("the model differs" in what for what in integrity_section(run, doctored).broken)


def test_counts_that_do_not_add_up_would_be_found(run):
    counters = run.report.edge["counters"]
    counters["bad_crc"] += 1
    try:
        assert ledger_section(run).broken and frames_section(run).broken
    finally:
        counters["bad_crc"] -= 1


@needs_pty
def test_an_edge_process_that_fails_is_a_broken_limit(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    sections = list(conform(samples=10, mix="none"))
    assert [section.name for section in sections] == ["link", "edge"]
    assert sections[0].broken and json.loads(as_json(sections))["broken"]


def test_a_broken_limit_is_said_below_its_line():
    section = Section("budget", "stated 5 B", ["too much"])
    assert str(section).splitlines()[1].split("LIMIT BROKEN: ")[1] == "too much"


@pytest.mark.parametrize(
    ("text", "n"), [("10M", 10_000_000), ("50k", 50_000), ("1,000", 1000), ("7", 7)]
)
def test_counts_with_a_suffix(text, n):
    assert parse_count(text) == n


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--samples", "many"], "give an integer"),
        (["--samples", "0"], "at least 1"),
        (["--baud", "-1"], "baud must be positive"),
    ],
)
def test_wrong_use(argv, message, capsys):
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_reader_who_has_seen_enough(tmp_path):
    listing = subprocess.Popen(
        [sys.executable, "-m", "firmware_sim", "list"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    listing.stdout.close()
    assert listing.wait() == 0
    assert listing.stderr.read() == b""
    listing.stderr.close()


@pytest.mark.long
@needs_pty
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_field_mix_holds_for_other_seeds(seed):
    for section in conform(samples=50_000, seed=seed):
        assert section.broken == [], section
