"""Which cluster is which, in slow, plain Python: what the permanent ids of the core are compared with.

It looks at a model before and after something has happened, knows nothing of how the core remembers, and
applies the rules one after the other. Nodes go by keys that rise in the order in which they were born.
Nothing is imported from everclust, so a slip in one is not a slip in both.
"""

from typing import NamedTuple

import numpy as np

KINDS = ("gone", "split", "merged", "born")


class Node(NamedTuple):
    """One node of a model."""

    usage: int
    active: bool
    component: int  # the same for nodes that edges connect, whether they are active or not
    position: tuple[float, ...]


class Told(NamedTuple):
    """An event; the centre is compared up to rounding, the rest exactly."""

    sample: int
    kind: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    sizes: tuple[int, ...]
    centre: np.ndarray


class Part(NamedTuple):
    """Nodes that were in one cluster before and are in one component now."""

    nodes: tuple[int, ...]
    size: int


Nodes = dict[int, Node]


class Identities:
    """The id of every active node, and what has happened so far."""

    def __init__(self, ids: dict[int, int] | None = None) -> None:
        self.id_of = dict(ids or {})  # of active nodes
        self.next_id = max(self.id_of.values(), default=-1) + 1
        self.told: list[Told] = []
        self.nodes: Nodes = {}

    def look(self, sample: int, nodes: Nodes) -> None:
        """See the model after something has happened at that sample."""
        known = self.nodes | nodes  # a node that is no more is as it was
        told = self.gone(sample, known, nodes)
        parts = self.parts(nodes)
        part_id = self.share_out(sample, parts, nodes, told)
        self.id_of = self.come_together(sample, part_id, nodes, told)
        self.bear(sample, nodes, told)
        self.told += sorted(
            told, key=lambda event: (KINDS.index(event.kind), (event.before + event.after)[0])
        )
        self.nodes = nodes

    def gone(self, sample: int, known: Nodes, nodes: Nodes) -> list[Told]:
        """A cluster whose last active node has retired is gone."""
        still = {c for k, c in self.id_of.items() if k in nodes and nodes[k].active}
        told = []
        for c in sorted(set(self.id_of.values()) - still):
            former = [k for k in self.id_of if self.id_of[k] == c]
            size = sum(known[k].usage for k in former)
            told.append(Told(sample, "gone", (c,), (), (size,), centre(former, known)))
        return told

    def parts(self, nodes: Nodes) -> dict[int, list[Part]]:
        """By id, the parts of each cluster, the one with the oldest node first."""
        members: dict[tuple[int, int], list[int]] = {}
        for k in sorted(self.id_of):
            if k in nodes and nodes[k].active:
                members.setdefault((self.id_of[k], nodes[k].component), []).append(k)
        parts: dict[int, list[Part]] = {}
        for (c, _), ks in members.items():
            parts.setdefault(c, []).append(Part(tuple(ks), sum(nodes[k].usage for k in ks)))
        return parts

    def share_out(
        self, sample: int, parts: dict[int, list[Part]], nodes: Nodes, told: list[Told]
    ) -> dict[Part, int]:
        """The largest part keeps the id, the oldest on ties; the others are given new ones."""
        part_id = {}
        for c, of_cluster in parts.items():
            keeper = largest(of_cluster)
            part_id[keeper] = c
            for part in of_cluster:
                if part != keeper:
                    part_id[part] = self.new_id()
            if len(of_cluster) > 1:
                rest = [part for part in of_cluster if part != keeper]
                after = (c, *(part_id[part] for part in rest))
                sizes = (keeper.size, *(part.size for part in rest))
                told.append(Told(sample, "split", (c,), after, sizes, now_around(keeper, nodes)))
        return part_id

    def come_together(
        self, sample: int, part_id: dict[Part, int], nodes: Nodes, told: list[Told]
    ) -> dict[int, int]:
        """In every component the largest part gives its id to all, the oldest on ties."""
        at: dict[int, list[Part]] = {}
        for part in sorted(part_id, key=lambda part: part.nodes[0]):
            at.setdefault(nodes[part.nodes[0]].component, []).append(part)
        id_of = {}
        for component, here in at.items():
            giver = largest(here)
            for k in together(component, nodes):
                id_of[k] = part_id[giver]
            if len(here) > 1:
                rest = sorted((part for part in here if part != giver), key=lambda part: part_id[part])
                before = (part_id[giver], *(part_id[part] for part in rest))
                sizes = (giver.size, *(part.size for part in rest))
                told.append(Told(sample, "merged", before, before[:1], sizes, now_around(giver, nodes)))
        return id_of

    def bear(self, sample: int, nodes: Nodes, told: list[Told]) -> None:
        """Active nodes of a component where there was no cluster are a new one."""
        for k in sorted(nodes):
            if nodes[k].active and k not in self.id_of:
                members = together(nodes[k].component, nodes)
                c = self.new_id()
                self.id_of |= dict.fromkeys(members, c)
                size = sum(nodes[j].usage for j in members)
                told.append(Told(sample, "born", (), (c,), (size,), centre(members, nodes)))

    def new_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1


def largest(parts: list[Part]) -> Part:
    """The one with the most usage; of equals the first."""
    return max(parts, key=lambda part: part.size)


def together(component: int, nodes: Nodes) -> list[int]:
    """The active nodes of a component."""
    return [k for k in sorted(nodes) if nodes[k].active and nodes[k].component == component]


def now_around(part: Part, nodes: Nodes) -> np.ndarray:
    """Centre of the cluster that a part is in now."""
    return centre(together(nodes[part.nodes[0]].component, nodes), nodes)


def centre(members: list[int], nodes: Nodes) -> np.ndarray:
    """Mean position, by usage."""
    usage = np.array([nodes[k].usage for k in members], float)
    return usage @ np.array([nodes[k].position for k in members]) / usage.sum()
