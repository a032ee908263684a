"""The edits of a plan: a closed union. They name ids; a newer edit of a target replaces an older one."""

import msgspec


class Edit(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="op", kw_only=True):
    """One change between what the harness holds and what is served."""

    by: tuple[int, ...] = ()
    """Log positions of the facts that led to it."""
    lane: str = ""
    """What decided it, and how far: `drops`, `caveman:2`. Empty: the tags."""


class CutBefore(Edit, frozen=True, tag="cut_before"):
    """Everything before this message is left out. There is one cut; a newer one replaces it."""

    message: str


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


def target(edit: AnyEdit) -> str:
    """What an edit is about: of two edits with the same target the newer one holds."""
    match edit:
        case CutBefore():
            return "cut"
        case SetHead(slot=slot):
            return f"head:{slot}"
        case OmitMessage(message=message):
            return f"message:{message}"
        case InsertPair(message=message):
            return f"pair:{message}"
        case AppendText(part=part):
            return f"append:{part}"
        case Withdraw(what=what):
            return what
        case _:
            return f"part:{edit.part}"


class Revision(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of a plan's history, as a harness gets it."""

    revision: int
    edits: tuple[AnyEdit, ...]
    causes: tuple[str, ...] = ()
    """Why covered messages changed; empty for an extension, which changes none."""
