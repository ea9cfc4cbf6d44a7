"""The examples in docstrings are run, of every module of the package."""

import doctest
import importlib
import pkgutil

import pytest
from each import each

import edgesvm

MODULES = sorted(m.name for m in pkgutil.walk_packages(edgesvm.__path__, "edgesvm."))
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@each("name", [name for name in MODULES if not name.endswith("__main__")])
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name.startswith("edgesvm.compat."):
        package = name.rpartition(".")[2]
        pytest.importorskip(package, reason=f"{package} is not installed")
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    assert failed == 0


def test_there_are_some():
    learners = [getattr(edgesvm, name) for name in edgesvm.__all__ if name.endswith("SVM")]
    assert len(learners) > 5
    assert all(">>>" in learner.__doc__ for learner in learners)
