"""The conversation as a rebase finds it, looked through once for all lanes.

Of a long session little is in the processor's caches: to look at every part takes longest, so it is done once.
"""

from collections.abc import Iterator

from schemas.plan import AnyEdit, OmitArc
from services.kit.conversation import Part
from services.responder.lanes import emptied, errors, injected, thinking
from services.responder.lanes.base import Placed, Seen, Survey
from services.responder.reclaim import OUTPUTS
from services.responder.state import Session


def survey(session: Session) -> Survey:
    """What is left of the conversation behind the cut, in order, and what of it lanes may want to change."""
    surveyor = _Surveyor(session)
    for placed in _in_order(session):
        surveyor.look_at(placed)
    return surveyor.found()


def _in_order(session: Session) -> Iterator[Placed]:
    known, reached = session.talk.parts.get, 0
    for message in session.talk.after(session.cut - 1):
        names = message.recorded.listed or message.parts  # what is sent: `Message.sent` would copy it
        parts = [part for name in names if (part := known(name)) is not None]
        tag = max([part.number for part in parts], default=0)
        reached = max(reached, tag)
        yield Placed(message.ordinal, message, tuple(parts), tag, reached)


def _is_outdated(edit: AnyEdit | None, part: Part) -> bool:
    """Whether it is served under an edit that was made of an earlier content."""
    return edit is not None and part.seq not in edit.by


class _Surveyor:
    """Takes down what lanes look for."""

    def __init__(self, session: Session) -> None:
        self._dropped = {*session.dropped}
        self._gone = self._dropped.union(session.queued)
        self._compacted, self._altered, self._untagged = session.compacted, session.altered, session.bare
        self._placed: list[Placed] = []
        self._prompts: list[Placed] = []
        self._answers: list[Placed] = []
        self._bare: list[Placed] = []
        self._reasoned: list[Placed] = []
        self._touched: list[Placed] = []
        self._thinking: list[Seen] = []
        self._injected: list[Seen] = []
        self._failures: list[Seen] = []
        self._texts: list[Part] = []
        self._calls: list[Part] = []
        self._numbers: list[int] = []
        self._skeletons: list[Part] = []

    def look_at(self, placed: Placed) -> None:
        role, is_touched, is_bare, has_reasoned = placed.role, False, False, False
        for part in placed.parts:
            kind, is_gone = part.recorded.kind, part.number in self._gone
            is_touched = is_touched or is_gone or emptied.may_be_touched(part)
            is_bare = is_bare or part.recorded.part in self._untagged
            if kind in OUTPUTS:
                self._look_at_output(placed, part, is_gone=is_gone)
            elif kind == "text":
                self._look_at_text(placed, part, role)
            elif kind == "reasoning":
                has_reasoned = True
        self._placed.append(placed)
        if is_bare:
            self._bare.append(placed)
        if role == "user":
            self._prompts.append(placed)
        elif role == "assistant":
            self._answers.append(placed)
            if is_touched:
                self._touched.append(placed)
            if has_reasoned:
                self._reasoned.append(placed)

    def _look_at_output(self, placed: Placed, part: Part, *, is_gone: bool) -> None:
        is_complete = part.recorded.status == "completed"
        if is_complete and part.number > self._compacted and not is_gone:
            self._calls.append(part)
        edit = self._altered.get(part.recorded.part)
        if is_gone and part.number in self._dropped:
            self._numbers.append(part.number)
            if not isinstance(edit, OmitArc):
                self._skeletons.append(part)
        if _is_outdated(edit, part) or (not is_complete and errors.has_failed(part)):
            self._failures.append(Seen(placed, part))

    def _look_at_text(self, placed: Placed, part: Part, role: str) -> None:
        self._texts.append(part)
        if role == "assistant" and thinking.may_think(part):
            self._thinking.append(Seen(placed, part))
        elif role == "user" and (
            injected.may_be_injected(part) or _is_outdated(self._altered.get(part.recorded.part), part)
        ):
            self._injected.append(Seen(placed, part))

    def found(self) -> Survey:
        return Survey(
            placed=tuple(self._placed),
            prompts=tuple(self._prompts),
            answers=tuple(self._answers),
            bare=tuple(self._bare),
            reasoned=tuple(self._reasoned),
            touched=tuple(self._touched),
            thinking=tuple(self._thinking),
            injected=tuple(self._injected),
            failures=tuple(self._failures),
            texts=tuple(self._texts),
            calls=tuple(self._calls),
            dropped=tuple(self._numbers),
            skeletons=tuple(self._skeletons),
        )
