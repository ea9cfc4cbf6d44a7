"""The limits used by the inline functions of _ball.pxd."""

from edgesvm.learners.stream.constants import (
    CLEARLY, LARGE, LEVEL, MAX_SQUARE, MAX_STORED_SQUARE, SHARES_WITHIN, SMALL)  # no-cython-lint
