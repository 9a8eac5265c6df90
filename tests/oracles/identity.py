"""Permanent ids and events of clusters in slow, plain Python, which those of the core are compared with.

It sees a model before and after a change, is independent of how the core stores ids, and applies the rules
one after the other. Nodes have keys that rise in the order in which they were created. Nothing is imported
from everclust, so that both cannot share a mistake.
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


class Expected(NamedTuple):
    """An expected event; its centre is compared up to rounding, the rest exactly."""

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
    """The id of every active node, and the events so far."""

    def __init__(self, ids: dict[int, int] | None = None) -> None:
        self.id_of = dict(ids or {})  # of active nodes
        self.next_id = max(self.id_of.values(), default=-1) + 1
        self.events: list[Expected] = []
        self.nodes: Nodes = {}

    def update(self, sample: int, nodes: Nodes) -> None:
        """Compare the nodes after a sample with those before it."""
        known = self.nodes | nodes  # an evicted node counts as it was before
        events = self.gone(sample, known, nodes)
        parts = self.parts(nodes)
        part_id = self.split(sample, parts, nodes, events)
        self.id_of = self.merge(sample, part_id, nodes, events)
        self.create(sample, nodes, events)
        self.events += sorted(
            events, key=lambda event: (KINDS.index(event.kind), (event.before + event.after)[0])
        )
        self.nodes = nodes

    def gone(self, sample: int, known: Nodes, nodes: Nodes) -> list[Expected]:
        """A cluster without an active node is gone."""
        still = {c for k, c in self.id_of.items() if k in nodes and nodes[k].active}
        events = []
        for c in sorted(set(self.id_of.values()) - still):
            former = [k for k in self.id_of if self.id_of[k] == c]
            size = sum(known[k].usage for k in former)
            events.append(Expected(sample, "gone", (c,), (), (size,), centre(former, known)))
        return events

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

    def split(
        self, sample: int, parts: dict[int, list[Part]], nodes: Nodes, events: list[Expected]
    ) -> dict[Part, int]:
        """The largest part of a cluster keeps its id, the oldest on ties; the others get new ids."""
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
                events.append(Expected(sample, "split", (c,), after, sizes, present_centre(keeper, nodes)))
        return part_id

    def merge(
        self, sample: int, part_id: dict[Part, int], nodes: Nodes, events: list[Expected]
    ) -> dict[int, int]:
        """The largest part of a component gives it its id, the oldest on ties."""
        at: dict[int, list[Part]] = {}
        for part in sorted(part_id, key=lambda part: part.nodes[0]):
            at.setdefault(nodes[part.nodes[0]].component, []).append(part)
        id_of = {}
        for component, here in at.items():
            giver = largest(here)
            for k in active_nodes(component, nodes):
                id_of[k] = part_id[giver]
            if len(here) > 1:
                rest = sorted((part for part in here if part != giver), key=lambda part: part_id[part])
                before = (part_id[giver], *(part_id[part] for part in rest))
                sizes = (giver.size, *(part.size for part in rest))
                events.append(
                    Expected(sample, "merged", before, before[:1], sizes, present_centre(giver, nodes))
                )
        return id_of

    def create(self, sample: int, nodes: Nodes, events: list[Expected]) -> None:
        """Active nodes of a component without a cluster are a new one."""
        for k in sorted(nodes):
            if nodes[k].active and k not in self.id_of:
                members = active_nodes(nodes[k].component, nodes)
                c = self.new_id()
                self.id_of |= dict.fromkeys(members, c)
                size = sum(nodes[j].usage for j in members)
                events.append(Expected(sample, "born", (), (c,), (size,), centre(members, nodes)))

    def new_id(self) -> int:
        self.next_id += 1
        return self.next_id - 1


def largest(parts: list[Part]) -> Part:
    """The part with the most usage; of equals the first."""
    return max(parts, key=lambda part: part.size)


def active_nodes(component: int, nodes: Nodes) -> list[int]:
    """Active nodes of a component."""
    return [k for k in sorted(nodes) if nodes[k].active and nodes[k].component == component]


def present_centre(part: Part, nodes: Nodes) -> np.ndarray:
    """Centre of the cluster that a part is now in."""
    return centre(active_nodes(nodes[part.nodes[0]].component, nodes), nodes)


def centre(members: list[int], nodes: Nodes) -> np.ndarray:
    """Usage-weighted mean position."""
    usage = np.array([nodes[k].usage for k in members], float)
    return usage @ np.array([nodes[k].position for k in members]) / usage.sum()
