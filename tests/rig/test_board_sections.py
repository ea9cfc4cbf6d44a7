"""The lines firmware and parity: what they say of a model, and what would break them."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from edgesvm import Standardized, StreamSVM
from rig.boards import BOARDS, HOSTS, compare, hard_samples, missing, run
from rig.boards.board import NATIVE
from rig.conformance.firmware_section import firmware_section
from rig.conformance.parity_section import parity_section

SECTIONS = {"firmware": firmware_section, "parity": parity_section}


def taught():
    X, slots, _ = hard_samples(60, 4, "float32", 1)
    sound = np.isfinite(X).all(axis=1) & (np.abs(X).max(axis=1) < 1e6)
    return Standardized(learner=StreamSVM()).partial_fit(X[sound], slots[sound], classes=[0, 1])


@pytest.fixture
def snapshot(tmp_path):
    taught().save(tmp_path / "model.esvm")
    return tmp_path / "model.esvm"


@pytest.mark.parametrize("name", SECTIONS)
def test_without_tools_a_line_says_how_to_install_them(name, snapshot, monkeypatch):
    monkeypatch.setenv("PATH", "")
    for needed in (False, True):
        section = SECTIONS[name](snapshot, rows=10, needed=needed)
        assert "not run: no " in section.text and "(apt-get install gcc" in section.text
        assert bool(section.broken) is needed


def test_firmware_says_what_the_model_takes_and_that_it_ends_at_its_ram(snapshot):
    if reason := missing(BOARDS["M3"]):
        pytest.skip(reason)
    section = firmware_section(snapshot, rows=40, needed=True)
    assert section.broken == [] and section.taken == "qemu-system"
    assert "link error one byte over: yes   guest errors 0   heap symbols 0" in section.text
    assert section.text.endswith("device = host scores 40 of 40 bit-equal")
    assert 0 < section.values["stack"] <= 512 < section.values["flash"]


def test_firmware_that_outgrows_its_stack_breaks_the_line(snapshot, monkeypatch):
    if reason := missing(BOARDS["M3"]):
        pytest.skip(reason)
    monkeypatch.setattr("rig.conformance.firmware_section.STACK", 256)
    section = firmware_section(snapshot, rows=40, needed=True)
    assert section.broken and "guest errors" in section.broken[0]


def test_parity_counts_the_scores_of_every_machine_that_is_here(snapshot):
    here = [name for name, machine in HOSTS.items() if not missing(machine)]
    if not here:
        pytest.skip(missing(*HOSTS.values()))
    section = parity_section(snapshot, rows=300, needed=False)
    n = 300 * len(here)
    assert section.broken == []
    assert f"scores {n:,} of {n:,} bit-equal   {' = '.join(here)} model bytes" in section.text
    assert section.values["machines"] == here


def test_a_single_bit_would_be_found(tmp_path):
    if reason := missing(HOSTS[NATIVE]):
        pytest.skip(reason)
    learner, samples = taught(), hard_samples(50, 4, "float32", 2)
    there = run(learner, HOSTS[NATIVE], tmp_path, samples)
    assert compare(copy.deepcopy(learner), there, samples) == (50, [])
    values = there.values.copy()
    values.view(np.uint64)[7] ^= 1
    wrong = {
        "decisions": {"values": values},
        "what was learned": {"learned": there.learned + 1},
        "arena": {"arena": there.arena[:-1] + bytes([there.arena[-1] ^ 1])},
        "self-test": {"self_test": False},
    }
    for name, change in wrong.items():
        equal, differs = compare(copy.deepcopy(learner), replace(there, **change), samples)
        assert differs == [name]
        assert equal == 50 - (name == "decisions")
