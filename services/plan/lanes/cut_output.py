"""The lane that shortens long outputs where they are sent for the first time: both ends stay, and a sentence between.

What shows a file stays whole: it is what an agent edits by. What was shortened once stays as it is, whatever the
settings say later, until it goes as other outputs do.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from schemas.offered import TOOLS
from schemas.plan import AnyEdit, ReplaceOutput
from services.domain.conversation import Message, Part
from services.domain.edits import TAGS
from services.domain.texts.ends import Ends, ends
from services.domain.texts.placeholders import MIDDLE
from services.domain.tokens import BYTES_PER_TOKEN, tokens
from services.domain.tools.names import GUIDES, READS, is_ours, plain
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import MIN_SAVING
from services.plan.lanes.drops import call_of
from services.plan.lanes.index import Finder, IsMeant
from services.plan.lanes.prefix import prefix_of
from services.plan.lanes.rewrite import as_it_is, is_stale
from services.plan.session.readings import MOST
from services.plan.session.reclaim import OUTPUTS, SHORTENED
from services.plan.session.state import Session

NAME = SHORTENED
KEPT = 1_000
"""Tokens that stay of each end."""
MAX_TEXTS = 100
"""Outputs that are read for one pass, the newest: a session that was recorded elsewhere may bring any number."""
ENDED = frozenset({"completed", "error"})
EXPANDS = frozenset(mode for tool in TOOLS if tool.name == "ctx_expand" for mode in tool.modes)
"""The modes whose agent has the tool that shows what is left out."""


def reads(view: View, fresh: Sequence[Message]) -> tuple[str, ...]:
    found = (part.recorded.part for part in _new(view, reversed(fresh)) if _is_meant(view, part))
    return tuple(islice(found, MAX_TEXTS))


def extend(view: View, fresh: Sequence[Message]) -> Iterator[AnyEdit]:
    for part in _new(view, fresh):
        yield from _edits(view, part)


def needs(view: View) -> tuple[str, ...]:
    return tuple(islice((part.recorded.part for part in _stale(view) if _is_meant(view, part)), MAX_TEXTS))


def rebase(view: View) -> Change:
    """Only what was made of an earlier content is made anew."""
    return Change(tuple(edit for part in _stale(view) for edit in _edits(view, part)))


def shortened(text: str, how: str = "") -> str:
    """The text with a sentence in the place of its middle; the text itself, where that is no gain worth a sentence.

    `how`: what the sentence says of the way to see all of it.
    """
    found = ends(text, KEPT * BYTES_PER_TOKEN)
    if found is None:
        return text
    break_before = "" if found.head.endswith("\n") else "\n"
    short = f"{found.head}{break_before}{_sentence(found, how)}\n{found.tail}"
    return short if tokens(len(text.encode())) - tokens(len(short.encode())) >= MIN_SAVING else text


def _sentence(found: Ends, how: str) -> str:
    lines = f" ({found.lines:,} lines)" if found.lines > 1 else ""
    return MIDDLE.text(tokens=f"{found.tokens:,}", lines=lines, how=how)


def _edits(view: View, part: Part) -> Iterator[AnyEdit]:
    name = part.recorded.part
    text = TAGS.sub("", view.texts.get(name, "")) if _is_meant(view, part) else ""
    short = shortened(text, _how(view, part))
    if short != text:
        by = tuple(filter(None, (part.seq, part.tag_seq)))
        yield ReplaceOutput(part=name, text=prefix_of(view, name) + short, by=by, lane=NAME)
    elif is_stale(view.change_of(name), part, NAME):
        yield from as_it_is(view, part)


def _how(view: View, part: Part) -> str:
    """Failures have no tag: they are found by their message."""
    if view.mode not in EXPANDS:
        return ""
    place = f"tag={part.number}" if part.number else f"message={view.session.conversation.place(part.recorded.part)}"
    return f"; ctx_expand with {place} shows all of it"


def _new(view: View, fresh: Iterable[Message]) -> Iterator[Part]:
    """Outputs of new messages that nothing is made of yet, and those that are served as what they were before."""
    plan, dropped = view.session.plan, view.session.drops.dropped
    for message in fresh:
        for name, part in view.session.conversation.sent_parts(message):
            if part.recorded.kind not in OUTPUTS or message.recorded.message in plan.left_out:
                continue
            is_free = view.limits.cut_output and view.is_whole(name) and part.number not in dropped
            if is_free or is_stale(view.change_of(name), part, NAME):
                yield part


def _stale(view: View) -> Iterator[Part]:
    for seen in view.index.parts(NAME):
        if is_stale(view.change_of(seen.part.recorded.part), seen.part, NAME):
            yield seen.part


def _is_meant(view: View, part: Part) -> bool:
    """Whether it is a long output in words, and none that has to be seen whole."""
    recorded = part.recorded
    if not view.limits.cut_output or tokens(recorded.bytes) <= 2 * KEPT or recorded.status not in ENDED:
        return False
    if recorded.attachments or recorded.attachment_tokens:
        return False
    tool = _tool(view.session, part)
    return not is_ours(tool) and plain(tool) not in READS | GUIDES and not _is_reading(view.session, part)


def _tool(session: Session, part: Part) -> str:
    """The tool that was called; some harnesses name it with the call alone."""
    if part.recorded.tool:
        return part.recorded.tool
    call = session.conversation.parts.get(call_of(session, part) or "")
    return call.recorded.tool if call is not None else ""


def _is_reading(session: Session, part: Part) -> bool:
    """Whether it shows a file, by the tool or by the command; or may, and that is known no more."""
    name, shown = part.recorded.part, session.readings.shown
    if any(file.action == "read" for file in session.uses.files(name)) or any(one.part == name for one in shown):
        return True
    oldest = session.conversation.parts.get(shown[0].part) if len(shown) == MOST else None
    return oldest is not None and part.seq < oldest.seq


def _finds(session: Session) -> IsMeant:
    """Outputs that are served under an edit of an earlier content."""
    altered = session.plan.altered
    return lambda part: (edit := altered.get(part.recorded.part)) is not None and part.seq not in edit.by


LANE = Lane(
    NAME,
    spares_firm=spares_firm,
    rebase=rebase,
    extend=extend,
    needs=needs,
    reads=reads,
    order=45,
    finder=Finder(_finds, kinds=OUTPUTS),
)
