"""The text link: lines of decimal numbers in, predictions as lines out."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from edgesvm.contract.names import word_of
from edgesvm.errors import LinkDown, NoSchema
from edgesvm.link._frames import ValueGate
from edgesvm.link._lines import MOST_WORDS, LineParser, OtherColumns
from edgesvm.link.first_lines import ENOUGH, Columns, columns_of
from edgesvm.link.link import Link, SampleSchema
from edgesvm.link.ports import Port

# Read little at a time until the columns are known: the lines right after must fit in the ring.
HANDSHAKE_BYTES = 64
# After so many bytes, if less than a sixteenth of them is in valid lines, they are not lines.
NOISE_BYTES = 1 << 16
LEAST_VALID = 1 / 16
HOPELESS = 8  # lines with a label that cannot be one, before any other
FEWEST, ALIKE = 12, 0.75  # labels that are looked at; of them so many different ones are a signal
NO_TEXT = "wrong baud rate? (Or give mode='binary' if the node sends frames.)"
NOISE_QUOTED = 24  # characters
TEXT = 0.75  # share of bytes that are ASCII, at least
FEW_REFUSED = 0.01  # of the lines
CR_ALONE = re.compile(rb"[^\r\n]\r[^\r\n]")
EXPECTED = {
    "bad_columns": "expected {columns}, else give n_features=D, or label=N",
    "bad_char": "expected numbers with comma, semicolon, tab, | or blank between, and no times",
    "bad_label": "its {where} must be a label, an integer or a word; without labels: "
    "label='none', or edgesvm watch; numbers to predict: targets=True",
    "bad_checksum": "its checksum is wrong: check the cable and the baud rate",
    "no_checksum": "the lines before it had a checksum",
    "bad_sequence": "expected a number behind its first sign, as in @12",
    "too_long": "a line has at most 512 bytes",
}
LONGEST = 512  # bytes of a line
LOOK = 2.0  # seconds after the first line, in which others show what the columns are
WAIT = 0.1  # longest wait for a byte before the clock is checked, seconds
SCHEMA_LINE = re.compile(rb"#esvm 1 d=([0-9]{1,5})(?: label=(last|none|late))?")


def _quoted(begun: bytes) -> str:
    lines = begun.decode("ascii", "replace").splitlines()
    return f"; a line as it came: {lines[-2]!r}" if len(lines) > 1 else ""


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
        label: str | int = "last",
        targets: bool | None = False,
        late_labels: int = 0,
        keep_columns: Sequence[str] | None = None,
        gate: ValueGate | None = None,
        **options: Any,
    ) -> None:
        # Late labels have lines of their own, so samples have no label column.
        self._if_more = label == "if more"
        column = label not in ("none", "if more") and not late_labels
        use_labels = label != "none" and targets is not None
        at = label if isinstance(label, int) else {"first": 0}.get(label, -1)
        is_name = isinstance(label, str) and label not in ("last", "first", "none", "if more")
        known = None if self._if_more else n_features
        parser = LineParser(known, column, use_labels, gate, targets is not False, at)
        super().__init__(
            opener,
            parser,
            n_features=n_features,
            label="last" if use_labels else "none",
            targets=targets,
            late_labels=late_labels,
            **options,
        )
        self._column_name = str(label) if is_name else None
        self._keep_columns = keep_columns
        self._has_label_column = column
        self._columns_given = known is not None
        self._looks = not self._columns_given and (self._if_more or keep_columns is not None)
        self._counts = {"schemas": 0, "schema_refused": 0}
        self._has_been_lines = False
        self._bytes_ok = 0  # valid ones noted

    def _handshake(self) -> None:
        deadline = self._clock() + self._handshake_timeout
        port = self._live_port()
        bytes_before = self._parser.bytes_in
        try:
            begun = b"" if self._ring is not None else self._first_look(port, deadline)
            if self._columns_given and self._n_features is not None:
                self._settle(self._n_features)
            if begun:
                self._feed(begun)
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
                refused = self._parser.counters()["bad_label"]
                if self._parser.guess is None and refused >= HOPELESS:
                    raise self._no_schema(self._parser.bytes_in - bytes_before)
        except (LinkDown, NoSchema):
            raise
        except BaseException as stopped:  # a signal: say what was waited for
            stopped.args = (str(self._no_schema(self._parser.bytes_in - bytes_before)),)
            raise

    def _first_look(self, port: Port, deadline: float) -> bytes:
        """Read the first lines, as many as tell which columns are what. Returns what was read."""
        begun, until = b"", deadline
        named = looked = not self._looks and self._column_name is None
        while not (named and looked):
            if (left := deadline - self._clock()) <= 0:
                break
            begun = (begun + port.read(min(WAIT, left), HANDSHAKE_BYTES))[-NOISE_BYTES:]
            newest = begun[-ENOUGH * LONGEST :].decode("utf-8", "replace")
            lines = re.split(r"[\r\n]+", newest)[:-1]
            found = columns_of(lines[-2 * ENOUGH :])
            until = min(until, self._clock() + LOOK) if found.width else until
            named = self._column_name is None or self._column_name in found.names
            enough = min(ENOUGH, self._ring_rows)  # there is room for these
            looked = not self._looks or len(lines) >= enough or self._clock() >= until
        if not named:
            raise NoSchema(
                f"{self.name}: no line names a column {self._column_name!r} within "
                f"{self._handshake_timeout:g} s{_quoted(begun)}; give its number from 0, label=N"
            )
        if begun and found.width:
            self._choose(found._replace(out={}) if b"#esvm" in begun else found)
        return begun

    def _choose(self, found: Columns) -> None:
        """Take the label's column and the features from these columns."""
        keep, width, names = self._keep_columns, found.width, found.names
        self.column_names = names
        if self._column_name is not None:
            self._parser.label_at, self._column_name = names.index(self._column_name), None
        if self._if_more:
            n_features = width - len(found.out.keys() - {width - 1})
            self._has_label_column = n_features == (self._n_features or 0) + 1
        label_at = self._parser.label_at % width if self._has_label_column else width
        called = [*(names or map(str, range(width)))]
        out = {
            j: f"{called[j]} ({why})"
            for j, why in found.out.items()
            if j != label_at and keep is not None and not {called[j], str(j)} & {*keep}
        }
        if out:
            self._parser.leave_out(list(out))
            told = ", ".join(out.values())
            self.notes.append(f"columns left out: {told}; keep_columns=NAME takes one in")
        left = [j for j in range(width) if j not in out and j != label_at]
        if self._if_more:
            self._parser.announce(len(left), self._has_label_column)
        self.feature_names = tuple(names[j] for j in left) if names else ()

    def _no_schema(self, n_bytes: int) -> NoSchema:
        if n_bytes == 0:
            return NoSchema(
                f"{self.name}: no byte arrived; "
                "check that the node is powered and connected to this port"
            )
        if self._parser.lines == 0:
            return NoSchema(
                f"{self.name}: {n_bytes} bytes arrived but no line; check the baud rate, "
                "or give mode='binary' if the node sends frames"
            )
        return NoSchema(f"{self.name}: {self._unread()}")

    def _unread(self) -> str:
        """The line that could not be read, and what was expected instead."""
        parser = self._parser
        if parser.refused_line is None:
            return (
                f"{parser.lines} lines arrived, but no three in a row with as many columns; the "
                f"last one is {parser.last_line!r}; give n_features=D"
            )
        line, why = parser.refused_line
        line, of_lines = line.rstrip(), f"in {parser.lines} lines the last that could not be read"
        if sum(c.isascii() and (c.isprintable() or c == "\t") for c in line) < TEXT * len(line):
            return f"{of_lines} is {line[:NOISE_QUOTED]!a}; {NO_TEXT}"
        where = "last column" if parser.label_at < 0 else f"column {parser.label_at}"
        columns = f"{parser.n_features or 'one or more'} numbers" + (
            f", and a label in the {where}" if self._has_label_column else ""
        )
        return f"{of_lines} is {line!r}; {EXPECTED[why].format(where=where, columns=columns)}"

    def refused_lines(self) -> str | None:
        """How many lines could not be read, by cause, and the last one; None if they are few."""
        counts = self._parser.counters()
        causes = [(counts[why], why) for why in EXPECTED if counts[why]]
        told = ", ".join(f"{n:,} {why}" for n, why in causes)
        few = sum(n for n, _ in causes) <= max(FEW_REFUSED * self._parser.lines, 1)
        return None if few else f"lines that could not be read: {told}; {self._unread()}"

    def _feed(self, chunk: bytes) -> None:
        if not self._parser.lines and b"\n" not in chunk and CR_ALONE.search(chunk):
            self._parser.end_lines_with_cr()
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
        if self._parser.n_words != len(self.class_names):
            self.class_names[:] = self._parser.words
        if self._parser.bytes_ok != self._bytes_ok:
            self._bytes_ok = self._parser.bytes_ok
            self._valid_at, self._other_since = self._listened, None

    def _refuse_noise(self) -> None:
        """Raise NoSchema if what has come since the link was made is not lines of samples."""
        parser = self._parser
        if parser.bytes_ok < LEAST_VALID * parser.bytes_in:
            hint = NO_TEXT if parser.refused_line is None else self._unread()
            raise NoSchema(
                f"{self.name}: of {parser.bytes_in} bytes only {parser.bytes_ok} are in valid "
                f"lines; {hint}"
            )
        self._has_been_lines = True

    def _on_schema_line(self, line: bytes) -> None:
        self._counts["schemas"] += 1
        match = SCHEMA_LINE.fullmatch(line.rstrip())
        n_features = int(match[1]) if match else 0
        wanted = self._n_features if self._ring is None else self._ring.n_features
        if match is None or not 1 <= n_features <= 256 or wanted not in (None, n_features):
            # Comments are free text: one that is not a usable schema changes nothing.
            self._counts["schema_refused"] += 1
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

    def name_classes(self, labels: Sequence[int | str]) -> None:
        words = [label for label in labels if isinstance(label, str)]
        if not words:
            super().name_classes(labels)
        parser = self._parser
        are_mixed = len(words) < len(labels) and bool(words or parser.n_words)
        integers = [str(n) for n in range(parser.numbers)] if words else []
        if are_mixed or (integers and not any(map(str.isdecimal, words))):
            has = self.class_names or "integers"
            raise ValueError(f"the model has the labels {labels}, but the link has {has}")
        if not words:
            small = [n for label in labels if 0 <= (n := int(label)) < MOST_WORDS]
            parser.numbers = max([parser.numbers, *(n + 1 for n in small)])
        parser.words = known = list(dict.fromkeys([*integers, *parser.words, *words]))
        self.class_names[:] = known

    def doubt(self) -> str | None:
        labels = self._parser.first_labels
        if self._targets or len(labels) < FEWEST or len(set(labels)) <= ALIKE * len(labels):
            return None
        return (
            f"the label column looks like a signal: {len(set(labels))} values in {len(labels)} "
            f"lines, such as {self._parser.last_line.rstrip()!r}; without labels: edgesvm watch "
            f"{self.name}, or label='none'; another column: label=N"
        )

    def _tick(self, now: float) -> None:
        """Nothing is due on a text link: it sends predictions only."""

    def _end_silence(self, seconds: float) -> None:
        """A sketch may print once an hour, and opening its port may reset it."""

    def _queue_prediction(self, sequence: int, label: int, score: float, flags: int) -> bool:
        named = str(word_of(self.class_names, label)).encode()
        return self._put(b"!%d %s %d %.6g\n" % (sequence, named, flags, score))

    def _queue_estimate(
        self, sequence: int, flags: int, value: float, low: float, high: float
    ) -> bool:
        line = b"!%d %.9g %d %.9g %.9g\n" % (sequence, value, flags, low, high)
        return self._put(line)

    def _least_row_bytes(self) -> int:
        d = self._n_features or 1 if self._ring is None else self._ring.n_features
        return 2 * d

    def _least_label_bytes(self) -> int:
        return 5  # "=0 1" and the LF

    @property
    def counters(self) -> dict[str, int]:
        return {**super().counters, **self._counts}
