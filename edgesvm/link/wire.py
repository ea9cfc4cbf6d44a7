"""The bytes of a binary link under one name: its `frames`, and the `bodies` of control frames.

The latter are imported on first use, since a text link does not need them.
"""

from typing import TYPE_CHECKING

from edgesvm.lazy import on_first_use
from edgesvm.link.frames import *  # noqa: F403  (its constants, one by one, would be 60 lines)

if TYPE_CHECKING:
    from edgesvm.link.bodies import (  # noqa: F401  (for those who import it from here)
        Ack,
        Command,
        Estimate,
        Heartbeat,
        Hello,
        Label,
        Prediction,
        ScalePage,
        Schema,
        Target,
    )

_BODIES = (
    *("Ack", "Command", "Heartbeat", "Hello", "Label", "Prediction", "ScalePage", "Schema"),
    *("Estimate", "Target"),
)
__getattr__ = on_first_use(__name__, dict.fromkeys(_BODIES, "edgesvm.link.bodies"))
