"""No file imports itself by way of others, and the layers are in the order of the documentation."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("edgesvm", "firmware_sim")
LAYERS = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")

FROM = re.compile(r"^\s*from\s+([\w.]+)\s+(c?)import\s+(\([^)]*\)|(?:[^\n#\\]|\\\n)+)", re.M)
WHOLE = re.compile(r"^\s*(c?)import\s+([\w.]+)", re.M)
COMMENT = re.compile(r"#.*")


def name_of(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = [
    path
    for package in PACKAGES
    for suffix in ("py", "pyx", "pxd")
    for path in sorted((ROOT / package).rglob(f"*.{suffix}"))
]
IMPORTED = {name_of(path): path for path in FILES if path.suffix != ".pxd"}
CIMPORTED = {name_of(path): path for path in FILES if path.suffix == ".pxd"}


def is_for_types(node):
    """Whether this is ``if TYPE_CHECKING:``, whose imports are never executed."""
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def executed(node):
    """The nodes below this one, those of functions included."""
    for child in ast.iter_child_nodes(node):
        if is_for_types(child):
            for other in child.orelse:
                yield other
                yield from executed(other)
        else:
            yield child
            yield from executed(child)


def named(path):
    """Triples (whether it is a cimport, module, name or None) of the imports in a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for node in executed(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from ((False, alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path} has a relative import"
                yield from ((False, node.module, alias.name) for alias in node.names)
        return
    text = COMMENT.sub("", text)
    for c, module, names in FROM.findall(text):
        for name in names.strip("()").split(","):
            yield c == "c", module, name.split()[0] if name.split() else None
    yield from ((c == "c", module, None) for c, module in WHOLE.findall(text))


def imported(path):
    """The files of both packages that a file imports; a .pyx has its .pxd without asking."""
    if path.suffix == ".pyx" and name_of(path) in CIMPORTED:
        yield CIMPORTED[name_of(path)]
    for is_cimport, module, name in named(path):
        files = CIMPORTED if is_cimport else IMPORTED
        found = files.get(f"{module}.{name}") or files.get(module)
        if found is not None:
            yield found


def graph():
    return {path: set(imported(path)) for path in FILES}


def layers(package):
    """Names of the files and folders of a package in the list, from the top down."""
    lines = LAYERS.split(f"\n    {package}/")[1].split("\n")[1:]
    end = next(i for i, line in enumerate(lines) if not line.startswith("      "))
    found = (re.match(r"      (\w+)(?:/|\.py) ", line) for line in lines[:end])
    return [match[1] for match in found if match]


def layer_of(path):
    """The package of a file, and the file or folder of the list that it is or is in."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return parts[0], parts[1]


def test_no_file_imports_itself_by_way_of_others():
    edges = graph()
    assert sum(map(len, edges.values())) > 500
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as found:
        pytest.fail(" -> ".join(str(path.relative_to(ROOT)) for path in found.args[1]))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_file_is_in_the_list_of_layers(package):
    top = [path for path in (ROOT / package).iterdir() if path.name != "__pycache__"]
    there = {path.stem for path in top if path.suffix == ".py" or path.is_dir()}
    if package == "firmware_sim":
        there -= {"__init__", "__main__"}
    assert sorted(layers(package)) == sorted(there)


def test_a_file_imports_only_from_its_layer_and_those_above_it():
    order = {package: layers(package) for package in PACKAGES}
    order["firmware_sim"] = ["__init__", *order["firmware_sim"], "__main__"]
    wrong, seen = [], 0
    for path in FILES:
        package, layer = layer_of(path)
        for file in imported(path):
            seen += 1
            target, other = layer_of(file)
            if target == package:
                is_right = order[package].index(other) <= order[package].index(layer)
            elif package == "firmware_sim":
                how_options_are_declared = file.stem in ("options", "arguments")
                is_right = other not in ("cli", "__main__") or how_options_are_declared
            else:
                is_right = layer == "cli"
            if not is_right:
                wrong.append(f"{path.relative_to(ROOT)} imports {file.relative_to(ROOT)}")
    assert not wrong and seen > 500, "\n".join(wrong)
