"""What `make wheel` adds to a wheel and checks; and the words of a long build."""

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
EPOCH = 1_700_000_000
INFO = "edgesvm-1.dist-info"


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(TOOLS / "wheel")
    import contents
    import sbom

    return contents, sbom


def line(name, body):
    sha256 = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    return f"{name},sha256={sha256},{len(body)}\n"


def plain_wheel(folder, needed, *, order=1, damage=b""):
    """A wheel without a bill; `order` -1 writes its files the other way round."""
    files = {name: name.encode() for name in (*needed, f"{INFO}/licenses/LICENSE")}
    files[f"{INFO}/WHEEL"] = b"Wheel-Version: 1.0\n"
    record = "".join(line(*file) for file in sorted(files.items())) + f"{INFO}/RECORD,,\n"
    files["edgesvm/py.typed"] += damage
    path = folder / "edgesvm-1-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name in [*files][::order]:
            packed.writestr(name, files[name])
        packed.writestr(f"{INFO}/RECORD", record)
    return path


def test_the_bill_is_in_record_and_the_same_twice(tools, tmp_path):
    contents, sbom = tools
    made = []
    for order in (1, -1):
        folder = tmp_path / str(order)
        folder.mkdir()
        wheel = plain_wheel(folder, contents.NEEDED, order=order)
        made.append(sbom.with_sbom(wheel, EPOCH).read_bytes())
        assert any("Cython, numpy" in told for told in contents.check(wheel))
    assert made[0] == made[1]
    with zipfile.ZipFile(wheel) as packed:
        bill = json.loads(packed.read(f"{INFO}/sboms/edgesvm.cdx.json"))
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/edgesvm@1"


@pytest.mark.parametrize("fault", ["a file is missing", "a file is not the recorded one"])
def test_a_wheel_that_is_not_whole_is_refused(fault, tools, tmp_path):
    contents, sbom = tools
    needed = contents.NEEDED[:-1] if "missing" in fault else contents.NEEDED
    damage = b"" if "missing" in fault else b"!"
    wheel = sbom.with_sbom(plain_wheel(tmp_path, needed, damage=damage), EPOCH)
    with pytest.raises(SystemExit, match=r"py\.typed|missing"):
        list(contents.check(wheel))


@pytest.mark.parametrize("code", [0, 3])
def test_a_silent_command_says_how_long_it_took_and_all_if_it_fails(code):
    script = f"import sys; print('[1/2] one'); print('[2/2] two'); sys.exit({code})"
    command = [sys.executable, TOOLS / "progress.py", "building", sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert ("s of processor" in done.stderr) == (code == 0)
    assert ("[2/2] two" in done.stderr) == (code != 0)
    assert ("building failed" in done.stderr) == (code != 0)
