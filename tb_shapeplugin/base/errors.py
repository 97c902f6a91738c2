"""The two kinds of errors: a wrong call by the user, and a fault of our own."""


class ShapesError(Exception):
    """A wrong call of this library; the message says what, where, the values and the way out.

    Example:
        >>> raise ShapesError("execution is 'fast'. Use 'auto', 'fake' or 'real'.")
        Traceback (most recent call last):
        tb_shapeplugin.base.errors.ShapesError: execution is 'fast'. Use 'auto', 'fake' or 'real'.
    """


class InternalError(Exception):
    """A fault of this library; never shown to a training loop, turned into one warning instead."""


class RecordError(Exception):
    """Bytes that are no readable record; the message says why and what to do."""
