"""The interface of a lane: edits for what is new, and edits for everything at a rebase."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from schemas.plan import AnyEdit, OmitArc, OmitPart, ReplaceOutput, ReplaceText
from services.domain.conversation import Message
from services.domain.limits import Limits, MemoryLimits
from services.domain.protection import protected
from services.domain.window import Learned
from services.memory.profiles import PersonProfile
from services.memory.remembered import Remembered
from services.plan.head.documents import Document
from services.plan.lanes.hints import MIN_SCORE, HintHit, NoteStatus
from services.plan.lanes.index import ConversationIndex, Finder
from services.plan.session.costs import served_part
from services.plan.session.lane_marks import is_of
from services.plan.session.predecessor import Predecessor
from services.plan.session.state import Session

ALL_MODES = frozenset({"primary", "reduce_off", "subagent"})
"""The modes whose prompts are made smaller; `additive` sessions are only added to, `hidden` ones are left alone."""


HARNESS_CAUSES = frozenset({"deleted", "reverted", "unlisted", "changed", "compacted"})
"""The harness itself changed what was sent: the rebase only says so, and takes along what waits."""

PRESSING = frozenset({"cost", "pressure", "force", "overflow"})
"""Causes at which a prompt is to become smaller."""


class Change(msgspec.Struct, frozen=True):
    """A lane's part of a rebase."""

    edits: tuple[AnyEdit, ...] = ()
    dropped: tuple[int, ...] = ()
    """Tags whose drop it serves."""
    reclaimed: int = 0
    """Estimated tokens that it saves."""
    delays: tuple[str, ...] = ()
    """The edits that it would make and may not make yet, in words, each with the reason."""


class PendingSettings(msgspec.Struct, frozen=True):
    """Settings that apply to a session from its next rebase on, since its project has set them meanwhile."""

    limits: Limits
    memory: MemoryLimits
    remembered: Remembered


class View(msgspec.Struct, frozen=True):
    """The input of a pass. `index` is of a rebase, and empty otherwise."""

    session: Session
    limits: Limits
    causes: frozenset[str] = frozenset()
    """The causes of this rebase; empty: it is an extension."""
    index: ConversationIndex = ConversationIndex()
    texts: Mapping[str, str] = {}
    """Part -> its pristine text or output, of those that a lane needs (see `Lane.needs`)."""
    documents: tuple[Document, ...] = ()
    """The project's documents that may stand at the head."""
    remembered: Remembered = Remembered()
    """The memory of the project."""
    memory: MemoryLimits = MemoryLimits()
    """The limits of what is shown of that memory."""
    profile: PersonProfile = PersonProfile()
    """The profile of the person whose session it is, as far as it is known."""
    name: str = ""
    """The session's id: what it has written to the memory itself is no news to it."""
    notes: NoteStatus | None = None
    """The state of the session's notes now; None: nothing is known of them."""
    hits: tuple[HintHit, ...] = ()
    """The hits of searches for messages of the person, also for older ones."""
    least: float = MIN_SCORE
    """The least score that the best hit must have."""
    target: int = 0
    """Estimated tokens that a rebase should reclaim; 0: what waits, and no more."""
    excess: int = 0
    """Those of them without which the model would refuse the prompt: for them nothing is protected."""
    tail: int = 0
    """Estimated tokens of the newest outputs that stay, unless the model would refuse the prompt; 0: as many as there
    are protected tags."""
    begin: int = 0
    """The first message that may be changed; 0: any may."""
    is_free: bool = False
    """Whether any message may change: the cache is lost anyway, a person asked, or the prompt was refused."""
    made: tuple[Change, ...] = ()
    """The changes by the lanes before this one; their edits are in force in the session."""
    learned: Learned = Learned()
    """The limits of models as all sessions have learned them."""
    emptying: frozenset[str] = frozenset()
    """The names of the lanes whose edits leave nothing of a part's content (see `Lane.empties`)."""
    coming: PendingSettings | None = None
    """The settings that the project has changed since the prompt was written last; None: nothing was changed."""
    predecessor: Predecessor = Predecessor()
    """The findings about the session before this one, for a session without a plan: later on those that the plan
    recorded count."""

    @property
    def mode(self) -> str:
        return self.session.step.mode if self.session.step else "primary"

    @property
    def known(self) -> Learned:
        """The limits of models as the session has learned them, merged with those of all sessions."""
        return self.session.learned.with_shared(self.learned)

    @property
    def able(self) -> frozenset[str]:
        """The capabilities of the model in work."""
        return frozenset(self.session.step.capabilities if self.session.step else ())

    @property
    def protected(self) -> frozenset[int]:
        """The newest tags, which nobody drops before newer ones have come."""
        conversation, count = self.session.conversation, self.limits.protected_tags
        return protected(conversation, count, behind=self.session.drops.gone)

    @property
    def spared(self) -> frozenset[int]:
        """Those of them that stay although somebody has asked to drop them.

        Where room is short, no more than a prompt is to keep of its newest messages; where the model would refuse the
        prompt, none.
        """
        if self.excess:
            return frozenset()
        if not (self.tail and self.causes & PRESSING):
            return self.protected
        conversation, plan, size = self.session.conversation, self.session.plan, 0
        spared: set[int] = set()
        for number in sorted(self.protected, reverse=True):
            size += served_part(plan, conversation.parts[conversation.numbered[number]].recorded)
            if size <= self.tail or not spared:
                spared.add(number)
        return frozenset(spared)

    def edit_of(self, part: str) -> AnyEdit | None:
        return self.session.plan.content(part)

    def change_of(self, part: str) -> AnyEdit | None:
        """The same, if it does more than to show a tag: of most parts it does not, and that is known sooner."""
        return self.session.plan.altered.get(part)

    def is_whole(self, part: str) -> bool:
        """Whether its content is served as it is, at most with a tag before it."""
        return self.session.plan.is_whole(part)

    def is_served(self, part: str) -> bool:
        """Whether something of its own content is still served: it was neither dropped nor left out."""
        edit = self.change_of(part)
        if edit is None:
            return part not in self.session.plan.in_arcs
        if isinstance(edit, OmitPart | OmitArc):
            return False
        return not (isinstance(edit, ReplaceText | ReplaceOutput) and is_of(edit, self.emptying))


Extend = Callable[[View, Sequence[Message]], Iterable[AnyEdit]]
Rebase = Callable[[View], Change]
Needs = Callable[[View], Iterable[str]]
Switch = Callable[[Limits], bool]
Spares = Callable[["View"], bool]


def nothing_new(_: View, __: Sequence[Message]) -> Iterable[AnyEdit]:
    return ()


def nothing_changed(_: View) -> Change:
    return Change()


def nothing_needed(_: View) -> Iterable[str]:
    return ()


def always(_: Limits) -> bool:
    return True


def spares_nothing(_: View) -> bool:
    return False


def spares_firm(_: View) -> bool:
    return True


class Lane(msgspec.Struct, frozen=True):
    """One kind of edit: pure functions under a name.

    `extend` edits messages that were never sent. `rebase` edits any message, where the prefix changes anyway;
    it yields only edits that are not in force yet. A lane without one leaves what it has served as it is. `needs` names
    the parts whose pristine text `rebase` wants to see.
    """

    name: str
    rebase: Rebase = nothing_changed
    extend: Extend = nothing_new
    needs: Needs = nothing_needed
    modes: frozenset[str] = ALL_MODES
    order: int = 0
    """Lanes are asked in the order of these numbers: each knows what those before it want of a rebase, and the last
    edit of a part holds."""
    finder: Finder | None = None
    """The search for what it works on in the conversation; None: it needs none."""
    empties: bool = False
    """Whether nothing of a part's content is left where this lane alone has edited it: other lanes pass it over."""
    spares_firm: Spares = spares_nothing
    """Whether a rebase of this session leaves what is firm (see `services.plan.session.firm`), unless the model
    would refuse the prompt. Where a lane with a rebase does not declare it, every rebase is collected before it is
    declined."""
    switch: Switch = always
    """Whether the settings want it. A lane that has to take back what it did before it was switched off is always
    asked, and looks at the settings itself."""

    def works(self, view: View) -> bool:
        """Whether it is asked in this pass."""
        return view.mode in self.modes and self.switch(view.limits)

    @property
    def only_extends(self) -> bool:
        """Whether it edits nothing but what was never sent."""
        return self.rebase is nothing_changed

    def leaves_firm(self, view: View) -> bool:
        """Whether it is known, without asking it, that a rebase of this session leaves what is firm."""
        return self.only_extends or self.spares_firm(view)


def emptying(lanes: Iterable[Lane]) -> frozenset[str]:
    """The names of those of these lanes whose edits leave nothing of a part's content."""
    return frozenset(lane.name for lane in lanes if lane.empties)


def finders_of(lanes: Iterable[Lane]) -> dict[str, Finder]:
    return {lane.name: lane.finder for lane in lanes if lane.finder is not None}
