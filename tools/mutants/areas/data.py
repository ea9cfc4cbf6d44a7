"""Rows of files, arrays and sources."""

from mutant import Area, mutants_of

AREA = Area(
    "data",
    ("tests/data",),
    (
        *mutants_of(
            "edgesvm/data/files.py",
            ('encoding="utf-8-sig"', 'encoding="utf-8"', "a byte order mark is part of a name"),
            ("return self._width - 1", "return 0", "the label is the first column by default"),
            (
                "if not _INT16.min <= value <= _INT16.max:",
                "if not _INT16.min <= value:",
                "a label above 16 bits is accepted",
            ),
            ("if len(cells) != self._width:", "if False:", "a row of another length is accepted"),
            (
                "if not -self._width <= at < self._width:",
                "if not at < self._width:",
                "a column far below zero is taken modulo the width",
            ),
            ("return at % self._width", "return at", "a label column counted from the end is kept"),
        ),
        *mutants_of(
            "edgesvm/data/sources.py",
            (
                "wrong = (places < 0) | (places >= len(self._X))",
                "wrong = places >= len(self._X)",
                "a negative row number is accepted",
            ),
            ("            first += n\n", "", "chunks do not number their rows"),
            ("            if n > rows:\n", "            if False:\n", "a chunk may be too large"),
            (
                "            if part.y is None:\n",
                "            if False:\n",
                "labels may be missing",
            ),
            (
                "            if isinstance(X, Stream):\n",
                "            if False:\n",
                "a stream is read a second time",
            ),
        ),
        *mutants_of(
            "edgesvm/data/rows.py",
            (
                "while len((chunk := self.read(rows)).X):",
                "while len((chunk := self.read(rows)).X) == rows:",
                "a last chunk that is not full is lost",
            ),
        ),
    ),
)
