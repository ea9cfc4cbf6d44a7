"""`make conformance` goes on where it stopped, and a failure is neither kept nor hidden."""

import importlib.util
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[1] / "tools"


def conformance(monkeypatch, folder, commands):
    monkeypatch.syspath_prepend(str(TOOLS))
    spec = importlib.util.spec_from_file_location("release_checks", TOOLS / "conformance.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "KEPT", folder)
    monkeypatch.setattr(module, "TABLE", folder / "table.md")
    monkeypatch.setattr(module, "steps", lambda _: commands)
    monkeypatch.setattr(module, "sources", lambda *_: "these")
    monkeypatch.setattr(sys, "argv", ["conformance"])
    return module


def test_what_passed_is_not_run_again(tmp_path, monkeypatch, capsys):
    steps = {"good": f"echo x >> {tmp_path}/ran; echo 3 passed", "bad": "echo broken; exit 3"}
    module = conformance(monkeypatch, tmp_path, steps)
    for left in (2, 1):
        assert module.main() == 1
        said = capsys.readouterr()
        assert f"{left} of 2 steps are left" in said.out
        assert "failed: bad" in said.err
    assert (tmp_path / "ran").read_text() == "x\n"
    table = (tmp_path / "table.md").read_text()
    assert "| good | passed | 0.0 |" in table and "| 3 passed |" in table
    assert "| bad | FAILED | 0.0 |" in table and "| broken |" in table
    steps["bad"] = "true"
    assert module.main() == 0
    monkeypatch.setattr(module, "sources", lambda *_: "others")
    assert module.main() == 0
    assert (tmp_path / "ran").read_text() == "x\nx\n"
