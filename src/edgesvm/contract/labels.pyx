"""The two labels of a learner: any objects that can be compared, mapped to slot 0 (-1) and slot 1
(+1)."""

from cpython.object cimport Py_EQ, PyObject_RichCompareBool
from libc.math cimport isinf

import numpy as np

cdef int UNKNOWN = -1


cdef class Labels:
    """Labels take slots in the order they come, so a stream may be cut anywhere.

    Users see them sorted, as scikit-learn has it; where the two orders differ, `sign` turns the
    decision value.

    Parameters
    ----------
    classes : None or sequence of two labels
        Named up front: slots in sorted order, and any other label is refused.
    """

    def __init__(self, classes=None):
        self.values = []
        self.sign = 1
        self.closed = classes is not None
        if self.closed:
            self.values = sort_labels([as_object(y) for y in classes])
            if not are_two_labels(self.values):
                raise ValueError(f"classes={list(classes)!r}: give two different labels")

    @classmethod
    def restore(cls, values, closed):
        """Labels as a snapshot holds them: `values` in slot order."""
        cdef Labels labels = cls()
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
        """The labels so far, sorted, ndarray of shape (0 to 2,)."""
        ordered = sort_labels(self.values)
        if len({type(y) for y in ordered}) > 1 or not all(map(is_scalar, ordered)):
            return as_object_array(ordered)
        return np.array(ordered)

    def of_slots(self, slots):
        """Labels of an ndarray of slots."""
        values = self.classes
        positions = slots if self.sign > 0 else 1 - slots
        return values[positions if len(self.values) == 2 else 0 * positions]

    cdef int find(self, y) except -2:
        """The slot of `y`: a known one, the next free one, or UNKNOWN. Takes no memory for ints,
        bools, strings."""
        cdef Py_ssize_t slot, n = len(self.values)
        for slot in range(n):
            if y is self.values[slot]:
                return <int> slot
        for slot in range(n):
            if PyObject_RichCompareBool(y, self.values[slot], Py_EQ):
                return <int> slot
        if self.closed or n == 2 or not is_label(y):
            return UNKNOWN
        return <int> n

    cdef int adopt(self, int slot, y) except -1:
        """Give the free `slot` to `y`; nothing where it is taken."""
        if slot < len(self.values):
            return 0
        self.values.append(as_object(y))
        if len(self.values) == 2 and sort_labels(self.values)[0] is not self.values[0]:
            self.sign = -1
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
        while True:
            matches = [equal(y, value) for value in values]
            strange = np.ones(len(y), bool)
            for match in matches:
                strange &= ~match
            row = int(strange.argmax()) if strange.any() else len(y)
            if row == len(y) or self.closed or len(values) == 2 or not is_label(as_object(y[row])):
                break
            newcomers.append((len(values), row, as_object(y[row])))
            values.append(as_object(y[row]))
        slots = matches[1].astype(np.int8) if len(matches) == 2 else np.zeros(len(y), np.int8)
        return slots, row, newcomers


def check_binary(y, owner):
    """Refuse a whole column of labels that no learner of two classes can learn.

    Raises
    ------
    ValueError
        A label is None, NaN or infinite, or there are more than two.
    """
    _, row, newcomers = Labels().encode(y)
    if row == len(y):
        return
    if not is_label(as_object(y[row])):
        raise ValueError(
            f"{owner}: row {row} (label {y[row]!r}) has no label: None, NaN or infinite")
    if y.dtype.kind == "f" and (y != np.trunc(y)).any():
        raise ValueError(f"{owner}: Unknown label type: continuous (row {row} has a third value)")
    known = [label for _, _, label in newcomers]
    raise ValueError(
        f"{owner}: Only binary classification is supported. The type of the target is multiclass:"
        f" row {row} has {y[row]!r} beside {known}")


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


def are_two_labels(values):
    return len(values) == 2 and all(map(is_label, values)) and bool(values[0] != values[1])


def sort_labels(values):
    """Sorted where the labels have an order, else as they came."""
    try:
        return sorted(values)
    except TypeError:
        return list(values)
