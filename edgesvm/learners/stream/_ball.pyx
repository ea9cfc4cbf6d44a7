"""The limits used by the inline functions of _ball.pxd."""

from edgesvm.learners.stream.constants import (
    LEVEL, MAX_SQUARE, MAX_STORED_SQUARE, SHARES_WITHIN)  # no-cython-lint
