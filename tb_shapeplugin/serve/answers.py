"""How handlers become WSGI applications, and the forms that their answers take."""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tensorboard import errors
from tensorboard.backend import http_util
from werkzeug.wrappers import Request, Response

from tb_shapeplugin.base.errors import RecordError
from tb_shapeplugin.read.runs import NothingThere
from tb_shapeplugin.serve.backend import Backend

Handler: TypeAlias = Callable[[Request, Backend], Response]

_LOG = logging.getLogger(__name__)


class BadRequest(Exception):
    """A parameter is missing or has another form; the message says which."""


def application(handler: Handler, backend: Backend) -> Callable[..., Any]:
    """A WSGI application that answers GET and HEAD by the handler, and errors in JSON.

    Nothing here changes anything, so nothing else is allowed: TensorBoard checks neither origin nor host.
    """

    def answer(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return json_error(request, 405, f"{request.method} is not allowed here. Use GET.", headers=[("Allow", "GET, HEAD")])
        try:
            return handler(request, backend)
        except BadRequest as error:
            return json_error(request, 400, str(error))
        except NothingThere as error:
            return json_error(request, 404, str(error))
        except RecordError as error:
            return json_error(request, 422, str(error))
        except errors.PublicError as error:
            return json_error(request, error.http_code if error.http_code < 500 else 422, f"TensorBoard says: {error}")
        except Exception as error:
            # No 500: TensorBoard would answer in HTML, and the tab could not say which record it was.
            _LOG.exception("Shapes could not answer %s", request.full_path)
            return json_error(request, 422, f"Shapes stumbled over this data: {type(error).__name__}. TensorBoard's log says where.")

    return Request.application(answer)


def json_answer(request: Request, content: Mapping[str, Any], status: int = 200, headers: list[tuple[str, str]] | None = None) -> Response:
    """A JSON object."""
    answer: Response = http_util.Respond(request, json.dumps(content), "application/json", code=status, headers=headers)
    return answer


def json_error(request: Request, status: int, sentence: str, headers: list[tuple[str, str]] | None = None) -> Response:
    """What went wrong and the way out, as JSON."""
    return json_answer(request, {"error": sentence}, status, headers)


def file_answer(request: Request, data: bytes, content_type: str) -> Response:
    """A file of the frontend, which the browser keeps and asks about."""
    etag = etag_of(data)
    unchanged = not_modified(request, etag, content_type)
    if unchanged is not None:
        return unchanged
    answer: Response = http_util.Respond(request, data, content_type, headers=[("ETag", f'"{etag}"')])
    return answer


def etag_of(data: bytes) -> str:
    """A name for these bytes and no others."""
    return hashlib.sha256(data).hexdigest()[:32]


def not_modified(request: Request, etag: str, content_type: str) -> Response | None:
    """A 304 when the browser holds these bytes already, else None."""
    return NotModified(etag, content_type) if request.if_none_match.contains_weak(etag) else None


class NotModified(Response):
    """A 304 with a Content-Type: werkzeug leaves it away, TensorBoard demands it of every answer."""

    def __init__(self, etag: str, content_type: str) -> None:
        super().__init__(status=304, headers=cached(etag))
        self._type = content_type

    def get_wsgi_headers(self, environ: Any) -> Any:  # Any: werkzeug's own types moved between versions
        """As in werkzeug, and the type."""
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self._type
        return headers


def cached(etag: str) -> list[tuple[str, str]]:
    """Headers of an answer that the browser may keep and must ask about."""
    return [("ETag", f'"{etag}"'), ("Cache-Control", "no-cache, must-revalidate"), ("X-Content-Type-Options", "nosniff")]
