"""A real TensorBoard, by both loaders: what each route answers, to good requests and to bad ones."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tb_shapeplugin.base.names import RECORD_DRAFT, VERSION
from tb_shapeplugin.wire.decode import decode
from tests.serve.conftest import GARBAGE, PREFIX
from tests.tensorboard_process import TensorBoard
from tests.wire.records import small_record, stored

BAD = f"{PREFIX}Net@bad"
METHODS = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS")
PATHS = ("/index.js", "/static/style.css", "/models", "/record", "/status")
# What a loader doesn't list can't be told of; what it lists must be readable or a sentence. The fast one drops the last two.
UNLISTED = {"unclassed"}
UNLISTED_FAST = {"unclassed", "rank-0", "floats"}


def record_path(**parameters: Any) -> str:
    """The route with these parameters."""
    return f"/record?{urlencode(parameters)}"


def models(served: TensorBoard) -> dict[str, list[dict[str, Any]]]:
    """/models by run."""
    return {run["run"]: run["models"] for run in served.get("/models").json()["runs"]}


def good_tag(served: TensorBoard, run: str) -> str:
    """The tag of the good record in a run."""
    (tag,) = [model["tag"] for model in models(served)[run] if model["name"] == "Net" and model["tag"] != BAD]
    return tag


def test_models_lists_what_was_logged(served: TensorBoard) -> None:
    """Every field of the header, and the step; the record that was logged twice is there once."""
    broken, net = models(served)["good/inner"]
    assert broken["tag"].startswith(f"{PREFIX}Broken@") and net["tag"].startswith(f"{PREFIX}Net@")
    told = {
        "name": "Net",
        "steps": [0],
        "completed": True,
        "errors": 0,
        "warnings": 0,
        "modules": 2,
        "ops": 1,
        "params": 18,
        "problem": None,
    }
    assert {name: value for name, value in net.items() if name != "tag"} == told
    assert (broken["steps"], broken["completed"], broken["errors"]) == ([5], False, 1)


def test_a_record_is_the_stored_bytes(served: TensorBoard) -> None:
    """Untouched, said to be gzip, and the same with the step and without."""
    tag = good_tag(served, "good/inner")
    for parameters in ({"run": "good/inner", "tag": tag}, {"run": "good/inner", "tag": tag, "step": 0}):
        answer = served.get(record_path(**parameters))
        assert (answer.status, answer.body) == (200, stored()[0])
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["content-length"] == str(len(answer.body))
    assert decode(answer.body) == small_record()


@pytest.mark.parametrize("path", ["/index.js", "/record"])
def test_what_the_browser_holds_is_not_sent_again(served: TensorBoard, path: str) -> None:
    """If-None-Match gives a 304 that TensorBoard's validator accepts; another ETag gives it all."""
    asked = path if path == "/index.js" else record_path(run="good/inner", tag=good_tag(served, "good/inner"))
    first = served.get(asked)
    for held in (first.headers["etag"], f'"other", {first.headers["etag"]}', f"W/{first.headers['etag']}"):
        again = served.get(asked, headers={"If-None-Match": held})
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
        assert again.headers["content-type"].partition(";")[0] == first.headers["content-type"].partition(";")[0]
        assert again.headers["x-content-type-options"] == "nosniff"
    assert served.get(asked, headers={"If-None-Match": '"other"'}).body == first.body


def test_head_is_get_without_the_body(served: TensorBoard) -> None:
    """Same status, same headers."""
    for path in ("/index.js", "/models", "/status", record_path(run="good/inner", tag=good_tag(served, "good/inner"))):
        get, head = served.get(path), served.get(path, method="HEAD")
        assert (head.status, head.body) == (200, b"")
        assert {name: value for name, value in head.headers.items() if name != "date"} == {
            name: value for name, value in get.headers.items() if name != "date"
        }


@pytest.mark.parametrize("path", PATHS)
def test_nothing_but_reading_is_allowed(served: TensorBoard, path: str) -> None:
    """TensorBoard checks neither origin nor host, so no other method may do anything."""
    for method in METHODS:
        answer = served.get(path, method=method, headers={"Origin": "http://evil.example"})
        assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
        assert answer.json()["error"] == f"{method} is not allowed here. Use GET."


BAD_REQUESTS = {
    "/record": (400, "The parameter run is missing"),
    "/record?run=good/inner": (400, "The parameter tag is missing"),
    "/record?run=good/inner&tag=x&step=first": (400, "step is 'first'"),
    "/record?run=good/inner&tag=x&step=": (400, "step is ''"),
    "/record?run=none&tag=x": (404, "no record 'x' in run 'none'"),
    "/record?run=good/inner&tag=loss": (404, "no record 'loss' in run 'good/inner'"),
    "/record?run=good/inner&tag=x&step=99": (404, "no record 'x' at step 99"),
    "/record?run=%00&tag=%ff%fe": (404, "no record"),
    f"/record?run={'x' * 2000}&tag=x": (404, "no record"),
    f"/record?run=good/inner&tag=x&step={'9' * 30}": (404, "at step 9999"),
    f"/record?run=good/inner&tag=x&step={'9' * 5000}": (400, "Give a whole number"),
    "/static/none.js": (404, "no file 'none.js'"),
    "/static/../loader.py": (404, "no file"),
    "/static/%2e%2e/loader.py": (404, "no file"),
    "/static/..%2f..%2f..%2f..%2fetc/passwd": (404, "no file"),
    "/static//etc/passwd": (404, "no file"),
    "/static/index.js%00.css": (404, "no file"),
}


@pytest.mark.parametrize("path", BAD_REQUESTS, ids=lambda path: path[:40])
def test_a_bad_request_is_a_sentence(served: TensorBoard, path: str) -> None:
    """JSON with what is wrong, a status that says whose fault it is, and never a file outside the list."""
    status, words = BAD_REQUESTS[path]
    answer = served.get(path)
    assert answer.status == status
    assert words in answer.json()["error"]


@pytest.mark.parametrize("run", sorted(GARBAGE))
def test_garbage_leaves_the_others_readable(served: TensorBoard, run: str) -> None:
    """The good record beside it opens; the bad one is said, by /models or by /record, and nothing is a 500."""
    good = served.get(record_path(run=run, tag=good_tag(served, run)))
    assert (good.status, good.body) == (200, stored()[0])
    bad = served.get(record_path(run=run, tag=BAD))
    problems = [model["problem"] for model in models(served)[run] if model["tag"] == BAD]
    assert bool(problems) == (run not in (UNLISTED_FAST if served.loader == "fast" else UNLISTED))
    if run == "header":
        assert bad.status == 200 and "no JSON object" in problems[0]
    elif not problems or run == "tensor":
        assert bad.status == 404 and (not problems or "stored as a tensor" in problems[0])
    else:
        assert bad.status == 422
        assert bad.json()["error"].startswith("This record is ") and bad.json()["error"].endswith(".")


def test_status_tells_an_empty_tab_what_it_needs(served: TensorBoard, logdir: Any) -> None:
    """Runs with what is in them, the logdir, the versions, the loader."""
    told = served.get("/status").json()
    runs = {run["run"]: run["plugins"] for run in told.pop("runs")}
    assert runs["scalars"] == ["scalars"]
    assert runs["good/inner"] == ["scalars", "shapes"]
    version = told.pop("tensorboard")
    assert version.split(".")[0] == "2"
    assert told == {"logdir": str(logdir), "loader": served.loader, "shapes": VERSION, "draft": RECORD_DRAFT}


def test_the_frontend_is_served_as_modules(served: TensorBoard) -> None:
    """JavaScript by its own type whatever the machine's table says, and relative to the entry page."""
    answer = served.get("/index.js")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert b"render" in answer.body


def test_the_tab_is_listed_and_active(served: TensorBoard) -> None:
    """TensorBoard's own list of plugins: our name, our module, enabled because there is data."""
    listing = served.listing()["shapes"]
    assert listing["enabled"] is True
    assert listing["tab_name"] == "Shapes"
    assert listing["loading_mechanism"] == {"type": "IFRAME", "module_path": "/data/plugin/shapes/index.js"}


def test_the_validator_has_nothing_to_say(served: TensorBoard) -> None:
    """TensorBoard logs a warning, an error from 3.0 on, for answers without a type or nosniff; and we log no traceback."""
    for path in (*PATHS, *BAD_REQUESTS):
        served.get(path)
    tag = served.get("/index.js").headers["etag"]
    served.get("/index.js", headers={"If-None-Match": tag})
    served.get("/models", method="POST")
    log = served.log()
    assert "TensorBoard" in log
    assert "this warning will become an error" not in log
    assert "Traceback" not in log
