"""Result of a core's step, for C and Python; defined in status.pxd."""
