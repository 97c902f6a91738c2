"""The descriptors: those of the proto, in a pool of their own."""

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf import descriptor_pool

from tb_shapeplugin.record.columns import Ragged
from tb_shapeplugin.wire.schema import RecordMessage
from tb_shapeplugin.wire.tables import TABLES, Table
from tests.wire.records import small_record

GENERATOR = Path(__file__).parent.parent.parent / "tools/gen_proto.py"


def test_the_pool_of_everybody_is_left_alone() -> None:
    """Another package may bring a file of the same name."""
    assert RecordMessage(draft=1).draft == 1
    with pytest.raises(KeyError):
        descriptor_pool.Default().FindMessageTypeByName("shapes.v1.Record")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_field_of_a_table_is_declared_once(table: Table) -> None:
    """A column forgotten in tables.py would be empty for ever; one of the message's, never read."""
    columns = getattr(small_record(), table.name)
    declared = [column.wire_name for column in table.columns]
    declared += [f"{column.wire_name}_count" for column in table.columns if column.ragged]
    message = getattr(RecordMessage(), table.name)
    assert sorted(declared) == sorted(field.name for field in message.DESCRIPTOR.fields)
    assert [column.name for column in table.columns] == list(type(columns).__dataclass_fields__)
    assert all(isinstance(getattr(columns, column.name), Ragged) == column.ragged for column in table.columns)


@pytest.mark.skipif(not GENERATOR.exists(), reason="a checkout has the generator, an installed package hasn't")
def test_the_generated_descriptors_are_fresh() -> None:
    """A change of the proto without its descriptors would be read by one half only."""
    pytest.importorskip("grpc_tools")
    done = subprocess.run([sys.executable, GENERATOR, "--check", "--only", "python"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
