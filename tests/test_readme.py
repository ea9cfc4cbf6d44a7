"""The README's Python runs, and its commands exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_python_blocks_run_in_order(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 6
    namespace: dict = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), namespace)
    printed = capsys.readouterr().out.splitlines()
    planned, predicted, twins, residual = printed[:4]
    converged, held, whole, scores, enclosed, ball, many, shape = printed[4:]
    assert planned == re.search(r"print\(model.plan\(8\).total\)  # (\d+)", TEXT)[1]
    label, accuracy = predicted.split()
    assert label in ("worn", "fine")
    assert float(accuracy) > 0.8
    n_twins, accuracy = twins.split()
    assert n_twins == re.search(r"# (\d+) twins", TEXT)[1]
    assert float(accuracy) > 0.975
    assert float(residual) < 1e-9
    assert converged == "True"
    n_bytes, n_given_up = map(int, held.split())
    assert f"{n_bytes:,}" == re.search(r"# ([\d,]+) bytes; vectors", TEXT)[1] and n_given_up > 0
    assert whole == "optimal True"
    assert scores == re.search(r"whole\)\]\)  # (.*)$", TEXT, re.MULTILINE)[1]
    n_core, _, accuracy = ball.split()
    assert enclosed == "True" and int(n_core) < 2000 and float(accuracy) > 0.985
    n_bytes, accuracy = many.split()
    assert n_bytes == re.search(r"in one block of (\d+)", TEXT)[1]
    assert float(accuracy) > 0.9 and shape == "(1000, 10)"


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^edgesvm (\w+)", TEXT, re.MULTILINE))))
def test_commands_named_exist(command):
    run = subprocess.run(
        [sys.executable, "-m", "edgesvm.cli", command, "--help"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_make_targets_named_exist():
    makefile = (README.parent / "Makefile").read_text()
    for target in ("demo", "test", "lint", "test-bounds", "conformance", "bench"):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)
