"""What a start costs: processor time and memory of new processes, NumPy's own share beside them.

    python tools/start_cost.py [STARTS]

`edgesvm run` is sent lines, over a local socket and on a pseudo-terminal, which pyserial opens. It
predicts and learns 20 of them, and ends. What it has used is read when its first prediction
arrives, and again at its end, after the report. The median and the least of STARTS starts (15),
taken in turns.
"""

import contextlib
import itertools
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import threading
import tty
from pathlib import Path

ROWS = 20
EVERY_S = 0.002


class Node(threading.Thread):
    """Sends a line every 2 ms; notes what `process` has used at its first answer."""

    def __init__(self):
        super().__init__(daemon=True)
        self.process, self.used = None, None

    def talk(self, connection):
        """Until the other end closes; `connection` does not block."""
        with contextlib.suppress(OSError):
            for i in itertools.count():
                with contextlib.suppress(BlockingIOError):  # nobody reads yet
                    os.write(connection, b"%d.5,%d.25,%d\n" % (i % 3, i % 5, i % 2))
                if select.select([connection], [], [], EVERY_S)[0] and not self.hear(connection):
                    return

    def hear(self, connection):
        answer = os.read(connection, 4096)
        if answer and self.used is None and self.process is not None:
            self.used = used_so_far(self.process.pid)
        return answer


class OnSocket(Node):
    def __init__(self):
        super().__init__()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"socket://127.0.0.1:{self._listener.getsockname()[1]}"

    def run(self):
        while True:
            node, _ = self._listener.accept()
            with node:
                node.setblocking(False)
                self.talk(node.fileno())


class OnTerminal(Node):
    def __init__(self):
        super().__init__()
        self._near, self._far = os.openpty()  # the far end stays open here, or the near one fails
        tty.setraw(self._far)
        os.set_blocking(self._near, False)
        self.url = os.ttyname(self._far)

    def run(self):
        self.talk(self._near)


def used_so_far(pid):
    """Processor seconds of the first thread, the only one here, and MiB at most."""
    of = Path(f"/proc/{pid}")
    nanoseconds = int((of / "schedstat").read_text().split()[0])
    kib = re.search(r"VmHWM:\s+(\d+)", (of / "status").read_text())[1]
    return nanoseconds / 1e9, int(kib) / 1024


def cost(argv, node=None):
    """Processor seconds and MiB of a process: to its first prediction, if any, and to its end."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, **quiet) as process:
        if node:
            node.process, node.used = process, None
        said = process.stderr.read()
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        sys.exit(said.decode())
    return node and node.used, (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main(starts):
    python = [sys.executable, "-c"]
    processes = {
        "python": ([*python, "pass"],),
        "import numpy": ([*python, "import numpy"],),
        "import edgesvm": ([*python, "import edgesvm"],),
        "import edgesvm.cli.run": ([*python, "import edgesvm.cli.run"],),
    }
    command = str(Path(sys.executable).with_name("edgesvm"))
    for where, node in (("a socket", OnSocket()), ("a terminal", OnTerminal())):
        node.start()
        run = [command, "run", node.url, "--text", "--answers", "--samples", str(ROWS), "--once"]
        processes[f"edgesvm run, {where}"] = run, node
    costs = {}
    for _ in range(starts):
        for name, process in processes.items():
            first, end = cost(*process)
            if first is not None:
                costs.setdefault(f"{name}, first prediction", []).append(first)
            costs.setdefault(f"{name}, to the end", []).append(end)
    for name, each in costs.items():
        seconds, mib = zip(*each, strict=True)
        print(
            f"{name:42} {statistics.median(seconds):.3f} s, least {min(seconds):.3f};"
            f" {statistics.median(mib):.1f} MiB"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
