"""Base of the stages: a learner behind a map of its samples, in one arena."""

from __future__ import annotations

from dataclasses import dataclass

from edgesvm.budget import Table
from edgesvm.learners.wrapper import Shell

Arrays = Table


@dataclass(kw_only=True, eq=False, repr=False)
class Stage(Shell):
    """Base of learners that map a sample and have another learner learn what comes out.

    A subclass adds `_own_arrays`, and `_width` if there are more features behind it.
    """

    _of_classes = False

    def _own_arrays(self, n_features: int) -> Arrays:
        """The arrays of the stage, the mapped sample last."""
        raise NotImplementedError

    def _arrays(self, n_features: int) -> Arrays:
        return [*self._own_arrays(n_features), *self.inner._arrays(self._width(n_features))]
