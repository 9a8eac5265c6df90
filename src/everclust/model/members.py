"""Which hand-over cluster every node was in at the latest update of ids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.layout import NO_CLUSTER


class Members(NamedTuple):
    """Clusters of nodes, which are named by their births: indices of nodes change, births do not.

    All columns of a node that is not a member are NO_CLUSTER.
    """

    births: np.ndarray  # rising
    told: np.ndarray  # id of the cluster that events have put the node in, or NO_CLUSTER
    candidate: np.ndarray  # id of the cluster that it was last found in without being told, or NO_CLUSTER
    wins: np.ndarray  # at the latest look at absences, or when the node became a member

    def of(self, births: np.ndarray) -> Members:
        """The members with these births; those that are new are in no cluster."""
        if not len(self.births):
            return Members(births, *np.full((3, len(births)), NO_CLUSTER))
        place = np.minimum(np.searchsorted(self.births, births), len(self.births) - 1)
        known = self.births[place] == births
        return Members(births, *(np.where(known, column[place], NO_CLUSTER) for column in self[1:]))


NO_MEMBERS = Members(*np.empty((4, 0), np.int64))
