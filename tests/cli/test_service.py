"""`edgesvm service install`: a unit that can work, or a line that says why not."""

import re
import shutil
import subprocess

import pytest
from each import each

from edgesvm.cli import main, service
from edgesvm.link.keyed import read_key

HANDED = "/run/credentials/edgesvm-ttyUSB0.service"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("node.key", "pw", "ca.pem"):
        (tmp_path / name).write_text("00" * 16)
    return tmp_path


@each(
    "words, lines",
    [
        ("", ["MemoryMax=130M", "DeviceAllow=char-ttyUSB rw", "PrivateNetwork=yes"]),
        ("--key node.key", ["LoadCredential=key-0:{0}/node.key", f"Exec.* --key {HANDED}/key-0"]),
        ("--memory 200MiB --ring 9000", ["MemoryMax=738M"]),
        ("--out-password-file pw", ["LoadCredential=out_password_file-0:{0}/pw"]),
        ("--out=mqtts://u%40x@h/t?ca=ca.pem&cert=pw", [f"Exec.*u%%40x@h/t.ca={HANDED}/ca-0&cert="]),
        ("--out=mqtt://h/t", ["RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6"]),
        ("/dev/rfcomm3 --save {{port}}.esvm", ["DeviceAllow=char-rfcomm rw"]),
        ("/dev/hidraw9 --one-model", ["DeviceAllow=/dev/hidraw9 rw"]),
        ("--http 8080 --http-token-file token --out jsonl:o.jsonl", ["RestrictAddressFam.*INET6"]),
    ],
)
def test_the_unit_has_what_its_options_need(words, lines, folder, capsys):
    assert main(["service", "install", "/dev/ttyUSB0", *words.format().split(), "--dry-run"]) == 0
    text = capsys.readouterr().out
    for line in lines:
        assert re.search(f"(?m)^{line.format(folder)}", text), (line, text)
    if analyze := shutil.which("systemd-analyze"):
        file = folder / "edgesvm-ttyUSB0.service"
        file.write_text(text)
        verify = [analyze, "verify", "--man=no", file]
        done = subprocess.run(verify, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and file.name not in done.stderr, done.stderr


@each("words", ["save ./m", "http-token-file /root/t", "key no", "out jsonl:./o"])
def test_what_cannot_work_is_refused_in_a_line(words, capsys):
    assert main(["service", "install", "/dev/ttyUSB0", *f"--{words}".split(), "--dry-run"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert re.search("only; give a name|give a file that is there", err), err


@each("fails", ["daemon-reload", "enable", "restart"])
@each("before", [None, "of before"])
def test_a_failed_installation_leaves_what_was_there(fails, before, folder, monkeypatch, capsys):
    unit, calls = folder / "edgesvm-ttyUSB0.service", []
    unit.unlink(missing_ok=True)
    if before is not None:
        unit.write_text(before)

    def run(command, check):
        calls.append(command[1])
        return subprocess.CompletedProcess(command, int(command[1] == fails))

    monkeypatch.setattr(service, "UNITS", folder)
    monkeypatch.setattr(service.subprocess, "run", run)
    monkeypatch.setattr(service.shutil, "which", lambda name: name)
    assert main(["service", "install", "/dev/ttyUSB0", "--text"]) == 1
    assert f"systemctl {fails}" in capsys.readouterr().err
    assert (unit.read_text() if unit.exists() else None) == before
    assert calls[-2] == "daemon-reload" and ("disable" in calls) == (before is None)


def test_a_key_that_systemd_hands_over_may_have_a_group(folder, monkeypatch):
    key = folder / "node.key"
    key.chmod(0o440)  # of root, with an access list for the user
    with pytest.raises(PermissionError):
        read_key(str(key))
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(folder))
    assert read_key(str(key)) == bytes(16)
