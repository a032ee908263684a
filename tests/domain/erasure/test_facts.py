"""A fact without a secret is still that fact: its structure stays, or the erasure is refused before it begins."""

import json
from collections.abc import Sequence

import pytest

from schemas.codec import decode_edits, encode, encode_edits
from schemas.events import DocsDismissed, DocsProposed, Event, PartRecorded, PlanExtended, SessionRenamed
from schemas.plan import ReplaceText, SetHead
from schemas.subjects import Address
from services.domain.erasure.facts import Addresses, Structural, refuse_word_of_language, rewritten
from services.domain.erasure.secret import MASK, masked, spellings
from services.domain.record import Record, read_record
from tests.helpers.broker_world import HARBOUR, wrapped
from tests.helpers.proposed_docs import known, name, propose, proposed


def erased(secret: str, event: Event, address: Address = HARBOUR) -> Record:
    """What the log holds of a fact when the secret is erased."""
    envelope = wrapped([event], address=address)[0]
    subject, data = rewritten(address.log(event.TYPE), encode(envelope), spellings(secret), {})
    assert masked(data, spellings(secret)) == data
    record = read_record(subject, data, 1, deep=True)
    assert not record.problem
    assert (envelope.id, envelope.type) == (record.envelope.id, record.envelope.type)
    return record


@pytest.mark.parametrize(
    ("secret", "text", "clean"),
    [
        ("notebook", "a\notebook, a notebook", f"a\notebook, a {MASK}"),
        ("abcdefg\\", 'abcdefg", abcdefg\\', f'abcdefg", {MASK}'),
        ("u0001word", "\x01word u0001word", f"\x01word {MASK}"),
        ('","role":"', 'x","role":"y', f"x{MASK}y"),
        ("20260307", "on 20260307", f"on {MASK}"),
        ("kestrel\n77", "kestrel\n77", MASK),
        ("5f2b7c1d9e", "5f2b7c1d9e", MASK),
        ("abcdefg[", "abcdefgabcdefg[", f"{MASK}masked:erased]"),
    ],
)
def test_a_text_is_masked_and_the_json_around_it_is_as_it_was(secret: str, text: str, clean: str) -> None:
    assert SessionRenamed(title=clean) == erased(secret, SessionRenamed(title=text)).event


@pytest.mark.parametrize(
    ("secret", "tool_input", "clean"),
    [
        ("12345678", '{"pin": 12345678, "id": 9}', f'{{"pin": "{MASK}", "id": 9}}'),
        ("notebook", '{"a": "\\notebook", "b": "notebook"}', f'{{"a": "\\notebook", "b": "{MASK}"}}'),
        ("abcdefg\\", '{"a": "abcdefg\\\\"}', f'{{"a": "{MASK}"}}'),
    ],
)
def test_json_in_a_text_stays_json(secret: str, tool_input: str, clean: str) -> None:
    event = erased(secret, PartRecorded(message="m", part="p", kind="tool", input=tool_input)).event
    assert isinstance(event, PartRecorded)
    assert json.loads(clean) == json.loads(event.input)


def test_edits_of_a_plan_stay_edits() -> None:
    edits = (SetHead(slot=0, text='a\notebook "notebook"'), ReplaceText(part="p", text="notebook"))
    event = erased("notebook", PlanExtended(revision=1, step="s", as_of=1, edits=encode_edits(edits))).event
    assert isinstance(event, PlanExtended)
    clean = (SetHead(slot=0, text=f'a\notebook "{MASK}"'), ReplaceText(part="p", text=MASK))
    assert clean == decode_edits(event.edits)


def test_a_change_of_a_document_keeps_its_name_and_what_was_decided_on_it_stays_decided() -> None:
    command = propose(old="A notebook.\n", new="The notebook.\n")
    event = erased("notebook", proposed(command)).event
    assert isinstance(event, DocsProposed)
    assert ([f"A {MASK}.\n"], [f"The {MASK}.\n"], name(command)) == (event.old, event.new, event.proposal)
    decided = known(event, DocsDismissed(path=command.path, proposal=name(command)))
    assert ["dismissed"] == [one.status for one in decided.known.values()]


@pytest.mark.parametrize(
    ("secret", "event", "where"),
    [
        ("12345678", PartRecorded(message="m", part="p", kind="text", position=123456789), "a number"),
        ("2026-03-07", SessionRenamed(title="of 2026-03-07"), "at"),
        ("5f2b7c1d9e", PartRecorded(message="m", part="p", kind="text", digest="5f2b7c1d9e" * 4), "digest"),
        (
            "12345678",
            PlanExtended(revision=1, step="s", as_of=1, edits='[{"op":"omit_part","part":"p","by":[12345678]}]'),
            "spoilt",
        ),
    ],
)
def test_structure_is_refused_with_a_sentence(secret: str, event: Event, where: str) -> None:
    envelope = wrapped([event])[0]
    with pytest.raises(Structural, match=where):
        rewritten(HARBOUR.log(event.TYPE), encode(envelope), spellings(secret), {})


def test_an_id_of_a_fact_is_refused() -> None:
    envelope = wrapped([SessionRenamed(title="x")])[0]
    with pytest.raises(Structural, match="id"):
        rewritten(HARBOUR.log(SessionRenamed.TYPE), encode(envelope), spellings(envelope.id[:13]), {})


def test_an_id_that_would_be_too_long_with_masks_is_refused() -> None:
    address = Address("harbour", "kestrels" * 30)
    envelope = wrapped([SessionRenamed(title="x")], address=address)[0]
    with pytest.raises(Structural, match="too long"):
        rewritten(address.log(SessionRenamed.TYPE), encode(envelope), spellings("kestrels"), {})


def test_a_record_that_is_no_fact_is_masked_as_it_is() -> None:
    assert ("log.x", f"no json {MASK}".encode()) == rewritten("log.x", b"no json kestrels", spellings("kestrels"), {})


@pytest.mark.parametrize(
    "secret",
    ["recorded", "position", "filename", "assistant", "reasoning", "completed", "compartment", "message.", "historian"],
)
def test_a_word_of_the_language_is_refused(secret: str) -> None:
    with pytest.raises(Structural, match="word"):
        refuse_word_of_language(spellings(secret), ("historian",))


@pytest.mark.parametrize("secret", ["kestrels", "recorded-7", "position 1"])
def test_other_words_are_not(secret: str) -> None:
    refuse_word_of_language(spellings(secret), ("historian",))


def subjects(*sessions: str) -> Sequence[str]:
    return [Address("harbour", one).log("session.opened") for one in sessions]


@pytest.mark.parametrize("other", [MASK, "quaye\u0301-word"])
def test_two_sessions_that_would_become_one_are_refused(other: str) -> None:
    addresses = Addresses()
    masks = spellings("quay\u00e9-word")
    for subject in subjects("quay\u00e9-word", "quay\u00e9-word 2"):
        addresses.add(subject, rewritten(subject, b"", masks, {})[0])
    (subject,) = subjects(other)
    with pytest.raises(Structural, match="become one"):
        addresses.add(subject, rewritten(subject, b"", masks, {})[0])
