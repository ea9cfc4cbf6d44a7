"""The learner of docs/write-a-learner.md, taken out of the page, built, and put through the whole
contract by the page's own commands."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "write-a-learner.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```(?:python|cython)\n# (\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.timeout(1200)  # the contract of one learner, beside whatever else this machine does
def test_adaline(tmp_path):
    tools = Path(sys.executable).parent
    for program, found in {
        "cython": (tools / "cython").exists(),
        **{name: shutil.which(name) for name in ("bash", "cc")},
    }.items():
        if not found:
            pytest.skip(f"{program} is not installed")
    (tmp_path / "adaline").mkdir()
    for name, text in FILES:
        (tmp_path / name).write_text(text, encoding="utf-8")
    here = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    here |= {"PATH": f"{tools}{os.pathsep}{here['PATH']}", "EDGESVM": str(ROOT)}

    def run(command):
        done = subprocess.run(
            ["bash", "-ec", command],
            cwd=tmp_path,
            env=here,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
        return done.stdout

    build, contract = COMMANDS
    run(build)
    passed = int(re.search(r"(\d+) passed", run(contract))[1])
    assert passed > 250
    assert run("python use.py").strip() == re.search(r"> 0\.9\)  # (.*)$", PAGE, re.MULTILINE)[1]
