"""Sources of rows: files, arrays and generators, all read in chunks of `Rows`.

>>> from edgesvm.data import Checkerboard
>>> X, y = Checkerboard(seed=1).read(1000)

A `RowSource` has ``n_features`` and ``chunks(rows)``. Npz files, recordings and arrays
(`Source`) start over with each pass; a `Stream` (`Checkerboard` and the other synthetic sets, a CSV
file) is read once.
"""

from edgesvm.catalogue import names_of, on_first_use

_NAMES = {
    "datasets": "SETS Checkerboard Gauss NoisyCrossedNorm RingNorm TwoNorm Waveform",
    "csv_rows": "CsvRows",
    "npz": "NpzRows",
    "rows": "RowSource Rows SampleSource Stream",
    "sources": "Source",
    "edgesvm.contract.sparse": "SparseRows",
    "edgesvm.errors": "RowsError",
}
_MODULE_OF = names_of(__name__, _NAMES)

__all__ = sorted(_MODULE_OF)  # noqa: PLE0605
__getattr__ = on_first_use(__name__, _MODULE_OF)
