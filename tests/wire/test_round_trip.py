"""What goes into the bytes comes out of them."""

import gzip
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tb_shapeplugin.base.errors import InternalError
from tb_shapeplugin.base.names import RECORD_DRAFT
from tb_shapeplugin.record.columns import Ragged, ints
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.wire.decode import decode
from tb_shapeplugin.wire.encode import encode
from tb_shapeplugin.wire.envelope import digest
from tests.wire.records import records, small_record


@settings(deadline=None)
@given(records())
def test_any_record_comes_back_equal(record: Record) -> None:
    """Empty tables, hostile strings, numbers up to 64 bits: decode undoes encode."""
    assert decode(encode(record)) == record


@settings(deadline=None, max_examples=30)
@given(records())
def test_the_same_record_gives_the_same_bytes(record: Record) -> None:
    """Tags are made of the content, so the content may not depend on the moment."""
    assert encode(record) == encode(decode(encode(record)))


def test_the_same_record_gives_the_same_bytes_in_another_process() -> None:
    """Hash seeds differ between processes; the order of the versions' map may not."""
    code = "from tests.wire.records import small_record; from tb_shapeplugin.wire.encode import encode; from dataclasses import replace\n"
    code += "print(encode(replace(small_record(), versions={'b': '1', 'a': '2', 'c': '3'})).hex())"
    made = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(made) == 1


def test_a_record_that_differs_in_one_number_has_another_digest() -> None:
    """Or a changed model would be taken for the one before."""
    record = small_record()
    changed = replace(record, totals=replace(record.totals, params=19))
    assert digest(encode(record)) != digest(encode(changed))
    assert decode(encode(record)) != decode(encode(changed))


def test_any_gzip_reader_reads_it() -> None:
    """The browser's and Python's own unpack one member with a checksum."""
    assert gzip.decompress(encode(small_record()))[:2] == bytes([8, RECORD_DRAFT])


def test_names_that_utf8_cannot_hold_are_written_out() -> None:
    """A file's name may hold bytes that are no UTF-8; Python keeps them as lone surrogates."""
    assert decode(encode(small_record("caf\udce9"))).strings[1] == "caf\\udce9"


def test_a_number_beyond_64_bits_is_stored_as_the_largest() -> None:
    """The product of the dims in a view may be astronomical; the record is not lost over it."""
    finding = replace(small_record(completed=False).findings[0], got={"numel": 2**80}, want={"numel": -(2**70)})
    stored = decode(encode(replace(small_record(), findings=(finding,)))).findings[0]
    assert (stored.got, stored.want) == ({"numel": 2**63 - 1}, {"numel": -(2**63)})


def test_a_cause_is_found_by_identity_and_by_value() -> None:
    """Of two equal findings the one that is meant; a copy of a finding where it isn't the same object."""
    first = small_record(completed=False).findings[0]
    second = replace(first)
    of_second = replace(first, message="follows", caused_by=second)
    of_copy = replace(first, message="follows too", caused_by=replace(first, message="follows", caused_by=replace(first)))
    findings = decode(encode(replace(small_record(), findings=(first, second, of_second, of_copy)))).findings
    assert findings[2].caused_by is findings[1]
    assert findings[3].caused_by is findings[2]


def broken_records() -> dict[str, Record]:
    """What no record may be, by the words that the error must say."""
    record = small_record(completed=False)
    ops, calls = record.ops, record.calls
    stranger = replace(record.findings[0], message="unknown")
    return {
        "strings\\[0\\]": replace(record, strings=("x", *record.strings[1:])),
        "ops.name holds 99": replace(record, ops=replace(ops, name=ints([99]))),
        "ops.source holds -2": replace(record, ops=replace(ops, source=ints([-2]))),
        "ops.inputs holds 4, its table has 4 rows": replace(record, ops=replace(ops, inputs=Ragged.of([(4,)]))),
        "ops.flags has 2 rows, ops has 1": replace(record, ops=replace(ops, flags=ints([0, 0]))),
        "calls.parent points": replace(record, calls=replace(calls, parent=ints([-1, 1]))),
        "calls.end_op lies": replace(record, calls=replace(calls, end_op=ints([1, 2]))),
        "calls.outcome holds 3": replace(record, calls=replace(calls, outcome=ints([0, 3]))),
        "a name without a literal": replace(record, argument_lists=Ragged.of([(), (14,)])),
        "argument_lists holds 99": replace(record, argument_lists=Ragged.of([(), (99, 0)])),
        "no list of names": replace(record, child_lists=Ragged.of([(), (16, 2, 3, 5)])),
        "a dtype beyond": replace(record, child_lists=Ragged.of([(), (16, 1, 3, 99)])),
        "the tensor of 'x'": replace(record, inputs=(replace(record.inputs[0], tensor=4),)),
        "the op of a finding": replace(record, findings=(replace(record.findings[0], op_index=1),)),
        "is not in": replace(record, findings=(replace(record.findings[0], caused_by=stranger),)),
        "out of range": replace(record, ops=replace(ops, flags=ints([2**40]))),
    }


@pytest.mark.parametrize("words", broken_records())
def test_an_inconsistent_record_is_never_stored(words: str) -> None:
    """A fault of ours is said where it is made, with the table and the value, not months later by a reader."""
    record = broken_records()[words]
    if words in ("is not in", "out of range"):  # said by Python and by protobuf, each version in its own words
        words = "can't be stored"
    with pytest.raises(InternalError, match=words):
        encode(record)
