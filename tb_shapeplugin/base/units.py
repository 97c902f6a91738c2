"""How numbers, bytes and compact tensor types are written, everywhere the same."""

from collections.abc import Sequence

_DTYPES = {
    # name of torch: (compact name, bytes of one element)
    "bool": ("bool", 1),
    "uint8": ("u8", 1),
    "int8": ("i8", 1),
    "uint16": ("u16", 2),
    "int16": ("i16", 2),
    "uint32": ("u32", 4),
    "int32": ("i32", 4),
    "uint64": ("u64", 8),
    "int64": ("i64", 8),
    "float16": ("f16", 2),
    "bfloat16": ("bf16", 2),
    "float32": ("f32", 4),
    "float64": ("f64", 8),
    "complex32": ("c32", 4),
    "complex64": ("c64", 8),
    "complex128": ("c128", 16),
    "quint8": ("qu8", 1),
    "qint8": ("qi8", 1),
    "qint32": ("qi32", 4),
    "float8_e4m3fn": ("f8e4m3", 1),
    "float8_e5m2": ("f8e5m2", 1),
    "float8_e4m3fnuz": ("f8e4m3fnuz", 1),
    "float8_e5m2fnuz": ("f8e5m2fnuz", 1),
    "float8_e8m0fnu": ("f8e8m0", 1),
}


def compact_dtype(dtype: str) -> str:
    """torch's dtype name in its short form; an unknown one stays as it is.

    Example:
        >>> compact_dtype("float32")
        'f32'
    """
    return _DTYPES.get(dtype, (dtype, 0))[0]


def item_bytes(dtype: str) -> int | None:
    """Bytes of one element, or None for a dtype that isn't known.

    Example:
        >>> item_bytes("bfloat16")
        2
    """
    known = _DTYPES.get(dtype)
    return known[1] if known else None


def compact_type(dtype: str, shape: Sequence[int], device: str = "") -> str:
    """A tensor's type on one line; the device only where it is given.

    Example:
        >>> compact_type("float32", (4, 864)), compact_type("int64", (), "cuda:0")
        ('f32[4,864]', 'i64[]@cuda:0')
    """
    where = f"@{device}" if device else ""
    return f"{compact_dtype(dtype)}[{','.join(map(str, shape))}]{where}"


def shape_text(shape: Sequence[int]) -> str:
    """A shape as people write it; a scalar is ``scalar``.

    Example:
        >>> shape_text((4, 3, 224, 224)), shape_text(())
        ('4×3×224×224', 'scalar')
    """
    return "×".join(map(str, shape)) if shape else "scalar"


def count_text(count: int | None) -> str:
    """A count with thousands separated by commas; None is ``unknown``.

    Example:
        >>> count_text(86567656), count_text(None)
        ('86,567,656', 'unknown')
    """
    return "unknown" if count is None else f"{count:,}"


def short_count(count: int | None) -> str:
    """A large count in three digits: K, M, G and so on stand for thousands, millions, milliards; None is ``unknown``.

    Example:
        >>> short_count(999), short_count(58_604_544), short_count(None)
        ('999', '58.6 M', 'unknown')
    """
    if count is None:
        return "unknown"
    if count < 1000:
        return str(count)
    value, unit = float(count), ""
    for unit in ("K", "M", "G", "T", "P", "E"):
        value /= 1000
        if value < 999.5:
            break
    return _three_digits(value, unit)


def bytes_text(size: int | None) -> str:
    """Bytes in B, KiB, MiB or GiB with three digits; None is ``unknown``.

    Example:
        >>> bytes_text(512), bytes_text(86323), bytes_text(None)
        ('512 B', '84.3 KiB', 'unknown')
    """
    if size is None:
        return "unknown"
    if size < 1024:
        return f"{size} B"
    value, unit = float(size), "B"
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        value /= 1024
        if value < 999.5:
            break
    return _three_digits(value, unit)


def _three_digits(value: float, unit: str) -> str:
    return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:.1f} {unit}" if value >= 9.995 else f"{value:.2f} {unit}"
