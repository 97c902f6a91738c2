"""Finds import cycles in a graph of modules."""

from collections.abc import Mapping


def find_cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """One closed path per cycle found by a depth-first walk; every knot of modules shows up with at least one.

    Example:
        >>> find_cycles({"a": {"b"}, "b": {"a"}, "c": {"a"}})
        [['a', 'b', 'a']]
    """
    cycles: list[list[str]] = []
    done: set[str] = set()
    for start in sorted(graph):
        _walk(start, graph, [], done, cycles)
    return cycles


def _walk(node: str, graph: Mapping[str, set[str]], path: list[str], done: set[str], cycles: list[list[str]]) -> None:
    if node in path:
        cycles.append([*path[path.index(node) :], node])
        return
    if node in done:
        return
    for neighbour in sorted(graph.get(node, ())):
        _walk(neighbour, graph, [*path, node], done, cycles)
    done.add(node)
