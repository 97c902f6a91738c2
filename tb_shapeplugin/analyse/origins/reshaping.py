"""One step back through a reshape: the run of axes that a dim lies in says where its size comes from."""

from dataclasses import dataclass

from tb_shapeplugin.ops.reading import product, times
from tb_shapeplugin.record.values import Shape


@dataclass(frozen=True, slots=True)
class Share:
    """Of which axes before a dim after was made: one alone handed its size on, several were multiplied, or a run was taken apart.

    ``whole`` is the run's number of elements; ``axes`` are those of the run that aren't 1 long.
    """

    size: int
    axes: tuple[int, ...]
    same: int  # the axis that was handed on, -1 where none was
    whole: int

    @property
    def joined(self) -> bool:
        """Is the size the product of several axes?"""
        return self.same < 0 and len(self.axes) > 1 and self.size == self.whole

    def arithmetic(self, before: Shape) -> str:
        """The size as it came about, "" where the run says nothing of it.

        Example:
            >>> share((4, 6, 12, 12), (4, 864), 1).arithmetic((4, 6, 12, 12))
            '864 = 6·12·12'
        """
        factors = times(before[axis] for axis in self.axes)
        if self.joined:
            return f"{self.size} = {factors}"
        parts = self.whole // self.size if self.size and self.whole % self.size == 0 else 0
        if not self.axes or not parts:
            return ""
        return f"{self.size} = {f'({factors})' if len(self.axes) > 1 else factors}/{parts}"


def share(before: Shape, after: Shape, dim: int) -> Share:
    """What a dim of the shape after was made of.

    Example:
        >>> share((2, 50, 768), (2, 50, 12, 64), 1).same
        1
    """
    size = after[dim]
    inside, lead = run_of(before, after, dim)
    large = tuple(axis for axis in inside if before[axis] != 1)
    whole = product(before[axis] for axis in large)
    if size == whole and len(large) > 1:
        return Share(size, large, -1, whole)
    same = [axis for axis in inside if before[axis] == size]
    return Share(size, large, same[min(lead, len(same) - 1)] if same else -1, whole)


def run_of(before: Shape, after: Shape, dim: int) -> tuple[list[int], int]:
    """The axes before that hold the same elements as the run of axes after around ``dim``, and the dim's place in that run.

    Example:
        >>> run_of((4, 6, 12, 12), (4, 864), 1)
        ([1, 2, 3], 0)
    """
    for first, end, first_after, end_after in runs(before, after):
        if first_after <= dim < end_after:
            return list(range(first, end)), dim - first_after
    return [], 0


def runs(before: Shape, after: Shape) -> list[tuple[int, int, int, int]]:
    """The shortest runs of axes that hold the same elements, from the left: (first, end) before and (first, end) after.

    Example:
        >>> runs((4, 6, 12, 12), (4, 864))
        [(0, 1, 0, 1), (1, 4, 1, 2)]
    """
    found = []
    i = j = 0
    while j < len(after):
        first_i, first_j = i, j
        left, right = (before[i] if i < len(before) else 1), after[j]
        i, j = i + 1, j + 1
        while left != right and (i < len(before) or j < len(after)):
            if i < len(before) and (left < right or j >= len(after)):
                left, i = left * before[i], i + 1
            else:
                right, j = right * after[j], j + 1
        end = i if j < len(after) else len(before)
        found.append((min(first_i, len(before)), min(end, len(before)), first_j, j))
    return found
