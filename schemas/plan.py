"""The edits of a plan: a closed union. They name ids; a newer edit of a target replaces an older one."""

import msgspec


class Edit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="op", kw_only=True):
    """One change between what the harness holds and what is served."""

    by: tuple[int, ...] = ()
    """Log positions of the facts that led to it."""
    lane: str = ""
    """The lane that decided it, and its depth: `drops`, `caveman:2`. Empty: the tags."""


class CutBefore(Edit, frozen=True, tag="cut_before"):
    """Everything before this message is left out but some parts. There is one cut; a newer one replaces it."""

    message: str
    remaining: tuple[str, ...] = msgspec.field(default=(), name="kept")
    """Parts of the messages before it that stay in their places: what is still worked with, as it was shown."""


class SetHead(Edit, frozen=True, tag="set_head"):
    """A synthetic user message at the head of the list: slot 0 is the project, slot 1 the history. Empty text: none."""

    slot: int
    text: str


class PrefixText(Edit, frozen=True, tag="prefix_text"):
    """Put `text` before the part's text (a tool's: its output), after removing tags that stand there already."""

    part: str
    text: str


class ReplaceText(Edit, frozen=True, tag="replace_text"):
    """The part's text is this one (a file part becomes a text part)."""

    part: str
    text: str


class AppendText(Edit, frozen=True, tag="append_text"):
    """Put `text` behind the part's text."""

    part: str
    text: str


class ReplaceOutput(Edit, frozen=True, tag="replace_output"):
    """The tool's output is this text; its arguments stay as they were."""

    part: str
    text: str


class OmitPart(Edit, frozen=True, tag="omit_part"):
    """The part is left out."""

    part: str


class OmitMessage(Edit, frozen=True, tag="omit_message"):
    """The message is left out with all its parts."""

    message: str


class OmitArc(Edit, frozen=True, tag="omit_arc"):
    """A tool call and its result are left out together. `parts` are the one or two parts that hold them."""

    part: str
    parts: tuple[str, ...]


class InsertPair(Edit, frozen=True, tag="insert_pair"):
    """A finished tool call is added at the end of this message."""

    message: str
    call: str
    tool: str
    input: str
    output: str


class Restore(Edit, frozen=True, tag="restore"):
    """The part is served as the harness holds it: an earlier edit of it is withdrawn."""

    part: str


class Withdraw(Edit, frozen=True, tag="withdraw"):
    """The edit with this target (see `target`) is withdrawn, whatever it was."""

    what: str


AnyEdit = (
    CutBefore
    | SetHead
    | PrefixText
    | ReplaceText
    | AppendText
    | ReplaceOutput
    | OmitPart
    | OmitMessage
    | OmitArc
    | InsertPair
    | Restore
    | Withdraw
)


class PartContent(msgspec.Struct, frozen=True):
    """A part's own content: its text, its output, or that it is sent at all."""

    part: str

    def __str__(self) -> str:
        return f"part:{self.part}"


class PartEnd(msgspec.Struct, frozen=True):
    """The end of a part's text, where something is appended."""

    part: str

    def __str__(self) -> str:
        return f"append:{self.part}"


class WholeMessage(msgspec.Struct, frozen=True):
    """Whether a message is sent at all."""

    message: str

    def __str__(self) -> str:
        return f"message:{self.message}"


class MessageEnd(msgspec.Struct, frozen=True):
    """The tool call that is inserted at the end of a message."""

    message: str

    def __str__(self) -> str:
        return f"pair:{self.message}"


class HeadSlot(msgspec.Struct, frozen=True):
    """A synthetic message at the head of the list."""

    slot: int

    def __str__(self) -> str:
        return f"head:{self.slot}"


class Cut(msgspec.Struct, frozen=True):
    """The message before which everything is left out."""

    def __str__(self) -> str:
        return "cut"


class UnknownTarget(msgspec.Struct, frozen=True):
    """A target of a kind that this release does not know: no edit has it."""

    text: str

    def __str__(self) -> str:
        return self.text


Target = PartContent | PartEnd | WholeMessage | MessageEnd | HeadSlot | Cut | UnknownTarget
"""The target of an edit. `str(target)` is its form on the wire and in the log, `parse_target` reads that."""


def target(edit: AnyEdit) -> Target:
    """The target of an edit: of two edits with the same target the newer one counts."""
    match edit:
        case CutBefore():
            return Cut()
        case SetHead(slot=slot):
            return HeadSlot(slot)
        case OmitMessage(message=message):
            return WholeMessage(message)
        case InsertPair(message=message):
            return MessageEnd(message)
        case AppendText(part=part):
            return PartEnd(part)
        case Withdraw(what=what):
            return parse_target(what)
        case _:
            return PartContent(edit.part)


def parse_target(text: str) -> Target:
    """The target that is written like this."""
    kind, _, name = text.partition(":")
    match kind:
        case "part":
            return PartContent(name)
        case "append":
            return PartEnd(name)
        case "message":
            return WholeMessage(name)
        case "pair":
            return MessageEnd(name)
        case "head" if name.isascii() and name.removeprefix("-").isdecimal() and name == str(int(name)):
            return HeadSlot(int(name))
        case "cut" if text == kind:
            return Cut()
        case _:
            return UnknownTarget(text)


class Revision(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan's history, as a harness gets it."""

    revision: int
    edits: tuple[AnyEdit, ...]
    causes: tuple[str, ...] = ()
    """The causes for which covered messages changed; empty for an extension, which changes none."""
