"""Labels found by their bytes are those found by comparing."""

import numpy as np
from each import each

from edgesvm.contract.labels import Labels

COLUMNS = {
    "ints": np.array([3, -1, 3, -1, 7, 3]),
    "small ints": np.array([3, 200, 3, 200], np.uint8),
    "other byte order": np.array([3, -1, 258, -1], ">i4"),
    "every other": np.array([3, 9, -1, 9, 3, 9])[::2],
    "backwards": np.array([3, 5, -1, 5])[::-1],
    "bools": np.array([True, False, True]),
    "floats": np.array([0.0, 1.0, -0.0, 1.0, 2.0]),
    "halves": np.array([0.5, -0.0, 1.5], np.float16),
    "not aligned": np.frombuffer(b"\0" + np.array([3, -1, 3], "i8").tobytes(), "i8", offset=1),
    "text": np.array(["warm", "cold", "warm", "", "cold"]),
    "bytes": np.array([b"a", b"bcd", b"a"]),
    "long": np.array([1.0, 2.0, 1.0], np.longdouble),
}
KNOWN = [
    [],
    [3, -1],
    [True, False],
    [1.0, 0.0],
    [0.5, 1],
    [300, 60000],
    ["cold", "warmer"],
    [b"a", "a"],
    ["warm", "warm\0"],
]


def found(values, closed, room, column):
    slots, n_known = Labels.restore(values, closed, room).encode(column)
    return slots[:n_known].tolist(), n_known


@each("column", COLUMNS.values(), ids=COLUMNS)
@each("values", KNOWN)
@each("room", [2, 4])
def test_as_by_comparing(column, values, room):
    """An array of objects is compared, label by label."""
    objects = np.empty(len(column), object)
    objects[:] = column.tolist()
    for closed in (False, True)[: 1 + (len(values) >= 2)]:
        assert found(values, closed, room, column) == found(values, closed, room, objects)
