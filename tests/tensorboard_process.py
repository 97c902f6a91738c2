"""A real TensorBoard in a process of its own: started on a free port, asked over HTTP, stopped."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

_STARTED = re.compile(r"TensorBoard [\w.]+ at (http://\S+)")
_PATIENCE_S = 120


@dataclass(frozen=True)
class Answer:
    """What came back for one request: status, headers with lower-case names, the body as it was sent."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


class _KeepNotModified(urllib.request.HTTPRedirectHandler):
    """A 304 is an answer here, not an error."""

    def http_error_304(self, request: Any, response: Any, code: int, message: str, headers: Any) -> Any:
        return response


@dataclass(frozen=True)
class TensorBoard:
    """A running TensorBoard; ``url`` ends with its path prefix and a slash."""

    url: str
    loader: str
    log: Callable[[], str]

    def get(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for a path below the plugin's routes."""
        return self._ask(f"data/plugin/shapes{path}", method, headers)

    def listing(self) -> Any:
        """TensorBoard's own list of plugins."""
        return self._ask("data/plugins_listing").json()

    def _ask(self, path: str, method: str = "GET", headers: Mapping[str, str] | None = None) -> Answer:
        request = urllib.request.Request(self.url + path, method=method, headers=dict(headers or {}))
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _KeepNotModified)
        try:
            with opener.open(request, timeout=_PATIENCE_S) as response:
                return Answer(response.status, {name.lower(): value for name, value in response.headers.items()}, response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, {name.lower(): value for name, value in error.headers.items()}, error.read())

    def wait_for(self, path: str, ready: Callable[[Any], bool]) -> Any:
        """The JSON at a path once it is as expected: loaders read in the background."""
        deadline = time.monotonic() + _PATIENCE_S
        while not ready(found := self.get(path).json()):
            if time.monotonic() > deadline:
                raise AssertionError(f"{path} still answers {found}.\n{self.log()}")
            time.sleep(0.2)
        return found


@contextmanager
def tensorboard(logdir: Path, *, fast: bool, path_prefix: str = "") -> Iterator[TensorBoard]:
    """A TensorBoard that serves a logdir, by its fast loader or by the Python one."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(logdir), "--host", "127.0.0.1", "--port", "0"]
    command += ["--load_fast", "true" if fast else "false", "--reload_interval", "1"]
    command += ["--path_prefix", path_prefix] if path_prefix else []
    with TemporaryFile() as output:
        # A session of its own: the fast loader is a child, and both must go.
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            url = _url_of(process, output)
            yield TensorBoard(url if url.endswith("/") else url + "/", "fast" if fast else "python", lambda: _read(output))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=_PATIENCE_S)


def _url_of(process: "subprocess.Popen[bytes]", output: BinaryIO) -> str:
    deadline = time.monotonic() + _PATIENCE_S
    while (started := _STARTED.search(_read(output))) is None:
        if process.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"TensorBoard did not start:\n{_read(output)}")
        time.sleep(0.1)
    return started[1]


def _read(output: BinaryIO) -> str:
    return os.pread(output.fileno(), 1 << 24, 0).decode(errors="replace")
