"""One model of many: learners that learned apart are merged, and data in partitions are learned
where they lie.

>>> import numpy as np
>>> from edgesvm import StreamSVM
>>> from edgesvm.fleet import merged
>>> X = np.random.default_rng(0).standard_normal((200, 2)).astype(np.float32)
>>> parts = [StreamSVM().partial_fit(X[i::4], X[i::4, 0] > 0) for i in range(4)]
>>> merged(parts).n_seen_
200

`merged` and `start` need no other package. `fit` needs Dask (the extra ``fleet``), imported when
it is called.
"""

from typing import TYPE_CHECKING

from edgesvm.lazy import on_first_use

if TYPE_CHECKING:
    from edgesvm.fleet.fitting import fit
    from edgesvm.fleet.merging import merged
    from edgesvm.fleet.pairs import MergeError
    from edgesvm.fleet.partitions import PartitionError
    from edgesvm.fleet.starting import start

_MODULE_OF = {
    "MergeError": "edgesvm.fleet.pairs",
    "PartitionError": "edgesvm.fleet.partitions",
    "fit": "edgesvm.fleet.fitting",
    "merged": "edgesvm.fleet.merging",
    "start": "edgesvm.fleet.starting",
}

__all__ = ["MergeError", "PartitionError", "fit", "merged", "start"]

__getattr__ = on_first_use(__name__, _MODULE_OF)
