"""A forked child of the test's process."""

import json
import os
import select
import signal

PATIENCE_S = 60.0


def forked(work):
    """What `work` returns in a forked child, as JSON, or the text of what it raises; a child that
    hangs is killed.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = work()
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        finally:
            os.write(write, json.dumps(told).encode())
            os._exit(0)
    os.close(write)
    try:
        came, _, _ = select.select([read], [], [], PATIENCE_S)
        assert came, "the child hangs"
        return json.loads(os.read(read, 1 << 16))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(read)
