"""The console's table, totals and findings: goldens, and checks that don't depend on them."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.base.errors import ShapesError
from tb_shapeplugin.record.record import Record
from tb_shapeplugin.record.views import ModuleRows
from tb_shapeplugin.report.columns import COLUMNS, DEFAULT_COLUMNS
from tb_shapeplugin.report.console import console
from tb_shapeplugin.report.table import text_width
from tests.traces import TraceBuilder, guessed_width, guessed_width_finding

Golden = Callable[[str, str], None]


def broken() -> Record:
    """The net with the guessed width."""
    return record_of(guessed_width(), (guessed_width_finding(),))


def language_model() -> Record:
    """A tied head, a list of two blocks that share one activation, a part that is never called, two outputs.

    ids ─ wte ─ blocks.0 (norm ─ mlp ─ act) ─ blocks.1 (norm ─ mlp ─ act) ─ head ─ logits, hidden      extra (never called)
    """
    build = TraceBuilder()
    ids = build.input("input_ids", (2, 16), "int64", device="cuda:0")
    weight = build.parameter("wte.weight", (1000, 64), "bfloat16")
    net = build.module("", "TinyLM")
    wte = build.module("wte", "Embedding", parameters=[weight], shared_with=("head",))
    build.module("blocks", "ModuleList")
    parts: list[dict[str, int]] = []
    for block in ("blocks.0", "blocks.1"):
        whole = build.module(block, "Block")
        norm = build.module(f"{block}.norm", "LayerNorm", parameters=[build.parameter(f"{block}.norm.weight", (64,), "bfloat16")])
        mlp = build.module(f"{block}.mlp", "Linear", parameters=[build.parameter(f"{block}.mlp.weight", (64, 64), "bfloat16")])
        act = parts[0]["act"] if parts else build.module(f"{block}.act", "GELU", shared_with=("blocks.1.act",))
        parts.append({"whole": whole, "norm": norm, "mlp": mlp, "act": act})
    build.module("extra", "Linear", parameters=[build.parameter("extra.weight", (8, 64), "bfloat16")], frozen=True)
    head = build.module("head", "Linear", parameters=[weight], shared_with=("wte",))
    h, linear = [ids], "torch.nn.functional.linear"
    with build.call(net, h) as outputs:
        h = build.run(wte, "torch.nn.functional.embedding", h, (2, 16, 64))
        for part in parts:
            with build.call(part["whole"], h) as out:
                for name, op in (("norm", "torch.nn.functional.layer_norm"), ("mlp", linear), ("act", "torch.nn.functional.gelu")):
                    h = build.run(part[name], op, h, (2, 16, 64))
                out += h
        outputs += build.run(head, linear, h, (2, 16, 1000)) + h
    build.tensors = [replace(tensor, device="cuda:0") for tensor in build.tensors]
    return record_of(build.trace(outputs, name="TinyLM", unchecked=("ranges of input_ids: the run was at the shape level",)))


def rows_of(text: str) -> list[str]:
    """The table's lines below its rule."""
    return text.split("\n\n")[0].splitlines()[2:]


def test_a_broken_net_is_shown_whole(golden: Golden) -> None:
    """Rows up to the failing call, it with its mark, assumed ones behind it, the totals, the four lines."""
    golden("console_guessed_width", console(broken(), width=100))


def test_a_net_that_runs_is_shown_whole(golden: Golden) -> None:
    """No mark, no gutter, no findings."""
    golden("console_mended", console(record_of(guessed_width(broken=False)), width=100))


def test_lists_shared_parts_and_tied_weights_are_shown(golden: Golden) -> None:
    """Lists have no row of their own, the second call of a part is reused, the tied head says with whom."""
    golden("console_language_model", console(language_model(), width=120))


def test_a_narrow_terminal_gets_fewer_columns(golden: Golden) -> None:
    """Layer, output and params stay longest."""
    golden("console_narrow", console(broken(), width=48))


def test_parameters_of_the_leaves_add_up_to_the_total() -> None:
    """What a reader adds up: each leaf once, tied ones once."""
    record = record_of(guessed_width())
    leaves = [row for row in ModuleRows(record) if row.depth == 1]
    assert sum(row.params or 0 for row in leaves) == record.totals.params
    told = console(record, columns=("path", "params"), width=100)
    numbers = [int(line.split()[-1].replace(",", "")) for line in rows_of(told)]
    assert numbers[0] == sum(numbers[1:]) == record.totals.params


def test_reused_and_tied_parameters_are_counted_once_in_the_totals() -> None:
    """1000·64 once for embedding and head, and two blocks of 64 + 64·64, and 8·64 frozen."""
    record = language_model()
    trainable = 1000 * 64 + 2 * (64 + 64 * 64)
    assert record.totals.params == trainable + 8 * 64
    text = console(record, width=120)
    told = {line[:22].strip(): line[22:].strip() for line in text.split("\n\n")[1].splitlines()}
    assert (told["Trainable params"], told["Non-trainable params"]) == (f"{trainable:,}", f"{8 * 64}")


def test_a_part_called_twice_shows_its_call_numbers_and_counts_once() -> None:
    """The second block calls the first block's activation."""
    lines = [line for line in rows_of(console(language_model(), width=140)) if "act" in line]
    assert [("(call 1)" in line, "(reused)" in line) for line in lines] == [(True, False), (False, True)]
    assert "blocks.0.act (call 2)" in lines[1]


def test_a_call_stands_under_its_caller_with_its_whole_path_where_that_is_not_its_parent() -> None:
    """blocks.0.act runs inside blocks.1: there "act" alone would lie."""
    lines = [line.replace("│  ", "│·") for line in rows_of(console(language_model(), width=140))]
    cells = [line.partition("  ")[0] for line in lines]
    assert cells == [
        "TinyLM",
        "├─ wte",
        "├─ blocks.0",
        "│·├─ norm",
        "│·├─ mlp",
        "│·└─ act (call 1)",
        "├─ blocks.1",
        "│·├─ norm",
        "│·├─ mlp",
        "│·└─ blocks.0.act (call 2)",
        "├─ extra",
        "└─ head",
    ]


def test_the_usual_device_is_told_once_and_others_at_their_types() -> None:
    """A type carries its device only where that isn't the usual one."""
    record = language_model()
    text = console(record, width=120)
    assert "Device                cuda:0" in text and "@" not in text
    device = record.tensors.device.copy()
    device[-1] = 0
    moved = replace(record, tensors=replace(record.tensors, device=device), strings=("cpu", *record.strings[1:]))
    assert "@cpu" in console(moved, width=140)


def test_only_failing_rows_carry_the_mark_and_later_ones_say_assumed() -> None:
    """fc1 failed; the root, fc2 and fc3 only have assumed outputs."""
    lines = rows_of(console(broken(), width=100))
    assert [line for line in lines if "✕" in line] == [line for line in lines if "fc1" in line]
    assert ["assumed" in line for line in lines] == [True, False, False, False, True, True, True, False]
    assert "never called" in lines[-1]


def test_depth_hides_levels_but_never_a_failing_call() -> None:
    """Down to the root alone, fc1 is still there; in a net that runs it isn't."""
    assert [line.split()[0] for line in rows_of(console(broken(), depth=0, width=100))] == ["Net", "✕"]
    assert len(rows_of(console(record_of(guessed_width(broken=False)), depth=0, width=100))) == 1
    assert len(rows_of(console(language_model(), depth=1, width=120))) == 6  # the root, wte, two blocks, extra, head


def test_a_failing_call_deep_down_is_shown_with_all_that_it_runs_in() -> None:
    """Of two bodies only the one with the failing leaf is opened."""
    build = TraceBuilder()
    x = build.input("x", (2,))
    module = {path: build.module(path, "M") for path in ("", "one", "one.a", "two", "two.body", "two.body.b", "two.body.c")}
    with build.call(module[""], [x]):
        with build.call(module["one"], [x]):
            build.run(module["one.a"], "torch.relu", [x], (2,))
        with build.call(module["two"], [x]), build.call(module["two.body"], [x]):
            build.run(module["two.body.b"], "torch.relu", [x], (2,))
            build.run(module["two.body.c"], "torch.cat", [x], outcome="failed")
    lines = rows_of(console(record_of(build.trace(error="RuntimeError: no")), depth=1, columns=("path", "output_shapes"), width=80))
    assert [line.strip(" ✕│├└─").split()[0] for line in lines] == ["Net", "one", "two", "body", "c"]
    assert lines[-1].startswith("✕") and lines[-1].endswith("failed")


def test_unknown_is_a_word() -> None:
    """A lazy head: neither its parameters nor the whole model's are known, and 0 would be a lie."""
    build = TraceBuilder()
    x = build.input("x", (2, 3))
    net, head = build.module("", "Net"), build.module("head", "LazyLinear", lazy=True)
    with build.call(net, [x]) as outputs:
        outputs += build.run(head, "torch.nn.functional.linear", [x], (2, 5))
    text = console(record_of(build.trace(outputs)), width=100)
    assert [line.split()[-4] for line in rows_of(text)] == ["unknown"] * 2
    assert all(f"{label:22}unknown" in text for label in ("Total params", "Trainable params", "Non-trainable params", "Param bytes"))


def test_the_run_is_named_and_what_it_left_open_too() -> None:
    """Execution and unchecked stand among the totals."""
    text = console(language_model(), width=120)
    assert "Execution             shape level, nothing computed" in text
    assert "Unchecked             ranges of input_ids: the run was at the shape level" in text
    assert "Execution             real run" in console(replace(language_model(), execution="real"), width=120)
    assert "Unchecked" not in console(broken(), width=100)


def test_an_error_that_no_finding_explains_is_told_in_torchs_words() -> None:
    """With a finding the four lines say it better."""
    assert "Completed             no, RuntimeError: mat1 and mat2" in console(record_of(guessed_width()), width=120)
    assert "Completed             no\n" in console(broken(), width=120)
    assert "Completed" not in console(record_of(guessed_width(broken=False)), width=120)


def test_findings_are_counted_and_each_has_its_mark() -> None:
    """Errors before warnings in the count, findings in their own order."""
    warning = replace(guessed_width_finding(), severity="warning", kind="broadcast")
    text = console(record_of(guessed_width(), (warning, guessed_width_finding(), guessed_width_finding())), width=100)
    assert "2 errors, 1 warning" in text
    assert text.index("▲ warning: broadcast") < text.index("✕ error: linear_in_features")


@pytest.mark.parametrize("width", [20, 33, 48, 60, 79, 100, 200])
def test_the_table_and_totals_fit_any_width(width: int) -> None:
    """Words of a sentence aren't broken, so only the findings' longest word may stick out."""
    for record in (broken(), language_model()):
        table_block = console(record, width=width).split("\n\n")[0]
        assert max(map(text_width, table_block.splitlines())) <= width


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column_can_be_asked_for(name: str) -> None:
    """Alone beside the names, with a head of its own and a cell in each row."""
    record = language_model()
    lines = console(record, columns=("path", name) if name != "path" else ("path",), width=200).split("\n\n")[0].splitlines()
    assert lines[0].endswith(COLUMNS[name].head)
    assert len(lines) == 2 + len(ModuleRows(record)) - 1  # the list has no row


def test_defaults_are_columns() -> None:
    """A typo in the defaults would break every table."""
    assert set(DEFAULT_COLUMNS) <= set(COLUMNS)


def test_wrong_options_are_told_with_the_way_out() -> None:
    """A column that doesn't exist, none at all, a text instead of a list, a depth below 0."""
    for columns, words in ((("path", "flop"), "'flop'"), ((), "()"), ("path", "'path'")):
        with pytest.raises(ShapesError, match="no column of the table") as raised:
            console(broken(), columns=columns)
        assert words in str(raised.value) and "output_shapes" in str(raised.value)
    with pytest.raises(ShapesError, match="depth is -1"):
        console(broken(), depth=-1)


def test_a_function_without_modules_has_totals_and_no_table() -> None:
    """Nothing to list is no reason for an empty head."""
    build = TraceBuilder()
    text = console(record_of(build.trace(build.op("torch.relu", [build.input("x", (2,))], (2,)))), width=80)
    assert text.startswith("Total params")


def test_the_default_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    """COLUMNS is how a shell tells it."""
    monkeypatch.setenv("COLUMNS", "48")
    assert console(broken()) == console(broken(), width=48)
    monkeypatch.delenv("COLUMNS")
    assert console(broken(), width=None) == console(broken(), width=100)
