"""The text link: lines of decimal numbers in, predictions as lines out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from edgesvm.errors import NoSchema
from edgesvm.ingest._lines import LineParser
from edgesvm.ingest._values import ValueGate
from edgesvm.ingest.ports import Port
from edgesvm.ingest.session import Link, SampleSchema

# Read little at a time until the columns are known: the lines right after must fit in the ring.
HANDSHAKE_BYTES = 64
WAIT = 0.1  # longest wait for a byte before the clock is checked, seconds
SCHEMA_LINE = re.compile(rb"#esvm 1 d=([0-9]{1,5})(?: label=(last|none|late))?")


class TextLink(Link):
    """A link that uses lines of text.

    There is no handshake: with `n_features` the link is open at once; otherwise when an ``#esvm``
    line or two lines that agree have shown the columns. Without checksums (the counter
    `unprotected` is 1) corrupted digits are not detected.
    """

    def __init__(
        self,
        opener: Callable[[], Port],
        *,
        n_features: int | None = None,
        label: str = "last",
        late_labels: int = 0,
        gate: ValueGate | None = None,
        **options: Any,
    ) -> None:
        # Late labels have lines of their own, so samples have no label column.
        column = label != "none" and not late_labels
        parser = LineParser(n_features, label_column=column, use_labels=label != "none", gate=gate)
        super().__init__(
            opener, parser, n_features=n_features, label=label, late_labels=late_labels, **options
        )
        self._has_label_column = column
        self._schemas = self._schema_refused = 0

    def _handshake(self) -> None:
        if self._n_features is not None:
            self._settle(self._n_features)
        deadline = self._clock() + self._handshake_timeout
        port = self._live_port()
        bytes_before = self._parser.bytes_in
        while self._ring is None:
            left = deadline - self._clock()
            if left <= 0:
                raise self._no_schema(self._parser.bytes_in - bytes_before)
            chunk = port.read(min(WAIT, left), HANDSHAKE_BYTES)
            if chunk:
                self._feed(chunk)

    def _no_schema(self, n_bytes: int) -> NoSchema:
        waited = (
            f"{self.name}: no two consecutive samples with the same columns "
            f"within {self._handshake_timeout:g} s"
        )
        if n_bytes == 0:
            return NoSchema(
                f"{waited}: no byte arrived; "
                "check that the node is powered and connected to this port"
            )
        if self._parser.lines == 0:
            return NoSchema(
                f"{waited}: {n_bytes} bytes arrived but no line; check the baud rate, "
                "or give mode='binary' if the node sends frames"
            )
        return NoSchema(
            f"{waited}, though {self._parser.lines} lines arrived; give n_features and label"
        )

    def _feed(self, chunk: bytes) -> None:
        for found in self._parser.feed(chunk):
            if isinstance(found, bytes):
                self._on_schema_line(found)
            else:
                self._settle(found)

    def _on_schema_line(self, line: bytes) -> None:
        self._schemas += 1
        match = SCHEMA_LINE.fullmatch(line.rstrip())
        n_features = int(match[1]) if match else 0
        wanted = self._n_features if self._ring is None else self._ring.n_features
        if match is None or not 1 <= n_features <= 256 or wanted not in (None, n_features):
            # Comments are free text: one that is not a usable schema changes nothing.
            self._schema_refused += 1
            return
        if match[2] is not None:
            self._has_label_column = match[2] == b"last"
        # The sketch prints this line when it starts, so its sample numbers start over.
        self._parser.new_epoch()
        self._settle(n_features)

    def _settle(self, n_features: int) -> None:
        ring = self._make_ring(n_features)
        late = self._make_late(n_features)
        self._parser.expect(ring, self._has_label_column, late)
        used = self._has_label_column and self._label == "last"
        labels = "inline" if used else "none" if late is None else "late"
        self.schema = SampleSchema(n_features, labels)

    def _tick(self, now: float) -> None:
        """Nothing is due on a text link: it sends predictions only."""

    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        return self._outbox.append(b"!%d %d %d %.6g\n" % (sequence, label, flags, score))

    def _least_row_bytes(self) -> int:
        d = self._n_features or 1 if self._ring is None else self._ring.n_features
        return 2 * d

    def _least_label_bytes(self) -> int:
        return 5  # "=0 1" and the LF

    @property
    def counters(self) -> dict[str, int]:
        return {
            **super().counters,
            "schemas": self._schemas,
            "schema_refused": self._schema_refused,
        }
