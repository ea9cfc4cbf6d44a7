"""The systemd unit and the udev rule of examples/pi, and that `edgesvm run` is what they need."""

import configparser
import contextlib
import functools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import simulated_node

from edgesvm.cli.options import parsed, words
from edgesvm.cli.run import Settings
from edgesvm.serve.process import Service

PI = Path(__file__).parents[2] / "examples" / "pi"
UNIT = PI / "edgesvm.service"
needs_pty = pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals here")


def unit():
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str
    parser.read(UNIT)
    return parser


def options_of_the_unit():
    """What the unit gives `edgesvm run` behind the port."""
    words = shlex.split(unit()["Service"]["ExecStart"])
    assert Path(words[0]).name == "edgesvm" and words[1:3] == ["run", "/dev/edgesvm0"]
    return words[3:]


def analyzer():
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("no systemd-analyze here")
    return analyze


def test_the_unit_is_what_systemd_takes(tmp_path):
    analyze = analyzer()
    # The program it names is not installed there: any program will do for its grammar.
    text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text())
    text = re.sub(r"(?m)^Documentation=.*\n", "", text)
    (tmp_path / UNIT.name).write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / UNIT.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if UNIT.name in line]
    assert done.returncode == 0 and said == [], done.stderr


def test_the_unit_is_exposed_below_two():
    done = subprocess.run(
        [analyzer(), "security", "--offline=yes", str(UNIT)],
        capture_output=True,
        text=True,
        check=False,
    )
    if "Unknown" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip("this systemd-analyze reads no files: it is older than 250")
    level = re.search(r"Overall exposure level for edgesvm.service: ([\d.]+)", done.stdout)
    assert level, done.stdout + done.stderr
    assert float(level[1]) < 2.0


def test_the_unit_says_what_it_must():
    service = unit()["Service"]
    assert (service["Type"], service["NotifyAccess"]) == ("notify", "main")
    assert int(service["WatchdogSec"]) >= 30
    assert (service["Restart"], service["KillSignal"]) == ("on-failure", "SIGTERM")
    assert int(service["TimeoutStopSec"]) >= 10
    assert unit()["Unit"]["BindsTo"] == "dev-edgesvm0.device"
    folder = f"/var/lib/{service['StateDirectory']}/"
    options = options_of_the_unit()
    at = options.index("--checkpoint") + 1
    assert options[at].startswith(folder)
    options[at] = "m.ckpt"
    assert len(words(parsed(Settings, " ".join(["p", *options])))) == 1 + len(options)


def test_the_udev_rule_names_the_port_and_the_unit():
    pair = r'[A-Z_]+(\{[^}]+\})?(==|\+=|=)"[^"]*"'
    rules = [
        line
        for line in (PI / "99-edgesvm.rules").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(rf"{pair}(, {pair})*", rule) for rule in rules)
    naming = [rule for rule in rules if "SYMLINK+=" in rule]
    assert naming
    for rule in naming:
        assert 'SYMLINK+="edgesvm0"' in rule
        assert 'ENV{SYSTEMD_WANTS}+="edgesvm.service"' in rule


node = functools.partial(simulated_node.node, "--rate", "2000")


@contextlib.contextmanager
def manager(tmp_path, usec=400_000):
    """A socket in the place of systemd's, and the environment that names it."""
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(path)
        receiver.settimeout(60)
        yield receiver, {**os.environ, "NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(usec)}


@contextlib.contextmanager
def run(port, environment):
    """A process of `edgesvm run`, killed if the check fails."""
    argv = [sys.executable, "-m", "edgesvm.cli", "run", port]
    with subprocess.Popen(argv, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(receiver):
    return receiver.recv(4096).decode().splitlines()


@needs_pty
def test_systemd_is_told_that_it_is_ready_alive_and_stopping(tmp_path):
    with node() as port, manager(tmp_path, usec=2_000_000) as (receiver, environment):
        begun = time.monotonic()
        with run(port, environment) as process:
            assert lines(receiver) == ["READY=1"]
            for _ in range(4):
                watchdog, status = lines(receiver)
                assert watchdog == "WATCHDOG=1"
                # The first may come before the stream has shown a second label.
                assert re.match(r"STATUS=[\d,]+ samples  .*(accuracy|only one label seen)", status)
            assert "accuracy" in status
            assert time.monotonic() - begun >= 3.0  # half the watchdog's time lies between two
            process.send_signal(signal.SIGTERM)
            said = []
            while said != ["STOPPING=1"]:
                said = lines(receiver)
            assert process.wait(60) == 0


@needs_pty
def test_the_watchdog_is_fed_while_the_port_is_away(tmp_path):
    with (
        manager(tmp_path, usec=1_000_000) as (receiver, environment),
        contextlib.ExitStack() as stack,
    ):
        with node() as port:
            process = stack.enter_context(run(port, environment))
            assert lines(receiver) == ["READY=1"]
        said = []
        while not any("trying to open it again" in line for line in said):
            said = lines(receiver)
            assert said[0] == "WATCHDOG=1"
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


def test_the_watchdog_is_fed_at_half_its_time(tmp_path):
    with manager(tmp_path, usec=2_000_000) as (receiver, environment):
        now, fed = [0.0], []
        service = Service(environment, clock=lambda: now[0])
        for turn in range(41):
            now[0] = turn * 0.125
            service.alive(lambda: f"{now[0]}")
        for _ in range(6):
            watchdog, status = lines(receiver)
            assert watchdog == "WATCHDOG=1"
            fed.append(float(status.removeprefix("STATUS=")))
        assert fed == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_watchdog_of_another_process_is_not_fed(tmp_path):
    with manager(tmp_path) as (receiver, environment):
        now = [0.0]
        service = Service({**environment, "WATCHDOG_PID": "1"}, clock=lambda: now[0])
        for now[0] in (0.0, 5.0, 10.5):
            service.alive(lambda: f"{now[0]}")
        assert [lines(receiver) for _ in range(2)] == [["STATUS=0.0"], ["STATUS=10.5"]]


def test_an_abstract_socket_and_none_at_all():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(f"\0edgesvm-test-{os.getpid()}")
        Service({"NOTIFY_SOCKET": f"@edgesvm-test-{os.getpid()}"}).ready()
        assert lines(receiver) == ["READY=1"]
    gone = Service({"NOTIFY_SOCKET": f"@edgesvm-test-{os.getpid()}"})
    gone.ready()
    assert gone.lost == 1
    Service({}).stopping()


def allowed_calls():
    """The system calls that the unit's filter lets through."""
    sets, calls = {}, set()
    done = subprocess.run(
        [analyzer(), "syscall-filter"], capture_output=True, text=True, check=True
    )
    for line in done.stdout.splitlines():
        if line.startswith("@"):
            sets[line] = members = []
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())

    def expanded(name):
        return set().union(*map(expanded, sets[name])) if name[0] == "@" else {name}

    for line in re.findall(r"(?m)^SystemCallFilter=(.*)", UNIT.read_text()):
        names = set().union(*(expanded(name) for name in line.lstrip("~").split()))
        calls = calls - names if line.startswith("~") else calls | names
    return calls


@needs_pty
def test_what_it_does_is_within_the_unit_s_filter(tmp_path):
    """The calls of a whole run, as strace sees them: none is filtered, none maps code to write."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("no strace here")
    trace = tmp_path / "trace"
    with node() as port, manager(tmp_path) as (_, environment):
        done = subprocess.run(
            [
                *(strace, "-f", "-o", str(trace), sys.executable, "-m", "edgesvm.cli", "run", port),
                *("--samples", "2000", "--checkpoint", str(tmp_path / "m.ckpt"), "--every", "500"),
            ],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if "ptrace" in done.stderr:
        pytest.skip("no process may be traced here")
    assert done.returncode == 0, done.stderr
    calls = trace.read_text()
    # The exec is the manager's own; the filter is set after it.
    used = set(re.findall(r"(?m)^\d+ +(\w+)\(", calls)) - {"execve"}
    assert {"read", "sendto", "fdatasync"} <= used
    assert used - allowed_calls() == set()
    assert not re.search(r"PROT_WRITE\|PROT_EXEC", calls)
