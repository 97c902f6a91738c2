"""Disks that fail, writers that are closed, processes that fork: one warning, and the training goes on."""

import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.read.event_files import stored_records
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.standalone import open_sink
from tb_shapeplugin.write.writers import event_sink
from tests.wire.records import small_record, stored
from tests.write.test_writers import tensorboardx_event_file_writer, tensorboardx_writer, torch_writer

KINDS: list[Callable[[str], Any]] = [torch_writer, tensorboardx_writer, EventFileWriter, open_sink]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
# The thread of TensorBoard's writer dies of a disk's error by raising it.
thread_dies = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


def write_many(writer: Any, count: int) -> tuple[list[bool], list[str]]:
    """Write so many different records; what came back, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        written = [write_record(event_sink(writer), *stored(small_record(f"m{step}")), step=step) for step in range(count)]
    return written, [str(warning.message) for warning in caught if "Shapes" in str(warning.message)]


@every_kind
@thread_dies
def test_a_deleted_directory_is_one_warning(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """Somebody cleans up runs/ during a training: said once, with the file named."""
    writer = kind(str(tmp_path / "run"))
    assert write_many(writer, 1) == ([True], [])
    shutil.rmtree(tmp_path / "run")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        written = [write_record(event_sink(writer), *stored(small_record(f"later {step}")), step=step) for step in range(3)]
    told = [str(warning.message) for warning in caught if "Shapes" in str(warning.message)]
    assert (written, len(told)) == ([False] * 3, 1)
    assert "FileNotFoundError" in told[0] and str(tmp_path / "run") in told[0] and "Training goes on" in told[0]


@pytest.mark.parametrize("kind", [EventFileWriter, open_sink, tensorboardx_event_file_writer], ids=lambda kind: kind.__name__)
def test_a_closed_writer_is_one_warning(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """A SummaryWriter opens again; these don't."""
    writer = kind(str(tmp_path))
    writer.close()
    written, told = write_many(writer, 3)
    assert (written, len(told)) == ([False] * 3, 1)
    assert "closed" in told[0]


FULL_DISK = """
import resource, sys, warnings
from tb_shapeplugin.write.sink import write_record
from tests.wire.records import small_record, stored
from tests.write.test_trouble import write_many
from tests.write import test_trouble
writer = getattr(test_trouble, sys.argv[1])(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))
written, told = write_many(writer, 4)
print(written[-2:], len(told), told[0])
"""


@every_kind
def test_a_full_disk_is_one_warning(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that is full."""
    done = run_python(FULL_DISK, kind.__name__, str(tmp_path))
    assert done.startswith("[False, False] 1 Shapes could not write __shapes__/graph/m"), done


FORKED = """
import os, sys
from tests.wire.records import small_record, stored
from tests.write.test_trouble import write_many
from tests.write import test_trouble
from tb_shapeplugin.write.sink import write_record
from tb_shapeplugin.write.writers import event_sink
writer = getattr(test_trouble, sys.argv[1])(sys.argv[2])
if sys.argv[3] == "used":
    write_record(event_sink(writer), *stored(small_record("before")), step=0)
if os.fork() == 0:
    print("child", *write_many(writer, 3), flush=True)
    os._exit(0)
os.wait()
print("parent", *write_many(writer, 2), flush=True)
"""


@every_kind
@pytest.mark.parametrize("before", ["used", "unused"])
def test_a_forked_child_neither_hangs_nor_writes(kind: Callable[[str], Any], before: str, tmp_path: Path) -> None:
    """The writer's thread is in the parent: a flush in the child would wait for ever. One warning; the parent goes on."""
    child, parent = run_python(FORKED, kind.__name__, str(tmp_path), before).splitlines()
    assert child.startswith("child [False, False, False] ['Shapes could not write __shapes__/graph/m0@")
    assert child.count("Shapes could not write") == 1 and "forked" in child
    assert parent == "parent [True, True] []"
    assert len(stored_records(tmp_path)) == (3 if before == "used" else 2)


REOPENED = """
import os, sys
from tests.write.test_trouble import write_many
from tests.write import test_trouble
writer = getattr(test_trouble, sys.argv[1])(sys.argv[2])
print(write_many(writer, 1), flush=True)
if os.fork() == 0:
    print(write_many(getattr(test_trouble, sys.argv[1])(sys.argv[2] + "/child"), 2), flush=True)
    os._exit(0)
os.wait()
"""


@every_kind
def test_a_writer_opened_in_the_child_works(kind: Callable[[str], Any], tmp_path: Path) -> None:
    """What the warning tells people to do."""
    parent, child = run_python(REOPENED, kind.__name__, str(tmp_path)).splitlines()
    assert (parent, child) == ("([True], [])", "([True, True], [])")
    assert [found.run for found in stored_records(tmp_path)] == [".", "child", "child"]


def run_python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; a hang is a failure."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "Skipped: could not import" in done.stderr:
        pytest.skip("the library of that writer is not installed")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("folder", ["/dev/null", "/dev/null/run", "/proc/run", "", "\0"])
def test_a_directory_that_cannot_be_written_is_said_at_once(folder: str) -> None:
    """The one trouble with disks that raises: nothing has begun yet."""
    with pytest.raises(ShapesError) as caught:
        open_sink(folder)
    assert repr(folder) in str(caught.value) and "Choose a directory" in str(caught.value)


def test_two_files_of_one_second_do_not_meet(tmp_path: Path) -> None:
    """Containers may share host name and process id: TensorBoard's names alone would be equal, and the second would wipe the first."""
    suffixes = set()
    for _ in range(3):
        open_sink(tmp_path).close()
    for file in tmp_path.iterdir():
        suffixes.add(file.name.rpartition(".shapes.")[2])
    assert len(suffixes) == 3


@thread_dies
def test_closing_never_raises(tmp_path: Path) -> None:
    """Twice, and after the directory went away."""
    sink = open_sink(tmp_path / "run")
    write_many(sink, 1)
    shutil.rmtree(tmp_path / "run")
    write_many(sink, 1)
    sink.close()
    sink.close()
    assert not (tmp_path / "run").exists()
