"""Tables of strings are stored without what each begins with as the one before does."""

from hypothesis import given
from hypothesis import strategies as st

from tb_shapeplugin.wire.text import lengthened, shortened

# Few characters, so that many beginnings are shared; one beyond ASCII, one beyond 16 bits.
TEXTS = st.lists(st.text(alphabet="ab.é𝛼", max_size=8), max_size=12)


@given(TEXTS)
def test_strings_come_back_whole(texts: list[str]) -> None:
    """Whatever they hold, the strings that were shortened are the strings that come back."""
    assert lengthened(*shortened(texts)) == tuple(texts)


@given(TEXTS)
def test_only_ascii_is_shared(texts: list[str]) -> None:
    """A prefix counts the same in UTF-8, in code points and in UTF-16, and none could be longer by one ASCII character."""
    prefixes, _ = shortened(texts)
    for shared, before, text in zip(prefixes[1:], texts, texts[1:], strict=False):
        assert before[:shared] == text[:shared]
        assert before[:shared].isascii()
        following = (before[shared : shared + 1], text[shared : shared + 1])
        assert "" in following or following[0] != following[1] or not following[0].isascii()


def test_paths_are_mostly_the_one_before() -> None:
    """The names of a hundred layers take less than half of their characters."""
    paths = [f"encoder.layer.{layer}.attention.{part}.weight" for layer in range(100) for part in ("query", "key", "value")]
    _, rests = shortened(paths)
    assert 2 * sum(map(len, rests)) < sum(map(len, paths))
