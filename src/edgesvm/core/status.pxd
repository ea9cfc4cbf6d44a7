# What a step below the door answers. errors.py holds the one table from here to exceptions.

cpdef enum Status:
    UNCHANGED = 0    # learned; the model is as it was
    CHANGED = 1      # learned; the model moved
    NOT_FINITE = 2   # refused: a feature is NaN or infinite, or too large to square in this dtype
    BAD_WEIGHT = 3   # refused: the weight is negative, not finite, or too small to divide by
    UNKNOWN_LABEL = 4  # refused: a third label, or one that `classes` does not name
    FULL = 5         # refused: as many samples are held as there is room for
