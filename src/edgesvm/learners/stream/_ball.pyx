"""The limits that the inline functions of _ball.pxd go by."""

from edgesvm.learners.stream.constants import (
    LARGEST_HELD, LARGEST_SQUARE, LEVEL, SHARES_WITHIN)     # no-cython-lint
