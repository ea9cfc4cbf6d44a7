from edgesvm.data.csv_rows import CsvRows
from edgesvm.data.npz import NpzRows

__all__ = ["CsvRows", "NpzRows"]
