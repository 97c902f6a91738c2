"""Every rule of the house fires on a small tree that breaks it, stays silent on one that doesn't, and the real tree is clean."""

from collections.abc import Callable
from pathlib import Path

import pytest

from check_house import check_house
from house.cycles import find_cycles
from house.lengths import Span, check_lengths
from house.tables import LONGER

ROOT = Path(__file__).resolve().parents[2]
Build = Callable[[dict[str, str]], list[str]]

# Nobody adds a line to LONGER without changing this number, and it may only go down.
MOST_EXCEPTIONS = 0


@pytest.fixture
def problems_of(tmp_path: Path) -> Build:
    """Builds a tree of files and gives each of its problems as one line."""

    def build(files: dict[str, str]) -> list[str]:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [str(problem) for problem in check_house(tmp_path)]

    return build


def long_python(lines: int) -> str:
    """A function of so many lines, docstring apart."""
    return '"""Long."""\n\n\ndef slow():\n    """Says\n\n    more.\n    """\n' + "    x = 1\n" * (lines - 1)


def long_script(lines: int) -> str:
    """An exported function of so many lines, with a signature over several."""
    return "// Long.\nexport function slow({\n  a,\n}: Props): void {\n" + "  step();\n" * (lines - 4) + "}\n"


JOB = '"""One job."""\n'
BROKEN = {
    # what is broken: (files, the rule, a part of what it says)
    "import up": (
        {"tb_shapeplugin/base/a.py": JOB + "from tb_shapeplugin.record import b\n", "tb_shapeplugin/record/b.py": JOB},
        "imports",
        "up",
    ),
    "import sideways in a function": (
        {
            "tb_shapeplugin/write/a.py": JOB + "def f():\n    import tb_shapeplugin.read.b\n",
            "tb_shapeplugin/read/b.py": JOB,
        },
        "imports",
        "'tb_shapeplugin.read.b'",
    ),
    "import for types only": (
        {
            "tb_shapeplugin/ops/a.py": JOB + "import typing\nif typing.TYPE_CHECKING:\n    from tb_shapeplugin.wire.b import C\n",
            "tb_shapeplugin/wire/b.py": JOB + "C = 1\n",
        },
        "imports",
        "'ops'",
    ),
    "import by name": (
        {
            "tb_shapeplugin/serve/a.py": JOB + "import importlib\nimportlib.import_module('tb_shapeplugin.tracing.b')\n",
            "tb_shapeplugin/tracing/b.py": JOB,
        },
        "imports",
        "'tb_shapeplugin.tracing.b'",
    ),
    "torch in analyse": ({"tb_shapeplugin/analyse/a.py": JOB + "import torch.nn\n"}, "imports", "'torch.nn'"),
    "torch in ops": ({"tb_shapeplugin/ops/a.py": JOB + "from torch import nn\n"}, "imports", "'torch.nn'"),
    "torch in serve": ({"tb_shapeplugin/serve/a.py": JOB + "import torch\n"}, "imports", "'torch'"),
    "protobuf in record": ({"tb_shapeplugin/record/a.py": JOB + "from google.protobuf import message\n"}, "imports", "'google.protobuf"),
    "tensorboard in tracing": ({"tb_shapeplugin/tracing/a.py": JOB + "import tensorboard\n"}, "imports", "'tensorboard'"),
    "werkzeug in read": ({"tb_shapeplugin/read/a.py": JOB + "import werkzeug\n"}, "imports", "'werkzeug'"),
    "numpy in base": ({"tb_shapeplugin/base/a.py": JOB + "import numpy as np\n"}, "imports", "'numpy'"),
    "relative import": ({"tb_shapeplugin/base/a.py": JOB + "from . import b\n", "tb_shapeplugin/base/b.py": JOB}, "imports", "relative"),
    "import of a public name": ({"tb_shapeplugin/cli/a.py": JOB + "from tb_shapeplugin import capture\n"}, "imports", "public name"),
    "cycle in a room": (
        {
            "tb_shapeplugin/base/a.py": JOB + "from tb_shapeplugin.base import b\n",
            "tb_shapeplugin/base/b.py": JOB + "def f():\n    from tb_shapeplugin.base.a import g\n",
        },
        "cycle",
        "tb_shapeplugin.base.a -> tb_shapeplugin.base.b -> tb_shapeplugin.base.a",
    ),
    "unknown room": ({"tb_shapeplugin/attic/a.py": JOB}, "rooms", "'attic'"),
    "room named as a function": ({"tb_shapeplugin/capture/a.py": JOB}, "public name", "tb_shapeplugin.capture"),
    "module named as a function": ({"tb_shapeplugin/load.py": JOB}, "public name", "tb_shapeplugin.load"),
    "code in a room's init": ({"tb_shapeplugin/base/__init__.py": JOB + "X = 1\n"}, "init", "holds code"),
    "an import in the top init": (
        {"tb_shapeplugin/__init__.py": JOB + "from tb_shapeplugin.base import a\n", "tb_shapeplugin/base/a.py": JOB},
        "init",
        "more than the lazy table",
    ),
    "a function in the top init": ({"tb_shapeplugin/__init__.py": JOB + "def capture(): ...\n"}, "init", "more than the lazy table"),
    "no docstring": ({"tests/base/test_a.py": "X = 1\n"}, "docstring", "no docstring"),
    "long file": ({"demo/a.py": JOB + "x = 1\n" * 500}, "length", "501 lines"),
    "long function": ({"tools/a.py": long_python(61)}, "length", "slow has 61 lines"),
    "a file that says nothing": ({"tools/shape_utils.py": JOB}, "names", "'utils'"),
    "a folder that says nothing": ({"frontend/src/base/common/a.ts": "// A.\n"}, "names", "'common'"),
    "a class that says nothing": ({"bench/a.py": JOB + "class CacheManager: ...\n"}, "names", "'CacheManager'"),
    "a machine's path": ({"docs/a.md": "See /ro" + "ot/x.\n"}, "machine", "path of one machine"),
    "a registry's host": ({"package-lock.json": '{"resolved": "https://registry.npm' + 'js.org/x"}\n'}, "registry", "host"),
    "a to-do without a reason": ({"tools/a.py": JOB + "# TO" + "DO later\n"}, "to do", "no reason"),
    "a rule silenced in Python": ({"tools/a.py": JOB + "import os  # no" + "qa: F401\n"}, "silenced", "no reason"),
    "a rule silenced in TypeScript": ({"frontend/src/base/a.ts": "// A.\nf();\n// @ts-" + "ignore\ng();\n"}, "silenced", "no reason"),
    "frontend: import up": (
        {"frontend/src/model/a.ts": "// A.\nimport type { B } from '../layout/b';\n", "frontend/src/layout/b.ts": "// B.\n"},
        "imports",
        "'../layout/b'",
    ),
    "frontend: export from above": (
        {"frontend/src/base/a.ts": "// A.\nexport {\n  b,\n} from '../model/b';\n", "frontend/src/model/b.ts": "// B.\n"},
        "imports",
        "'../model/b'",
    ),
    "frontend: a worker's address": (
        {
            "frontend/src/model/a.ts": "// A.\nnew Worker(new URL('../layout_worker.ts', import.meta.url));\n",
            "frontend/src/layout_worker.ts": "// W.\n",
        },
        "imports",
        "'../layout_worker.ts'",
    ),
    "frontend: import() of wire": (
        {"frontend/src/panels/a.tsx": "// A.\nconst b = await import('../wire/b');\n", "frontend/src/wire/b.ts": "// B.\n"},
        "imports",
        "'../wire/b'",
    ),
    "frontend: one panel in another": (
        {"frontend/src/panels/a.tsx": "// A.\nimport './b/c';\n", "frontend/src/panels/b/c.ts": "// C.\n"},
        "imports",
        "The panel 'a' imports the panel 'b'",
    ),
    "frontend: a library in a pure room": ({"frontend/src/model/a.ts": "// A.\nimport { h } from 'preact';\n"}, "imports", "'preact'"),
    "frontend: a lost file": ({"frontend/src/model/a.ts": "// A.\nimport { b } from './b';\n"}, "imports", "leads to no file"),
    "frontend: unknown room": ({"frontend/src/attic/a.ts": "// A.\n"}, "rooms", "'attic'"),
    "frontend: cycle": (
        {"frontend/src/base/a.ts": "// A.\nimport './b';\n", "frontend/src/base/b.ts": "// B.\nexport * from './a';\n"},
        "cycle",
        "frontend/src/base/a.ts -> frontend/src/base/b.ts",
    ),
    "frontend: any": ({"frontend/src/base/a.ts": "// A.\nexport const a: Map<string, any> = b;\n"}, "any", "turns checking off"),
    "frontend: an optional any": ({"frontend/tests/a.ts": "// A.\ninterface A { b?: any }\n"}, "any", "turns checking off"),
    "frontend: no first line": ({"frontend/src/base/a.ts": "export const a = 1;\n"}, "docstring", "begin with a comment"),
    "frontend: long file": ({"frontend/src/base/a.ts": "// A.\n" + "f();\n" * 500}, "length", "501 lines"),
    "frontend: long function": ({"frontend/src/base/a.ts": long_script(61)}, "length", "slow has 61 lines"),
    "frontend: long arrow": (
        {"frontend/src/base/a.ts": "// A.\nexport const slow = (a: string): void => {\n" + "  f();\n" * 60 + "};\n"},
        "length",
        "slow has 62 lines",
    ),
    "frontend: long method": (
        {"frontend/src/base/a.ts": "// A.\nclass A {\n  private slow(): void {\n" + "    f();\n" * 60 + "  }\n}\n"},
        "length",
        "slow has 62 lines",
    ),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_rule_is_named_with_its_place(problems_of: Build, broken: str) -> None:
    """A tree that breaks one rule gives problems of that rule only, with the file, what is wrong, and a way out."""
    files, rule, said = BROKEN[broken]
    problems = problems_of(files)
    assert problems, "the rule didn't fire"
    assert all(f"[{rule}]" in problem for problem in problems), problems
    assert any(said in problem for problem in problems), problems
    assert any(problem.startswith(tuple(files)) for problem in problems), problems
    assert all(problem.count(". ") >= 1 and problem.endswith(".") for problem in problems), problems


ALLOWED = {
    "down, within a room, and the standard library": {
        "tb_shapeplugin/record/a.py": JOB
        + "import json\nimport numpy\nfrom tb_shapeplugin.base import b\nfrom tb_shapeplugin.record import c\n",
        "tb_shapeplugin/base/b.py": JOB,
        "tb_shapeplugin/record/c.py": JOB,
        "tb_shapeplugin/record/__init__.py": "",
    },
    "the lazy table": {
        "tb_shapeplugin/__init__.py": JOB
        + "from importlib import import_module\n_PUBLIC = {'a': 'b'}\n__all__ = ['a']\n"
        + "def __getattr__(name): return import_module(name)\ndef __dir__(): return []\n"
    },
    "a public name below a room": {"tb_shapeplugin/api/capture.py": JOB},
    "as long as allowed": {"tools/a.py": long_python(60), "demo/b.py": JOB + "x = 1\n" * 499, "frontend/src/base/a.ts": long_script(60)},
    "a rule silenced with its reason": {"tools/a.py": JOB + "import os  # no" + "qa: F401  # it is the test's subject\n"},
    "a to-do with a reason": {"tools/a.py": JOB + "# TO" + "DO(#12): wait for the first release\n"},
    "imports in comments and strings": {
        "frontend/src/base/a.ts": "// import { a } from '../panels/x';\n/* import '../wire/y'; */\n"
        "const s = `any: any`;\nconst r = /[\"']: any/;\n"
    },
    "any as a word": {"frontend/src/base/a.ts": "// Takes any of them.\nconst any = of(many), x = [any, 1];\n// matches any: name\n"},
    "a panel's interface and parts": {
        "frontend/src/panels/index.ts": "// The table.\nimport { a } from './a';\nimport './b/b';\n",
        "frontend/src/panels/a.tsx": "// A.\nimport type { P } from './panel';\nimport { x } from '../state/x';\n"
        "import { h } from 'preact';\n",
        "frontend/src/panels/panel.ts": "// P.\n",
        "frontend/src/panels/b/b.ts": "// B.\nimport './c';\n",
        "frontend/src/panels/b/c.ts": "// C.\n",
        "frontend/src/state/x.ts": "// X.\nimport { signal } from '@preact/signals';\n",
    },
    "a style sheet": {
        "frontend/src/main.tsx": "// Main.\nimport './theme/style.css';\n",
        "frontend/src/theme/style.css": "a { color: red }\n",
    },
}


@pytest.mark.parametrize("allowed", ALLOWED)
def test_what_is_allowed_is_let_alone(problems_of: Build, allowed: str) -> None:
    """A tree that stands right beside a broken rule has no problem."""
    assert problems_of(ALLOWED[allowed]) == []


def test_the_house_is_in_order() -> None:
    """The real tree breaks no rule."""
    assert [str(problem) for problem in check_house(ROOT)] == []


def test_exceptions_only_shrink() -> None:
    """Nobody adds an exception from the limits of length without changing this test."""
    assert len(LONGER) <= MOST_EXCEPTIONS


@pytest.mark.parametrize(
    ("lines", "longer", "said"),
    [
        (70, {"a.py::f": 70}, ""),
        (71, {"a.py::f": 70}, "at most 70 are allowed"),
        (65, {"a.py::f": 70}, "its exception says 70"),
        (10, {"a.py::g": 70}, "names nothing"),
    ],
)
def test_an_exception_says_the_truth(lines: int, longer: dict[str, int], said: str) -> None:
    """An exception allows exactly the length it names; one that is too generous or names nothing is a problem itself."""
    problems = [str(problem) for problem in check_lengths([Span(Path("a.py"), "f", 1, lines)], longer)]
    assert [said in problem for problem in problems] == ([True] if said else [])


def test_every_knot_of_modules_is_found() -> None:
    """Two cycles that don't touch are both reported, a tree is not."""
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"d"}, "e": {"a"}}) == [["b", "c", "b"], ["d", "d"]]
