"""The outline of a prompt at one call: the edits in force, the hints and the answers to searches in it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import HintDecided, PartRecorded
from schemas.explain_asks import ExplainAsk, Explained, Explanation, PromptHint, PromptSearch
from schemas.plan import AnyEdit, AppendText, PrefixText, ReplaceOutput, ReplaceText, Target, target
from services.domain.conversation import Part
from services.domain.texts.bounds import in_line
from services.domain.tools.names import is_our_search
from services.plan.lanes import LANES, PUBLIC_NAMES, TAGS, hints, search_hint
from services.plan.lanes.base import emptying
from services.plan.lanes.drops import call_of
from services.plan.lanes.hint_decisions import hits_of
from services.plan.session.costs import is_sent
from services.plan.session.lane_marks import is_of, mark_of, parse_marks
from services.plan.session.reclaim import OUTPUTS
from services.plan.session.state import Session
from services.responder.answers.facts import MAX_TEXT, fact_of, part_in_words

replace = msgspec.structs.replace

_EMPTYING = emptying(LANES)


class SearchPlace(msgspec.Struct, frozen=True):
    """An answer to a search that is in the prompt, and where the log has the call that it answers."""

    answer: Part
    ordinal: int
    call_seq: int


class HintPlace(msgspec.Struct, frozen=True):
    """The message that a hint follows, and the edit that puts it there."""

    ordinal: int
    edit: AppendText


class PromptOutline(msgspec.Struct, frozen=True):
    """The outline of a prompt, without the facts of the log behind it. It refers to no whole session."""

    explained: Explanation = Explanation()
    """The part of the explanation that needs none of those facts."""
    seq: int = 0
    """The position up to which the session was read."""
    edits: tuple[Explained, ...] = ()
    hinted: Mapping[str, HintPlace] = {}
    """By message."""
    searches: tuple[SearchPlace, ...] = ()

    @property
    def positions(self) -> frozenset[int]:
        """The log positions of all facts that have to be looked up."""
        edits = {seq for one in self.edits for seq in one.edit.by}
        return frozenset({*edits, *(seq for one in self.searches for seq in (one.answer.seq, one.call_seq))})


def outline(session: Session, ask: ExplainAsk) -> PromptOutline:
    """The outline of a session's newest call."""
    edits = [*session.plan.edits()]
    tags = sum(map(_only_shows_tag, edits))
    wanted = [edit for edit in edits if _is_wanted(edit, ask)]
    newest = sorted(wanted, key=lambda edit: (-max(edit.by, default=0), str(target(edit))))[: max(0, ask.max_edits)]
    explained = Explanation(
        step=session.step.step if session.step is not None else "",
        at=session.calls.at,
        revision=session.revision,
        messages=session.conversation.count,
        edits_in_force=len(edits),
        session=ask.session,
        title=session.activity.title,
        call=session.calls.count,
        tags=tags,
        left_out=len(wanted) - len(newest),
    )
    return PromptOutline(
        explained,
        session.seq,
        edits=tuple(_explained(session, newest)),
        hinted=dict(_hinted(session, ask.part)),
        searches=tuple(islice(_searches(session, ask.part), max(0, ask.max_edits))),
    )


def with_title(outlined: PromptOutline, title: str) -> PromptOutline:
    """The outline with the session's present title."""
    return replace(outlined, explained=replace(outlined.explained, title=title))


def _is_wanted(edit: AnyEdit, ask: ExplainAsk) -> bool:
    return ask.part in ("", getattr(edit, "part", "")) and (ask.tags or not _only_shows_tag(edit))


def _only_shows_tag(edit: AnyEdit) -> bool:
    return isinstance(edit, PrefixText) and not edit.lane


def _explained(session: Session, edits: Sequence[AnyEdit]) -> Iterator[Explained]:
    """Each with the revision that made it, and what it changes."""
    made: dict[Target, tuple[int, tuple[str, ...]]] = {}
    missing = {target(edit) for edit in edits}
    for number in sorted(session.revisions.made, reverse=True):
        if not missing:
            break
        revision = session.revisions.made[number]
        found = missing.intersection(map(target, revision.edits))
        made |= dict.fromkeys(found, (number, revision.causes))
        missing -= found
    for edit in edits:
        number, causes = made.get(target(edit), (0, ()))
        part = session.conversation.parts.get(getattr(edit, "part", ""))
        yield Explained(
            edit,
            number,
            lanes=lanes_of(edit),
            causes=causes,
            ordinal=_ordinal(session, edit, part),
            tag=part.number if part is not None else 0,
            what=part_in_words(part.recorded) if part is not None else "",
        )


def lanes_of(edit: AnyEdit) -> tuple[str, ...]:
    """The names of the lanes that have decided an edit."""
    if _only_shows_tag(edit):
        return (PUBLIC_NAMES[TAGS.name],)
    return tuple(PUBLIC_NAMES.get(mark.lane, mark.lane) for mark in parse_marks(edit.lane))


def _ordinal(session: Session, edit: AnyEdit, part: Part | None) -> int:
    name = part.recorded.message if part is not None else getattr(edit, "message", "")
    message = session.conversation.messages.get(name)
    return message.ordinal if message is not None else 0


def _hinted(session: Session, wanted: str) -> Iterator[tuple[str, HintPlace]]:
    for name, edit in session.plan.ends.items():
        part = session.conversation.parts.get(name)
        is_meant = part is not None and wanted in ("", name) and mark_of(edit, search_hint.NAME) is not None
        if part is not None and is_meant and _is_in_prompt(session, name, part):
            yield part.recorded.message, HintPlace(session.conversation.place(name), edit)


def _searches(session: Session, wanted: str) -> Iterator[SearchPlace]:
    """The newest first."""
    conversation = session.conversation
    found = [
        (name, part)
        for name, part in conversation.parts.items()
        if part.recorded.kind in OUTPUTS and is_our_search(part.recorded.tool) and wanted in ("", name)
    ]
    for name, part in sorted(found, key=lambda one: -one[1].seq):
        if _is_in_prompt(session, name, part):
            call = conversation.parts.get(call_of(session, part) or "")
            yield SearchPlace(part, conversation.place(name), call.seq if call is not None else part.seq)


def _is_in_prompt(session: Session, name: str, part: Part) -> bool:
    """Whether something of a part's own content is in the prompt."""
    plan = session.plan
    if part.recorded.message in plan.left_out or plan.is_omitted(name):
        return False
    edit = plan.altered.get(name)
    is_emptied = isinstance(edit, ReplaceText | ReplaceOutput) and is_of(edit, _EMPTYING)
    return not is_emptied and is_sent(session.conversation, plan, name)


def with_facts(edits: Sequence[Explained], found: Mapping[int, Envelope]) -> tuple[Explained, ...]:
    """Each with the facts that led to it, as far as they were found, in the order in which the edit names them."""
    known = {seq: fact_of(envelope) for seq, envelope in found.items()}
    return tuple(
        msgspec.structs.replace(one, facts=tuple(known[seq] for seq in one.edit.by if seq in known)) for one in edits
    )


def prompt_hints(
    hinted: Mapping[str, HintPlace], decided: Mapping[int, HintDecided], most: int
) -> tuple[PromptHint, ...]:
    """The hints of these decisions, each by its position, that follow a message; the newest first."""
    found = [
        PromptHint(event.message, hinted[event.message].ordinal, seq, source, name, score, hit.text)
        for seq, event in sorted(decided.items(), reverse=True)
        if event.message in hinted
        for hit, source, name, score in zip(hits_of(event), event.sources, event.ids, event.scores, strict=False)
        if hints.fragment(hit) in hinted[event.message].edit.text
    ]
    return tuple(found[: max(0, most)])


def prompt_searches(
    places: Sequence[SearchPlace], found: Mapping[int, Envelope], repeated: Callable[[str], str]
) -> tuple[PromptSearch, ...]:
    """The answers to searches in a line each, as far as the log still has them.

    `repeated`: what may be repeated of an answer.
    """
    return tuple(
        PromptSearch(
            one.answer.recorded.part,
            one.ordinal,
            one.answer.number,
            one.answer.seq,
            query=_query(_part(found.get(one.call_seq))),
            text=in_line(repeated(answered.output), MAX_TEXT) if (answered := _part(found.get(one.answer.seq))) else "",
            bytes=one.answer.recorded.bytes,
        )
        for one in places
    )


def _part(envelope: Envelope | None) -> PartRecorded | None:
    event = decode_event(envelope) if envelope is not None else None
    return event if isinstance(event, PartRecorded) else None


def _query(call: PartRecorded | None) -> str:
    """The query of a search; of arguments that are none of ours, their beginning."""
    if call is None:
        return ""
    try:
        given = msgspec.json.decode(call.input, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        given = {}
    query = given.get("query")
    return in_line(query if isinstance(query, str) and query.strip() else call.input, MAX_TEXT)
