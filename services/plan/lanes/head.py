"""The lane that puts what is known of the project at the head of a prompt: rewritten by rebases and by nothing else."""

from collections.abc import Iterable, Mapping, Sequence

from schemas.plan import AnyEdit, SetHead
from services.domain.conversation import Message
from services.domain.tokens import tokens
from services.domain.window import window
from services.memory.profiles import Trait, head_traits
from services.memory.rendering import Choice, render
from services.plan.head.documents import Document, at_the_head, choose_paths
from services.plan.head.last_session import last_session_section
from services.plan.head.memories import chosen as chosen_memories
from services.plan.head.render import HeadBudget, render_project
from services.plan.lanes.base import PRESSING, Change, Lane, View, spares_firm
from services.plan.session.lane_marks import LaneMark, mark_of
from services.plan.session.predecessor import Predecessor
from services.plan.session.revisions import SETTINGS

NAME = "head"
"""Its mark holds the position up to which it knows the project's memory: `head:4711`."""
MODES = frozenset({"primary", "reduce_off"})
SLOT = 0
MOST_PERCENT = 10
"""Of the usable window, for documents and key files together, and for memories: the head of a small model is small."""


def extend(view: View, _: Sequence[Message]) -> Iterable[AnyEdit]:
    """At the first step of a session nothing was sent yet, so that no cached prefix would be lost."""
    if view.session.calls.before is not None or view.session.revision:
        return ()
    wanted = _wanted(view)
    return (wanted,) if wanted.text != in_force(view) else ()


def rebase(view: View) -> Change:
    """The head as it should be now, unless it would grow where a prompt must shrink and nobody has set that."""
    wanted, present = _wanted(view), in_force(view)
    if wanted.text == present:
        return Change()
    saving = _cost(present) - _cost(wanted.text)
    if saving < -view.limits.min_reclaim and view.causes & PRESSING and SETTINGS not in view.causes:
        return Change(delays=(f"the head would take {-saving} more tokens while room is short",))
    return Change(edits=(wanted,), reclaimed=max(0, saving))


def is_late(view: View, lane: Lane) -> bool:
    """Whether the session began without a head because nobody answered, and there was something to show it then.

    `lane`: this one. Notices report what became known since, as in any other session. What the last session left
    open is older than any call of this one, and alone no reason for a rebase.
    """
    calls = view.session.calls
    if not calls.begun_without or view.session.plan.heads.get(SLOT) is not None or not lane.works(view):
        return False
    wanted, earlier = lane.rebase(view).edits, frozenset(predecessor(view).facts)
    return any(position < calls.first_seq for edit in wanted for position in edit.by if position not in earlier)


def in_force(view: View) -> str:
    """The text of the head as it is served; empty: there is none."""
    edit = served(view)
    return edit.text if edit else ""


def served(view: View) -> SetHead | None:
    """The edit that made the head."""
    return view.session.plan.heads.get(SLOT)


def head_documents(view: View) -> tuple[Document, ...]:
    """The documents of the head, and those that are gone, in the order of the settings."""
    return choose_paths(view.documents, at_the_head(view.limits))


def known_position(view: View) -> int:
    """The position up to which the head that is served knows the project's memory.

    Without a head that was made of a memory, it is that of the first call: there was nothing to show then.
    """
    mark = mark_of(served(view), NAME)
    return int(mark.detail) if mark is not None and mark.detail else view.session.calls.first_seq


def predecessor(view: View) -> Predecessor:
    """Lines about the session before this one: what the first plan recorded, without what is taken back since.

    Nothing where memory is off: then no session gets anything of another one.
    """
    found = view.session.predecessor if view.session.revision else view.predecessor
    if not found.session or not view.memory.enabled or not view.memory.last_session or view.remembered.book.is_home:
        return Predecessor()
    return found.without(view.remembered.book.quarantines)


def recorded_fields(view: View, edits: Iterable[AnyEdit]) -> Mapping[str, object]:
    """The fields in which a plan records what the head among these edits shows; none where there is no such edit.

    The memories in it, so that the desk knows which ones a session has had; and at the first plan of a session
    what the session before it left open.
    """
    heads = [edit for edit in edits if isinstance(edit, SetHead) and edit.slot == SLOT and edit.text]
    if not heads:
        return {}
    shown_facts = frozenset(position for edit in heads for position in edit.by)
    book = view.remembered.book
    memories = sorted(one.id for one in book.memories.values() if not shown_facts.isdisjoint((one.seq, *one.facts)))
    return {"memories": memories, **({} if view.session.revision else predecessor(view).fields)}


def _wanted(view: View) -> SetHead:
    """Empty where a model refuses two messages of one role in a row: the head is put before a user's message."""
    step, limits, at = view.session.step, view.limits, view.session.calls.at
    if step is None or at is None or "requires_alternation" in view.able:
        return SetHead(slot=SLOT, text="", lane=NAME)
    share = window(step, view.known, limits).usable * MOST_PERCENT // 100
    documents = choose_paths(view.documents, limits.head_documents) if limits.head else ()
    choice = chosen_memories(view.remembered, view.memory, at, share)
    traits = traits_shown(view, share)
    text = render_project(
        documents,
        render(choice),
        [one.text for one in traits],
        key_files=[file for file in head_documents(view) if file not in documents],
        last_session=last_session_section(predecessor(view).lines),
        room=HeadBudget(limits.head_tokens, limits.key_files_tokens, share),
    )
    return SetHead(slot=SLOT, text=text, by=_by(view, choice, traits) if text else (), lane=_mark(view))


def traits_shown(view: View, share: int) -> Sequence[Trait]:
    """The sentences about the person; none where the project has no memory: then nothing of other sessions is shown."""
    if not view.memory.enabled or view.remembered.book.is_home:
        return ()
    return head_traits(view.profile, share)


def _by(view: View, choice: Choice, traits: Iterable[Trait]) -> tuple[int, ...]:
    """The positions of the facts from which its text is made."""
    newest = view.remembered.newest
    of_project = (*(one.seq for one in head_documents(view)), *(newest[one.memory.id] for one in choice.memories))
    return (*of_project, *(one.promoted for one in traits), *predecessor(view).facts)


def _mark(view: View) -> str:
    position = view.remembered.book.seq
    return str(LaneMark(NAME, (str(position),) if position and view.memory.enabled else ()))


def _cost(text: str) -> int:
    return tokens(len(text.encode()))


LANE = Lane(NAME, spares_firm=spares_firm, extend=extend, rebase=rebase, modes=MODES, order=10)
