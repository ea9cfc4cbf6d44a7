"""The learner of docs/write-a-learner.md, taken out of the page, built by the page's commands, and
put through the contract."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
PAGE = (ROOT / "docs" / "write-a-learner.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\w+\n# (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
PRINTED = re.search(r"> 0\.9\)  # (.*)$", PAGE, re.MULTILINE)[1]


@pytest.mark.timeout(1200)  # the contract of one learner, beside whatever else this machine does
def test_the_learner_of_the_page(tmp_path):
    for name in ("cython", "bash", "cc"):
        if not (TOOLS / name).exists() and not shutil.which(name):
            pytest.skip(f"{name} is not installed")
    (tmp_path / "adaline").mkdir()
    (tmp_path / "adaline" / "__init__.py").touch()
    for path, text in BLOCK.findall(PAGE):
        (tmp_path / path).write_text(text, encoding="utf-8")
    here = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    here |= {"PATH": f"{TOOLS}{os.pathsep}{here['PATH']}", "EDGESVM": str(ROOT)}

    def run(command):
        command = ["bash", "-ec", command]
        done = subprocess.run(
            command, cwd=tmp_path, env=here, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
        return done.stdout

    build, contract = COMMANDS
    run(build)
    assert int(re.search(r"(\d+) passed", run(contract))[1]) > 20
    assert run("python use.py").strip() == PRINTED
