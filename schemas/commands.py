"""The commands on `do.<project>.<session>.<noun>.<verb>`, and how the desk answers."""

from typing import ClassVar

import msgspec

from schemas.envelope import Actor, Moment
from schemas.numbers import Amount, Count


class Command(msgspec.Struct, frozen=True):
    """A command. It is valid or refused as a whole."""

    TYPE: ClassVar[str]


class DropQueue(Command, frozen=True):
    """The agent no longer needs these tags (the tool `ctx_reduce`)."""

    TYPE: ClassVar[str] = "drop.queue"

    drop: str = ""
    """`3-5,8,12-15`: numbers and ranges, separated by commas."""


class FlushRequest(Command, frozen=True):
    """A person asks for everything that waits to be applied at the next model call."""

    TYPE: ClassVar[str] = "flush.request"

    reason: str = ""


class HistoryOrder(Command, frozen=True):
    """Compress all of a session's history that can be compressed, now."""

    TYPE: ClassVar[str] = "history.order"


class HistoryRebuild(Command, frozen=True):
    """Make compressed history anew, or give that up."""

    TYPE: ClassVar[str] = "history.rebuild"

    range: str = ""
    """`12-80`, in ordinals of messages; empty: everything; `stop`: what was begun is given up."""


class HistoryRescore(Command, frozen=True):
    """Have a model judge anew how long each part of a session's history is worth keeping; what it says stays."""

    TYPE: ClassVar[str] = "history.rescore"


class DreamOrder(Command, frozen=True):
    """Have the dreamer work on what is remembered of a project, now."""

    TYPE: ClassVar[str] = "dream.order"

    task: str = ""
    """The one task that is to be run; empty: all of them."""
    directory: str = ""
    """The working tree of the project in which a person orders it; empty: none. Of other senders it is ignored."""


class MemoryWrite(Command, frozen=True):
    """Remember this of the project, from the session that the subject or `session` names."""

    TYPE: ClassVar[str] = "memory.write"

    text: str
    category: str = ""
    """One of `fact.CATEGORIES`; empty: the words decide."""
    importance: str = "normal"
    session: str = ""
    message: str = ""


class MemoryPropose(Command, frozen=True):
    """Something may be worth remembering of the project."""

    TYPE: ClassVar[str] = "memory.propose"

    category: str
    text: str
    session: str = ""
    evidence: tuple[Count, ...] = ()
    run: str = ""
    """The run that found it, or the import with tool and file."""


class MemoryDecide(Command, frozen=True):
    """A person takes up what was proposed, or refuses it."""

    TYPE: ClassVar[str] = "memory.decide"

    id: str
    approve: bool
    reason: str = ""


class MemoryRevise(Command, frozen=True):
    """Change the words of a memory, its category or how it weighs. What is empty stays."""

    TYPE: ClassVar[str] = "memory.revise"

    id: str
    text: str = ""
    category: str = ""
    revision: Count = 0
    """The revision that was seen: if there is a newer one, nothing is changed; 0: whatever it is."""
    session: str = ""
    review: bool = False
    """Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once."""
    reason: str = ""
    """The reason, for the person who decides on it."""
    condition: str | dict[str, object] = ""
    """Of a note: what it waits for from now on."""


class MemoryImportance(Command, frozen=True):
    """Say how much a memory weighs: `low`, `normal` or `high`."""

    TYPE: ClassVar[str] = "memory.importance"

    id: str
    importance: str
    reason: str = ""
    """The reason, for the person who decides on it."""
    revision: Count = 0
    """As that of `memory.revise`."""


class MemoryMerge(Command, frozen=True):
    """Make one memory of several. The first one goes on, with these words."""

    TYPE: ClassVar[str] = "memory.merge"

    ids: tuple[str, ...]
    text: str
    category: str = ""
    """It must be given where those that are merged differ in it."""
    session: str = ""
    review: bool = False
    """Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once."""
    reason: str = ""
    """The reason, for the person who decides on it."""
    revisions: tuple[Count, ...] = ()
    """The revision that was seen of each, in the order of `ids`: if one has a newer one, nothing is changed."""


class MemorySplit(Command, frozen=True):
    """Make several memories of one that states several facts. They take its place, with what it came from."""

    TYPE: ClassVar[str] = "memory.split"

    id: str
    parts: tuple[str, ...]
    """The text of each."""
    review: bool = False
    """Whether a person is to decide on it, whatever the policy applies. A person's own command is applied at once."""
    reason: str = ""
    """The reason, for the person who decides on it."""
    revision: Count = 0
    """As that of `memory.revise`."""


class MemoryArchive(Command, frozen=True):
    """Show a memory no longer."""

    TYPE: ClassVar[str] = "memory.archive"

    id: str
    reason: str = ""
    session: str = ""
    revision: Count = 0
    """As that of `memory.revise`."""


class MemoryRestore(Command, frozen=True):
    """Let an archived, expired or superseded memory hold again."""

    TYPE: ClassVar[str] = "memory.restore"

    id: str
    reason: str = ""


class MemoryPin(Command, frozen=True):
    """Let a memory stay as strong as it is, and stand first; or let it fade again."""

    TYPE: ClassVar[str] = "memory.pin"

    id: str
    pinned: bool = True


class MemoryVerify(Command, frozen=True):
    """Say whether a memory still holds: `verified`, `stale`, `flagged` or `unverified`."""

    TYPE: ClassVar[str] = "memory.verify"

    id: str
    verification: str = "verified"
    reason: str = ""
    session: str = ""
    revision: Count = 0
    """As that of `memory.revise`."""


class MemoryReinforce(Command, frozen=True):
    """A memory was of use, or seen to hold, again."""

    TYPE: ClassVar[str] = "memory.reinforce"

    id: str
    session: str = ""


class MemoryExpire(Command, frozen=True):
    """Write down what time has done to the book until `at`: what has expired, and when the project rested."""

    TYPE: ClassVar[str] = "memory.expire"

    at: Moment


class MemoryQuarantine(Command, frozen=True):
    """Take back all that came of one session, message, run or actor; or undo that."""

    TYPE: ClassVar[str] = "memory.quarantine"

    kind: str
    value: str
    undo: bool = False
    reason: str = ""


class NoteWrite(Command, frozen=True):
    """Write down what is to be come back to."""

    TYPE: ClassVar[str] = "note.write"

    text: str
    condition: str | dict[str, object] = ""
    """The condition that it waits for: one of `schemas.conditions`, also as JSON in a text. Other words are stored with
    the note, and nothing looks whether they have come true unless a model of the dreamer translates them."""
    session: str = ""
    message: str = ""


class NoteUpdate(Command, frozen=True):
    """Change a note's words, or its condition. What is empty stays."""

    TYPE: ClassVar[str] = "note.update"

    id: str
    text: str = ""
    condition: str | dict[str, object] = ""
    """As that of `note.write`. The same one again has it looked at anew where that had been given up."""
    session: str = ""


class NoteTranslate(Command, frozen=True):
    """The words that a note waits for were translated by a model, or cannot be; or git has the branch they lack."""

    TYPE: ClassVar[str] = "note.translate"

    id: str
    since: Count
    """The position of the fact that gave the note these words."""
    condition: str = ""
    """The condition, as JSON; empty: none was found."""
    reason: str = ""
    """The reason why none was found."""
    zone: str = ""
    """The name of the time zone by whose days a date was found."""


class NoteReady(Command, frozen=True):
    """The condition that a note waited for is met."""

    TYPE: ClassVar[str] = "note.ready"

    id: str
    since: Count
    """The position of the fact that gave the note this condition: of another one nothing was seen."""
    reason: str = ""


class NotePark(Command, frozen=True):
    """The condition that a note waits for cannot be checked."""

    TYPE: ClassVar[str] = "note.park"

    id: str
    since: Count
    code: str
    reason: str = ""


class NoteDismiss(Command, frozen=True):
    """A note is done with."""

    TYPE: ClassVar[str] = "note.dismiss"

    id: str
    session: str = ""


class PolicySet(Command, frozen=True):
    """A person sets what is done with candidates of one trust: `applied`, `held` or `refused`."""

    TYPE: ClassVar[str] = "policy.set"

    trust: str
    action: str


class ProjectMerge(Command, frozen=True):
    """A person says that another name is this project, too: its sessions and its memory are this project's."""

    TYPE: ClassVar[str] = "project.merge"

    former: str


class ProjectRename(Command, frozen=True):
    """A person gives a project a name to call it by."""

    TYPE: ClassVar[str] = "project.rename"

    name: str


class ProjectSeparate(Command, frozen=True):
    """Take back that a name is this project: a merge, or a name that was given."""

    TYPE: ClassVar[str] = "project.separate"

    former: str = ""
    """Empty: the name that came last."""


class ProfileCommand(Command, frozen=True):
    """A decision of a person about their own profile. It belongs to no project."""

    directory: str
    """The current directory of the person: the e-mail address that git has there decides whose profile it is."""


class ProfileEnable(ProfileCommand, frozen=True):
    """A person has their profile collected and used from now on. It is about no project."""

    TYPE: ClassVar[str] = "profile.enable"


class ProfileDisable(ProfileCommand, frozen=True):
    """A person has their profile neither collected nor used from now on. It is about no project."""

    TYPE: ClassVar[str] = "profile.disable"


class ProfileRetire(ProfileCommand, frozen=True):
    """A person has one trait of their profile neither collected nor used from now on. It is about no project."""

    TYPE: ClassVar[str] = "profile.retire"

    trait: str
    """Its id, or the beginning of it."""


class ProfileObserve(Command, frozen=True):
    """A person has stated how they want to work, in their own words. Only while their profile is on it is collected."""

    TYPE: ClassVar[str] = "profile.observe"

    text: str
    """The sentence, as the person typed it."""
    session: str = ""
    position: Count = 0
    """The position of the log with the observation."""
    first: Count = 0
    """The place in the session of the first message in which it was stated."""
    last: Count = 0
    """The place in the session of the last message in which it was stated."""


class SettingsApply(Command, frozen=True):
    """A person says what a project sets for itself. What it had set before, and is not named, holds no longer."""

    TYPE: ClassVar[str] = "settings.apply"

    settings: str = "{}"
    """A JSON object: the name of a setting, such as `plan.context`, and its value. Empty: the project sets nothing."""


class KeyFilePropose(Command, frozen=True):
    """The dreamer proposes a file as a key file of a project."""

    TYPE: ClassVar[str] = "keyfile.propose"

    path: str
    """From the project's root."""
    reads: Count
    edits: Count
    size: Count
    """Bytes."""


class KeyFileDecision(Command, frozen=True):
    """A decision of a person about key files of a project."""

    paths: list[str]


class KeyFileAccept(KeyFileDecision, frozen=True):
    """A person accepts proposed files. They are at the head of prompts from the next rebase of each session on."""

    TYPE: ClassVar[str] = "keyfile.accept"


class KeyFileDismiss(KeyFileDecision, frozen=True):
    """A person dismisses proposed files. They are proposed again when they were used twice as often."""

    TYPE: ClassVar[str] = "keyfile.dismiss"


class KeyFileRemove(KeyFileDecision, frozen=True):
    """A person removes files that were accepted; from then on they are as if they had been dismissed."""

    TYPE: ClassVar[str] = "keyfile.remove"


class SpendReserve(Command, frozen=True):
    """A room is about to ask a model. It is refused when the project's budget of the day does not hold that."""

    TYPE: ClassVar[str] = "spend.reserve"

    reservation: str
    purpose: str
    tokens: Count
    usd: Amount = 0.0
    session: str = ""


class SpendSettle(Command, frozen=True):
    """The final cost of a reserved call."""

    TYPE: ClassVar[str] = "spend.settle"

    reservation: str
    tokens: Count
    usd: Amount = 0.0


class CommandMessage(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message on `do.*`: the command as JSON, who wants it and when. `id` makes a repeated command one command."""

    id: str
    at: Moment
    actor: Actor
    data: msgspec.Raw
    v: Count = 1
    project: str = ""
    """The project of the subject, where it is given: a command that names another project is refused. So is the
    session."""
    session: str = ""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The desk's reply. `text` is meant for the one who asked, agent or person."""

    ok: bool
    text: str
    seq: int = 0
    """The log position of what was written; 0 if nothing was."""
    again: bool = False
    """Nothing was decided, since the log could not be reached: the same command may be sent again under its id."""
