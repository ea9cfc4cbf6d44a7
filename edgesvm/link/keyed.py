"""Key files: 16 random bytes that a node and its host share, readable by their owner alone."""

from __future__ import annotations

import os
import stat

KEY_BYTES = 16


def read_key(path: str | os.PathLike[str]) -> bytes:
    """The key in a file of 16 bytes, or of 32 hexadecimal digits and a line end.

    PermissionError if others than the file's owner may read or write it, unless it is a credential
    that systemd hands to this process; ValueError if it does not hold a key.
    """
    with open(path, "rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        handed = os.path.dirname(path) == os.environ.get("CREDENTIALS_DIRECTORY")
        if mode & 0o077 and not handed:
            raise PermissionError(
                f"{os.fspath(path)}: others may read or write this key (mode {mode:03o}); "
                "make it yours alone: chmod 600"
            )
        content = file.read(2 * KEY_BYTES + 3)
    if len(content) == KEY_BYTES:
        return content
    try:
        key = bytes.fromhex(content.decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(
            f"{os.fspath(path)} is not a key: it must hold {KEY_BYTES} bytes, or "
            f"{2 * KEY_BYTES} hexadecimal digits"
        )
    return key


def write_new_key(path: str | os.PathLike[str]) -> bytes:
    """Draw a key and write its hexadecimal digits into a new file of mode 600; FileExistsError if
    there is a file of this name, which may be a key in use."""
    key = os.urandom(KEY_BYTES)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return key
