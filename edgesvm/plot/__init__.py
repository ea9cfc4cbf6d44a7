"""Pictures for notebooks: each function draws one thing on matplotlib's axes and returns them.

    from edgesvm import plot
    plot.decision_boundary(model, X, y)
    plot.accuracy(curve)

Needs matplotlib (the extra ``plot``), which is imported when something is drawn.
"""

from edgesvm.plot.boundary import decision_boundary
from edgesvm.plot.curves import accuracy, errors, features, reliability, scores, targets

__all__ = [
    "accuracy",
    "decision_boundary",
    "errors",
    "features",
    "reliability",
    "scores",
    "targets",
]
