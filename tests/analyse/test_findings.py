"""Failures as findings: one a fault, with all its places and what it follows from."""

from dataclasses import replace

from tb_shapeplugin.analyse.findings import findings
from tb_shapeplugin.analyse.origins.recalled import operand_of
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import OpCall
from tests.traces import TraceBuilder, guessed_width

LINEAR = "torch.nn.functional.linear"


def layers(*widths: tuple[str, int, int], causes: dict[int, int] | None = None) -> Trace:
    """A net whose Linears, each (path, in_features, line), all fail on an input 48 wide; failure → the one it follows from."""
    build = TraceBuilder()
    net = build.module("", "Net")
    x = build.input("x", (4, 48))
    failures: list[tuple[int, int, OpCall]] = []
    modules: dict[str, int] = {}
    weights: dict[str, int] = {}
    with build.call(net, [x]):
        for path, width, line in widths:
            if path not in modules:
                weights[path] = build.parameter(f"{path}.weight", (8, width))
                modules[path] = build.module(path, "Linear", parameters=[weights[path]])
            with build.call(modules[path], [x], "failed"):
                build.op(LINEAR, [x, weights[path]], (4, 8), line=line, code=f"line {line}", failed=True)
            trace = build.trace()
            failures.append((modules[path], len(build.ops) - 1, OpCall(LINEAR, (operand_of(x, trace), operand_of(weights[path], trace)))))
    return replace(
        build.trace(error="RuntimeError: shapes"),
        failures=tuple(
            Failure(op, call, module, "RuntimeError", "shapes", caused_by=(causes or {}).get(number, -1))
            for number, (module, op, call) in enumerate(failures)
        ),
    )


def test_a_finding_holds_everything_that_its_four_lines_need() -> None:
    """The guessed width, from its trace to its finding."""
    trace = guessed_width()
    index = next(index for index, op in enumerate(trace.ops) if op.failed)
    op = trace.ops[index]
    call = OpCall(op.name, tuple(operand_of(tensor, trace) for tensor in op.inputs))
    message = "mat1 and mat2 shapes cannot be multiplied (4x864 and 1176x120)"
    failure = Failure(index, call, trace.calls[op.call].module, "RuntimeError", message)
    (found,) = findings(replace(trace, failures=(failure,)))
    assert (found.kind, found.severity) == ("linear_in_features", "error")
    assert found.message == "fc1: the last dim of its input is 864, in_features is 1176"
    assert (found.module, found.module_type, found.call, found.op) == ("fc1", "Linear", 1, LINEAR)
    assert (found.file, found.line, found.op_index) == ("net.py", 33, index)
    assert (dict(found.got), dict(found.want)) == ({"in_features": 864}, {"in_features": 1176})
    assert found.types == "f32[4,864] · f32[1176,120]"
    assert found.why == "864 = 6·12·12"
    assert found.origin is not None and (found.origin.op, found.origin.line) == ("torch.flatten", 31)
    assert found.torch_message == message
    assert [(place.module, place.line, place.op_index) for place in found.places] == [("fc1", 33, index)]


def test_the_same_statement_in_several_blocks_is_one_finding_with_all_places() -> None:
    """Twelve blocks of one class fail alike: told once, found everywhere."""
    (found,) = findings(layers(("block0", 24, 9), ("block1", 24, 9), ("block2", 24, 9)))
    assert [place.module for place in found.places] == ["block0", "block1", "block2"]
    assert (found.module, found.line, found.op_index) == ("block0", 9, found.places[0].op_index)


def test_one_module_called_twice_fails_once() -> None:
    """A shared encoder is one fault; its calls are its places."""
    (found,) = findings(layers(("encoder", 24, 9), ("encoder", 24, 9)))
    assert [(place.module, place.call) for place in found.places] == [("encoder", 1), ("encoder", 2)]


def test_other_numbers_are_another_fault() -> None:
    """What has to be mended in two ways is two findings."""
    assert len(findings(layers(("a", 24, 9), ("b", 32, 9)))) == 2


def test_a_consequence_points_at_the_finding_that_it_follows_from() -> None:
    """The very object of the same tuple, also when the cause has several places."""
    first, consequence = findings(layers(("a", 24, 9), ("b", 24, 9), ("c", 32, 10), causes={2: 1}))
    assert consequence.caused_by is first
    assert first.caused_by is None
    assert len(first.places) == 2


def test_a_consequence_of_the_same_form_stays_apart_from_its_cause() -> None:
    """Else a place would be named that vanishes with the first one."""
    first, consequence = findings(layers(("a", 24, 9), ("b", 24, 9), causes={1: 0}))
    assert [place.module for place in first.places] == ["a"]
    assert consequence.caused_by is first


def test_a_run_without_failures_has_no_findings() -> None:
    """Nothing is said of a model that ran."""
    assert findings(guessed_width(broken=False)) == ()
