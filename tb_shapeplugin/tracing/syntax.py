"""A source file's syntax tree, parsed once for all who look something up in it."""

import ast
import functools
import linecache


def syntax_tree(filename: str) -> ast.Module:
    """The tree of a file, or of a notebook's cell; an empty one where its text isn't to be had.

    Example:
        >>> syntax_tree("nowhere.py").body
        []
    """
    return _parsed("".join(linecache.getlines(filename)))


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
