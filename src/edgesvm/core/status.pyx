"""The answers of a step, as C and Python both see them (defined in status.pxd)."""
