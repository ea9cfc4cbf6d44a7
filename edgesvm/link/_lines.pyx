"""Samples from text lines, such as a sketch prints them: ``0.12,3.4,-5,,1``.

Every byte, line and sample is accounted for:

    bytes_in = bytes_ok + bytes_rejected + discarded_bytes + delimiters + pending
    lines    = samples + comments + blank + discovery + labels + ignored + too_long + bad_columns
               + bad_char + bad_label + bad_checksum + no_checksum + bad_sequence
    samples  = ring_in + duplicate + too_old + bad_value
"""

cimport cython
from libc.math cimport NAN
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t
from libc.stdio cimport snprintf
from libc.string cimport memchr, memcmp, memcpy, memset

from typing import NamedTuple

import numpy as np

from edgesvm.core.text cimport (
    BAD_CHARACTER, GOOD, NOT_FINITE, Number, count_of, is_blank, is_letter, is_missing, parse, tidy)
from edgesvm.link._frames cimport CHUNK_END, NEW, REORDERED, Cut, SequenceWindow, Splitter
from edgesvm.link._frames cimport TOO_LONG as DROPPED
from edgesvm.link._frames cimport ValueGate, Verdict
from edgesvm.link._ring cimport LateLabels, SampleRing

cdef enum:
    MAX_LINE = 512      # bytes before the LF
    MAX_COLUMNS = 257   # one-character values and their separators fill a line
    AGREEING = 2        # rows in a row that make a guess of the columns; the next one confirms it
    CONTRADICTING = 32  # rows in a row of other columns that end the link
    RESTART = 4         # old numbers in a row, from 0 or 1, that show a restart
    LATE_RESTART = 64   # the same from any other number
    LARGEST_STEP = 8    # from one of these numbers to the next: lines may be lost
    MAX_WORDS = 32      # labels that are words
    WORD_BYTES = 32     # of each, with zeros behind it
    QUOTED = 80         # bytes of a line that are kept for messages
    FIRST_LABELS = 32   # kept, to tell labels from a signal

# The kinds of lines, in the order of LINE_NAMES.
cdef enum Line:
    SAMPLE
    COMMENT
    BLANK
    DISCOVERY
    LATE_LABEL
    IGNORED
    TOO_LONG
    BAD_COLUMNS
    BAD_CHAR
    BAD_LABEL
    BAD_CHECKSUM
    NO_CHECKSUM
    BAD_SEQUENCE
    N_LINES

MOST_WORDS = MAX_WORDS
LINE_NAMES = ("samples", "comments", "blank", "discovery", "labels", "ignored", "too_long",
              "bad_columns", "bad_char", "bad_label", "bad_checksum", "no_checksum", "bad_sequence")
COUNTERS = ("bytes_in", "bytes_ok", "bytes_rejected", "delimiters", "pending", "discarded_bytes",
            "lines")
GATE_COUNTERS = ("bad_value", "bad_range", "clipped")

# What the caller must handle before the next line is read.
cdef enum Event:
    NOTHING
    FOUND_COLUMNS
    FOUND_SCHEMA
    FOUND_OTHER

cdef const char *SEPARATORS = b",\t;| "  # in the order they are tried


class OtherColumns(NamedTuple):
    """Rows have contradicted the columns for long: they have `n_features` features."""

    n_features: int


cdef bint is_word(const uint8_t *field, Py_ssize_t n) noexcept nogil:
    """A letter, then letters, digits and a few signs; all that is not ASCII is a letter."""
    cdef Py_ssize_t i
    if not 1 <= n <= WORD_BYTES or not (is_letter(field[0]) or field[0] >= 0x80):
        return False
    for i in range(1, n):
        if not (is_letter(field[i]) or field[i] >= 0x80 or c"0" <= field[i] <= c"9"
                or memchr(b" _-./+", field[i], 6) != NULL):
            return False
    return True


cdef int spelled(int value, uint8_t *word) noexcept nogil:
    """Write an integer as a word, with zeros behind it; its length."""
    memset(word, 0, WORD_BYTES)
    return snprintf(<char *> word, WORD_BYTES, b"%d", value)


cdef bint is_printable(const uint8_t *line, Py_ssize_t n) noexcept nogil:
    """Printable ASCII, tabs, and bytes of other letters; nothing else."""
    cdef Py_ssize_t i
    cdef uint8_t bad = 0
    for i in range(n):
        bad |= ((line[i] < 32) & (line[i] != c"\t")) | (line[i] == 127)
    return not bad


cdef int hex_value(uint8_t c) noexcept nogil:
    """The hexadecimal digit's value, or -1."""
    if c"0" <= c <= c"9":
        return c - c"0"
    c |= 0x20
    if c"a" <= c <= c"f":
        return c - c"a" + 10
    return -1


cdef int xor_of(const uint8_t *line, Py_ssize_t n) noexcept nogil:
    """XOR of all bytes."""
    cdef Py_ssize_t i
    cdef uint8_t found = 0
    for i in range(n):
        found ^= line[i]
    return found


cdef int crc16(const uint8_t *line, Py_ssize_t n) noexcept nogil:
    """CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xFFFF; "123456789" gives 0x29B1."""
    cdef Py_ssize_t i
    cdef int _bit
    cdef int crc = 0xFFFF
    for i in range(n):
        crc ^= line[i] << 8
        for _bit in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


@cython.final
cdef class LineParser(Splitter):
    """Parses text lines into rows of a ring.

    Parameters
    ----------
    n_features : int, optional
        Features a line. By default it is taken from the first three consecutive lines that have
        the same separator and number of columns, or from the first that has as many as was
        announced. The last of these is a sample, the others are counted as `discovery`.
    label_column : bool
        A column is the label: an integer or a word, or empty or ``?`` for no label. A label that is
        a word is its number in `words`, a new one from the second time on that it comes; without a
        checksum, the first may be an error of the line. Beside words integers are words, too; they
        keep their own numbers if they came before.
    label_at : int
        Which column: -1 the last, else a number from 0.
    use_labels : bool
        False: the label column is not read.
    targets : bool
        Labels are numbers, float64, and not 16-bit integers.
    gate : ValueGate, optional
        The values a feature may have; by default any finite value.

    Attributes
    ----------
    sequence : SequenceWindow
        Of ``@number`` prefixes; a line without one gets the number after the last. A line that is
        refused takes a number too, which is then missing: windows see the gap.
    ring : SampleRing or None
    late : LateLabels or None
        Receives ``=number label`` lines; None: they are ignored.
    checksummed : bool
        True once two consecutive lines had a correct checksum of the same kind: from then on it is
        required. (A single one could be chance: one wrong bit turns ``.`` into ``*``.)
    schema_checked : bool
        Whether the last ``#esvm`` line had a correct checksum.
    separator : str or None
        Comma, tab, semicolon or space, once a line has determined it. Behind another one than the
        comma, numbers may have a decimal comma.
    words : list of str
        The labels that are words, by their numbers.
    first_labels : list of float
        The first 32 labels.
    last_line : str
        The last line that was read, its first 80 bytes.
    refused_line : (str, str) or None
        The last line that was refused, and why: its counter's name.
    """

    cdef readonly SequenceWindow sequence
    cdef readonly SampleRing ring
    cdef readonly LateLabels late
    cdef readonly ValueGate gate
    cdef int _digits                  # of the checksum required; 0: none required
    cdef readonly int64_t lines
    cdef int64_t[N_LINES] _counts
    cdef Py_ssize_t _n_features       # 0: unknown
    cdef public Py_ssize_t label_at
    cdef bint _label_column, _use_labels, _targets
    cdef uint8_t[MAX_COLUMNS] _left_out  # 1: the column is neither feature nor label
    cdef Py_ssize_t _n_left_out
    cdef public int numbers           # one more than the largest integer so far below MAX_WORDS
    cdef readonly int n_words
    # The words, and behind them one that has come once.
    cdef uint8_t[(MAX_WORDS + 1) * WORD_BYTES] _words
    cdef double[FIRST_LABELS] _first_labels
    cdef int _n_labels
    cdef uint8_t[MAX_LINE] _tidy      # the line without what is no value
    cdef uint8_t[QUOTED] _last_line, _refused_line
    cdef Py_ssize_t _last_length, _refused_length
    cdef Line _refused_kind
    cdef uint8_t _separator           # 0: unknown
    cdef uint8_t _candidate           # separator of the last line, while the columns are unknown
    cdef Py_ssize_t _candidate_features
    cdef int _agreeing                # rows in a row with the candidate's columns
    cdef Py_ssize_t _announced        # features, until a row confirms them; 0: none announced
    cdef bint _confirming             # the line that has just determined the columns is read again
    cdef Py_ssize_t _other_features   # of the last rows with other columns than expected
    cdef int _contradicting           # how many of those there were in a row
    cdef readonly bint schema_checked
    cdef int _last_digits             # of the last line's checksum; 0: none, or a wrong one
    cdef float[::1] _x                # (MAX_COLUMNS,) features of the line
    cdef bint _has_label
    cdef double _label
    cdef uint32_t _next_number
    cdef bint _running                # the last line's number was behind the highest
    cdef uint32_t _old_first, _old_last  # of the lines in a row of which that is true
    cdef int _old_run                 # how many of them were duplicates or too old
    cdef Py_ssize_t _found            # features of the line just split
    cdef const uint8_t *_event_text
    cdef Py_ssize_t _event_length

    def __cinit__(self, n_features=None, label_column=True, use_labels=True, ValueGate gate=None,
                  targets=False, Py_ssize_t label_at=-1):
        if n_features is not None:
            self._check_features(n_features)
            self._n_features = n_features
        self.sequence = SequenceWindow()
        self._label_column = label_column
        self._use_labels = use_labels
        self._targets = targets
        self.label_at = label_at
        self.gate = ValueGate() if gate is None else gate
        self._delimiter = c"\n"
        self._buffer = np.zeros(MAX_LINE, np.uint8)
        self._x = np.zeros(MAX_COLUMNS, np.float32)

    @property
    def n_features(self):
        return self._n_features or None

    def leave_out(self, columns):
        """Pass over these columns, whatever they hold; their numbers are from 0."""
        for column in columns:
            self._left_out[column] = 1
        self._n_left_out = len(columns)

    @property
    def separator(self):
        return chr(self._separator) if self._separator else None

    @property
    def words(self):
        table = bytes(self._words[:self.n_words * WORD_BYTES])
        return [table[at:at + WORD_BYTES].rstrip(b"\0").decode(errors="backslashreplace")
                for at in range(0, len(table), WORD_BYTES)]

    @words.setter
    def words(self, words):
        """Those of a model that goes on."""
        cdef bytes table = b"".join(word.encode().ljust(WORD_BYTES, b"\0") for word in words)
        if len(words) > MAX_WORDS or len(table) != len(words) * WORD_BYTES:
            raise ValueError(f"at most {MAX_WORDS} words of {WORD_BYTES} bytes, not {words}")
        self.n_words = len(words)
        if self.n_words:
            memcpy(self._words, <const char *> table, len(table))

    def end_lines_with_cr(self):
        self._delimiter = c"\r"

    @property
    def first_labels(self):
        return [self._first_labels[i] for i in range(self._n_labels)]

    @property
    def last_line(self):
        return bytes(self._last_line[:self._last_length]).decode("latin-1")

    @property
    def refused_line(self):
        if self._refused_kind == SAMPLE:
            return None
        line = bytes(self._refused_line[:self._refused_length]).decode("latin-1")
        return line, LINE_NAMES[<int> self._refused_kind]

    @property
    def checksummed(self):
        return self._digits != 0

    def expect(self, SampleRing ring not None, label_column=None, LateLabels late=None):
        """Expect lines of `ring.n_features` features; put samples in `ring`, labels in `late`."""
        self._check_features(ring.n_features)
        if label_column is not None:
            self._label_column = label_column
        self._n_features = ring.n_features
        self.ring = ring
        self.late = late

    def announce(self, n_features, label_column):
        """Expect these columns, provided that the next rows do not contradict them."""
        self._check_features(n_features)
        self._announced = n_features
        self._label_column = label_column

    @property
    def guess(self):
        """The features that the lines so far speak for, if only weakly; None if there is nothing.

        Rows that agree outweigh an announcement that they contradict.
        """
        if self._agreeing >= AGREEING:
            return self._candidate_features
        return self._announced or None

    def new_epoch(self):
        """The sketch has restarted its sample numbers."""
        self._begin_epoch()
        self._leave_out_a_number()

    def resync(self):
        Splitter.resync(self)
        self._leave_out_a_number()

    def feed(self, const uint8_t[::1] chunk):
        """Parse the next bytes of the stream, of any length.

        Yields
        ------
        int, bytes or OtherColumns
            What must be handled before the next line is read: the number of features, once lines
            have determined it (the row that confirmed it is a sample, so call `expect`); an
            ``#esvm`` line without its checksum; or what rows have instead of the columns expected,
            each time that 32 in a row agree on it. Exhaust the generator: the bytes after the last
            item drawn from it are not read.
        """
        cdef Py_ssize_t at = 0
        cdef Event event
        if chunk.shape[0] == 0:
            return
        while True:
            with nogil:
                event = self._to_event(&chunk[0], chunk.shape[0], &at)
            if event == NOTHING:
                return
            if event == FOUND_COLUMNS:
                yield self._found
                self._confirming = True
                self._enter(self._event_text, self._event_length)
                self._confirming = False
            elif event == FOUND_OTHER:
                yield OtherColumns(self._other_features)
            else:
                yield (<const char *> self._event_text)[:self._event_length]

    def counters(self):
        """All counts of the parser and its ring, by name."""
        counts = {name: getattr(self, name) for name in COUNTERS}
        counts["unprotected"] = int(not self.checksummed)
        counts.update({name: self._counts[i] for i, name in enumerate(LINE_NAMES)})
        counts.update({name: getattr(self.gate, name) for name in GATE_COUNTERS})
        for part in (self.sequence, self.late, self.ring):
            if part is not None:
                counts.update(part.counters())
        return counts

    def broken_identities(self):
        broken = Splitter.broken_identities(self) + self.sequence.broken_identities()
        c = self.counters()
        if c["lines"] != sum(c[name] for name in LINE_NAMES):
            broken.append(f"lines = {' + '.join(LINE_NAMES)}: {c}")
        if c["samples"] != c.get("ring_in", 0) + c["duplicate"] + c["too_old"] + c["bad_value"]:
            broken.append(f"samples = ring_in + duplicate + too_old + bad_value: {c}")
        if self.ring is not None:
            broken += self.ring.broken_identities()
        return broken

    def memory(self):
        """The buffers allocated: a list of (name, bytes)."""
        held = [("line buffer", MAX_LINE), ("sample", 4 * MAX_COLUMNS)]
        if self.ring is not None:
            held.append(("ring", self.ring.nbytes))
        if self.late is not None:
            held += self.late.memory()
        return held

    cdef int _check_features(self, Py_ssize_t n_features) except -1:
        if not 1 <= n_features < MAX_COLUMNS:
            raise ValueError(
                f"n_features={n_features} must be 1 to {MAX_COLUMNS - 1} for text lines")
        return 0

    # From bytes to lines.

    cdef Event _to_event(self, const uint8_t *chunk, Py_ssize_t n, Py_ssize_t *at) noexcept nogil:
        """Read lines up to the next one that the caller must handle."""
        cdef Event event = NOTHING
        cdef Cut found
        while event == NOTHING:
            found = self.cut(chunk, n, at)
            if found == CHUNK_END:
                return NOTHING
            if found == DROPPED:
                self.lines += 1
                self._counts[<int> TOO_LONG] += 1
                self._leave_out_a_number()
            else:
                event = self._enter(self.run, self.run_length)
        return event

    cdef Event _enter(self, const uint8_t *line, Py_ssize_t n) noexcept nogil:
        """Read a whole line and count it by its kind."""
        cdef Event event = NOTHING
        cdef int required = self._digits
        cdef int last = self._last_digits
        cdef Line kind = self._read_line(line, n, &event)
        if event == FOUND_COLUMNS:
            # The line is read again, and counted, once a ring is there.
            self._event_text, self._event_length = line, n
            self._digits, self._last_digits = required, last
            return event
        self.lines += 1
        self._counts[<int> kind] += 1
        if kind <= IGNORED:
            self.bytes_ok += n
            if kind == SAMPLE or kind == DISCOVERY:
                self._last_length = min(n, QUOTED)
                memcpy(self._last_line, line, self._last_length)
        else:
            self.bytes_rejected += n
            self._refused_kind, self._refused_length = kind, min(n, QUOTED)
            memcpy(self._refused_line, line, self._refused_length)
            if n and line[0] != c"=":
                self._leave_out_a_number()
        return event

    cdef void _leave_out_a_number(self) noexcept nogil:
        """A line was lost: if it was a sample without a number, it had the next one."""
        self._next_number += self.sequence.epochs > 0

    # From a line to a sample.

    cdef Line _read_line(self, const uint8_t *line, Py_ssize_t n, Event *event) noexcept nogil:
        cdef uint32_t number = self._next_number
        cdef Py_ssize_t i
        cdef Line kind
        if n and line[n - 1] == c"\r":
            n -= 1
        while n and (line[0] == c"\r" or line[0] == c"\n"):  # LF CR, or CR LF where CR ends lines
            line += 1
            n -= 1
        # Tabs stay: one at the end may precede an empty label.
        while n and line[n - 1] == c" ":
            n -= 1
        if self._all_blank(line, n):
            return BLANK
        if line[0] == c"#":
            if n > 6 and memcmp(line, b"#esvm ", 6) == 0:
                return self._read_schema(line, n, event)
            return COMMENT
        if not is_printable(line, n):
            n = tidy(line, n, self._tidy)
            line = self._tidy
            if not is_printable(line, n):
                return BAD_CHAR
        kind = self._strip_checksum(line, &n)
        if kind != SAMPLE:
            return kind
        i = 0
        if n and (line[0] == c"@" or line[0] == c"="):
            i = self._read_number(line, n, &number)
            if i < 0:
                return BAD_SEQUENCE
        if n and line[0] == c"=":
            return self._take_label(line + i, n - i, number)
        return self._read_sample(line + i, n - i, number, i > 0, event)

    cdef Line _read_schema(self, const uint8_t *line, Py_ssize_t n, Event *event) noexcept nogil:
        """An announcement needs a checksum where the rows need one."""
        cdef Line kind = self._strip_checksum(line, &n)
        if kind != SAMPLE:
            return kind
        self.schema_checked = self._last_digits != 0
        self._event_text, self._event_length = line, n
        event[0] = FOUND_SCHEMA
        return COMMENT

    cdef bint _all_blank(self, const uint8_t *line, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(n):
            if not is_blank(line[i]):
                return False
        return True

    cdef Line _strip_checksum(self, const uint8_t *line, Py_ssize_t *n) noexcept nogil:
        """Check and remove ``*HH`` or ``*HHHH``; SAMPLE if the line is good so far."""
        cdef const uint8_t *star = <const uint8_t *> memchr(line, c"*", n[0])
        cdef Py_ssize_t end
        cdef int i, digits, digit, given = 0
        cdef int last = self._last_digits
        self._last_digits = 0
        if star == NULL:
            return NO_CHECKSUM if self._digits else SAMPLE
        end = star - line
        digits = <int> (n[0] - end - 1) if n[0] - end <= 5 else 0
        if digits != 2 and digits != 4 or self._digits and digits != self._digits:
            return BAD_CHECKSUM
        for i in range(digits):
            digit = hex_value(star[1 + i])
            if digit < 0:
                return BAD_CHECKSUM
            given = given << 4 | digit
        if given != (xor_of(line, end) if digits == 2 else crc16(line, end)):
            return BAD_CHECKSUM
        if last == digits:
            self._digits = digits
        self._last_digits = digits
        n[0] = end
        return SAMPLE

    cdef Line _take_label(self, const uint8_t *field, Py_ssize_t n,
                          uint32_t number) noexcept nogil:
        """Queue a late label after the rows that preceded it."""
        if self.late is None or not self._use_labels:
            return IGNORED
        self._has_label = False
        if self._read_label(field, n) != SAMPLE or not self._has_label:
            return BAD_LABEL
        self.late.add_label(self.ring.entered, number, self._label, 1.0)
        return LATE_LABEL

    cdef Py_ssize_t _read_number(self, const uint8_t *line, Py_ssize_t n,
                                 uint32_t *number) noexcept nogil:
        """Read ``@number`` or ``=number`` and the blanks after it; the bytes read, or -1."""
        cdef int64_t value = 0
        cdef Py_ssize_t i = 1
        while i < n and c"0" <= line[i] <= c"9" and i <= 10:
            value = 10 * value + (line[i] - c"0")
            i += 1
        if i == 1 or i == n or not is_blank(line[i]) or value >> 32:
            return -1
        while i < n and line[i] == c" ":
            i += 1
        number[0] = <uint32_t> value
        return i

    cdef Line _read_sample(self, const uint8_t *line, Py_ssize_t n, uint32_t number, bint numbered,
                           Event *event) noexcept nogil:
        cdef Py_ssize_t n_tidy
        cdef bint finite = True
        cdef uint8_t separator = self._separator
        cdef Line kind
        kind = self._split_by(line, n, &separator, &finite)
        if kind != SAMPLE and line != self._tidy:
            n_tidy = tidy(line, n, self._tidy)
            if n_tidy < n and self._split_by(self._tidy, n_tidy, &separator, &finite) == SAMPLE:
                kind = SAMPLE
        if kind != SAMPLE:
            if kind == BAD_COLUMNS and self._n_features:
                self._contradict(line, n, event)
            return kind
        if self._n_features == 0:
            return self._discover(separator, event)
        self._contradicting = 0
        if not self._separator and self._n_features + self._label_column > 1:
            self._separator = separator
        self._offer(number, numbered, finite)
        return SAMPLE

    cdef Line _split_by(self, const uint8_t *line, Py_ssize_t n, uint8_t *separator,
                        bint *finite) noexcept nogil:
        """Split by the separator, or by the first that makes a sample of the line."""
        cdef Line kind = BAD_COLUMNS
        cdef Line first = BAD_COLUMNS
        cdef int k
        if self._separator:
            return self._split(line, n, self._separator, finite)
        for k in range(5):
            separator[0] = SEPARATORS[k]
            kind = self._split(line, n, separator[0], finite)
            if kind == SAMPLE:
                return SAMPLE
            # Report the error for the first separator that occurs in the line.
            if first == BAD_COLUMNS and memchr(line, separator[0], n) != NULL:
                first = kind
        return first

    cdef Line _discover(self, uint8_t separator, Event *event) noexcept nogil:
        """Compare this line, of `_found` features, with what was announced and the lines before."""
        if self._candidate == separator and self._candidate_features == self._found:
            self._agreeing += 1
        else:
            self._agreeing = 1
        self._candidate = separator
        self._candidate_features = self._found
        if self._agreeing > AGREEING or self._found == self._announced:
            if not self._confirming:
                self._separator = separator
                event[0] = FOUND_COLUMNS
        return DISCOVERY

    cdef void _contradict(self, const uint8_t *line, Py_ssize_t n, Event *event) noexcept nogil:
        """Count rows in a row that have other columns than expected, and agree on them."""
        cdef Py_ssize_t expected = self._n_features
        cdef uint8_t separator = 0
        cdef bint finite = True
        cdef Line kind
        self._n_features = 0
        kind = self._split_by(line, n, &separator, &finite)
        self._n_features = expected
        if kind != SAMPLE:
            return
        if self._found != self._other_features:
            self._contradicting = 0
        self._other_features = self._found
        self._contradicting += 1
        if self._contradicting == CONTRADICTING:
            self._contradicting = 0
            event[0] = FOUND_OTHER

    cdef void _offer(self, uint32_t number, bint numbered, bint finite) noexcept nogil:
        cdef Verdict verdict
        cdef int64_t jumps = self.sequence.seq_jump
        # A sketch has no boot id: a restart shows as a count from 0 again.
        if numbered and (number == 0 and self.sequence.is_behind_window(0)
                         or self._has_restarted(number)):
            self._begin_epoch()
        verdict = self.sequence.accept(number)
        if self.late is not None and self.sequence.seq_jump != jumps:
            self.late.add_epoch(self.ring.entered)
        if verdict == NEW:
            self._next_number = number + 1
        if verdict != NEW and verdict != REORDERED:
            return
        if not finite:
            self.gate.refuse(number)
        if not finite or not self.gate.admit(&self._x[0], self._n_features, number):
            return
        if self._has_label and self._n_labels < FIRST_LABELS:
            self._first_labels[self._n_labels] = self._label
            self._n_labels += 1
        self.ring.push(&self._x[0], number, self._label, self._has_label and self._use_labels, 1.0)

    cdef bint _has_restarted(self, uint32_t number) noexcept nogil:
        """Have numbers that are not new run upwards for so long that it must be a restart?"""
        cdef uint32_t step = number - self._old_last
        if self.sequence.is_ahead(number):
            self._running = False
            return False
        if not self._running or not 1 <= step <= LARGEST_STEP:
            self._running = True
            self._old_run = 0
            self._old_first = number
        self._old_last = number
        self._old_run += self.sequence.is_old(number)
        return self._old_run >= (RESTART if self._old_first <= 1 else LATE_RESTART)

    cdef void _begin_epoch(self) noexcept nogil:
        self._running = False
        self.sequence.begin_epoch()
        if self.late is not None:
            self.late.add_epoch(self.ring.entered)

    cdef Line _split(self, const uint8_t *line, Py_ssize_t n, uint8_t separator,
                     bint *finite) noexcept nogil:
        """Read the columns into `_x`, `_label` and `_found`; SAMPLE if they are all good."""
        cdef Py_ssize_t columns, features, label_at, column, feature = 0, start = 0, end
        cdef Line kind
        columns = self._count_columns(line, &n, separator)
        features = columns - self._label_column - self._n_left_out
        if features < 1 or columns > MAX_COLUMNS or self.label_at >= columns:
            return BAD_COLUMNS
        label_at = columns
        if self._label_column:
            label_at = columns - 1 if self.label_at < 0 else self.label_at
        if self._n_features and features != self._n_features:
            return BAD_COLUMNS
        finite[0] = True
        self._has_label = False
        self._label = 0
        for column in range(columns):
            if separator == c" ":
                while start < n and line[start] == separator:
                    start += 1
            end = start
            while end < n and line[end] != separator:
                end += 1
            kind = SAMPLE
            if column == label_at:
                kind = self._read_label(line + start, end - start)
            elif not self._left_out[column]:
                kind = self._read_feature(line + start, end - start, feature, finite)
                feature += 1
            if kind != SAMPLE:
                return kind
            start = end + 1
        self._found = features
        return SAMPLE

    cdef bint _is_label(self, double value) noexcept nogil:
        """Take an integer of 16 bits as the label."""
        if not -32768 <= value <= 32767 or value != <int32_t> value:
            return False
        if not self.n_words and 0 <= value < MAX_WORDS:
            self.numbers = max(self.numbers, <int> value + 1)
        self._has_label = True
        self._label = value
        return True

    cdef Py_ssize_t _count_columns(self, const uint8_t *line, Py_ssize_t *n,
                                   uint8_t separator) noexcept nogil:
        """The number of columns; a separator at the end counts only before an empty label, not
        behind a label."""
        cdef Py_ssize_t i, columns = 1
        cdef bint label_last = self._label_column and self.label_at < 0
        if separator == c" ":
            while n[0] and line[n[0] - 1] == separator:
                n[0] -= 1
        elif n[0] and line[n[0] - 1] == separator and not (
                label_last and not self._ends_behind_label(line, n[0], separator)):
            n[0] -= 1
        if separator == c" ":
            for i in range(1, n[0]):
                columns += line[i] != separator and line[i - 1] == separator
        else:
            columns += count_of(separator, line + 1, n[0] - 1)
        if separator == c" ":
            return columns - (n[0] > 0 and line[0] == separator)
        return columns + (n[0] > 0 and line[0] == separator)

    cdef bint _ends_behind_label(self, const uint8_t *line, Py_ssize_t n,
                                 uint8_t separator) noexcept nogil:
        """Whether the separator at the end is one too many: while the columns are not known, if it
        is behind a word or what has no point in a line of decimals."""
        cdef Py_ssize_t length = n - 1
        cdef const uint8_t *field = line
        if self._n_features:
            return count_of(separator, line, n) == self._n_features + 1
        while length and memchr(field, separator, length) != NULL:
            field += 1
            length -= 1
        return memchr(field, c".", length) == NULL and (
            memchr(line, c".", n) != NULL or is_word(field, length))

    cdef void _trim(self, const uint8_t **field, Py_ssize_t *n) noexcept nogil:
        """Remove blanks."""
        while n[0] and is_blank(field[0][0]):
            field[0] += 1
            n[0] -= 1
        while n[0] and is_blank(field[0][n[0] - 1]):
            n[0] -= 1

    cdef Line _read_feature(self, const uint8_t *field, Py_ssize_t n, Py_ssize_t column,
                            bint *finite) noexcept nogil:
        cdef Number number
        cdef double value = 0
        self._trim(&field, &n)
        if is_missing(field, n) and (n or self.gate.missing):
            self._x[column] = NAN
            finite[0] = finite[0] and self.gate.missing
            return SAMPLE
        number = parse(field, n, True, &value)
        if number == BAD_CHARACTER:
            return BAD_CHAR
        if number == NOT_FINITE:
            finite[0] = False
        self._x[column] = <float> value
        return SAMPLE

    cdef Line _read_label(self, const uint8_t *field, Py_ssize_t n) noexcept nogil:
        """Read a 16-bit integer, which may be written 1.0, a word or a target; empty or ``?`` means
        no label, and so does a target that is not finite.
        """
        cdef uint8_t[WORD_BYTES] word
        cdef double value = 0
        cdef Number number
        self._trim(&field, &n)
        if not self._use_labels or n == 0 or (n == 1 and field[0] == c"?"):
            return SAMPLE
        if self._targets:
            number = parse(field, n, False, &value)
            self._has_label = number == GOOD
            self._label = value if self._has_label else 0.0
            return BAD_LABEL if number == BAD_CHARACTER else SAMPLE
        number = parse(field, n, True, &value)
        if number == BAD_CHARACTER and is_word(field, n):
            return self._take_word(field, n)
        if number != GOOD or not self._is_label(value):
            return BAD_LABEL
        if self.n_words and 0 <= value < MAX_WORDS:
            self._has_label = False
            return self._take_word(word, spelled(<int> value, word))
        return SAMPLE

    cdef Line _take_word(self, const uint8_t *field, Py_ssize_t n) noexcept nogil:
        """Look up a word; add it if it has come before, or its line has a checksum."""
        cdef uint8_t[WORD_BYTES] word
        cdef int number = 0
        cdef uint8_t *new = &self._words[self.n_words * WORD_BYTES]
        memset(word, 0, WORD_BYTES)
        memcpy(word, field, n)
        while number < self.n_words:
            if memcmp(&self._words[number * WORD_BYTES], word, WORD_BYTES) == 0:
                break
            number += 1
        if number == self.n_words:
            if max(number, self.numbers) >= MAX_WORDS:
                return BAD_LABEL
            if not self._last_digits and memcmp(new, word, WORD_BYTES) != 0:
                memcpy(new, word, WORD_BYTES)
                return SAMPLE
            number = max(number, self.numbers)
            for self.n_words in range(self.n_words, number):
                spelled(self.n_words, &self._words[self.n_words * WORD_BYTES])
            memcpy(&self._words[number * WORD_BYTES], word, WORD_BYTES)
            self.n_words = number + 1
            memset(&self._words[self.n_words * WORD_BYTES], 0, WORD_BYTES)
        self._label, self._has_label = number, True
        return SAMPLE


def parse_view(const uint8_t[::1] text, bint is_float32):
    """The value of `text` as a float, or "bad_char" or "bad_value" if it has none."""
    cdef double value = 0
    cdef Number number
    if text.shape[0] == 0:
        return "bad_char"
    number = parse(&text[0], text.shape[0], is_float32, &value)
    if number == GOOD:
        return value
    return "bad_char" if number == BAD_CHARACTER else "bad_value"
