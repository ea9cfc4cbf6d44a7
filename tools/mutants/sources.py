"""The mutants of a source file."""

from __future__ import annotations

from pathlib import Path

from mutants import c_source, cython_source, python_source
from mutants.mutant import Edit, Mutant, name_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("edgesvm", "firmware_sim")
KINDS = (".py", ".pyx", ".pxd", ".h", ".c")
GENERATED = "edgesvm/export/translated/"  # `make translate` writes it


def source_files(root: Path = ROOT) -> list[str]:
    """The sources of both packages, as paths from the root."""
    paths = [path for package in PACKAGES for path in sorted((root / package).rglob("*.*"))]
    names = [path.relative_to(root).as_posix() for path in paths if path.suffix in KINDS]
    return [name for name in names if not name.startswith(GENERATED)]


def edits_of(path: Path) -> list[Edit]:
    if path.suffix in {".pyx", ".pxd"}:
        return list(cython_source.edits(path))
    module = python_source if path.suffix == ".py" else c_source
    return list(module.edits(path.read_text(encoding="utf-8")))


def mutants_of(file: str, root: Path = ROOT) -> list[Mutant]:
    """In the order of the text; of two with one name, which cannot be told apart, the first."""
    text = (root / file).read_text(encoding="utf-8")
    found = sorted(edits_of(root / file), key=lambda edit: (edit.start, edit.operator))
    by_name = {name_of(file, text, edit): edit for edit in reversed(found)}
    return [Mutant(name, file, edit) for name, edit in reversed(by_name.items())]
