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
    begin, end = ("\r\x1b[K", "") if live else ("", "\n")
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
                text = f"{begin}{what}{step}, {now - started:.0f} s"
                print(text, end=end, file=sys.stderr, flush=True)
    processor = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    seconds = f"{time.monotonic() - started:.0f} s, {processor:.0f} s of processor"
    text = f"{what}: {seconds}" if process.returncode == 0 else f"{''.join(said)}{what} failed"
    print(f"{begin}{text}", file=sys.stderr)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
