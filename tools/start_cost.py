"""What a start costs: processor time and memory of new processes, NumPy's own share beside them.

    python tools/start_cost.py [STARTS]

`edgesvm run` is served lines over a local socket, predicts and learns 20 of them, and ends: from
exec to the report. The median and the least of STARTS starts (15), taken in turns.
"""

import contextlib
import itertools
import os
import socket
import statistics
import subprocess
import sys
import threading
import time

ROWS = 20


def serve(listener):
    """A node: a line every 2 ms to whoever connects."""
    while True:
        node, _ = listener.accept()
        with node, contextlib.suppress(OSError):
            for i in itertools.count():
                node.sendall(b"%d.5,%d.25,%d\n" % (i % 3, i % 5, i % 2))
                time.sleep(0.002)


def cost(argv):
    """Processor seconds and MiB of a process, from exec to its end."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(argv, **quiet) as process:
        said = process.stderr.read()
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    if process.returncode:
        sys.exit(said.decode())
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main(starts):
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
    python = [sys.executable, "-c"]
    run = ["-m", "edgesvm", "run", url, "--text", "--samples", str(ROWS), "--once"]
    processes = {
        "python": [*python, "pass"],
        "import numpy": [*python, "import numpy"],
        "import edgesvm": [*python, "import edgesvm"],
        "import edgesvm.cli.run": [*python, "import edgesvm.cli.run"],
        f"edgesvm run, {ROWS} samples": [sys.executable, *run],
    }
    costs = {name: [] for name in processes}
    for _ in range(starts):
        for name, argv in processes.items():
            costs[name].append(cost(argv))
    for name, each in costs.items():
        seconds, mib = zip(*each, strict=True)
        print(
            f"{name:24} {statistics.median(seconds):.3f} s, least {min(seconds):.3f};"
            f" {statistics.median(mib):.1f} MiB"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
