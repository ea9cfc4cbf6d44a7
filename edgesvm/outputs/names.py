"""Names of ports, as files and topics have them."""

from __future__ import annotations

import re


def slug(text: str) -> str:
    """A name of letters, digits, - and _."""
    return re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_")


def port_name(port: str) -> str:
    """A short name of a port, for a file or a topic.

    Examples
    --------
    >>> port_name("/dev/ttyUSB0"), port_name("socket://10.0.0.7:4000")
    ('ttyUSB0', '10_0_0_7_4000')
    """
    return slug(port.rpartition("://")[2].removeprefix("/dev/"))
