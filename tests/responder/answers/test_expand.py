"""Looking up messages: which are meant, what is printed, and how to go on."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.asks import ExpandAsk
from schemas.codec import decode_attachments
from schemas.events import PartRecorded
from services.domain.conversation import Message
from services.domain.texts.content import Piece, RecordedMessage
from services.domain.tokens import tokens
from services.responder.answers.expand import PAGE_TOKENS, BadAsk, expanded, resolve
from tests.domain.test_attachments import png
from tests.helpers.examples import examples
from tests.helpers.harness import Harness, attached, ran, replace, text_part, with_picture
from tests.helpers.historian_sessions import sealed


def asking(**fields: object) -> ExpandAsk:
    return ExpandAsk(project="p", session="s", **fields)  # type: ignore[arg-type] # each test names fields of it


def answer(harness: Harness, **fields: object) -> str:
    """The answer to an agent that asks."""
    ask = asking(**fields)
    span = resolve(harness.session, ask)
    recorded = [_expanded(harness, one) for one in span.messages]
    return expanded(span, recorded, ask).text


def _expanded(harness: Harness, message: Message) -> RecordedMessage:
    name = message.recorded.message
    recorded = {event.part: event for _, event in harness.log if isinstance(event, PartRecorded)}
    pieces = [
        Piece(
            part=one.part,
            kind=one.kind,
            text=one.text,
            tool=one.tool,
            call=one.call,
            input=one.input,
            output=one.output,
            status=one.status,
            mime=one.mime,
            filename=one.filename,
            attachments=decode_attachments(one.attachments),
        )
        for one in (recorded[part] for part in message.sent)
    ]
    return RecordedMessage(message.ordinal, name, message.recorded.role, pieces=tuple(pieces))


@pytest.fixture
def harness() -> Harness:
    made = Harness()
    made.user("Where is the parser?")
    made.assistant(text_part("I look."), ran("src/parser.py\n\n  def  parse():", '{"command":"grep -r parse"}'))
    made.user("Thank you")
    made.assistant(text_part("It is in src/parser.py."))
    made.step()
    made.append(sealed(1, 2))
    return made


def test_one_message_is_counted_in_the_singular(harness: Harness) -> None:
    assert "(1 message, about " in answer(harness, start=1, end=1)


def test_a_range_is_a_transcript_that_says_what_it_is(harness: Harness) -> None:
    text = answer(harness, start=1, end=3)
    assert text.startswith("Messages 1-3 (3 messages, about ")
    assert "[1] U: Where is the parser?" in text
    assert "grep -r parse" in text
    assert "It is in" not in text


def test_a_range_with_everything_is_word_for_word(harness: Harness) -> None:
    text = answer(harness, start=1, end=2, verbose=True)
    assert text.startswith("Messages 1-2, page 1 of 1, word for word.")
    assert 'bash {"command":"grep -r parse"}\nsrc/parser.py\n\n  def  parse():' in text


def test_what_was_put_into_a_person_s_message_later_is_not_quoted_as_theirs(harness: Harness) -> None:
    (message,) = resolve(harness.session, asking(message="1")).messages
    late = RecordedMessage(
        1,
        message.recorded.message,
        "user",
        pieces=(
            Piece("a", "text", "Where is it?"),
            Piece("b", "text", "Push with --force.", synthetic=True, is_late=True),
        ),
    )
    for ask in (asking(message="1"), asking(start=1, verbose=True)):
        text = expanded(resolve(harness.session, ask), [late], ask).text
        assert "\n(put here later, not known to be a person's words) Push with --force." in text
    transcript = expanded(resolve(harness.session, asking(start=1)), [late], asking(start=1)).text
    assert "U: Where is it?" in transcript
    assert "--force" not in transcript


def test_pictures_are_shown_by_name_and_size_and_never_as_base64() -> None:
    harness = Harness()
    harness.add_message("user", replace(attached(png(640, 480)), filename="plan.png"), text_part("Like this?"))
    harness.assistant(with_picture(ran("Image read successfully", '{"filePath":"shot.png"}')))
    harness.step()
    whole = answer(harness, start=1, end=2, verbose=True)
    assert "[plan.png, image/png, 640 x 480 pixels, 900 kB]\nLike this?" in whole
    assert (
        'bash {"filePath":"shot.png"}\nImage read successfully\n[shot.png, image/png, 900 x 900 pixels, 50 kB]' in whole
    )
    by_tag = answer(harness, tag=1)
    assert by_tag.startswith("Tag §1§, a file in message 1, page 1 of 1, word for word.")
    assert "base64" not in whole + by_tag
    transcript = answer(harness, start=1, end=2)
    assert "[file plan.png]" in transcript
    assert "[file shot.png]" in transcript


def test_a_message_a_tag_and_its_id_mean_the_same(harness: Harness) -> None:
    number = harness.session.conversation.parts["m2.1"].number
    by_tag = answer(harness, tag=number)
    assert by_tag.startswith(f"Tag §{number}§, the output of bash in message 2, page 1 of 1, word for word.")
    assert "src/parser.py\n\n  def  parse():" in by_tag
    assert "I look." not in by_tag
    assert answer(harness, message="2") == answer(harness, message="m2")
    assert "I look." in answer(harness, message="m2")


def test_a_part_of_history_is_named_by_its_id_or_by_a_message_in_it(harness: Harness) -> None:
    for name in ("0:1", "1", "2"):
        assert answer(harness, compartment=name).startswith("Messages 1-2 (From 1 to 2) (2 messages")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "nothing is named"),
        ({"start": 1, "tag": 2}, "more than one thing is named"),
        ({"start": 3, "end": 2}, "start is 3 and end is 2"),
        ({"end": 2}, "start is 0 and end is 2"),
        ({"start": 9}, "there is no message from 9 to 9: this session has those from 1 to 4"),
        ({"tag": 99}, "there is no tag §99§: the numbers go up to"),
        ({"message": "m9"}, "there is no message m9"),
        ({"compartment": "3"}, "there is no part of history 3: it covers messages 1 to 2"),
        ({"message": "2", "page": 2}, "there is no page 2: they are numbered from 1 to 1"),
        ({"message": "2", "page": 0}, "there is no page 0: they are numbered from 1 to 1"),
        ({"message": "2", "page": -1}, "there is no page -1: they are numbered from 1 to 1"),
        ({"message": "9" * 5000}, f"there is no message {'9' * 80}: take a number from 1 to 4"),
        ({"compartment": "9" * 5000}, f"there is no part of history {'9' * 80}: it covers messages 1 to 2"),
    ],
)
def test_what_cannot_be_found_is_answered_with_a_sentence(
    harness: Harness, fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(BadAsk, match=re.escape(reason)):
        answer(harness, **fields)


def test_a_long_transcript_says_where_it_goes_on() -> None:
    harness = Harness()
    for number in range(400):
        harness.user(f"{number}: " + "one word and another one " * 20)
        harness.assistant(text_part("yes"))
    harness.step()
    seen = 0
    start = 1
    while start:
        text = answer(harness, start=start, end=800)
        assert tokens(len(text.encode())) <= PAGE_TOKENS + 100
        seen += text.count("U: ")
        more = re.search(r"go on with start=(\d+) end=800\.", text)
        start = int(more[1]) if more else 0
    assert 400 == seen


@settings(max_examples=examples(60), deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1), st.integers(1, 40_000))
def test_pages_hold_every_word_of_a_long_output(line: str, times: int) -> None:
    harness = Harness()
    output = f"{line}\n" * min(times, 400_000 // len(line.encode()))
    harness.assistant(ran(output))
    harness.step()
    pages = [answer(harness, message="1").partition("\n\n")]
    count = int(re.findall(r"page 1 of (\d+)", pages[0][0])[0])
    pages += [answer(harness, message="1", page=number).partition("\n\n") for number in range(2, count + 1)]
    assert all(tokens(len(page.encode())) <= PAGE_TOKENS for _, _, page in pages)
    whole = "\n".join(page for _, _, page in pages).replace("[1] assistant\nbash {}\n", "", 1)
    assert output.replace("\n", "") == whole.replace("\n", "")
