"""Sample numbers: a window of 64 behind the highest seen, as in anti-replay windows (RFC 6479).

Numbers have 32 bits and wrap; of two numbers, the one up to 2**31 ahead is the later. An epoch
runs from one boot of the node to the next. In each epoch, from its first to its highest number,

    span = unique + missing
"""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

cdef int64_t WINDOW = 64
cdef int64_t JUMP = 1 << 20  # longer than any outage: the counter was restarted

COUNTERS = ("epochs", "span", "unique", "missing", "reordered", "duplicate", "too_old", "seq_jump")


@cython.final
cdef class SequenceWindow:
    """Classifies sample numbers as new, reordered, duplicate or too old.

    Attributes
    ----------
    epochs : int
        Epochs with at least one number.
    span, unique, missing : int
        Sums over all epochs: numbers from first to highest; those seen; those not seen.
    reordered, duplicate, too_old : int
        Numbers that came late but within the window (used), were seen before (not used), or are
        behind the window (not used).
    seq_jump : int
        Moves by more than 2**20. Each opens an epoch, unless it returns to the one before, which is
        continued as long as the new one has less than 64 numbers.
    """

    @property
    def span(self):
        return self._past_span + self._span

    @property
    def unique(self):
        return self._past_unique + self._unique

    @property
    def missing(self):
        return self._past_missing + self._missing

    def classify(self, uint32_t sequence):
        """`accept` for Python: "new", "reordered", "duplicate" or "too_old"."""
        return ("new", "reordered", "duplicate", "too_old")[self.accept(sequence)]

    def new_epoch(self):
        """The node has restarted its sample numbers: the next number opens an epoch."""
        self.begin_epoch()

    def counters(self):
        """All counts, by name."""
        return {name: getattr(self, name) for name in COUNTERS}

    def broken_identities(self):
        """The counter identities that do not hold, as text; empty if all hold."""
        epochs = {
            "this epoch": (self._span, self._unique, self._missing),
            "past epochs": (self._past_span, self._past_unique, self._past_missing),
        }
        return [
            f"span = unique + missing, {which}: {span} = {unique} + {missing}"
            for which, (span, unique, missing) in epochs.items() if span != unique + missing
        ]

    cdef void begin_epoch(self) noexcept nogil:
        """The next number opens an epoch; none before it can be continued."""
        self._close_epoch()
        self._has_home = False

    cdef void _close_epoch(self) noexcept nogil:
        self._past_span += self._span
        self._past_unique += self._unique
        self._past_missing += self._missing
        self._span = self._unique = self._missing = 0
        self._open = False

    cdef bint is_behind_window(self, uint32_t sequence) noexcept nogil:
        """Would this number be too old? It is not recorded."""
        return self._open and <int32_t> (self._highest - sequence) >= WINDOW

    cdef bint is_ahead(self, uint32_t sequence) noexcept nogil:
        """Would this number be the highest of its epoch? It is not recorded."""
        cdef int64_t step = <int32_t> (sequence - self._highest)
        return not self._open or step > 0 or step < -JUMP

    cdef bint is_old(self, uint32_t sequence) noexcept nogil:
        """Would this number be a duplicate or too old? It is not recorded."""
        cdef int64_t behind = <int32_t> (self._highest - sequence)
        if self.is_ahead(sequence):
            return False
        return behind >= WINDOW or self._seen >> behind & 1

    cdef Verdict accept(self, uint32_t sequence) noexcept nogil:
        """Record a number; a sample is used if its number is NEW or REORDERED."""
        # The difference modulo 2**32, as a signed number: positive is ahead.
        cdef int64_t step = <int32_t> (sequence - self._highest)
        if self._open and (step > JUMP or step < -JUMP):
            self.seq_jump += 1
            self._jump(sequence)
            step = <int32_t> (sequence - self._highest)
        if not self._open:
            self._open = True
            self.epochs += 1
            self._highest = sequence
            self._seen = 1
            self._span = self._unique = 1
            return NEW
        if step > 0:
            return self._advance(sequence, step)
        return self._look_back(sequence, -step)

    cdef void _jump(self, uint32_t sequence) noexcept nogil:
        """Continue the epoch before the last jump, or close this one for a new one.

        One stray number must not reopen the window: the numbers before it could be used again.
        """
        cdef int64_t step = <int32_t> (sequence - self._home_highest)
        if self._has_home and self._unique < WINDOW and -JUMP <= step <= JUMP:
            self._close_epoch()
            self._past_span -= self._home_span
            self._past_unique -= self._home_unique
            self._past_missing -= self._home_missing
            self._highest, self._seen = self._home_highest, self._home_seen
            self._span, self._unique = self._home_span, self._home_unique
            self._missing = self._home_missing
            self._open = True
            self._has_home = False
            return
        if not self._has_home or self._unique >= WINDOW:
            self._has_home = True
            self._home_highest, self._home_seen = self._highest, self._seen
            self._home_span, self._home_unique = self._span, self._unique
            self._home_missing = self._missing
        self._close_epoch()

    cdef Verdict _advance(self, uint32_t sequence, int64_t step) noexcept nogil:
        self._highest = sequence
        self._seen = 1 if step >= WINDOW else self._seen << step | 1
        self._span += step
        self._unique += 1
        self._missing += step - 1
        return NEW

    cdef Verdict _look_back(self, uint32_t sequence, int64_t behind) noexcept nogil:
        cdef int64_t before_first
        if behind >= WINDOW:
            self.too_old += 1
            return TOO_OLD
        if self._seen >> behind & 1:
            self.duplicate += 1
            return DUPLICATE
        self._seen |= <uint64_t> 1 << behind
        self.reordered += 1
        self._unique += 1
        before_first = behind - self._span + 1
        if before_first > 0:
            # The epoch began earlier than thought; the numbers in between are missing so far.
            self._span += before_first
            self._missing += before_first - 1
        else:
            self._missing -= 1
        return REORDERED
