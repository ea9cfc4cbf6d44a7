"""Run a command that is long silent, and say how far it is: a line that changes in a terminal, else
one every 15 s. All it printed is shown if it fails.

    python tools/progress.py building pip install -v .
"""

import re
import resource
import subprocess
import sys
import time

EVERY = 15.0  # seconds between two lines where there is no terminal
STEP = re.compile(r"\[(\d+)/(\d+)\]")


def main() -> int:
    what, *command = sys.argv[1:]
    started = shown = time.monotonic()
    live = sys.stderr.isatty()
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    said, step = [], ""
    with subprocess.Popen(command, text=True, errors="replace", **pipes) as process:
        for line in process.stdout:
            said.append(line)
            if found := STEP.search(line):
                step = f", step {found[1]} of {found[2]}"
            now = time.monotonic()
            if now - shown >= (0.5 if live else EVERY):
                shown = now
                text = f"{what}{step}, {now - started:.0f} s"
                print(
                    f"\r\x1b[K{text}" if live else text, end="" if live else "\n", file=sys.stderr
                )
                sys.stderr.flush()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = (
        f"{time.monotonic() - started:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processor"
    )
    end = f"{what}: {seconds}" if process.returncode == 0 else f"{''.join(said)}{what} failed"
    print(f"{chr(13)}\x1b[K{end}" if live else end, file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
