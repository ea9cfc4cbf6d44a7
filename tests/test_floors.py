"""A file imports only from its own layer and from those above it in architecture.md's list."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "edgesvm"
COMPILED = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\b|c?import\s+([\w.]+))", re.M)


def floors():
    """Names of the files and folders in the list, top down."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    house = text.split("    edgesvm/\n")[1].split("    firmware_sim/")[0]
    return re.findall(r"^      (\w+)(?:/|\.py) ", house, re.M)


def imported(path):
    """Modules that a file names, at its head or within a function."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return [a or b for a, b in COMPILED.findall(text)]
    nodes = list(ast.walk(ast.parse(text)))
    plain = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    partly = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    assert not any(node.level for node in partly), f"{path} imports relative to itself"
    return plain + [f"{node.module}.{alias.name}" for node in partly for alias in node.names]


def test_every_file_stands_on_a_floor():
    there = {path.stem for path in SOURCES.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert sorted(floors()) == sorted(there - {"__pycache__"})


def test_a_floor_imports_only_from_floors_above_it():
    order, seen, wrong = floors(), 0, []
    for path in sorted(SOURCES.rglob("*.p*")):
        if path.suffix not in {".py", ".pyx", ".pxd"}:
            continue
        floor = path.relative_to(SOURCES).parts[0].removesuffix(".py")
        for module in imported(path):
            package, name, *_ = [*module.split("."), ""]
            target = name if name in order else "__init__"
            seen += package == "edgesvm"
            if package == "edgesvm" and order.index(target) > order.index(floor):
                wrong.append(f"{path.relative_to(SOURCES)} imports {module}")
            if package == "firmware_sim" and floor != "cli":
                wrong.append(f"{path.relative_to(SOURCES)} imports {module}")
    assert not wrong and seen > 300, wrong
