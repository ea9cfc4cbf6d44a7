"""`make arm` where its tools are absent; the rest is `make arm` itself."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "arm.py"


@pytest.mark.parametrize("needed, word, code", [(False, "SKIPPED", 0), (True, "FAILED", 1)])
def test_it_says_what_is_absent_and_how_to_install_it(needed, word, code):
    options = ["--needed"] if needed else []
    run = subprocess.run(
        [sys.executable, TOOL, *options],
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == code and run.stderr == ""
    assert run.stdout.startswith(f"arm: {word}, no mmdebstrap, aarch64-linux-gnu-gcc")
    assert "(apt-get install qemu-user-static mmdebstrap " in run.stdout
