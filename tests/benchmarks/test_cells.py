"""Cells of an interrupted table count for the build that made them, and for no other."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.common import cells
from edgesvm import FourierSVM  # noqa: F401


def test_every_compiled_module_that_is_imported_counts():
    imported = {
        name: Path(module.__file__)
        for name, module in sys.modules.items()
        if name.startswith("edgesvm.") and (getattr(module, "__file__", "") or "").endswith(".so")
    }
    assert "edgesvm.learners.fourier._fourier_svm" in imported
    assert imported.items() <= cells.compiled_modules().items()


def test_a_rebuilt_module_is_another_build(tmp_path, monkeypatch):
    module = tmp_path / "core.so"
    monkeypatch.setattr(cells, "compiled_modules", lambda: {"edgesvm.core": module})
    builds = []
    for content in (b"before", b"after", b"before"):
        module.write_bytes(content)
        builds.append(cells.build_id())
    assert builds[0] == builds[2] != builds[1]

    kept = tmp_path / "cells.jsonl"
    cells.Cells(kept, builds[0])["waveform", 0] = {"right": 90.0}
    assert ("waveform", 0) in cells.Cells(kept, builds[2])
    assert ("waveform", 0) not in cells.Cells(kept, builds[1])
