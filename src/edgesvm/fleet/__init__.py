"""One model of many: learners that learned apart are merged.

>>> import numpy as np
>>> from edgesvm import StreamSVM
>>> from edgesvm.fleet import merged
>>> X = np.random.default_rng(0).standard_normal((200, 2)).astype(np.float32)
>>> parts = [StreamSVM().partial_fit(X[i::4], X[i::4, 0] > 0) for i in range(4)]
>>> merged(parts).n_seen_
200
"""

from typing import TYPE_CHECKING

from edgesvm.lazy import on_first_use

if TYPE_CHECKING:
    from edgesvm.fleet.merging import merged
    from edgesvm.fleet.pairs import MergeError

_MODULE_OF = {
    "MergeError": "edgesvm.fleet.pairs",
    "merged": "edgesvm.fleet.merging",
}

__all__ = ["MergeError", "merged"]

__getattr__ = on_first_use(__name__, _MODULE_OF)
