"""The lazy table of public names: nothing is loaded before it is asked for."""

from importlib import import_module

_PUBLIC = {
    # public name: the module that holds it
    "capture": "tb_shapeplugin.api.capturing",
    "Capture": "tb_shapeplugin.api.captures",
    "summary": "tb_shapeplugin.api.summarizing",
    "add_shapes": "tb_shapeplugin.api.logging_models",
    "ShapeWriter": "tb_shapeplugin.api.logging_models",
    "guard": "tb_shapeplugin.api.guarding",
    "spec": "tb_shapeplugin.api.specs",
    "load": "tb_shapeplugin.api.loading",
    "ShapesError": "tb_shapeplugin.base.errors",
}

__all__ = ["capture", "summary", "add_shapes", "ShapeWriter", "guard", "spec", "load", "Capture", "ShapesError", "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("tb_shapeplugin.base.names").VERSION
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
