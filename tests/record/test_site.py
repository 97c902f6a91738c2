"""Sites of failures: known again in another run, told apart within one statement."""

from dataclasses import replace

from tb_shapeplugin.record.site import sites
from tb_shapeplugin.record.trace import Failure, Trace
from tb_shapeplugin.record.values import OpCall
from tests.traces import TraceBuilder

MATMUL = "torch.matmul"


def products(failing: tuple[int, ...]) -> Trace:
    """A net with three products, two of them in one statement, of which some fail, by their numbers."""
    build = TraceBuilder()
    net = build.module("", "Net")
    x = build.input("x", (4, 3))
    with build.call(net, [x]):
        for number, line in enumerate((7, 7, 8)):
            build.op(MATMUL, [x, x], (4, 4), line=line, code=f"line {line}", failed=number in failing)
    failures = tuple(Failure(number, OpCall(MATMUL), 0, "RuntimeError", "sizes") for number in failing)
    return replace(build.trace(error="RuntimeError: sizes"), failures=failures)


def test_two_calls_in_one_statement_are_two_sites() -> None:
    """They differ in how many came there before."""
    first, second, other = sites(products((0, 1, 2)))
    assert first.statement == second.statement != other.statement
    assert [site.occurrence for site in (first, second, other)] == [0, 1, 0]


def test_a_site_is_the_same_whether_or_not_what_comes_before_it_fails() -> None:
    """All calls count, not only those that fail: a run in which the first is repaired has the second at its old site."""
    _, second, _ = sites(products((0, 1, 2)))
    assert sites(products((1,))) == (second,)


def test_a_site_without_a_statement_is_told_by_its_module_and_op() -> None:
    """As where the source isn't to be written down."""
    build = TraceBuilder()
    net = build.module("", "Net")
    x = build.input("x", (4, 3))
    with build.call(net, [x]):
        build.op(MATMUL, [x, x], (4, 4), failed=True)
    trace = replace(build.trace(error="RuntimeError: sizes"), failures=(Failure(0, OpCall(MATMUL), 0, "RuntimeError", "sizes"),))
    (site,) = sites(trace)
    assert (site.statement.op, site.statement.file, site.module) == (MATMUL, "", "")


def test_a_run_without_failures_has_no_sites() -> None:
    """Nothing failed, nothing stands anywhere."""
    assert sites(products(())) == ()
