"""The text tiers: what their rules say in fewer words, and what they leave alone."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.plan.text_compression.regions import QUOTE, REGION, mask, prose, unmask
from services.plan.text_compression.rules import FULL, LITE, ULTRA, compress
from services.plan.text_compression.words import ABBREVIATIONS, CONNECTIVES, PHRASES
from tests.helpers.cost import bare_operations
from tests.helpers.examples import examples

pytestmark = pytest.mark.slow

BUG = (
    "I think we should just really configure the session in order to fix the bug, because the message was broken "
    "and the historian is running."
)
BUG_LITE = (
    "we should configure the session to fix the bug, because the message was broken and the historian is running."
)
RUN = "Please run `npm test` in ./src/app/index.ts and check https://x.y/z. The context was updated by commit abc1234f."
SESSION = (
    "The session context holds session data; each session has a context and the context is updated. However, as well "
    "as that, it seems fine."
)


@pytest.mark.parametrize(
    ("text", "depth", "short"),
    [
        (
            BUG,
            LITE,
            BUG_LITE,
        ),
        (
            BUG,
            FULL,
            "we should configure session to fix bug, because message broken and historian running.",
        ),
        (BUG, ULTRA, "we should configure session to fix bug, // message broken + historian running."),
        (
            RUN,
            FULL,
            "run `npm test` in ./src/app/index.ts and check https://x.y/z. context updated by commit abc1234f.",
        ),
        (SESSION, ULTRA, "ses ctx holds ses data; each ses has ctx + ctx updated. but, + that, fine."),
    ],
)
def test_worked_examples(text: str, depth: int, short: str) -> None:
    assert compress(text, depth) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("It is, perhaps, broken.", "It is, broken."),
        ("Do it, please.", "Do it."),
        ("Do it, please", "Do it"),
        ("It fails (sometimes, probably).", "It fails (sometimes)."),
        ("Fixed. Thanks! Next one.", "Fixed. Next one."),
        ("Please, look here.", "look here."),
        ("- Actually, this one\n- Really that one", "- this one\n- that one"),
        ("IN ORDER TO WIN PLEASE WAIT", "To WIN WAIT"),
        ("Due to the fact that it rains, stay.", "Because it rains, stay."),
        ("It is kind of slow.", "It is slow."),
        ("I think that the test fails. I think that is it.", "the test fails. that is it."),
    ],
)
def test_lite_takes_the_punctuation_that_was_only_theirs(text: str, short: str) -> None:
    assert compress(text, LITE) == short


@pytest.mark.parametrize(
    "text",
    [
        "This is not just a cache, and it isn't really one.",
        "What kind of error is a bit mask, of that sort of thing?",
        "It seems to work, thanks to the cache.",
        "A just-in-time compiler of `just` fame, very-long and x.just and /just/so.",
        'They wrote "just" and (really) and **very** bold.',
        "The very same file.",
    ],
)
def test_lite_leaves_words_alone_that_say_something(text: str) -> None:
    assert compress(text, LITE) == text


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("The file is being written.", "file written."),
        ("It should be fixed and might have been broken.", "It should be fixed and might have been broken."),
        ("It has been fixed; those had been broken.", "It fixed; those broken."),
        ("It is open when the token is green.", "It is open when token is green."),
        ("Option A is best, plan A too. A test.", "Option A is best, plan A too. test."),
        ("From a to b, a few of a kind.", "From a to b, a few of kind."),
        ("It is\nrunning the\ntests.", "It is\nrunning the\ntests."),
    ],
)
def test_full_leaves_out_auxiliaries_before_participles_and_articles(text: str, short: str) -> None:
    assert compress(text, FULL) == short


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("One and two or three, and/or four.", "One + two | three, and/or four."),
        ("| this or that | these and those |", "| this or that | these and those |"),
        ("It broke because of rain as a result of wind; therefore wait.", "It broke // rain // wind; → wait."),
        ("Context, context, my context.context", "Context, context, my context.context"),
        ("Contexts, CONTEXT, my context.", "Ctxs, Ctx, my ctx."),
    ],
)
def test_ultra_writes_connectives_as_symbols_and_frequent_words_short(text: str, short: str) -> None:
    assert compress(text, ULTRA) == short


def test_a_quoted_line_stays_and_parts_what_is_counted() -> None:
    text = "context context\nU: just really  the context\ncontext context"
    assert compress(text, ULTRA) == text
    assert compress(text + " context", ULTRA) == "context context\nU: just really  the context\nctx ctx ctx"


def test_blanks_are_collapsed_and_indentation_is_not() -> None:
    text = "\n\nOne   two  \n\n\n\n  - three\t\tfour\r\n      five\n\n"
    assert compress(text, LITE) == "One two\n\n  - three four\n      five"


def test_the_beginning_of_a_line_never_joins_the_line_before() -> None:
    assert compress("one\nReally two\nThe three\nPlease.\nfour", FULL) == "one\ntwo\nthree\n\nfour"


def test_code_keeps_its_indentation_and_what_looks_like_words() -> None:
    code = "```python\ndef the():\n    if a is broken  and b:\n\n\n        return  really\n```"
    text = f"The code really is\n\n{code}\n\nand the   rest."
    assert compress(text, ULTRA) == f"code is\n\n{code}\n\nand rest."


@pytest.mark.parametrize(
    "region",
    [
        "~~~\nthe  very\n~~~",
        "````\nthe ```  really\n```\n````",
        "- ```\n  the  really\n  ```",
        "```\nthe fence  that nobody closes really",
        "`the  really`",
        "``the ` really  a``",
        "`the\nreally  a`",
        "https://example.org/the-really,very",
        "§7§",
        "msg_0thevery",
        "ses_just",
        "toolu_01Really",
        "./just/the/very.ts",
        "../really.py",
        "deadbeef",
        "DEFACED",
        "U: the really  \t",
        "\x00",
        "\x01",
    ],
)
def test_a_protected_region_is_not_touched(region: str) -> None:
    for depth in (LITE, FULL, ULTRA):
        assert region in compress(f"really the\n{region}\n", depth)


@pytest.mark.parametrize(
    "text",
    [
        "Das the\u0301 very\u0308 just\u0327 gut",
        "naïvejust thé andré éthe",
        "ju\u017ft \u0130n order to Rea\u2113ly \u212aindly",
        "just\u200dthe really\ufe0f",
    ],
)
def test_a_word_with_any_other_letter_is_another_word(text: str) -> None:
    assert compress(text, ULTRA) == text


def test_prose_is_what_is_not_protected() -> None:
    assert prose("Look at `this` or\n```\nthat\n```\nnow").split() == ["Look", "at", "or", "now"]


UNBROKEN = {
    "letters": "x" * 2_000_000,
    "directories": "a/" * 250_000,
    "dots": "/" + ".a" * 250_000,
    "blanks": " " * 500_000,
    "empty lines": "\n" * 300_000,
    "backticks": "` `` " * 100_000,
    "fences": "```\n````\n" * 50_000,
    "fillers": "just " * 100_000,
    "exclamations": "just" + "!" * 500_000,
    "connectives": " and or" * 50_000,
    "quotes": "U: a\n" * 100_000,
    "hashes": "-a1b2c3d" * 60_000,
}


@pytest.mark.parametrize("text", UNBROKEN.values(), ids=UNBROKEN)
def test_time_grows_with_the_length_and_no_faster(text: str) -> None:
    """A text of this length takes about a dozen bare operations; its square would take hours."""
    assert 400 > bare_operations(lambda: compress(text, ULTRA), tries=1)


WORDS = st.sampled_from(
    [
        *("just", "Really", "the", "A", "an", "I think", "please,", "sort of", "is", "it seems", "not", "in order to"),
        *("updated", "running.", "broken", "and", "or", "because", "and then", "However,", "very", "thanks", "(", ")"),
        *("context", "Session", "messages", "config", "foo", "bar,", "é", "的", "-", "*", "|", "a.b", "\u0301", "\x00"),
    ]
)
REGIONS = st.sampled_from(
    [
        *(
            "`the  code`",
            "``a ` the``",
            "```\nthe  very\n\n\n  really\n```",
            "~~~ sh\n  just\n~~~",
            "§12§",
            "\nU: the  a\n",
        ),
        *("https://a.b/the?just", "./src/the/a.ts", "msg_the", "ses_0a", "toolu_x", "abc1234f", "deadbeef", "`", "```"),
    ]
)
SPACES = st.sampled_from([" ", " ", " ", "  ", "\n", "\n\n", "\n\n\n", "\t", " \n  ", "", "\r\n", "\u00a0", "\n- "])
TEXTS = st.lists(st.tuples(st.one_of(WORDS, WORDS, REGIONS, st.text(max_size=4)), SPACES), max_size=40).map(
    lambda pieces: "".join(word + space for word, space in pieces)
)
thorough = settings(max_examples=examples(400), deadline=None)


@thorough
@given(TEXTS | st.text())
def test_masked_regions_come_back_as_they_were(text: str) -> None:
    assert unmask(*mask(text)) == text


@thorough
@given(TEXTS, st.sampled_from([LITE, FULL, ULTRA]))
def test_protected_regions_survive_byte_for_byte_and_in_order(text: str, depth: int) -> None:
    short = compress(text, depth)
    at = 0
    for region in mask(text)[1]:
        at = short.find(region, at)
        assert at >= 0, region
        at += len(region)


@thorough
@given(TEXTS | st.text())
def test_a_deeper_tier_is_never_longer(text: str) -> None:
    for measure in (len, lambda one: len(one.encode())):
        sizes = [measure(one) for one in (text, *(compress(text, depth) for depth in (LITE, FULL, ULTRA)))]
        assert sizes == sorted(sizes, reverse=True)


@thorough
@given(TEXTS, st.sampled_from([LITE, FULL, ULTRA]))
def test_lines_with_something_left_are_never_joined(text: str, depth: int) -> None:
    """Each word that is left stands in the line it stood in."""
    lines = [{form for word in line.split() for form in (word, word.rstrip(",;:"))} for line in text.split("\n")]
    at = 0
    short = ABBREVIATIONS.values()
    known = {*PHRASES.values(), *CONNECTIVES.values(), *short, *(f"{word}s" for word in short)}
    for line in compress(text, depth).split("\n"):
        left = [word for word in line.split() if word.isalpha() and word.lower() not in known]
        while at < len(lines) and not set(left) <= lines[at]:
            at += 1
        assert at < len(lines), left


@settings(max_examples=examples(300), deadline=None)
@given(st.text(st.characters(codec=None), max_size=80), st.sampled_from([LITE, FULL, ULTRA]))
def test_no_text_is_too_strange(text: str, depth: int) -> None:
    assert compress(text, depth) == compress(text, depth)
    assert len(compress(text, depth)) <= len(text)
    composed = unicodedata.normalize("NFC", text)
    assert len(compress(composed, depth)) <= len(composed)


def test_a_quoted_line_parts_two_chunks_and_other_regions_stand_within_one() -> None:
    masked = f"{QUOTE}\nThen run {REGION} in {REGION} now."
    assert (masked, ["U: keep `it`", "`make`", "src/a.py"]) == mask("U: keep `it`\nThen run `make` in src/a.py now.")
