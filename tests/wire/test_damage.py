"""Bytes that are no record: a sentence each, no other exception, no memory without a bound."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode
from tb_shapeplugin.wire.envelope import MAX_MESSAGE_BYTES, digest, pack, unpack, verify
from tb_shapeplugin.wire.schema import RecordMessage
from tests.wire.records import small_record

GOOD = encode(small_record(completed=False))


def changed(change: Callable[[Any], object]) -> bytes:
    """The good record with a change made to its message."""
    message = RecordMessage.FromString(unpack(GOOD))
    change(message)
    return pack(message.SerializeToString())


def growing(message: Any) -> None:
    """A megabyte, and three hundred strings that each begin with all of it."""
    del message.strings[:], message.shared_prefix[:]
    message.strings.extend(["", "x" * 2**20, *[""] * 300])
    message.shared_prefix.extend([0, 0, *[2**20] * 300])


def flipped(at: int) -> bytes:
    """The good record with one bit turned."""
    return GOOD[:at] + bytes([GOOD[at] ^ 1]) + GOOD[at + 1 :]


DAMAGED = {
    "nothing": (b"", "This record is not gzip: 0 bytes"),
    "text": (b"hello, record", "This record is not gzip: 13 bytes that begin with b'hell'"),
    "the magic alone": (GOOD[:3], "This record is cut off after 3 bytes"),
    "half": (GOOD[: len(GOOD) // 2], "This record is cut off after"),
    "all but a byte": (GOOD[:-1], "This record is cut off after"),
    "a flipped checksum": (flipped(len(GOOD) - 6), "This record is damaged"),
    "a byte more": (GOOD + b"\x00", "This record is damaged: bytes follow its end"),
    "two members": (GOOD + GOOD, "This record is damaged: bytes follow its end"),
    "no message": (gzip.compress(b""), "something else than a record"),
    "another message": (gzip.compress(b"\x12\x03abc"), "something else than a record"),
    "an endless number": (gzip.compress(b"\x08" + b"\xff" * 9), "something else than a record"),
    "a cut-off message": (pack(unpack(GOOD)[:-3]), "something else than a record"),
    "a newer draft": (
        changed(lambda m: setattr(m, "draft", 77)),
        f"a newer version (draft 77; this one reads draft {RECORD_DRAFT})",
    ),
    "no draft": (changed(lambda m: setattr(m, "draft", 0)), "something else than a record"),
    "a string that shares too much": (
        changed(lambda m: m.shared_prefix.__setitem__(1, 7)),
        "a string shares 7 characters with one of 0",
    ),
    "a string without its prefix": (changed(lambda m: m.shared_prefix.pop()), "shared_prefix has"),
    "strings that grow without an end": (changed(lambda m: growing(m)), "its strings take more than"),
    "an index beyond": (changed(lambda m: m.ops.name.__setitem__(0, 99)), "ops.name holds 99, its table has 17 rows"),
    "a short column": (changed(lambda m: m.ops.flags.pop()), "ops.flags has 0 rows, ops has 1"),
    "an uneven pair": (changed(lambda m: m.calls.op_count.pop()), "calls.first_op has 2 rows, op_count has 1"),
    "a ragged lie": (changed(lambda m: m.ops.inputs_count.__setitem__(0, 9)), "row lengths add up to 9, there are 3 values"),
    "a ragged giant": (changed(lambda m: m.ops.inputs_count.__setitem__(0, 2**32 - 1)), "row lengths add up to"),
    "ranks that lie": (changed(lambda m: m.shapes.rank.append(5)), "the ranks add up to 12, there are 7 dims"),
    "a huge figure": (changed(lambda m: m.modules.params.__setitem__(0, 2**64 - 1)), "modules.params holds -2"),
    "a parent before the first": (changed(lambda m: m.modules.parent.__setitem__(1, 3)), "modules.parent holds -2"),
    "a caller after its callee": (changed(lambda m: m.sources.caller.__setitem__(0, 1)), "sources.caller points at a row"),
    "an execution nobody knows": (changed(lambda m: setattr(m, "execution", "guess")), "'guess' is none of fake, real"),
    "a severity nobody knows": (changed(lambda m: setattr(m.findings[0], "severity", "doom")), "'doom' is none of error, warning, note"),
    "a ring of causes": (changed(lambda m: setattr(m.findings[0], "caused_by", 1)), "finding 0 is caused by finding 0"),
    "a cause that isn't there": (changed(lambda m: setattr(m.findings[0], "caused_by", 9)), "finding 0 is caused by finding 8"),
    "changes that are none": (changed(lambda m: m.findings[0].fixes.add(changes_json="[1]")), "the changes of a fix are '[1]'"),
    "changes that are no JSON": (changed(lambda m: m.findings[0].fixes.add(changes_json="{")), "Its tables contradict each other"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damage_is_named(damage: str) -> None:
    """The message says what is wrong and what to do."""
    data, words = DAMAGED[damage]
    with pytest.raises(RecordError) as caught:
        decode(data)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_no_flipped_bit_of_the_content_goes_unnoticed() -> None:
    """gzip's checksum stands in for that of the event file, which TensorBoard's fast loader doesn't look at."""
    header = 10  # time, system and the like, which say nothing of the content
    for at in range(header, len(GOOD)):
        with pytest.raises(RecordError):
            decode(flipped(at))


def test_random_messages_raise_record_error_only() -> None:
    """Whatever is inside a valid gzip, the caller meets one kind of exception."""
    source = random.Random(0)
    message = unpack(GOOD)
    for _ in range(500):
        at = source.randrange(2, len(message))
        data = pack(message[:at] + source.randbytes(source.randrange(1, 4)) + message[at + 1 :])
        try:
            decode(data)
        except RecordError:
            continue


@pytest.mark.parametrize("read", [unpack, verify, digest])
def test_a_bomb_is_refused(read: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """A kilobyte that asks for a megabyte more than is allowed: said, and never held at once when only checked."""
    monkeypatch.setattr("tb_shapeplugin.wire.envelope.MAX_MESSAGE_BYTES", 8 << 20)
    bomb = gzip.compress(bytes(64 << 20))
    tracemalloc.start()
    with pytest.raises(RecordError, match="more than 8,388,608 bytes"):
        read(bomb)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (24 << 20 if read is unpack else 8 << 20)


def test_a_message_too_large_to_be_read_is_not_written() -> None:
    """What pack makes, unpack takes."""
    with pytest.raises(ValueError, match="are allowed"):
        pack(bytes(MAX_MESSAGE_BYTES + 1))


def test_the_bytes_depend_on_no_clock_and_no_system() -> None:
    """The header of gzip holds a time, a name and a system: all are left out."""
    assert pack(b"x")[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    assert digest(pack(b"x")) == digest(gzip.compress(b"x", 1)), "the digest is the message's, not the packer's"
    assert zlib.decompress(pack(b"x"), 31) == b"x"
