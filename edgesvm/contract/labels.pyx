"""Map labels, any comparable objects, to class indices 0, 1, ...

A class index is called a slot here. With two classes, slot 0 is the learner's -1 and slot 1 its +1.
"""

cimport cython
from cpython.object cimport Py_EQ, PyObject_RichCompareBool
cimport numpy as cnp
from libc.math cimport isinf
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

import zlib

import numpy as np

from edgesvm.core.status import Status
from edgesvm.errors import CorruptModelError, SampleRefused, refusal

cnp.import_array()

ctypedef fused word:
    uint8_t
    uint32_t
    uint64_t

MOST_CLASSES = MAX_CLASSES
MORE_ROOM = "give a larger n_classes, or where it is not given a larger budget"
MUTABLE = (list, dict, set, np.ndarray)
PART = 1024         # rows that are compared at a time
MAX_TEXT = 1024     # UTF-8 bytes of a string in a snapshot
cdef int UNKNOWN = -1

# A label that is new after the first rows becomes a class when it comes for the third time within
# a thousand rows: from the third on a class takes bytes from the others for ever, and most labels
# that are damaged come once. Those that wait are known by 16 bits of a CRC, and the rows where they
# came by their last 16 bits.
cdef enum:
    FIRST_ROWS = 100    # of which each label is a class at once,
    FIRST_OF_EACH = 16  # or as many for each class so far: they may come one after the other
    RECENT = 1000       # rows
    OFTEN = 3           # a class that came less often, after RECENT rows, gives way to a new one
    N_WAITING = 8
CANDIDATES = ("candidates", "u2", (N_WAITING, 3))   # CRC, the row where it came last, and before


@cython.final
cdef class Labels:
    """Labels get slots in the order they arrive, so it does not matter how a stream is split.

    Users see them sorted, as in scikit-learn: `order` lists the slots in that order, and `sign`
    flips the decision value of two labels if the two orders differ.

    Numbers beside words are words: 5 is "5" once "idle" has come.

    Parameters
    ----------
    classes : None or sequence of 2 to `room` labels
        If given, slots are in sorted order and any other label is refused.
    room : int, largest number of labels, 2 to 127; 0 for a regressor
    """

    def __init__(self, classes=None, room=2):
        self.values = []
        self.sign, self.room, self.n = 1, room, 0
        self.closed = classes is not None
        if self.closed:
            values = [as_object(y) for y in classes]
            for y in values:
                if why := unfit(y):
                    raise ValueError(f"classes={list(classes)!r}: {y!r} is no label: {why}")
            values = sort_labels(as_words(values) if are_mixed(values) else values)
            if room == 0:
                raise ValueError(f"classes={list(classes)!r}: a regressor has none")
            if not are_labels(values, room):
                most = "two" if room == 2 else f"two to {room}"
                raise ValueError(f"classes={list(classes)!r}: give {most} different labels")
            self.hold(values)

    @classmethod
    def restore(cls, values, closed, room=2):
        """The labels of a snapshot: `values` in slot order.

        Raises
        ------
        CorruptModelError
            There are more than `room` labels, or they are fixed and fewer than two.
        """
        cdef Labels labels = cls(room=room)
        if len(values) > room or (closed and len(values) < 2):
            raise CorruptModelError(
                f"the snapshot has {len(values)} labels for a learner of {room} classes")
        labels.hold(list(values))
        labels.closed = closed
        return labels

    def wait_in(self, table):
        """Let new labels wait in `table`, as `CANDIDATES`, until they are classes; None: do not."""
        self.waiting, self.sifts = table, table is not None and not self.closed

    @property
    def in_slots(self):
        """The labels so far, a tuple in slot order."""
        return tuple(self.values)

    @property
    def classes(self):
        """The labels so far, sorted, ndarray of shape (0 to room,)."""
        ordered = [self.values[slot] for slot in self.sorted_slots]
        if len({type(y) for y in ordered}) > 1 or not all(map(is_scalar, ordered)):
            return as_object_array(ordered)
        return np.array(ordered)

    @property
    def sorted_slots(self):
        """The slots of the labels so far, in the sorted order of the labels."""
        return tuple([self.order[i] for i in range(self.n)])

    def names(self, classes):
        """Whether `classes` are the same labels, in any order."""
        return Labels(classes, self.room).in_slots == tuple(sort_labels(self.values))

    def of_slots(self, slots):
        """The labels of an ndarray of slots."""
        cdef int i
        columns = np.zeros(self.room, np.intp)
        for i in range(self.n):
            columns[self.order[i]] = i
        return self.classes[columns[slots]]

    cpdef int find(self, y) except -2:
        """The slot of `y` if it is known, else the next free slot, or UNKNOWN if there is none.
        Makes no allocator call for ints, bools and strings."""
        cdef int slot
        for slot in range(self.n):
            if y is self.values[slot]:
                return slot
        if not isinstance(y, (int, str)):
            y = as_object(y)
        for slot in range(self.n):
            if PyObject_RichCompareBool(y, self.values[slot], Py_EQ):
                return slot
        if are_mixed([y, *self.values]):
            words = as_words([*self.values, y])
            if (slot := words.index(words[self.n])) < self.n:
                return slot
        is_full = self.n == self.room and not self.sifts    # else one may give way
        if self.closed or is_full or unfit(y) is not None:
            return UNKNOWN
        return self.n

    cpdef bint is_rare(self, y, double weight, int64_t n_seen) except -1:
        """Whether a label without a slot must wait for one, after so many rows; notes that it
        came. That of a row of weight zero is none."""
        cdef int k, oldest = 0
        cdef unsigned short[:, ::1] waiting
        cdef unsigned short code, now = n_seen & 0xFFFF
        first = self.n < 2 or n_seen < max(FIRST_ROWS, FIRST_OF_EACH * self.n)
        if weight == 0.0 or not self.sifts or first:
            return weight == 0.0
        waiting = self.waiting
        code = zlib.crc32(repr(as_object(y)).encode(errors="replace")) & 0xFFFF or 1    # 0: free
        for k in range(N_WAITING):
            if waiting[k, 0] == code:
                oldest = k
                break
            if <unsigned short> (now - waiting[k, 1]) > <unsigned short> (now - waiting[oldest, 1]):
                oldest = k
        if waiting[oldest, 0] != code:
            waiting[oldest, 0], waiting[oldest, 1] = code, now - RECENT
        elif <unsigned short> (now - waiting[oldest, 2]) < RECENT:
            return False
        waiting[oldest, 2], waiting[oldest, 1] = waiting[oldest, 1], now
        self.n_rare += 1
        self.rare = as_object(y)
        return True

    cpdef int adopt(self, int slot, y) except -1:
        """Assign the free `slot` to `y`; does nothing if the slot is in use."""
        return 0 if slot < self.n else self.place(y, (), 0)

    cpdef int place(self, y, counts, int64_t n_seen) except -2:
        """Give a new label a slot, or UNKNOWN: the next, or that of a class which no longer comes,
        by the samples of each so far."""
        gone = []
        if self.sifts and n_seen > RECENT:
            gone = [k for k in range(self.n) if k >= len(counts) or counts[k] < OFTEN]
        cdef int slot = gone[0] if gone else self.n
        if slot == self.room:
            return UNKNOWN
        values = [*self.values[:slot], as_object(y), *self.values[slot + 1:]]
        self.hold(as_words(values) if are_mixed(values) else values)
        return slot

    cpdef int hold(self, list values) except -1:
        """Have these labels, in slot order."""
        cdef int i
        if values is self.values:
            return 0
        slots = sort_slots(values)      # runs the labels' own code: nothing is changed before
        self.values = values
        self.n = len(values)
        self.n_changes += 1
        for i in range(self.n):
            self.order[i] = slots[i]
        self.sign = -1 if self.n == 2 and self.order[0] == 1 else 1
        return 0

    def refused(self, status, y, str sample, dtype, weight=None):
        """The exception for a refused `sample` of label y; as `errors.refusal`."""
        why = unfit(as_object(y)) if status == Status.UNKNOWN_LABEL else None
        if why is None:
            error = refusal(status, sample, dtype, self.in_slots, weight)
            if status == Status.UNKNOWN_LABEL and not self.closed and 2 < self.room == self.n:
                return SampleRefused(f"{error}: no room for more; {MORE_ROOM}", Status(status))
            return error
        so_far = f"; those so far are {self.in_slots}" if self.n else ""
        return SampleRefused(f"{sample} has no valid label: {why}{so_far}", Status(status))

    def encode(self, y):
        """The slots of an array of labels, and for how many they hold: up to the first that is new.
        """
        slots = np.zeros(len(y), np.int8)
        size = PART if y.dtype.kind == "O" else len(y)      # objects are looked at one by one
        for at in range(0, len(y), size or 1):
            part = slots[at:at + size]
            n = self.encode_part(y[at:at + size], part)
            if n < len(part):
                return slots, at + n
        return slots, len(y)

    def encode_part(self, y, slots):
        """Write the slots of a part; for how many rows they hold."""
        row = 0
        y, values = self.spelled(y)
        if y.dtype.kind in KINDS and all(map(is_scalar, values)):
            row = match_bytes(y, self.known_in(y.dtype), slots, 0)
        return row + encode_equal(y[row:], values, slots[row:])

    def meet(self, y):
        """Adopt the labels of many rows: the slots, and the rows before the first that cannot get
        one."""
        slots, row = self.encode(y)
        while row < len(y) and self.find(y[row]) >= 0:
            self.adopt(self.n, y[row])
            slots[row:], n = self.encode(y[row:])
            row += n
        return slots, row

    def spelled(self, y):
        """The labels of an array, and those so far: as words if some are words and others not."""
        if not are_mixed([*(y if y.dtype.kind == "O" else y[:1]), *self.values]):
            return y, self.values
        return as_object_array(as_words(y.tolist())), as_words(self.values)

    cdef tuple known_in(self, dtype):
        """The slots of the labels that an array of this dtype can have as they are, and an array of
        these labels; kept until there are others"""
        if self.in_dtype is None or self.in_dtype[:2] != (self.n_changes, dtype):
            slots = [slot for slot, value in enumerate(self.values) if is_in(value, dtype)]
            labels = np.array([as_in(self.values[k], dtype) for k in slots], dtype)
            self.in_dtype = self.n_changes, dtype, (np.array(slots, np.int8), labels)
        return self.in_dtype[2]


def encode_equal(y, values, slots):
    """As `Labels.encode`, whatever equality is."""
    for at in range(0, len(y), PART):
        part, unmatched = y[at:at + PART], np.ones(len(y[at:at + PART]), bool)
        for slot, value in enumerate(values):
            matches = equal(part, value)
            slots[at:at + PART][matches] = slot
            unmatched &= ~matches
        if unmatched.any():
            return at + int(unmatched.argmax())
    return len(y)


# -- labels that are known byte for byte -----------------------------------------------------------

# The labels that an array of each kind can have as they are.
KINDS = {kind: (bool, int, float) for kind in "biuf"} | {"U": str}


cdef int64_t match_bytes(cnp.ndarray y, tuple known, cnp.ndarray slots, int64_t row) except -1:
    """Write the slots of the rows of y from `row` on up to the first whose bytes are those of no
    label `known`; return where that is. Other bytes may be equal, too: -0.0 and 0.0."""
    cdef cnp.ndarray slot_of = known[0], labels = known[1]
    cdef const char *first = <const char *> cnp.PyArray_DATA(y) + row * cnp.PyArray_STRIDE(y, 0)
    cdef signed char *slot = <signed char *> cnp.PyArray_DATA(slots) + row
    cdef int64_t n = len(y) - row, step = cnp.PyArray_STRIDE(y, 0), size = y.dtype.itemsize
    if not (len(slot_of) and size and cnp.PyArray_ISALIGNED(y)):
        return row
    cdef const char *label = <const char *> cnp.PyArray_DATA(labels)
    cdef const signed char *number = <const signed char *> cnp.PyArray_DATA(slot_of)
    cdef int n_labels = len(slot_of)
    if size == 8 and y.dtype.kind in "iuf":
        return row + matched[uint64_t](first, step, n, label, n_labels, 1, number, slot)
    if size % 4 == 0:
        return row + matched[uint32_t](first, step, n, label, n_labels, size // 4, number, slot)
    return row + matched[uint8_t](first, step, n, label, n_labels, size, number, slot)


cdef int64_t matched(
    const char *y, int64_t step, int64_t n, const char *labels, int n_labels, int64_t n_words,
    const signed char *slot_of, signed char *slots, word _=0
) noexcept:
    """How many rows of y are one of the labels, of `n_words` each; no label comes twice."""
    cdef int64_t i, j
    cdef int k, found
    cdef word differs
    cdef const word *row
    cdef const word *label = <const word *> labels
    if n_words == 1 and n_labels == 2:
        return matched_two(y, step, n, label[0], label[1], slot_of, slots)
    for i in range(n):
        row, label, found = <const word *> (y + i * step), <const word *> labels, 0
        for k in range(n_labels):
            differs = 0
            for j in range(n_words):
                differs |= row[j] ^ label[j]
            found += (differs == 0) * (slot_of[k] + 1)      # no branch: labels come at random
            label += n_words
        if found == 0:
            return i
        slots[i] = found - 1
    return n


cdef int64_t matched_two(
    const char *y, int64_t step, int64_t n, word first, word second, const signed char *slot_of,
    signed char *slots
) noexcept:
    """`matched` with two labels of one word"""
    cdef int64_t i
    cdef word row
    cdef int found, if_first = slot_of[0] + 1, if_second = slot_of[1] + 1
    for i in range(n):
        row = (<const word *> (y + i * step))[0]
        found = (row == first) * if_first + (row == second) * if_second
        if found == 0:
            return i
        slots[i] = found - 1
    return n


def as_in(value, dtype):
    """The label as an array of this dtype has it, which may be cut or rounded; or None."""
    with np.errstate(all="ignore"):
        number = np.array(value)
        return number.astype(dtype)[()] if number.dtype.kind in KINDS else None


def is_in(value, dtype):
    """Whether an array of this dtype can have the label as it is."""
    return isinstance(value, KINDS[dtype.kind]) and as_object(as_in(value, dtype)) == value


def check_labels(y, owner, room=2):
    """Check that a learner of `room` classes can learn a whole column of labels.

    Raises
    ------
    ValueError
        A label is `unfit`, or there are more than `room`.
    """
    labels = Labels(room=room)
    _, row = labels.meet(y)
    if row < len(y):
        raise unfit_label(y[row], row, owner, labels.values, y.dtype, room)


def unfit_label(label, row, owner, known, dtype, room=2):
    """The exception for a row's label that a learner with the `known` labels cannot learn."""
    label = as_object(label)
    if why := unfit(label):
        return ValueError(f"{owner}: row {row} (label {label!r}) has no valid label: {why}")
    if dtype.kind == "f" and isinstance(label, float) and not (
            label.is_integer() and all(float(value).is_integer() for value in known)):
        return ValueError(
            f"{owner}: Unknown label type: continuous (at row {row} there are more than {room}"
            " different values)")
    if room == 2:
        return ValueError(
            f"{owner}: Only binary classification is supported. The type of the target is"
            f" multiclass: row {row} has {label!r} in addition to {known};"
            f" give {owner} n_classes= if it has that parameter, or OneVsOne(learner={owner}())")
    return ValueError(
        f"{owner}: row {row} has {label!r} in addition to {known}:"
        f" more than n_classes={room} labels; {MORE_ROOM}")


def as_object(y):
    """The Python value of a NumPy scalar, None of what is missing; anything else unchanged, also a
    date in nanoseconds, which as a Python value would be an int."""
    if is_missing(y):
        return None
    if not isinstance(y, np.generic) or (y.dtype.kind in "mM" and isinstance(y.item(), int)):
        return y
    return y.item()


def is_missing(y):
    """Whether it is pandas' NA, or masked."""
    return type(y).__name__ in ("NAType", "MaskedConstant")


def as_array(values):
    """`np.asarray`, with None in the place of what is missing: as a number that is NaN."""
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        return np.where(values.mask, None, values.data)
    array = np.asarray(values)
    if array.dtype.kind == "O" and any(missing := [is_missing(y) for y in array.flat]):
        array = np.where(np.reshape(missing, array.shape), None, array)
    return array


def as_object_array(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_number(y):
    return isinstance(y, (bool, int, float, np.number, np.bool_))


def are_mixed(values):
    """Whether words and numbers are among the labels."""
    return any(isinstance(y, str) for y in values) and any(map(is_number, values))


def as_words(values):
    """The labels with words in the place of numbers: "5" for 5 and for 5.0."""
    return [str(int(y) if isinstance(y, float) and y.is_integer() else y)
            if is_number(y) and is_label(y) else y for y in values]


def is_scalar(y):
    return isinstance(y, (bool, int, float, str, bytes))


def equal(y, value):
    """y == value, ndarray of shape (n,), bool; a sequence is one label."""
    if y.dtype == object or not is_scalar(value):
        value = as_object_array([value])
    return np.asarray(y == value, dtype=bool) & np.ones(len(y), bool)


def is_label(y):
    """False for None (no label), NaN (not equal to itself) and infinity (a failed measurement)."""
    if isinstance(y, np.inexact):
        y = y.item()
    return y is not None and bool(y == y) and not (isinstance(y, float) and isinf(y))


def unfit(y):
    """Why `y`, a Python value, cannot be learned as a label; None if it can. What a snapshot could
    not hold, or an array of labels would change, is refused when it comes."""
    if isinstance(y, MUTABLE):
        return f"it is of type {type(y).__name__}, which may change; take a tuple"
    if not is_label(y):
        return "it is None, NaN or infinite"
    if isinstance(y, (np.datetime64, np.timedelta64)):
        return "Python has no such date; take y.astype('datetime64[us]'), or a str"
    if isinstance(y, bytes):
        return "it is bytes; decode them to a str"
    if isinstance(y, int) and not -(1 << 63) <= y < (1 << 63):
        return "it does not fit 64 bits"
    if isinstance(y, str):
        try:
            n_bytes = len(y) if y.isascii() else len(y.encode())
        except UnicodeEncodeError:
            return "it has half of a surrogate pair, which UTF-8 cannot hold"
        if n_bytes > MAX_TEXT:
            return f"it has more than {MAX_TEXT} bytes"
        if y.endswith("\0"):
            return "it ends with a NUL, which NumPy's strings drop"
    return None


def are_labels(values, room):
    """Whether there are 2 to `room` labels, all different."""
    return 2 <= len(values) <= room and all(map(is_label, values)) and not any(
        bool(values[i] == values[j]) for i in range(len(values)) for j in range(i))


def sort_labels(values):
    """The labels sorted, or as they are if they cannot be ordered."""
    return [values[slot] for slot in sort_slots(values)]


def sort_slots(values):
    try:
        return sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        return list(range(len(values)))
