"""What `make wheel` checks; and the words of a long build."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


def test_a_wheel_that_is_not_whole_is_refused(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(TOOLS)
    import wheel

    needed = [*wheel.NEEDED, "edgesvm-1.dist-info/licenses/LICENSE"]
    for names, why in (
        (needed, None),
        (needed[1:], "py.typed"),
        (needed[:-1], "LICENSE"),
        ([*needed, "tests/test_arm.py"], "for a clone only"),
    ):
        with zipfile.ZipFile(tmp_path / "made.whl", "w") as packed:
            for name in names:
                packed.writestr(name, name)
        if why is None:
            wheel.check(tmp_path / "made.whl")
        else:
            with pytest.raises(SystemExit, match=why):
                wheel.check(tmp_path / "made.whl")


@pytest.mark.parametrize("code", [0, 3])
def test_a_silent_command_says_how_long_it_took_and_all_if_it_fails(code):
    script = f"import sys; print('[1/2] one'); print('[2/2] two'); sys.exit({code})"
    command = [sys.executable, TOOLS / "progress.py", "building", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("s of processor" in done.stderr) == (code == 0)
    assert ("[2/2] two" in done.stderr) == (code != 0)
    assert ("building failed" in done.stderr) == (code != 0)
