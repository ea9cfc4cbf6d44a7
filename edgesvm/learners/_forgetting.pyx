"""The constants used by the inline functions of _forgetting.pxd."""

from edgesvm.learners.constants import (
    AT_A_DRIFT, DELTA, FORGETS_FOR, LEAST_HALF_LIFE,  # no-cython-lint
    LEAST_VARIANCE, MIN_SAMPLES, PACE, SOON, SOON_FOR)  # no-cython-lint
