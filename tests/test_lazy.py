"""What `import edgesvm` imports, and that everything else is found when it is asked for."""

import contextlib
import itertools
import socket
import subprocess
import sys
import threading
import time

import numpy as np

import edgesvm
from edgesvm import Standardized, StreamSVM, learners
from edgesvm.cli import learner_options
from edgesvm.contract import registry


def fresh(code, *argv):
    """What a new interpreter prints."""
    command = [sys.executable, "-c", code, *map(str, argv)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_importing_the_package_imports_no_learner():
    code = "import sys, edgesvm\nprint(*(m for m in sys.modules if m.startswith('edgesvm.')))"
    imported = fresh(code).split()
    families = {name.split(".")[2] for name in imported if name.startswith("edgesvm.learners.")}
    assert "edgesvm.learner" in imported and families == set()
    assert "edgesvm.preprocessing.standardized" not in imported


def test_every_public_name_is_found():
    for package in (edgesvm, learners):
        assert len(set(package.__all__)) == len(package.__all__)
        for name in package.__all__:
            assert getattr(package, name).__class__ is not None
        assert not hasattr(package, "no_such_name")
    assert set(learners.MODULE_OF) | {"LEARNERS"} == set(learners.__all__)
    assert set(edgesvm.__all__) <= set(dir(edgesvm))


def test_a_learner_is_where_the_table_says():
    for name, module in registry.MODULE_OF.items():
        assert sys.modules[module].__dict__[name].__module__ == module, name


def test_a_snapshot_is_loaded_where_its_learner_was_not_imported(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3)).astype(np.float32)
    path = tmp_path / "m.esvm"
    Standardized(learner=StreamSVM()).partial_fit(X, X[:, 0] > 0).save(path)
    code = "import sys, edgesvm\nprint(edgesvm.load(sys.argv[1]))"
    assert fresh(code, path).strip() == "Standardized(learner=StreamSVM())"


def test_the_command_imports_few_learners():
    imported = fresh("import sys, edgesvm.cli.run\nprint(*sys.modules)").split()
    families = {name.split(".")[2] for name in imported if name.startswith("edgesvm.learners.")}
    assert not families & {"auto", "enclosing", "incremental", "online", "twin"}
    of_numpy = fresh("import sys, numpy\nprint(*sys.modules)").split()
    assert "_hashlib" in of_numpy or "_hashlib" not in imported  # OpenSSL, 3.5 MiB


def served_lines(listener):
    """A node on a socket: lines of two numbers and a label, until the other end closes."""
    node, _ = listener.accept()
    with node, contextlib.suppress(OSError):
        for i in itertools.count():
            node.sendall(b"%d.5,%d.25,%d\n" % (i % 3, i % 5, i % 2))
            time.sleep(0.002)


# What a run on a text link with the default learner must not import, beyond what NumPy does.
UNUSED = (
    *("edgesvm.calibration", "edgesvm.drift", "edgesvm.page", "edgesvm.outputs.output"),
    *("edgesvm.learners.batch", "edgesvm.learners.multiclass", "edgesvm.learners.novelty"),
    *("edgesvm.learners.stream", "edgesvm.preprocessing.chain", "edgesvm.preprocessing.bands"),
    *("edgesvm.preprocessing.fourier_features", "edgesvm.preprocessing.robust_standardized"),
    *("edgesvm.link.binary", "edgesvm.link.bodies", "edgesvm.link.recording"),
    *("edgesvm.link.files", "edgesvm.data.files", "edgesvm.persist.checkpoint"),
    *("edgesvm.cli.on_device", "edgesvm.window_runner", "firmware_sim", "serial"),
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
            "files = [str(vars(m).get('__file__')) for m in sys.modules.values()]\n"
            "print('modules:', sum('_compiled.' in f for f in files), *sys.modules)\nsys.exit(code)"
        )
        *_, told = fresh(code, url).split("modules:")
    n_compiled, *imported = told.split()
    of_numpy = fresh("import sys, numpy\nprint(*sys.modules)").split()
    modules = set(imported) - set(of_numpy)
    used = [m for m in modules if any(m == name or m.startswith(f"{name}.") for name in UNUSED)]
    assert "edgesvm.runner" in modules and used == []
    assert 0 < int(n_compiled) <= MOST_COMPILED


def test_the_names_of_learner_stand_for_what_they_say():
    kinds = {name: learner_options.class_of(name) for name in learner_options.KINDS}
    linear = tuple(name for name, kind in kinds.items() if hasattr(kind, "coef_"))
    assert linear == learner_options.LINEAR
