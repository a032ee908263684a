"""What a lane is: edits for what is new, and edits for everything at a rebase."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from schemas.plan import AnyEdit, OmitArc, OmitPart, ReplaceOutput, ReplaceText
from services.kit.conversation import Message, Part
from services.kit.limits import Limits
from services.kit.window import Learned
from services.responder.head.documents import Document
from services.responder.lanes.hints import Hit, Notes
from services.responder.state import Session

ALL_MODES = frozenset({"primary", "reduce_off", "subagent"})
"""The modes whose prompts are made smaller; `additive` sessions are only added to, `hidden` ones are left alone."""


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A message in its place with the parts that are sent of it."""

    ordinal: int
    message: Message
    parts: tuple[Part, ...]
    tag: int = 0
    """The highest tag of its parts; 0: they have none."""
    reached: int = 0
    """The highest tag up to here."""

    @property
    def role(self) -> str:
        return self.message.recorded.role

    @property
    def name(self) -> str:
        return self.message.recorded.message


class Seen(msgspec.Struct, frozen=True, gc=False):
    """A part in its place."""

    placed: Placed
    part: Part


class Survey(msgspec.Struct, frozen=True):
    """The conversation behind the cut, and what in it may be of interest; all of it in order.

    No lane changes anything of this in a pass. What is served of it each lane sees for itself.
    """

    placed: tuple[Placed, ...] = ()
    prompts: tuple[Placed, ...] = ()
    """The messages of users ..."""
    answers: tuple[Placed, ...] = ()
    """... and those of agents."""
    bare: tuple[Placed, ...] = ()
    """Messages with a tag that is not shown."""
    reasoned: tuple[Placed, ...] = ()
    """Answers with reasoning."""
    touched: tuple[Placed, ...] = ()
    """Answers of which something was dropped, is to be dropped, or was recorded anew."""
    thinking: tuple[Seen, ...] = ()
    """Texts of answers in which there may be thinking."""
    injected: tuple[Seen, ...] = ()
    """Texts of users in which there may be what other programs have put there."""
    failures: tuple[Seen, ...] = ()
    """Outputs of tools that have failed, and those that are served under an edit of an earlier content."""
    texts: tuple[Part, ...] = ()
    calls: tuple[Part, ...] = ()
    """Complete outputs of tools that nobody has dropped or wishes to drop."""
    dropped: tuple[int, ...] = ()
    """The tags of outputs that were dropped ..."""
    skeletons: tuple[Part, ...] = ()
    """... and those of them that were not left out with their call."""

    @property
    def newest(self) -> int:
        """The highest tag."""
        return self.placed[-1].reached if self.placed else 0


class Change(msgspec.Struct, frozen=True):
    """What a lane wants of a rebase."""

    edits: tuple[AnyEdit, ...] = ()
    dropped: tuple[int, ...] = ()
    """Tags whose drop it serves."""
    reclaimed: int = 0
    """Estimated tokens that it saves."""
    held: tuple[str, ...] = ()
    """What it would do and may not yet, with the reason."""


class View(msgspec.Struct, frozen=True):
    """What a pass is decided on. `survey` is of a rebase, and empty otherwise."""

    session: Session
    limits: Limits
    causes: frozenset[str] = frozenset()
    """Why this is a rebase; empty: it is an extension."""
    survey: Survey = Survey()
    texts: Mapping[str, str] = {}
    """Part -> its pristine text or output, of those that a lane needs (see `Lane.needs`)."""
    documents: tuple[Document, ...] = ()
    """The project's documents that may stand at the head."""
    inherited: frozenset[int] = frozenset()
    """Tags that were dropped in the session that this one is a copy of; empty once the first plan has told them."""
    notes: Notes | None = None
    """What is known of the session's notes now; none: nothing is."""
    hits: tuple[Hit, ...] = ()
    """What was found about messages of the person, also about older ones."""
    target: int = 0
    """Tokens that a rebase under pressure should reclaim; 0: what waits, and no more."""
    is_free: bool = False
    """Whether any message may change: the cache is lost anyway, a person asked, or the prompt was refused."""
    made: tuple[Change, ...] = ()
    """What the lanes before this one want of the rebase; their edits are in force in the session."""
    learned: Learned = Learned()
    """What all sessions have learned of models' limits."""

    @property
    def mode(self) -> str:
        return self.session.step.mode if self.session.step else "primary"

    @property
    def known(self) -> Learned:
        """What the session has learned of models' limits, beside what all sessions have."""
        return self.session.learned.beside(self.learned)

    @property
    def able(self) -> frozenset[str]:
        """The capabilities of the model in work."""
        return frozenset(self.session.step.capabilities if self.session.step else ())

    def edit_of(self, part: str) -> AnyEdit | None:
        return self.session.edits.get(f"part:{part}")

    def change_of(self, part: str) -> AnyEdit | None:
        """The same, if it does more than to show a tag: of most parts it does not, and that is known sooner."""
        return self.session.altered.get(part)

    def is_whole(self, part: str) -> bool:
        """Whether its content is served as it is, at most with a tag before it."""
        return part not in self.session.altered and part not in self.session.omitted

    def is_served(self, part: str) -> bool:
        """Whether something of its own content is still served: it was neither dropped nor left out."""
        edit = self.change_of(part)
        if edit is None:
            return part not in self.session.omitted
        if isinstance(edit, OmitPart | OmitArc):
            return False
        return not (isinstance(edit, ReplaceText | ReplaceOutput) and edit.lane.partition(":")[0] in FINAL_LANES)


FINAL_LANES = frozenset({"drops", "eviction", "duplicates", "superseded", "spent", "images", "errors"})
"""Lanes after which nothing of a part's content is left."""


Extend = Callable[[View, Sequence[Message]], Iterable[AnyEdit]]
Rebase = Callable[[View], Change]
Needs = Callable[[View], Iterable[str]]


def nothing_new(_: View, __: Sequence[Message]) -> Iterable[AnyEdit]:
    return ()


def nothing_needed(_: View) -> Iterable[str]:
    return ()


class Lane(msgspec.Struct, frozen=True):
    """Pure functions under a name.

    `extend` edits messages that were never sent. `rebase` edits any message, where the prefix changes anyway;
    it yields only edits that are not in force yet. `needs` names the parts whose pristine text `rebase` wants to see.
    """

    name: str
    rebase: Rebase
    extend: Extend = nothing_new
    needs: Needs = nothing_needed
    modes: frozenset[str] = ALL_MODES
