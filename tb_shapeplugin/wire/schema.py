"""The messages of proto/shapes/v1, made at run time from the descriptors that lie beside this file."""

import functools
from pathlib import Path
from typing import Any, Protocol

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


class MessageClass(Protocol):
    """A class of messages. Any: their fields are known at run time only."""

    def __call__(self, **fields: Any) -> Any:
        """A message with those fields."""

    def FromString(self, data: bytes) -> Any:
        """The message in those bytes."""


def _pool() -> descriptor_pool.DescriptorPool:
    # Descriptors, because generated code is bound to versions of protobuf; a pool of our own, so that no other package's file clashes.
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(Path(__file__).with_name("record.binpb").read_bytes())
    for file in files.file:
        pool.Add(file)
    return pool


_POOL = _pool()


@functools.cache
def message_of(name: str) -> MessageClass:
    """The class of messages of that name.

    Example:
        >>> message_of("Record")(name="net").name
        'net'
    """
    found = _POOL.FindMessageTypeByName(f"shapes.v1.{name}")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(found)
    before_4_22: Any = message_factory.MessageFactory(_POOL)  # Any: today's stubs have forgotten GetPrototype
    made: MessageClass = before_4_22.GetPrototype(found)
    return made


RecordMessage = message_of("Record")
