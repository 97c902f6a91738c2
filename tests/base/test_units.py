"""How numbers, bytes and types are written."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.base.units import bytes_text, compact_dtype, compact_type, count_text, item_bytes, shape_text

TORCH_DTYPES = sorted({str(value).removeprefix("torch.") for value in vars(torch).values() if isinstance(value, torch.dtype)})


@pytest.mark.parametrize("size, text", [
    (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.00 KiB"), (10_188, "9.95 KiB"), (10_240, "10.0 KiB"), (86_323, "84.3 KiB"),
    (1_023_590, "0.98 MiB"), (1_048_576, "1.00 MiB"), (3 * 2**40, "3.00 TiB"), (2**62, "4096 PiB"), (None, "unknown"),
])  # fmt: skip
def test_bytes_have_three_digits_and_a_binary_unit(size: int | None, text: str) -> None:
    """A kilobyte is 1024, and what rounds up to the next unit is written in it."""
    assert bytes_text(size) == text


@given(st.integers(1024, 2**59))
def test_bytes_read_back_within_their_last_digit(size: int) -> None:
    """Three digits, two just below a unit: the text may not be further off."""
    number, unit = bytes_text(size).split()
    back = float(number) * 1024 ** ["KiB", "MiB", "GiB", "TiB", "PiB"].index(unit) * 1024
    assert abs(back - size) <= 0.006 * size
    assert float(number) < 1000


@pytest.mark.parametrize("name", [name for name in TORCH_DTYPES if item_bytes(name) is not None])
def test_item_bytes_are_torchs(name: str) -> None:
    """Compared with torch itself, for every dtype that we know and torch has."""
    assert item_bytes(name) == getattr(torch, name).itemsize


IN_USE = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64")


@pytest.mark.parametrize("name", IN_USE)
def test_the_dtypes_in_use_are_known(name: str) -> None:
    """Without these every total would be unknown."""
    assert name in TORCH_DTYPES and item_bytes(name) is not None and len(compact_dtype(name)) < len(name) + (name == "bool")


def test_a_dtype_of_tomorrow_keeps_its_name_and_has_no_size() -> None:
    """A guess would be a wrong number of bytes."""
    assert item_bytes("float4_of_tomorrow") is None
    assert compact_type("float4_of_tomorrow", (2,)) == "float4_of_tomorrow[2]"


def test_types_and_shapes_in_short() -> None:
    """A scalar has no axes; the device stands only where it is given."""
    assert compact_type("float32", (4, 864)) == "f32[4,864]"
    assert compact_type("int64", (), "cuda:0") == "i64[]@cuda:0"
    assert (shape_text((4, 3)), shape_text(())) == ("4×3", "scalar")


def test_counts_have_commas_and_unknown_is_a_word() -> None:
    """None is never 0."""
    assert (count_text(86_567_656), count_text(0), count_text(None)) == ("86,567,656", "0", "unknown")
