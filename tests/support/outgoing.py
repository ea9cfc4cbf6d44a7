"""For tests of sinks: a journal with answers, an output on it, patience, a broker."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time

import numpy as np
import pytest

from edgesvm.serve.journal import Journal
from edgesvm.serve.outputs.lines import When
from edgesvm.serve.outputs.output import Output

PATIENCE_S = 60.0


def until(condition):
    """Wait for it; whether it came true."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def write(journal, n=1, flags=0):
    """Write n answers, numbered on."""
    for _ in range(n):
        sequence = journal.written
        journal.add(
            sequence,
            predicted=sequence % 3,
            score=sequence / 2,
            flags=flags,
            label=sequence % 2 or None,
            x=np.zeros(2),
        )


def answers(n, capacity=None):
    journal = Journal(2, n if capacity is None else capacity)
    write(journal, n)
    return journal


@contextlib.contextmanager
def output(sink, journal, every=1, report=lambda line: None):
    """An output from a journal to a sink; it ends with the block, and then its sum is right."""
    out = Output(sink, {"p": journal}, When(every), report=report)
    try:
        yield out
    finally:
        out.stop()
    assert journal.written == out.sent + out.skipped + out.lost


def certificate(folder, name):
    """A certificate for a name or address, by an authority of its own, and its key; two paths."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make certificates with")
    cert, key = folder / f"{name}.pem", folder / f"{name}.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", key, "-out", cert]
    if name[0].isdigit():
        command += ["-addext", f"subjectAltName=IP:{name}"]
    subprocess.run(command, check=True, capture_output=True)
    key.chmod(0o644)  # the broker may run as another user
    folder.chmod(0o755)
    return cert, key


class Broker:
    """mosquitto on a free port, to be stopped, killed or frozen, and to come back."""

    def __init__(self, folder, *lines):
        program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin")
        if program is None:
            if os.environ.get("EDGESVM_BROKER") == "required":
                pytest.fail("no mosquitto: apt-get install mosquitto")
            pytest.skip("no mosquitto; Debian has it in a package of that name")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = folder / "mosquitto.conf"
        settings = [f"listener {self.port} 127.0.0.1", *lines]
        if os.geteuid() == 0:
            settings.append("user root")  # else it becomes another, who may not read the folder
        config.write_text("\n".join([*settings, ""]))
        self._command = [program, "-c", str(config)]
        self._process = None

    def start(self):
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert until(self._listens)

    def _listens(self):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), 1.0).close()
            return True
        return False

    def stop(self, how=signal.SIGTERM):
        """End it, or with SIGSTOP only halt it: it keeps its connections and says nothing."""
        if self._process is not None:
            self._process.send_signal(how)
            if how != signal.SIGSTOP:
                self._process.wait(PATIENCE_S)
                self._process = None

    def come_back(self):
        """From whatever `stop` did."""
        if self._process is None:
            self.start()
        else:
            self._process.send_signal(signal.SIGCONT)

    def close(self):
        """End it, even if it is halted."""
        self.stop(signal.SIGKILL)
