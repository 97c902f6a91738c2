"""capture: runs a model once and gives what happened, the diagnosis included."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.api.captures import Capture
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.base.faults import Faults
from tb_shapeplugin.record.trace import nothing_known

_EXECUTIONS = ("auto", "fake", "real")
_SOURCES = ("none", "line", "full")
DEFAULT_CASE = "default"  # what the arguments themselves are called beside further cases
_NO_TORCH = "capture needs PyTorch, which isn't installed here. Install it with: pip install 'tb-shapeplugin[torch]'"


def capture(
    model: Callable[..., Any],
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str = "model",
    execution: Literal["auto", "fake", "real"] = "auto",
    backward: bool = False,
    loss_fn: Callable[[Any], Any] | None = None,
    optimizer: Any = None,
    accumulate: int = 1,
    cases: Mapping[str, Any] | None = None,
    only: str | None = None,
    thorough: bool = False,
    what_if: bool = False,
    continue_past_errors: bool = True,
    verify_fixes: bool = True,
    source: Literal["none", "line", "full"] = "line",
) -> Capture:
    """Runs the model once and writes down its modules, ops, shapes and parameters, and what went wrong.

    The model, its inputs and the process are left as found. A failing model is a result, not an exception.

    Args:
        model: an nn.Module or any callable.
        args: a tuple is several positional arguments; anything else, a list included, is the one argument. A mapping goes
            by keyword when forward has parameters of those names. Tensors may be given as ``spec(...)``.
        kwargs: keyword arguments of the model.
        name: what the model is called in the tab.
        execution: ``fake`` runs at the shape level on a copy without memory, ``real`` on the data given, ``auto`` at the
            shape level, with real values of the few ops that forward's decisions depend on.
        backward: tell what memory whole training steps take, not the forward alone: forward, backward, and the optimizer's step
            where one is given. They run at the shape level, on a copy: nothing is trained. Not told with ``cases`` and ``only``.
        loss_fn: the loss of the model's output; else the sum of all floating outputs.
        optimizer: one of torch's, of the model's parameters; it stays as it is.
        accumulate: how many forwards and backwards come before a step; ``args`` is one micro-batch.
        cases: further inputs by name, each in the form of ``args``; the capture is the union of all runs and says what
            each of them ran. ``args`` itself is the case ``default``; without ``args`` there are these cases alone.
        only: the dotted path of a submodule: the capture is its part of the run, with the inputs that it gets in the whole.
        thorough: one more run, which tells the branches of forward that were never taken; ``cases`` asks this, too.
        what_if: tell, too, what memory other sizes of the inputs (batch, sequence, side of pictures) and other ways to train (dtype,
            optimizer, checkpointing) would take. Each is run at the shape level. Not told with ``cases`` and ``only``.
        continue_past_errors: go on past a failing op with the output it should have had, and find every mismatch at once.
        verify_fixes: try fixes of what is wrong, by shape-level re-runs, for at most 10 s; False: findings have none.
        source: keep the ``line`` of each op, the ``full`` enclosing function, or ``none``.

    Raises:
        ShapesError: a wrong option, something that can't be called, a shape where a tensor is meant, torch missing.

    Example:
        >>> import torch, tb_shapeplugin as shapes
        >>> shapes.capture(torch.nn.Linear(4, 2), torch.ones(3, 5)).findings[0].kind
        'linear_in_features'
    """
    _check_options(model, name, execution, source, only)
    _check_training(backward, loss_fn, optimizer, accumulate)
    inputs = _inputs(model, args, kwargs, cases)
    try:
        from tb_shapeplugin.api.examining import Question, examined  # noqa: PLC0415  it runs the model, which needs torch
        from tb_shapeplugin.tracing.execution import Options  # noqa: PLC0415  the tab lives without torch
        from tb_shapeplugin.tracing.passes.memory import Training  # noqa: PLC0415  the same
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ShapesError(_NO_TORCH) from error
    faults = Faults()
    training = Training(loss_fn, optimizer, accumulate) if backward else None
    has_memory = only is None and cases is None
    options = Options(execution, continue_past_errors, source, only, faults=faults, memory=has_memory, training=training, what_if=what_if)
    question = Question(name, options, verify_fixes, branches=thorough or cases is not None, united=cases is not None)
    record = faults.guarded("everything", lambda: examined(model, inputs, question), None)
    if record is None:
        record = record_of(nothing_known(name, faults.texts()))
    faults.tell()
    if not record.completed:
        for given in inputs.values():
            _refuse_sizes(model, *given, ran=False)
    return Capture(record)


def refuse_unknown_options(options: Mapping[str, Any]) -> None:
    """ShapesError for an option that capture doesn't have."""
    known = [name for name, parameter in inspect.signature(capture).parameters.items() if parameter.kind is parameter.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            raise ShapesError(f"there is no option {name!r}. The options of a capture are {', '.join(known)}.")


def _inputs(
    model: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None, cases: Mapping[str, Any] | None
) -> dict[str, tuple[tuple[Any, ...], dict[str, Any]]]:
    """Every named input as positional and keyword arguments."""
    names: Any = cases  # Any: what callers without a type checker may give
    if names is not None and (not isinstance(names, Mapping) or not names or not all(isinstance(case, str) and case for case in names)):
        raise ShapesError(f"cases is {cases!r:.80}. Give a dict of inputs by their names, such as {{'text': tokens, 'image': pixels}}.")
    if cases and DEFAULT_CASE in cases:
        raise ShapesError(f"cases has a {DEFAULT_CASE!r}, which is what args itself is called. Choose another name.")
    alone = bool(cases) and isinstance(args, tuple) and args == () and kwargs is None
    given = ({} if alone else {DEFAULT_CASE: (args, kwargs)}) | {case: (value, None) for case, value in (cases or {}).items()}
    inputs = {case: _arguments(model, *value) for case, value in given.items()}
    for positional, keywords in inputs.values():
        _refuse_sizes(model, positional, keywords)
    return inputs


def refuse_no_model(model: Any, name: Any) -> None:
    """ShapesError for what can't be called, and for a name that is none."""
    if not callable(model):
        raise ShapesError(f"the model is a {type(model).__name__}, which can't be called. Give an nn.Module or a function.")
    if not isinstance(name, str) or not name:
        raise ShapesError(f"name is {name!r}. Give a non-empty text.")


def _check_options(model: Any, name: Any, execution: Any, source: Any, only: Any) -> None:
    refuse_no_model(model, name)
    if only is not None and (not isinstance(only, str) or not only):
        raise ShapesError(f"only is {only!r}. Give the dotted path of a submodule, such as 'backbone.layer1'.")
    for option, value, known in (("execution", execution, _EXECUTIONS), ("source", source, _SOURCES)):
        if value not in known:
            raise ShapesError(f"{option} is {value!r}. Use one of {', '.join(map(repr, known))}.")


def _check_training(backward: Any, loss_fn: Any, optimizer: Any, accumulate: Any) -> None:
    if not backward and (loss_fn is not None or optimizer is not None or accumulate != 1):
        raise ShapesError("loss_fn, optimizer and accumulate say how a training step goes. Give backward=True with them.")
    if loss_fn is not None and not callable(loss_fn):
        raise ShapesError(f"loss_fn is a {type(loss_fn).__name__}. Give a function that makes the loss of the model's output.")
    if optimizer is not None and not all(hasattr(optimizer, name) for name in ("step", "state", "param_groups")):
        raise ShapesError(f"optimizer is a {type(optimizer).__name__}. Give one of torch.optim's, made of the model's parameters.")
    if not isinstance(accumulate, int) or isinstance(accumulate, bool) or accumulate < 1:
        raise ShapesError(f"accumulate is {accumulate!r}. Give the number of micro-batches before a step, 1 or more.")


def _signature(model: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(getattr(model, "forward", model))
    except (TypeError, ValueError):
        return None


def _arguments(model: Callable[..., Any], args: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise ShapesError(f"kwargs is a {type(kwargs).__name__}. Give a dict of the model's keyword arguments.")
    keywords = dict(kwargs or {})
    if isinstance(args, tuple) and not hasattr(args, "_fields"):
        return args, keywords
    if isinstance(args, Mapping) and args and all(isinstance(key, str) for key in args):
        signature = _signature(model)
        parameters = signature.parameters.values() if signature else ()
        named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        if set(args) <= named or (any(p.kind is p.VAR_KEYWORD for p in parameters) and set(args) & named):
            return (), {**args, **keywords}
    return (args,), keywords


def _is_size(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and bool(value) and all(isinstance(size, int) and not isinstance(size, bool) for size in value)


def _refuse_sizes(model: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], *, ran: bool = True) -> None:
    """ShapesError for shapes given in place of tensors, as other tools take them, when they don't fit forward."""
    if kwargs or not args:
        return
    if _is_size(args):
        shapes = [tuple(args)]
    elif all(map(_is_size, args)):
        shapes = [tuple(arg) for arg in args]
    elif len(args) == 1 and isinstance(args[0], list) and args[0] and all(map(_is_size, args[0])):
        shapes = [tuple(arg) for arg in args[0]]
    else:
        return
    if ran:
        signature = _signature(model)
        try:
            if signature is not None:
                signature.bind(*args)
            return
        except TypeError:
            pass
    specs = [f"shapes.spec({shape if len(shape) > 1 else f'({shape[0]},)'})" for shape in shapes]
    given = ", ".join(map(str, shapes))
    call = specs[0] if len(specs) == 1 else f"({', '.join(specs)})"
    raise ShapesError(
        f"args is {given}, the size of a tensor rather than a tensor. Write {call}, with the batch dim first, or give a real tensor."
    )
