"""The text link: lines of decimal numbers in, predictions as lines out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from edgesvm.errors import NoSchema
from edgesvm.link._lines import LineParser, OtherColumns
from edgesvm.link._values import ValueGate
from edgesvm.link.link import Link, SampleSchema
from edgesvm.link.port import Port

# Read little at a time until the columns are known: the lines right after must fit in the ring.
HANDSHAKE_BYTES = 64
# After so many bytes, if less than a sixteenth of them is in valid lines, they are not lines.
NOISE_BYTES = 1 << 16
LEAST_VALID = 1 / 16
WAIT = 0.1  # longest wait for a byte before the clock is checked, seconds
SCHEMA_LINE = re.compile(rb"#esvm 1 d=([0-9]{1,5})(?: label=(last|none|late))?")


class TextLink(Link):
    """A link that uses lines of text.

    There is no handshake: with `n_features` the link is open at once; otherwise when an ``#esvm``
    line that a row confirms, or three rows that agree, have shown the columns. Without checksums
    (the counter `unprotected` is 1) corrupted digits are not detected.
    """

    def __init__(
        self,
        opener: Callable[[], Port],
        *,
        n_features: int | None = None,
        label: str = "last",
        targets: bool | None = False,
        late_labels: int = 0,
        gate: ValueGate | None = None,
        **options: Any,
    ) -> None:
        # Late labels have lines of their own, so samples have no label column.
        column = label != "none" and not late_labels
        use_labels = label != "none"
        parser = LineParser(n_features, column, use_labels, gate, targets is not False)
        super().__init__(
            opener,
            parser,
            n_features=n_features,
            label=label,
            targets=targets,
            late_labels=late_labels,
            **options,
        )
        self._has_label_column = column
        self._columns_given = n_features is not None
        self._schemas = self._schema_refused = 0
        self._has_been_lines = False
        self._bytes_ok = 0  # valid ones noted

    def _handshake(self) -> None:
        if self._n_features is not None:
            self._settle(self._n_features)
        deadline = self._clock() + self._handshake_timeout
        port = self._live_port()
        bytes_before = self._parser.bytes_in
        while self._ring is None:
            left = deadline - self._clock()
            if left <= 0:
                if self._parser.guess is None:
                    raise self._no_schema(self._parser.bytes_in - bytes_before)
                self._settle(self._parser.guess)  # a sketch that prints rarely
                return
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
            elif isinstance(found, OtherColumns):
                self._on_other_columns(found)
            else:
                self._settle(found)
        self._note_valid()
        if not self._has_been_lines and self._parser.bytes_in >= NOISE_BYTES:
            self._refuse_noise()

    def _on_other_columns(self, rows: OtherColumns) -> None:
        if not self._columns_given:
            assert self._ring is not None  # or there would be no columns to contradict
            self._note_valid()
            self._other_width(rows.n_features, self._ring.n_features)

    def _note_valid(self) -> None:
        """Note whether valid lines have come."""
        if self._parser.bytes_ok != self._bytes_ok:
            self._bytes_ok = self._parser.bytes_ok
            self._valid_at, self._other_since = self._listened, None

    def _refuse_noise(self) -> None:
        """Raise NoSchema if what has come since the link was made is not lines of samples."""
        parser = self._parser
        if parser.bytes_ok < LEAST_VALID * parser.bytes_in:
            hint = "wrong baud rate? (Or give mode='binary' if the node sends frames.)"
            if 2 * parser.counters()["bad_columns"] > parser.lines:
                hint = "the rows do not have the columns that n_features and label say"
            raise NoSchema(
                f"{self.name}: of {parser.bytes_in} bytes only {parser.bytes_ok} are in valid "
                f"lines; {hint}"
            )
        self._has_been_lines = True

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
        if self._ring is None and not self._parser.schema_checked:
            # A byte may be missing, d=12 be d=1: the next row decides.
            self._parser.announce(n_features, self._has_label_column)
            return
        # The sketch prints this line when it starts, so its sample numbers start over.
        self._parser.new_epoch()
        self._settle(n_features)

    def _settle(self, n_features: int) -> None:
        ring = self._make_ring(n_features)
        late = self._make_late(n_features)
        self._parser.expect(ring, self._has_label_column, late)
        used = self._has_label_column and self._label == "last"
        labels = "inline" if used else "none" if late is None else "late"
        targets = self._targets and not self._takes_either
        self.schema = SampleSchema(n_features, labels, targets=targets)

    def _tick(self, now: float) -> None:
        """Nothing is due on a text link: it sends predictions only."""

    def _end_silence(self, seconds: float) -> None:
        """A sketch may print once an hour, and opening its port may reset it."""

    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        return self._outbox.append(b"!%d %d %d %.6g\n" % (sequence, label, flags, score))

    def _queue_estimate(
        self, sequence: int, flags: int, value: float, low: float, high: float
    ) -> bool:
        line = b"!%d %.9g %d %.9g %.9g\n" % (sequence, value, flags, low, high)
        return self._outbox.append(line)

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
