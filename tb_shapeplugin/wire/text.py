"""Text that UTF-8 can hold."""


def storable_text(text: str) -> str:
    """The text, with lone surrogates (as in names of files that aren't UTF-8) written out as escapes.

    Example:
        >>> storable_text("ok"), storable_text("caf\\udce9.py")
        ('ok', 'caf\\\\udce9.py')
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
