"""Which sizes would fit, as people say it: at least, at most, a multiple, the roundest; asked of a function that answers for one size."""

from collections.abc import Callable, Iterable

_NEAR = 16  # sizes around the present one that are tried
_MOST_ALIKE = 128  # sizes that run alike: five halvings drop up to 31
_LARGEST_MULTIPLE = 64
_LARGEST = 4096  # side that is searched for
_USUAL = (16, 28, 32, 48, 64, 96, 128, 160, 192, 224, 256, 299, 320, 384, 448, 512, 640, 768, 1024)


def near(now: int) -> list[int]:
    """Sizes around the present one, ascending."""
    return [size for size in range(now - _NEAR, now + _NEAR + 1) if size > 0]


def required(now: int, runs: Callable[[int], bool], hints: Iterable[int] = ()) -> str:
    """What a size has to be, where it is no single number: at least, at most, a multiple; "" where no such thing is seen.

    Example:
        >>> required(50, lambda size: size % 4 == 0)
        'a multiple of 4'
    """
    if runs(now):
        return ""
    sizes = near(now)
    fitting = [size for size in sizes if runs(size)]
    if len(fitting) > 1 and fitting == sizes[-len(fitting) :] and runs(2 * now + _NEAR) and runs(3 * now + _NEAR):
        return f"{fitting[0]} at least"
    for most in (*fitting[-1:], *hints):
        if 3 < most < now and not runs(most + 1) and all(map(runs, (most, most - 1, most // 2, most // 3 + 1))):
            return f"{most} at most"
    for multiple in range(2, _LARGEST_MULTIPLE + 1):
        around = [step * multiple for step in range(now // multiple, now // multiple + 4) if step > 0]
        if now % multiple and all(map(runs, around)):
            return f"a multiple of {multiple}"
    return ""


def roundest(size: int, runs: Callable[[int], bool]) -> int:
    """Of the sizes next to one that run as well, because a remainder is dropped, the one that halves most often.

    Example:
        >>> roundest(30, lambda size: 28 <= size < 32)
        28
    """
    alike = [size]
    for step in (-1, 1):
        other = size + step
        while len(alike) < _MOST_ALIKE and runs(other):
            alike.append(other)
            other += step
    return max(alike, key=lambda other: (other & -other, -abs(other - size)))


def closest(now: int, runs: Callable[[int], bool]) -> int:
    """The size next to the present one that runs, else one that is usual; 0 where none does.

    Example:
        >>> closest(256, lambda size: size == 224)
        224
    """
    tried = [*sorted(near(now), key=lambda size: abs(size - now)), *sorted(_USUAL, key=lambda size: abs(size - now))]
    return next((size for size in tried if runs(size)), 0)


def reaching(wanted: int, value: Callable[[int], int]) -> int:
    """The smallest size at which a value that grows with the size is the wanted one; 0 where it is at none.

    Example:
        >>> reaching(400, lambda size: 16 * (size // 6) ** 2)
        30
    """
    low, high = 1, _LARGEST
    while low < high:
        middle = (low + high) // 2
        if value(middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low if value(low) == wanted else 0
