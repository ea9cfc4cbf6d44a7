"""The labels of a learner: any objects that can be compared, mapped to slots 0, 1, ...; of two,
slot 0 is the learner's -1 and slot 1 its +1."""

from cpython.object cimport Py_EQ, PyObject_RichCompareBool
from libc.math cimport isinf

import numpy as np

from edgesvm.errors import CorruptModelError

MOST_CLASSES = MAX_CLASSES
cdef int UNKNOWN = -1


cdef class Labels:
    """Labels take slots in the order they come, so a stream may be cut anywhere.

    Users see them sorted, as scikit-learn has it: `order` gives their slots so, and `sign` turns
    the decision value of two labels where the two orders differ.

    Parameters
    ----------
    classes : None or sequence of 2 to `room` labels
        Named up front: slots in sorted order, and any other label is refused.
    room : int, labels there can be, 2 to 127
    """

    def __init__(self, classes=None, room=2):
        self.values = []
        self.sign, self.room, self.n = 1, room, 0
        self.closed = classes is not None
        if self.closed:
            values = sort_labels([as_object(y) for y in classes])
            if not are_labels(values, room):
                most = "two" if room == 2 else f"two to {room}"
                raise ValueError(f"classes={list(classes)!r}: give {most} different labels")
            for slot, y in enumerate(values):
                self.adopt(slot, y)

    @classmethod
    def restore(cls, values, closed, room=2):
        """Labels as a snapshot holds them: `values` in slot order.

        Raises
        ------
        CorruptModelError
            More than there is room for, or named up front and not two.
        """
        cdef Labels labels = cls(room=room)
        if len(values) > room or (closed and len(values) < 2):
            raise CorruptModelError(
                f"the snapshot has {len(values)} labels of a learner of {room} classes")
        for slot, y in enumerate(values):
            labels.adopt(slot, y)
        labels.closed = closed
        return labels

    @property
    def in_slots(self):
        """The labels so far, tuple in slot order."""
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
        """Slots of the labels so far, as the labels sort."""
        return tuple([self.order[i] for i in range(self.n)])

    def names(self, classes):
        """Whether `classes` are the labels, all of them, in any order."""
        return Labels(classes, self.room).in_slots == tuple(sort_labels(self.values))

    def of_slots(self, slots):
        """Labels of an ndarray of slots."""
        cdef int i
        columns = np.zeros(self.room, np.intp)
        for i in range(self.n):
            columns[self.order[i]] = i
        return self.classes[columns[slots]]

    cdef int find(self, y) except -2:
        """The slot of `y`: a known one, the next free one, or UNKNOWN. Takes no memory for ints,
        bools, strings."""
        cdef int slot
        for slot in range(self.n):
            if y is self.values[slot]:
                return slot
        for slot in range(self.n):
            if PyObject_RichCompareBool(y, self.values[slot], Py_EQ):
                return slot
        if self.closed or self.n == self.room or not is_label(y):
            return UNKNOWN
        return self.n

    cdef int adopt(self, int slot, y) except -1:
        """Give the free `slot` to `y`; nothing where it is taken."""
        cdef int i
        if slot < self.n:
            return 0
        self.values.append(as_object(y))
        self.n += 1
        for i, sorted_slot in enumerate(sort_slots(self.values)):
            self.order[i] = sorted_slot
        self.sign = -1 if self.n == 2 and self.order[0] == 1 else 1
        return 0

    def slot_of(self, y):
        """`find` for Python: the slot, or -1."""
        return self.find(y)

    def take(self, slot, y):
        """`adopt` for Python."""
        self.adopt(slot, y)

    def encode(self, y):
        """Slots of many labels, adopting none.

        Parameters
        ----------
        y : ndarray of shape (n,)

        Returns
        -------
        slots : ndarray of shape (n,), int8; rows from `n_known` on are not to be used
        n_known : int, rows before the first unknown label
        newcomers : list of (slot, row, label), labels not yet adopted and where they first stand
        """
        values, newcomers = list(self.values), []
        slots, strange = np.zeros(len(y), np.int8), np.ones(len(y), bool)
        while True:
            for slot in range(len(values) - 1 if newcomers else 0, len(values)):
                matches = equal(y, values[slot])
                slots[matches] = slot
                strange &= ~matches
            row = int(strange.argmax()) if strange.any() else len(y)
            if row == len(y) or self.closed or len(values) == self.room or (
                    not is_label(as_object(y[row]))):
                return slots, row, newcomers
            newcomers.append((len(values), row, as_object(y[row])))
            values.append(as_object(y[row]))


def check_labels(y, owner, room=2):
    """Refuse a whole column of labels that no learner of `room` classes can learn.

    Raises
    ------
    ValueError
        A label is None, NaN or infinite, or there are more.
    """
    _, row, newcomers = Labels(room=room).encode(y)
    if row < len(y):
        raise unfit_label(y[row], row, owner, [label for _, _, label in newcomers], y.dtype, room)


def check_binary(y, owner):
    """`check_labels` of two classes."""
    check_labels(y, owner)


def unfit_label(label, row, owner, known, dtype, room=2):
    """The exception for the label of a row that a learner of the `known` labels cannot take up."""
    label = as_object(label)
    if not is_label(label):
        return ValueError(
            f"{owner}: row {row} (label {label!r}) has no label: None, NaN or infinite")
    if dtype.kind == "f" and isinstance(label, float) and not (
            label.is_integer() and all(float(value).is_integer() for value in known)):
        return ValueError(
            f"{owner}: Unknown label type: continuous (row {row} has one value more than {room})")
    if room == 2:
        return ValueError(
            f"{owner}: Only binary classification is supported. The type of the target is"
            f" multiclass: row {row} has {label!r} beside {known};"
            f" OneVsOne(learner={owner}(...), n_classes=...) learns more")
    return ValueError(
        f"{owner}: row {row} has {label!r} beside {known}: more than n_classes={room} labels")


def as_object(y):
    """A NumPy scalar as the Python value it holds; anything else as it is."""
    return y.item() if isinstance(y, np.generic) else y


def as_object_array(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_scalar(y):
    return isinstance(y, (bool, int, float, str, bytes))


def equal(y, value):
    """y == value, ndarray of shape (n,), bool; a value that is a sequence is one label, not
    many."""
    if y.dtype == object or not is_scalar(value):
        value = as_object_array([value])
    return np.asarray(y == value, dtype=bool) & np.ones(len(y), bool)


def is_label(y):
    """None stands for no label, NaN equals not even itself, infinity is a measurement gone
    wrong."""
    if isinstance(y, np.inexact):
        y = y.item()
    return y is not None and bool(y == y) and not (isinstance(y, float) and isinf(y))


def are_labels(values, room):
    """Two to `room` labels, no two of them equal."""
    return 2 <= len(values) <= room and all(map(is_label, values)) and not any(
        bool(values[i] == values[j]) for i in range(len(values)) for j in range(i))


def sort_labels(values):
    """Sorted where the labels have an order, else as they came."""
    return [values[slot] for slot in sort_slots(values)]


def sort_slots(values):
    try:
        return sorted(range(len(values)), key=values.__getitem__)
    except TypeError:
        return list(range(len(values)))
