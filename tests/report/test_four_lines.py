"""A finding told in four lines, part by part."""

from dataclasses import replace

from tb_shapeplugin.analyse.ledger import record_of
from tb_shapeplugin.record.finding import Finding, Fix, Origin, Place
from tb_shapeplugin.report.four_lines import four_lines
from tests.traces import guessed_width, guessed_width_finding

BARE = Finding("user_error", "error", "KeyError: 'image'", "", "", 0, "", "", 0, "")


def parts(finding: Finding, **options: object) -> dict[str, str]:
    """The lines by their heads."""
    text = four_lines(finding, **options)  # type: ignore[arg-type]  # options of any kind are handed on
    return {line[:7].strip(): line[7:] for line in text.splitlines()}


def test_the_four_lines_have_the_form_of_the_design() -> None:
    """With the record, FROM also says what the origin's op was called on."""
    assert four_lines(guessed_width_finding(), record_of(guessed_width())).splitlines() == [
        "WHERE  fc1 (Linear, net.py:33, call 1)",
        "WHAT   the last dim of its input is 864, in_features is 1176      f32[4,864] · f32[1176,120]",
        "FROM   864 = 6·12·12, made by flatten of pool f32[4,6,12,12] (net.py:31)",
        "TRY    nn.Linear(864, 120) (loses the pretrained weights of fc1)  ✓ runs      input 36×36  not verified",
    ]


def test_lines_without_content_are_left_out() -> None:
    """A finding of which only the sentence is known is one line; nothing is in brackets that isn't there."""
    assert four_lines(BARE) == "WHAT   KeyError: 'image'"
    assert parts(replace(BARE, module="fc"))["WHERE"] == "fc"


def test_the_root_is_told_by_its_type() -> None:
    """Its path is empty."""
    assert parts(replace(BARE, module_type="Net", file="net.py", line=3, call=1))["WHERE"] == "Net (net.py:3, call 1)"


def test_further_places_are_counted() -> None:
    """The first place is the finding's own."""
    place = Place("fc1", 1, "torch.nn.functional.linear", "net.py", 33, "")
    found = guessed_width_finding()
    assert parts(replace(found, places=(place,)))["WHERE"].endswith("call 1)")
    assert parts(replace(found, places=(place,) * 2))["WHERE"].endswith("call 1) and 1 more place")
    assert parts(replace(found, places=(place,) * 12))["WHERE"].endswith("call 1) and 11 more places")


def test_a_tick_stands_only_behind_a_fix_that_ran_and_those_come_first() -> None:
    """A suggestion that was never re-run must not look like one that was."""
    fixes = (Fix("first"), Fix("second", verified=True), Fix("third"), Fix("fourth", verified=True, cost="costs"))
    told = parts(replace(BARE, fixes=fixes))["TRY"].split(" " * 6)
    assert told == ["second  ✓ runs", "fourth (costs)  ✓ runs", "first  not verified", "third  not verified"]


def test_an_input_that_brought_the_number_along_is_named() -> None:
    """There is no op to blame, the tensor is."""
    found = replace(BARE, origin=Origin("", "x", "", 0, "", tensor=0, shape=(4, 1, 28, 28)))
    assert parts(found, record=record_of(guessed_width()))["FROM"] == "brought along by x f32[4,1,28,28]"
    assert parts(found)["FROM"] == "brought along by x 4×1×28×28"


def test_without_a_record_the_origin_shows_what_it_gave() -> None:
    """The finding alone knows the shape, not the operands."""
    assert parts(guessed_width_finding())["FROM"] == "864 = 6·12·12, made by flatten, 4×864 (net.py:31)"


def test_an_origin_inside_a_module_names_it_and_its_input() -> None:
    """conv1's op made the number out of the model's input."""
    origin = Origin("conv1", "torch.nn.functional.conv2d", "net.py", 30, "", op_index=0, tensor=11)
    told = parts(replace(BARE, origin=origin), record=record_of(guessed_width()))["FROM"]
    assert told == "made by conv2d in conv1 of x f32[4,1,28,28] (net.py:30)"


def test_an_origin_whose_operand_was_made_in_the_same_module_names_the_op() -> None:
    """pool ran on what relu gave; flatten and relu both stand in the root."""
    origin = Origin("pool", "torch.nn.functional.max_pool2d", "net.py", 30, "", op_index=6, tensor=17)
    told = parts(replace(BARE, origin=origin), record=record_of(guessed_width()))["FROM"]
    assert "of fc1 f32[4,120]" in told
    origin = Origin("", "torch.nn.functional.relu", "net.py", 30, "", op_index=1, tensor=12)
    assert "of conv1 f32[4,6,24,24]" in parts(replace(BARE, origin=origin), record=record_of(guessed_width()))["FROM"]


def test_what_it_follows_from_is_told() -> None:
    """A finding that vanishes with another one names that one."""
    told = parts(replace(BARE, caused_by=guessed_width_finding()))["FROM"]
    assert told == "follows from linear_in_features at fc1 (net.py:33)"


def test_torchs_words_and_other_readings_come_only_when_asked_for() -> None:
    """Eager's message may have several lines; here it is one."""
    found = replace(guessed_width_finding(), torch_message="mat1 and mat2\n  shapes cannot be multiplied")
    assert "TORCH" not in parts(found) and "OR" not in parts(found)
    told = parts(found, verbose=True)
    assert told["TORCH"] == "mat1 and mat2 shapes cannot be multiplied"
    assert told["OR"] == "input 32×32 gives 6·14·14 = 1176"


def test_a_long_line_goes_on_below_and_keeps_the_tick_whole() -> None:
    """Every part begins on a line of its own, indented to the others."""
    text = four_lines(guessed_width_finding(), width=40)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line[:7].strip() in ("WHERE", "WHAT", "FROM", "TRY", "") for line in lines)
    assert "✓ runs" in text and "\N{NO-BREAK SPACE}" not in text
    assert "       f32[4,864] · f32[1176,120]" in lines
    assert " ".join(text.split()) == " ".join(four_lines(guessed_width_finding()).split())


def test_what_would_have_fitted_stands_behind_the_place() -> None:
    """First the arithmetic and who made the number, then what the model was drawn for."""
    found = replace(guessed_width_finding(), why="864 = 6·12·12; 1176 = 6·14·14 is what 32×32 for x gives")
    assert parts(found)["FROM"] == "864 = 6·12·12, made by flatten, 4×864 (net.py:31); 1176 = 6·14·14 is what 32×32 for x gives"
    alone = replace(BARE, why="864 = 6·12·12; a flatten is missing")
    assert parts(alone)["FROM"] == "864 = 6·12·12; a flatten is missing"


def test_brackets_are_told_in_words() -> None:
    """Nobody says __getitem__."""
    origin = Origin("", "torch.Tensor.__getitem__", "net.py", 30, "x = x[:, :5]", op_index=0, shape=(4, 5))
    assert parts(replace(BARE, origin=origin))["FROM"] == "made by indexing, 4×5 (net.py:30)"


def test_what_stands_behind_a_failure_of_pythons_own_was_made_by_nobody() -> None:
    """The unpacking made no tensor; what the module was called with once more is assumed."""
    origin = Origin("", "python.unpack", "net.py", 30, "b, t, n = x.shape", op_index=0, shape=(1, 4, 5))
    assert parts(replace(BARE, origin=origin))["FROM"] == "made by what was assumed, 1×4×5 (net.py:30)"
