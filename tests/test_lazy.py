"""What `import edgesvm` imports, and that everything else is found when it is asked for."""

import ast
import contextlib
import importlib
import itertools
import runpy
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import edgesvm
from edgesvm import learners

ROOT = Path(__file__).parents[1]
# What is imported anyway: by NumPy, by dataclasses, and by the loader of an editable install.
BASE = """
import sys, dataclasses, importlib.util, numpy
importlib.util.find_spec("edgesvm")
print(*sys.modules)
"""
# Without what stands for modules of the last release, of which nothing is imported.
IMPORTED = "(n for n, m in sys.modules.items() if getattr(m, '__spec__', None))"


def fresh(code, *argv):
    """What a new interpreter prints."""
    command = [sys.executable, "-c", code, *map(str, argv)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_learner():
    imported = fresh(f"import sys, edgesvm\nprint(*{IMPORTED})").split()
    families = {name.split(".")[2] for name in imported if name.startswith("edgesvm.learners.")}
    assert "edgesvm.learner" in imported and families == set()
    assert "edgesvm.preprocessing.standardized" not in imported


def test_every_public_name_is_found():
    for package in (edgesvm, learners):
        assert len(set(package.__all__)) == len(package.__all__)
        for name in package.__all__:
            assert getattr(package, name).__class__ is not None
        assert not hasattr(package, "no_such_name")
        assert set(package.__all__) <= set(dir(package))
    assert {"LEARNERS", "StreamSVM", "KernelLearner"} <= set(learners.__all__)


@pytest.mark.parametrize(
    ("package", "module", "name"),
    [
        ("edgesvm", "edgesvm.learners.stream.stream", "StreamSVM"),
        ("edgesvm/learners", "edgesvm.learners.stream.stream", "StreamSVM"),
        ("edgesvm/link", "edgesvm.link.link", "Link"),
        ("edgesvm/data", "edgesvm.errors", "RowsError"),
        ("edgesvm/persist", "edgesvm.persist.format", "pack"),
    ],
)
def test_a_stub_has_every_public_name(package, module, name):
    text = runpy.run_path(str(ROOT / "tools" / "stub.py"))["stub"](package)
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    given = {alias.asname for node in imports for alias in node.names}
    public = importlib.import_module(package.replace("/", ".")).__all__
    assert set(public) <= {"LEARNERS", *given}
    assert f"from {module} import {name} as {name}" in text


def test_a_source_tree_that_is_not_built_says_what_to_type(tmp_path):
    (tmp_path / "edgesvm" / "core").mkdir(parents=True)
    for name in ("__init__.py", "core/__init__.py"):
        shutil.copy(ROOT / "edgesvm" / name, tmp_path / "edgesvm" / name)
    command = [sys.executable, "-S", "-c", "import edgesvm"]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert told.stderr.rstrip().endswith(
        "ImportError: edgesvm is not built: type `make build` in the clone,"
        " or `pip install --no-build-isolation -e .`"
    )


def served_lines(listener):
    """A node on a socket: lines of two numbers and a label, until the other end closes."""
    node, _ = listener.accept()
    with node, contextlib.suppress(OSError):
        for i in itertools.count():
            node.sendall(b"%d.5,%d.25,%d\n" % (i % 3, i % 5, i % 2))
            time.sleep(0.002)


# What a run on a text link with the default learner must not import, beyond what NumPy does.
UNUSED = (
    *("edgesvm.learners.calibrated", "edgesvm.learners.drift", "edgesvm.serve.page"),
    *("edgesvm.serve.outputs.output", "edgesvm.preprocessing.window_features"),
    *("edgesvm.learners.enclosing", "edgesvm.learners.incremental", "edgesvm.learners.online"),
    *(
        "edgesvm.learners.twin",
        "edgesvm.learners.batch",
        "edgesvm.learners.multiclass",
        "edgesvm.learners.novelty",
    ),
    *("edgesvm.learners.stream", "edgesvm.preprocessing.chain"),
    *("edgesvm.link.binary", "edgesvm.link.control", "edgesvm.link.recording"),
    *("edgesvm.link.files", "edgesvm.data.csv_rows", "edgesvm.persist.checkpoint"),
    *("edgesvm.cli.several_ports", "edgesvm.serve.windows", "firmware_sim", "serial"),
    *("http", "email", "ssl", "asyncio", "multiprocessing", "concurrent", "xml", "decimal"),
    *("bz2", "lzma", "shutil", "tempfile", "queue", "heapq", "subprocess", "unittest", "inspect"),
    *("csv", "json", "logging", "pathlib", "random", "traceback", "urllib", "encodings.idna"),
    *("numpy.testing", "numpy.random", "numpy.typing"),
)
MOST_COMPILED = 27  # compiled modules of ours, each of which costs its initialisation


def test_a_run_imports_only_what_it_uses():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=served_lines, args=(listener,), daemon=True).start()
        url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
        code = (
            "import sys\nfrom edgesvm.cli import main\n"
            "code = main(['run', sys.argv[1], '--text', '--samples', '20', '--once'])\n"
            "ours = [m for name, m in sys.modules.items() if name.startswith('edgesvm.')]\n"
            "compiled = [m for m in ours if str(vars(m).get('__file__')).endswith('.so')]\n"
            f"print('modules:', len(compiled), *{IMPORTED})\nsys.exit(code)"
        )
        *_, told = fresh(code, url).split("modules:")
    n_compiled, *imported = told.split()
    modules = set(imported) - set(fresh(BASE).split())
    used = [m for m in modules if any(m == name or m.startswith(f"{name}.") for name in UNUSED)]
    assert "edgesvm.serve.job" in modules and used == []
    assert 0 < int(n_compiled) <= MOST_COMPILED, n_compiled
