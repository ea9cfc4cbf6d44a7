# Result of a core's step; status.py has the same for Python.

cdef enum Status:
    UNCHANGED = 0    # learned; the model is unchanged
    CHANGED = 1      # learned; the model changed
    NOT_FINITE = 2   # refused: a feature is NaN or infinite, or too large to square in this dtype
    BAD_WEIGHT = 3   # refused: the weight is negative, not finite, or too small or large to use
    UNKNOWN_LABEL = 4  # refused: a label beyond the number of classes, or not in `classes`
    FULL = 5         # refused: there is no room for another sample
    BAD_TARGET = 6   # refused: the target of a regressor is NaN, infinite or too large
