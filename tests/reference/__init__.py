"""The learners' cores in plain NumPy, written for a reader with the paper open.

The reference of class ``X`` in the compiled module ``_x`` is class ``XRef`` in ``reference.x``; for
a module outside edgesvm, in ``_x_ref`` beside it. Both work on the same arena, so a test can
compare them byte by byte.
"""

from importlib import import_module

from edgesvm.contract.engine import ENGINES


def reference_of(compiled):
    """The reference of a compiled core."""
    package, _, name = compiled.__module__.rpartition(".")
    ours = package.partition(".")[0] == "edgesvm"
    module = f"{__name__}.{name.removeprefix('_')}" if ours else f"{compiled.__module__}_ref"
    return getattr(import_module(module), f"{compiled.__name__}Ref")


ENGINES["reference"] = reference_of
