"""Lines of a text file, cut into cells."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from edgesvm.core.text import tidied
from edgesvm.data._cells import number, plain_rows

READ = 1 << 16  # bytes
LONGEST = 1 << 20  # characters of a line, which ends there
UTF16 = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE  # how such files begin
NOTHING = np.empty((1, 1))
CP1252 = "edgesvm-cp1252"
foreign = [0]  # how many bytes were no UTF-8, in any file


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    """The character of a byte that is no UTF-8."""
    assert isinstance(error, UnicodeDecodeError)
    foreign[0] += 1
    at, byte = error.start, error.object[error.start : error.start + 1]
    return byte.decode("cp1252", "ignore") or chr(byte[0]), at + 1


codecs.register_error(CP1252, _as_cp1252)


def blocks(chunks: Iterator[bytes]) -> Iterator[str]:
    """Whole lines of a text: UTF-16 by its mark, or UTF-8 in which other bytes are cp1252."""
    first = next(chunks, b"")
    code = ("utf-16", "replace") if first[:2] in UTF16 else ("utf-8-sig", CP1252)
    decoder = codecs.getincrementaldecoder(code[0])(code[1])
    lines, held = io.IncrementalNewlineDecoder(decoder, translate=True), ""
    for chunk in chain([first], chunks):
        held += lines.decode(chunk)
        if at := held.rfind("\n") + 1:
            yield held[:at]
            held = held[at:]
        elif len(held) > LONGEST:
            yield held + "\n"
            held = ""
    yield held + lines.decode(b"", final=True) + "\n"


class Lines:
    """Rows of cells: lines that are not blank, of chunks of bytes. They end with CR, LF or both;
    `number` is that of the last one read, from 1. `tidies`: names, units and such are taken out."""

    def __init__(
        self, chunks: Iterable[bytes], separator: str = ",", *, tidies: bool = False
    ) -> None:
        self.separator, self.comma, self.number = separator, separator != ",", 0
        self._text, self._at = "\n", 1  # none yet
        self._blocks = blocks(iter(chunks))
        if tidies:
            self._blocks = ("\n".join(map(tidied, one.split("\n"))) for one in self._blocks)

    def read(self, n: int, read_by: list[Any], found: Any) -> tuple[int, list[str] | None]:
        """As `plain_rows` of all lines: the number of the row behind those read, and its cells."""
        line = None
        while line is None and n < len(found) and self._text:
            n, self._at, passed, line = plain_rows(
                self._text, self._at, self.separator, read_by, number, n, found
            )
            self.number += passed
            if line is None and n < len(found):
                self._text, self._at = next(self._blocks, ""), 0
        return n, None if line is None else self._cells(line)

    def row(self) -> list[str] | None:
        """The cells of the next row; None at the end."""
        return self.read(0, [], NOTHING)[1]

    def _cells(self, line: str) -> list[str]:
        is_blank = self.separator == " "
        if '"' not in line:
            return line.split() if is_blank else line.split(self.separator)
        try:
            return next(csv.reader([line], delimiter=self.separator, skipinitialspace=is_blank))
        except csv.Error:
            return [line]
