"""THIRD_PARTY_NOTICES names every npm package in the bundle with its licence, and no other."""

import json
from pathlib import Path

import pytest

from make_notices import METAFILE, NOTICES, NoticeError, make_notices

ROOT = Path(__file__).resolve().parents[2]
HEADER = "// Copyright 2008 Somebody.\n//\n// Do as you like.\nexport {};\n"


def build(root: Path, licence: str | None, header: str, bytes_in_output: int = 9) -> Path:
    """A checkout whose bundle holds one file of the package @a/b and one of our own."""
    package = root / "node_modules/@a/b"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@a/b", "version": "1.2.3", "license": "MIT"}')
    (package / "index.js").write_text(header)
    if licence is not None:
        (package / "LICENSE").write_text(licence)
    inputs = {"../node_modules/@a/b/index.js": {"bytesInOutput": bytes_in_output}, "src/main.ts": {"bytesInOutput": 5}}
    (root / METAFILE).parent.mkdir(parents=True)
    (root / METAFILE).write_text(json.dumps({"outputs": {"index.js": {"inputs": inputs}}}))
    return root


def test_a_licence_file_is_quoted(tmp_path: Path) -> None:
    """Name, version, licence and its text stand in the notices; our own files don't."""
    text = make_notices(build(tmp_path, "Permission is granted.", HEADER))
    assert "@a/b 1.2.3, MIT\n\nPermission is granted.\n" in text
    assert "Somebody" not in text and "main.ts" not in text


def test_without_a_licence_file_the_notice_on_the_code_is_quoted(tmp_path: Path) -> None:
    """A package that carries its licence at the top of each file is named with that text."""
    assert "@a/b 1.2.3, MIT\n\nCopyright 2008 Somebody.\n\nDo as you like.\n" in make_notices(build(tmp_path, None, HEADER))


def test_what_was_shaken_out_is_not_named(tmp_path: Path) -> None:
    """A package without a byte in the bundle has no notice."""
    assert "@a/b" not in make_notices(build(tmp_path, "Permission is granted.", HEADER, bytes_in_output=0))


def test_a_package_without_a_licence_is_refused(tmp_path: Path) -> None:
    """Nothing is bundled whose licence nobody can tell."""
    with pytest.raises(NoticeError, match=r"@a/b 1\.2\.3 is in the bundle without a licence's text"):
        make_notices(build(tmp_path, None, "export {};\n"))


def test_without_a_bundle_the_way_out_is_named(tmp_path: Path) -> None:
    """No metafile, no notices: the message says how to build one."""
    with pytest.raises(NoticeError, match="make frontend"):
        make_notices(tmp_path)


def test_the_notices_are_those_of_the_bundle() -> None:
    """The file in the checkout is what the bundle last built asks for."""
    assert (ROOT / NOTICES).read_text(encoding="utf-8") == make_notices(ROOT)
