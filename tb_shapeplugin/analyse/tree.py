"""Figures of module subtrees in which a thing held at several places counts once."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

# What a module itself holds: its index, the identity of the thing (a tensor, a storage), its size.
Holding: TypeAlias = tuple[int, int, int]


def subtree_sums(parents: Sequence[int], holdings: Iterable[Holding]) -> list[int]:
    """Sum of sizes per subtree, each identity once; where its sizes differ, as views of one storage do, the largest.

    The list has one entry a module and a last one for all of them together. Parents stand before their children; a root's is -1.

    Example:
        >>> subtree_sums([-1, 0, 0], [(1, 7, 10), (2, 7, 10), (2, 8, 5)])
        [15, 10, 15, 15]
    """
    by_identity: dict[int, list[Holding]] = {}
    for holding in holdings:
        by_identity.setdefault(holding[1], []).append(holding)
    sums = [0] * (len(parents) + 1)
    shared = []
    for same in by_identity.values():
        if len(same) == 1:  # nearly all of them: these go up the tree together, however deep it is
            ((module, _, size),) = same
            sums[module] += size
            sums[-1] += size
        else:
            shared.append(same)
    for module in range(len(parents) - 1, -1, -1):
        if parents[module] >= 0:
            sums[parents[module]] += sums[module]
    for same in shared:
        largest: dict[int, int] = {}
        for module, _, size in same:
            for above in ancestry(parents, module):
                largest[above] = max(largest.get(above, 0), size)
        for module, size in largest.items():
            sums[module] += size
        sums[-1] += max(size for _, _, size in same)
    return sums


def marked_subtrees(parents: Sequence[int], marked: Iterable[int]) -> set[int]:
    """The marked modules and all modules above one.

    Example:
        >>> sorted(marked_subtrees([-1, 0, 0], [2]))
        [0, 2]
    """
    found: set[int] = set()
    for module in marked:
        for above in ancestry(parents, module):
            if above in found:
                break
            found.add(above)
    return found


def ancestry(parents: Sequence[int], module: int) -> Iterable[int]:
    """The module, its parent, and so on up to its root.

    Example:
        >>> list(ancestry([-1, 0, 1], 2))
        [2, 1, 0]
    """
    while module >= 0:
        yield module
        module = parents[module]
