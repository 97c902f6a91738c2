"""The gzip around a record: one member, the same bytes for the same message, never unpacked without a bound."""

import hashlib
import struct
import zlib
from collections.abc import Iterator

from tb_shapeplugin.base.errors import RecordError

# Far above a record of a million ops; a hostile stream of a megabyte could ask for a gigabyte.
MAX_MESSAGE_BYTES = 256 << 20

# No name, no time, "unknown" as the system: what gzip.compress writes here differs between versions of Python.
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_SMALLEST = len(_HEADER) + 2 + 8
_LEVEL = 9  # up to four hundredths smaller than 6 on records of models, for milliseconds
_SLICE = 64 << 10
_PIECE = 1 << 20


def pack(message: bytes) -> bytes:
    """The message gzipped. ValueError for one that is too large to be unpacked again.

    Example:
        >>> unpack(pack(b"columns"))
        b'columns'
    """
    if len(message) > MAX_MESSAGE_BYTES:
        raise ValueError(f"it takes {len(message):,} bytes, {MAX_MESSAGE_BYTES:,} are allowed")
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL)
    body = deflate.compress(message) + deflate.flush()
    return _HEADER + body + struct.pack("<II", zlib.crc32(message), len(message))


def unpack(data: bytes) -> bytes:
    """The message in a gzip member; RecordError when it is none, damaged, cut off or larger than allowed."""
    return b"".join(_pieces(data))


def verify(data: bytes) -> None:
    """Read a gzip member to its checksum and keep nothing; RecordError as ``unpack``."""
    for _ in _pieces(data):
        pass


def digest(data: bytes) -> str:
    """sha256 of the message inside, in hex: the same whichever zlib packed it. RecordError as ``unpack``.

    Example:
        >>> digest(pack(b"columns"))[:8]
        '1c586b06'
    """
    sha = hashlib.sha256()
    for piece in _pieces(data):
        sha.update(piece)
    return sha.hexdigest()


def _pieces(data: bytes) -> Iterator[bytes]:
    """The message bit by bit, so that no stream makes us hold more than is kept on purpose."""
    if not data.startswith(_HEADER[:3]):
        raise RecordError(f"This record is not gzip: {len(data)} bytes that begin with {data[:4]!r}. Log the model again.")
    inflate, size = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
    for start in range(0, len(data), _SLICE):
        if inflate.eof:
            raise RecordError("This record is damaged: bytes follow its end. Log the model again.")
        pending = data[start : start + _SLICE]
        while pending:
            piece = _inflate(inflate, pending)
            size += len(piece)
            if size > MAX_MESSAGE_BYTES:
                raise RecordError(f"This record unpacks to more than {MAX_MESSAGE_BYTES:,} bytes, more than any record may have.")
            yield piece
            pending = inflate.unconsumed_tail
    if inflate.unused_data:
        raise RecordError("This record is damaged: bytes follow its end. Log the model again.")
    if not inflate.eof:
        raise RecordError(
            f"This record is cut off after {len(data)} bytes. Was the run still writing, or the disk full? Log the model again."
        )


def _inflate(inflate: "zlib._Decompress", pending: bytes) -> bytes:
    try:
        return inflate.decompress(pending, _PIECE)
    except zlib.error as error:
        damage = f"its checksum does not match, or it can't be unpacked ({error})"
        raise RecordError(f"This record is damaged: {damage}. Copy the event file anew, or log the model again.") from error
