"""Snapshots of a learner at the other end of a link: fetched and given in pages.

No port and no clock in here: the caller sends the bodies and hands over what comes. FORMATS.md,
Snapshots over the link, describes the frames.
"""

from __future__ import annotations

import zlib

from edgesvm.link import wire

CRC_BYTES = 4


class SnapshotFetch:
    """A snapshot that comes in pages, asked for or not.

    Parameters
    ----------
    max_bytes : int
        Longest snapshot taken; pages of a longer one count as foreign.

    Attributes
    ----------
    restarts : int
        How often the bytes so far were dropped: pages of another snapshot came, the learner
        having learned in between, or the whole had a wrong CRC.
    foreign : int
        Pages of a snapshot longer than `max_bytes`.

    Examples
    --------
    >>> import zlib
    >>> from edgesvm.link import wire
    >>> from edgesvm.link.pages import SnapshotFetch
    >>> snapshot = b"what was learned"
    >>> snapshot += zlib.crc32(snapshot).to_bytes(4, "little")
    >>> crc = int.from_bytes(snapshot[-4:], "little")
    >>> fetch = SnapshotFetch()
    >>> wire.SnapshotAsk.unpack(fetch.ask())  # nothing is known yet: all of it
    SnapshotAsk(request=1, at=0, n=4294967295)
    >>> fetch.take(wire.SnapshotPage(1, crc, 20, 0, snapshot[:8]))
    >>> wire.SnapshotAsk.unpack(fetch.ask())  # as the second page was lost
    SnapshotAsk(request=2, at=8, n=12)
    >>> fetch.take(wire.SnapshotPage(2, crc, 20, 8, snapshot[8:])) == snapshot
    True
    """

    def __init__(self, max_bytes: int = 1 << 24) -> None:
        self._max_bytes = max_bytes
        self.restarts = self.foreign = 0
        self._requests = 0
        self._forget()

    def _forget(self) -> None:
        self._of: tuple[int, int] | None = None  # CRC and length
        self._bytes = bytearray()
        self._missing: list[tuple[int, int]] = []  # (first, end), in order

    @property
    def missing(self) -> int | None:
        """Bytes still missing; None if no page has come yet."""
        return None if self._of is None else sum(end - first for first, end in self._missing)

    def ask(self) -> bytes:
        """Body of the SNAPSHOT_ASK to send now: for the first bytes that are missing, or for all.

        Send it again when no page has come for some time.
        """
        self._requests = self._requests % 0xFFFF + 1
        if self._of is None:
            return wire.SnapshotAsk(self._requests, 0, 0xFFFFFFFF).pack()
        first, end = self._missing[0]
        return wire.SnapshotAsk(self._requests, first, end - first).pack()

    def take(self, page: wire.SnapshotPage) -> bytes | None:
        """Add a page. Returns the snapshot once it is complete and its CRC right, then begins anew.

        Returns
        -------
        bytes or None
            What `Learner.save` would have written, for `edgesvm.persist.restore`, which checks it.
        """
        if not CRC_BYTES < page.total <= self._max_bytes:
            self.foreign += 1
            return None
        if self._of != (page.crc, page.total):
            self.restarts += self._of is not None
            self._of = page.crc, page.total
            self._bytes = bytearray(page.total)
            self._missing = [(0, page.total)]
        end = page.at + len(page.part)
        self._bytes[page.at : end] = page.part
        left = [(a, min(b, page.at)) for a, b in self._missing]
        right = [(max(a, end), b) for a, b in self._missing]
        self._missing = sorted({(a, b) for a, b in left + right if a < b})
        if self._missing:
            return None
        whole = bytes(self._bytes)
        self._forget()
        crc = zlib.crc32(whole[:-CRC_BYTES])
        if crc != page.crc or crc != int.from_bytes(whole[-CRC_BYTES:], "little"):
            self.restarts += 1
            return None
        return whole


class SnapshotGift:
    """A snapshot given to a learner, page by page.

    Send `page()`; on each SNAPSHOT_STATUS call `take`; send `page()` again, also when none has come
    for some time, until `outcome` is not None.

    Parameters
    ----------
    snapshot : bytes
        What `Learner.save` writes.
    request : int
        Id of the transfer, 1 to 65535; not that of the one before, so draw it.
    max_raw : int
        Longest raw frame that the learner takes, as its HELLO says.

    Attributes
    ----------
    outcome : int or None
        `wire.RESTORED`, `NO_SNAPSHOT` or `TAKES_NONE`, once the learner has said so.
    at : int
        Bytes that it has.

    Raises
    ------
    ValueError
        `request` is out of range, `max_raw` leaves no room for a page, or `snapshot` is empty.
    """

    def __init__(self, snapshot: bytes, request: int, max_raw: int = wire.MAX_RAW) -> None:
        if not 1 <= request <= 0xFFFF:
            raise ValueError(f"request={request} must be 1 to 65535")
        self._n = min(max_raw - wire.MIN_RAW, wire.MAX_RAW - wire.MIN_RAW) - wire.PAGE_HEAD
        if self._n < 1:
            raise ValueError(f"max_raw={max_raw} is too small for a page of a snapshot")
        if len(snapshot) <= CRC_BYTES:
            raise ValueError("these bytes are no snapshot")
        self._snapshot = bytes(snapshot)
        self._request = request
        self._crc = int.from_bytes(snapshot[-CRC_BYTES:], "little")
        self.at = 0
        self.outcome: int | None = None

    def page(self) -> bytes:
        """Body of the SNAPSHOT_PAGE to send now; the last one, if the learner has them all."""
        first = min(self.at, len(self._snapshot) - 1)
        part = self._snapshot[first : first + self._n]
        total = len(self._snapshot)
        return wire.SnapshotPage(self._request, self._crc, total, first, part).pack()

    def take(self, status: wire.SnapshotStatus) -> int | None:
        """Go on where the learner is. Returns `outcome`; one of another transfer does nothing."""
        if status.request == self._request:
            if status.status == wire.GO_ON:
                self.at = min(status.next, len(self._snapshot))
            else:
                self.outcome = status.status
        return self.outcome
