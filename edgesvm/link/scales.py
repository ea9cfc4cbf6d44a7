"""The scale table of int16 samples, assembled from its pages."""

from __future__ import annotations

import zlib

import numpy as np

from edgesvm.link import wire


class ScaleTable:
    """The table of one schema; at most 8 bytes per feature, whatever is received.

    Pages are accepted in order, and page 0 starts over: after a lost page the node is asked again
    and sends them all.

    Attributes
    ----------
    rows : ndarray of shape (d, 2), float32, or None
        Scale and offset of each feature, once the table is complete.
    """

    def __init__(self, schema: wire.Schema) -> None:
        self.schema = schema
        self.rows: np.ndarray | None = None
        self._pairs = bytearray()
        self._next = 0
        if schema.scale_crc == 0:
            self.rows = np.tile(np.array([1, 0], np.float32), (schema.n_features, 1))

    def take(self, page: wire.ScalePage) -> bool:
        """Add a page; is the table complete now? BadBody if the page cannot belong to it."""
        if self.rows is not None:
            return False
        if page.page == 0:
            self._restart()
        if page.page != self._next:
            return False
        self._pairs += page.pairs
        self._next += 1
        if len(self._pairs) > 8 * self.schema.n_features:
            self._restart()
            raise wire.BadBody(f"the scale table has more than {self.schema.n_features} features")
        if self._next < page.pages:
            return False
        self.rows = self._assemble()
        return True

    def _assemble(self) -> np.ndarray:
        pairs = bytes(self._pairs)
        self._restart()
        if len(pairs) != 8 * self.schema.n_features or zlib.crc32(pairs) != self.schema.scale_crc:
            raise wire.BadBody("the scale table does not match the schema's length and CRC")
        rows = np.frombuffer(pairs, "<f4").reshape(-1, 2).astype(np.float32)
        if not np.isfinite(rows).all():
            raise wire.BadBody("the scale table has a value that is not finite")
        return rows

    def _restart(self) -> None:
        self._pairs.clear()
        self._next = 0
