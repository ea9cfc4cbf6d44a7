"""No circle among the modules of firmware_sim, and its layers are as architecture.md lists them."""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "firmware_sim"
LIST = (ROOT / "docs" / "architecture.md").read_text("utf-8").split("    firmware_sim/")[1]
FLOORS = [*re.findall(r"^      (\w+)(?:/|\.py) ", LIST, re.MULTILINE), "__main__"]


def name_of(file):
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(file): file for ext in ("py", "pyx") for file in PACKAGE.rglob(f"*.{ext}")}
SOURCES = {name: file for name, file in FILES.items() if file.suffix == ".py"}


def imported_by(file):
    """The modules of firmware_sim that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in FILES)
        elif isinstance(node, ast.ImportFrom) and node.module in FILES:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in FILES else node.module


def test_no_module_is_imported_by_what_it_imports():
    graph = {name: set(imported_by(file)) for name, file in SOURCES.items()}
    assert sum(map(len, graph.values())) > 50
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle


def test_a_floor_imports_only_from_floors_above_it_in_the_list():
    rooms = {name.split(".")[1] for name in FILES if "." in name}
    assert rooms == set(FLOORS)
    height = {room: n for n, room in enumerate(FLOORS)}
    for name, file in SOURCES.items():
        for other in imported_by(file):
            here, there = name.split(".")[1], other.split(".")[1]
            assert height[there] <= height[here], f"{name} imports {other}"
