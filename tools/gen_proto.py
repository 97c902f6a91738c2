"""Make from proto/ what the two halves read: descriptors for Python, messages for TypeScript; --check says whether they are fresh."""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from google.protobuf import descriptor_pb2

ROOT = Path(__file__).resolve().parent.parent
PROTO = "shapes/v1/record.proto"
DESCRIPTORS = Path("tb_shapeplugin/wire/record.binpb")
MESSAGES = Path("frontend/src/wire/gen/shapes/v1/record_pb.ts")
PLUGIN = ROOT / "node_modules/.bin/protoc-gen-es"


class GenerationError(Exception):
    """protoc or its plugin could not do its work; the message says what to do."""


def main() -> int:
    """Write both files, or with --check compare them; 1 when something is stale or could not be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a generated file is stale")
    parser.add_argument("--only", choices=sorted(TARGETS), help="one half only")
    options = parser.parse_args()
    targets = [TARGETS[options.only]] if options.only else list(TARGETS.values())
    try:
        stale = [path for path, make in targets if not refresh(ROOT / path, make(), write=not options.check)]
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1
    for path in stale:
        print(f"{path} doesn't match proto/{PROTO}. Run: python tools/gen_proto.py", file=sys.stderr)
    return 1 if stale else 0


def refresh(path: Path, content: bytes, *, write: bool) -> bool:
    """Whether the file holds that content, after writing it where that is asked for."""
    if path.exists() and path.read_bytes() == content:
        return True
    if write:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return write


def descriptors() -> bytes:
    """The FileDescriptorSet, in the same bytes whichever protoc made it."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "record.binpb")
        run_protoc(f"--descriptor_set_out={out}")
        made = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    for message in made.file[0].message_type:
        for field in message.field:
            field.ClearField("json_name")  # some versions of protoc write it, others don't
    return made.SerializeToString(deterministic=True)


def messages() -> bytes:
    """The TypeScript module of the messages."""
    if not PLUGIN.exists():
        raise GenerationError(f"{PLUGIN.relative_to(ROOT)} is missing. Run: npm ci (or pass --only python)")
    with tempfile.TemporaryDirectory() as folder:
        run_protoc(f"--plugin=protoc-gen-es={PLUGIN}", f"--es_out={folder}", "--es_opt=target=ts")
        return Path(folder, "shapes/v1/record_pb.ts").read_bytes()


def run_protoc(*options: str) -> None:
    """protoc on our file, as grpcio-tools brings it along."""
    command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={ROOT / 'proto'}", *options, PROTO]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GenerationError(f"protoc failed on proto/{PROTO}: {done.stderr.strip()}. When it is missing: pip install grpcio-tools")


TARGETS: dict[str, tuple[Path, Callable[[], bytes]]] = {"python": (DESCRIPTORS, descriptors), "typescript": (MESSAGES, messages)}

if __name__ == "__main__":
    sys.exit(main())
