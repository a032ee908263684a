"""The keys under which the same memory is found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.memory.classes import CLASSES, MemoryClass
from services.memory.keys import (
    LONGEST,
    canonical,
    exact_key,
    identity_key,
    is_concrete,
    normal_path,
    normal_url,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  Run   `make check`,  always! ", "run make check always"),
        ("Use „tabs“ — not spaces…", "use tabs not spaces"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),  # noqa: RUF001 - that is the point
        ("总是使用 pnpm。", "总是使用 pnpm"),
        ("C++ and a=b", "c++ and a=b"),
        ("...", ""),
    ],
)
def test_the_canonical_text_has_words_only(text: str, expected: str) -> None:
    assert expected == canonical(text)


@given(st.text(max_size=100))
def test_what_is_canonical_stays_so(text: str) -> None:
    assert canonical(text) == canonical(canonical(text))


@given(st.text(max_size=100), st.sampled_from(CLASSES))
def test_case_spacing_and_punctuation_change_no_exact_key(text: str, memory_class: MemoryClass) -> None:
    assert exact_key(memory_class, text) == exact_key(memory_class, f" ({text}\n) .")


def test_long_texts_that_differ_at_their_end_have_different_keys() -> None:
    assert exact_key("project", "a b " * 900 + "c") != exact_key("project", "a b " * 900 + "d")
    assert exact_key("project", "a b " * 900) != exact_key("project", ("a b " * 900)[:LONGEST])
    assert LONGEST + 100 > len(exact_key("project", "a b " * 900_000))


def test_the_same_words_in_another_class_have_another_key() -> None:
    assert len(CLASSES) == len({exact_key(one, "Use tabs.") for one in CLASSES})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Graphs live at https://Example.TEST/graphs/.", "See HTTPS://example.test/graphs#cpu (the dashboards)"),
        ("`docs//setup.md` tells how to begin.", "How to begin stands in docs/setup.md."),
        ("Ports are in 'deploy/compose.yaml'.", "deploy\\compose.yaml, not the code, names the ports."),
        ("The schema is in ./schemas/", "./schemas holds events."),
        ("`~x` and `.github/workflows/` build it", "CI: .github/workflows/."),
    ],
)
def test_memories_about_one_address_or_file_are_the_same_where_they_are_about_things(one: str, other: str) -> None:
    assert identity_key("reference", one) == identity_key("reference", other)
    assert identity_key("project", one) == identity_key("project", other)
    assert identity_key("decision", one) != identity_key("decision", other)
    assert identity_key("feedback", one) != identity_key("feedback", other)


def test_an_address_goes_before_a_quoted_path_and_that_before_a_bare_one() -> None:
    text = "a/b.md links `c/d.md` and https://example.test"
    assert "reference:url:https://example.test" == identity_key("reference", text)
    assert "reference:path:c/d.md" == identity_key("reference", text.removesuffix(" and https://example.test"))
    assert "reference:path:a/b.md" == identity_key("reference", "a/b.md links elsewhere")


@pytest.mark.parametrize("text", ["It runs on Node.js 22.", "Read and/or write.", "TCP/IP is slow.", "e.g. this one"])
def test_what_only_looks_like_a_path_makes_no_memory_the_same(text: str) -> None:
    assert exact_key("project", text) == identity_key("project", text)


@pytest.mark.parametrize("path", ["/etc", "./a", "../a", ".git/config", "src/a", "a.py", "go.sql", "main.tf", "x.json"])
def test_a_concrete_path(path: str) -> None:
    assert is_concrete(path)


@pytest.mark.parametrize("path", ["", ".", "..", "word", "a.b", "file.pdf"])
def test_no_concrete_path(path: str) -> None:
    assert not is_concrete(path)


def test_a_path_is_normal_without_quotes_doubled_slashes_and_what_prose_adds() -> None:
    assert "a/b/c" == normal_path("`a\\b//c/`,")
    assert "/" == normal_path("/")


def test_an_address_is_normal_without_fragment_and_trailing_slash() -> None:
    assert "https://example.test/A?q=/" == normal_url("HTTPS://Example.test/A/?q=/#x).")
    assert "http://example.test" == normal_url("http://example.test/")


THINGS = (
    "src/app/main.py",
    "`docs/a b.md`",
    "https://example.test/a/?q=1#x",
    "config.toml",
    "see ",
    "is ",
    " ",
    "'",
    ".",
)
NAMING = st.lists(st.sampled_from(THINGS) | st.text(max_size=8), max_size=8).map("".join)


@given(NAMING, st.sampled_from(CLASSES))
def test_what_has_the_same_words_is_about_the_same_thing(text: str, memory_class: MemoryClass) -> None:
    assert identity_key(memory_class, text) == identity_key(memory_class, f" ({text}\n) .")
    assert identity_key(memory_class, text).startswith(f"{memory_class}:")
