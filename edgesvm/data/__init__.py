"""Sources of rows: files, arrays and generators, all read in chunks of `Rows`.

>>> from edgesvm.data import Checkerboard
>>> X, y = Checkerboard(seed=1).read(1000)

A `RowSource` has ``n_features`` and ``chunks(rows)``. Npz files, recordings and arrays
(`Source`) start over with each pass; a `Stream` (`Checkerboard` and the other synthetic sets, a CSV
file) is read once.
"""

from typing import TYPE_CHECKING

from edgesvm.catalogue import on_first_use

if TYPE_CHECKING:
    from edgesvm.contract.sparse import SparseRows
    from edgesvm.data.csv_rows import CsvRows
    from edgesvm.data.datasets import (
        SETS,
        Checkerboard,
        Gauss,
        NoisyCrossedNorm,
        RingNorm,
        TwoNorm,
        Waveform,
    )
    from edgesvm.data.npz import NpzRows
    from edgesvm.data.rows import Rows, RowSource, SampleSource, Stream
    from edgesvm.data.sources import Source
    from edgesvm.errors import RowsError

_NAMES = {
    "datasets": "SETS Checkerboard Gauss NoisyCrossedNorm RingNorm TwoNorm Waveform",
    "csv_rows": "CsvRows",
    "npz": "NpzRows",
    "rows": "RowSource Rows SampleSource Stream",
    "sources": "Source",
}
_MODULE_OF = {name: f"edgesvm.data.{m}" for m, names in _NAMES.items() for name in names.split()}
_MODULE_OF |= {"RowsError": "edgesvm.errors", "SparseRows": "edgesvm.contract.sparse"}

__all__ = [
    "SETS",
    "Checkerboard",
    "CsvRows",
    "Gauss",
    "NoisyCrossedNorm",
    "NpzRows",
    "RingNorm",
    "RowSource",
    "Rows",
    "RowsError",
    "SampleSource",
    "Source",
    "SparseRows",
    "Stream",
    "TwoNorm",
    "Waveform",
]


__getattr__ = on_first_use(__name__, _MODULE_OF)
