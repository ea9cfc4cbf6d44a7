"""The limits used by the inline functions of _ball.pxd."""

from edgesvm.learners.stream.constants import (
    MAX_STORED_SQUARE, MAX_SQUARE, LEVEL, SHARES_WITHIN)     # no-cython-lint
