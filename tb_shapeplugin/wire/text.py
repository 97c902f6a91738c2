"""Text as it is stored: what UTF-8 can hold, and tables of strings without what each begins with as the one before does."""

from collections.abc import Iterable, Sequence

from tb_shapeplugin.wire.envelope import MAX_MESSAGE_BYTES


def storable_text(text: str) -> str:
    """The text, with lone surrogates (as in names of files that aren't UTF-8) written out as escapes.

    Example:
        >>> storable_text("ok"), storable_text("caf\\udce9.py")
        ('ok', 'caf\\\\udce9.py')
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def shortened(strings: Iterable[str]) -> tuple[list[int], list[str]]:
    """How many characters each string shares with the one before at its beginning, and the rest of each.

    Paths of modules and parameters stand in order, so most of each is the one before; zipping them alone takes half more.
    Only ASCII is shared: it counts alike in UTF-8, in Python and in JavaScript.

    Example:
        >>> shortened(["layer.0", "layer.1", "head"])
        ([0, 6, 0], ['layer.0', '1', 'head'])
    """
    prefixes, rests = [], []
    before = ""
    for text in strings:
        shared = 0
        for one, other in zip(before, text, strict=False):
            if one != other or one > "\x7f":
                break
            shared += 1
        prefixes.append(shared)
        rests.append(text[shared:])
        before = text
    return prefixes, rests


def lengthened(prefixes: Sequence[int], rests: Sequence[str]) -> tuple[str, ...]:
    """The whole strings again; without prefixes the rests are whole. ValueError where they don't belong together, or grow too long.

    Example:
        >>> lengthened([0, 6, 0], ["layer.0", "1", "head"])
        ('layer.0', 'layer.1', 'head')
    """
    if not prefixes:
        return tuple(rests)
    if len(prefixes) != len(rests):
        raise ValueError(f"shared_prefix has {len(prefixes)} rows, strings has {len(rests)}")
    strings: list[str] = []
    before, left = "", MAX_MESSAGE_BYTES
    for shared, rest in zip(prefixes, rests, strict=True):
        if shared > len(before):
            raise ValueError(f"a string shares {shared} characters with one of {len(before)}")
        before = before[:shared] + rest
        left -= len(before)
        if left < 0:
            raise ValueError(f"its strings take more than {MAX_MESSAGE_BYTES:,} characters")
        strings.append(before)
    return tuple(strings)
