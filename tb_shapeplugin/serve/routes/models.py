"""/models: every logged model of every run."""

from dataclasses import asdict, fields
from typing import Any

from werkzeug.wrappers import Request, Response

from tb_shapeplugin.read.runs import LoggedModel
from tb_shapeplugin.serve.answers import json_answer
from tb_shapeplugin.serve.backend import Backend
from tb_shapeplugin.wire.header import Header

_FIELDS = tuple(field.name for field in fields(Header) if field.name != "draft")


def models(request: Request, backend: Backend) -> Response:
    """Runs and models in the order of their names, steps rising."""
    logged = backend.runs(request).models()
    return json_answer(request, {"runs": [{"run": run, "models": list(map(_model, found))} for run, found in logged.items()]})


def _model(model: LoggedModel) -> dict[str, Any]:
    told = asdict(model.header) if model.header is not None else {}
    return {"tag": model.tag, "steps": model.steps, "problem": model.problem} | {name: told.get(name) for name in _FIELDS}
