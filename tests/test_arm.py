"""`make arm` where its tools are absent, and the tag of a wheel; the rest is `make arm` itself."""

import base64
import csv
import hashlib
import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "arm"


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
    assert run.stdout.startswith(f"arm: {word}, no mmdebstrap, apt-get, aarch64-linux-gnu-gcc")
    assert "(apt-get install qemu-user-static mmdebstrap " in run.stdout


def test_a_wheel_under_another_tag_is_whole(tmp_path, monkeypatch):
    """Its name, WHEEL and RECORD agree, and nothing else has changed."""
    monkeypatch.syspath_prepend(TOOL)
    import machine
    import wheel_tag

    monkeypatch.setattr(machine.Machine, "folder", tmp_path)
    monkeypatch.setattr(wheel_tag, "glibc_needed", lambda *_: 29)
    before = tmp_path / "p-1-cp311-cp311-linux_aarch64.whl"
    files = {
        "p/__init__.py": b"linux_aarch64 = 1\n",
        "p-1.dist-info/WHEEL": b"Wheel-Version: 1.0\nTag: cp311-cp311-linux_aarch64\n",
        "p-1.dist-info/RECORD": b"p/__init__.py,sha256=left,18\np-1.dist-info/WHEEL,sha256=old,9\n"
        b"p-1.dist-info/RECORD,,\n",
    }
    with zipfile.ZipFile(before, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    after = wheel_tag.tagged(machine.MACHINES[0], before)
    assert after.name == "p-1-cp311-cp311-manylinux_2_29_aarch64.whl"
    with zipfile.ZipFile(after) as archive:
        changed = {name: archive.read(name) for name in archive.namelist()}
    tag = changed["p-1.dist-info/WHEEL"]
    assert tag == b"Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_29_aarch64\n"

    def sha256(body):
        digest = hashlib.sha256(body).digest()
        return f"sha256={base64.urlsafe_b64encode(digest).decode().rstrip('=')}"

    init = files["p/__init__.py"]
    record = list(csv.reader(io.StringIO(changed["p-1.dist-info/RECORD"].decode())))
    assert record == [
        ["p/__init__.py", sha256(init), "18"],
        ["p-1.dist-info/WHEEL", sha256(tag), str(len(tag))],
        ["p-1.dist-info/RECORD", "", ""],
    ]
    assert changed["p/__init__.py"] == init


def test_cython_runs_once_for_all_machines(tmp_path, monkeypatch):
    """C of another machine's build is taken over while it is newer than all it was made of."""
    monkeypatch.syspath_prepend(TOOL)
    import cython_once

    asked = []

    def cython(command, **_):
        asked.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(cython_once.subprocess, "run", cython)
    here = tmp_path / "build" / "arm" / "armhf" / "meson"
    there = tmp_path / "build" / "arm" / "arm64" / "meson" / "src" / "m.cp311-arm64.so.p"
    out = Path("src") / "m.cp311-armhf.so.p" / "m.pyx.c"
    there.mkdir(parents=True)
    (here / out.parent).mkdir(parents=True)
    sources = [tmp_path / name for name in ("meson.build", "m.pyx", "m.pxd")]
    for source in sources:
        source.touch()
    (there / "m.pyx.c").write_text("int m;")
    listed = "\\\n  ../../../../m.pyx \\\n  ../../../../m.pxd\n"
    (there / "m.pyx.c.dep").write_text(f"src/m.cp311-arm64.so.p/m.pyx.c: {listed}")
    monkeypatch.chdir(here)

    def make(changed=None):
        for file in sources:
            os.utime(file, (100, 300 if file == changed else 100))
        os.utime(there / "m.pyx.c", (200, 200))
        return cython_once.main(["-M", "../../../../m.pyx", "-o", str(out)])

    assert make() == 0 and asked == [] and out.read_text() == "int m;"
    assert Path(f"{out}.dep").read_text() == f"{out}: ../../../../m.pyx ../../../../m.pxd\n"
    for n, source in enumerate(sources):
        make(source)
        assert len(asked) == n + 1 and asked[n][:2] == ["cython", "-M"]
    (there / "m.pyx.c.dep").unlink()  # its build was interrupted
    make()
    assert len(asked) == len(sources) + 1
