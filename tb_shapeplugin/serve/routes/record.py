"""/record: one record's stored bytes, untouched."""

from werkzeug.wrappers import Request, Response

from tb_shapeplugin.serve.answers import BadRequest, cached, etag_of, not_modified
from tb_shapeplugin.serve.backend import Backend
from tb_shapeplugin.wire.envelope import verify

_TYPE = "application/octet-stream"


def record(request: Request, backend: Backend) -> Response:
    """The gzip as it lies in the event file; the browser unpacks and decodes it, in a worker."""
    data = backend.runs(request).record(_parameter(request, "run"), _parameter(request, "tag"), _step(request))
    etag = etag_of(data)
    unchanged = not_modified(request, etag, _TYPE)
    if unchanged is not None:
        return unchanged
    # TensorBoard's fast loader looks at no checksum, and browsers skip that of gzip: damage is found here or never.
    verify(data)
    # Not through http_util: it would unpack for clients that don't ask for gzip, and the answer is gzip by contract.
    return Response(data, headers=[*cached(etag), ("Content-Encoding", "gzip")], content_type=_TYPE)


def _parameter(request: Request, name: str) -> str:
    value = request.args.get(name)
    if value is None:
        raise BadRequest(f"The parameter {name} is missing. Ask for record?run=…&tag=…&step=…, as /models lists them.")
    return value


def _step(request: Request) -> int | None:
    step = request.args.get("step")
    try:
        return None if step is None else int(step)
    except ValueError as error:
        raise BadRequest(f"step is {step!r:.40}. Give a whole number, or leave it out for the last.") from error
