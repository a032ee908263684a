"""Facts of the log in one line each, for a person who asks what led to something."""

from schemas.codec import decode_event
from schemas.envelope import Envelope
from schemas.events import (
    CompartmentSealed,
    DocumentCaptured,
    DropRequested,
    Event,
    FileTouched,
    HintDecided,
    MemoryArchived,
    MemoryDivided,
    MemoryMerged,
    MemoryPinned,
    MemoryProposed,
    MemoryReinforced,
    MemoryRestored,
    MemoryRevised,
    MemoryVerified,
    MemoryWritten,
    MessageRecorded,
    NoteUpdated,
    NoteWritten,
    PartRecorded,
    PlanExtended,
    PlanRebased,
    ProfileObserved,
    StepOpened,
    TagAssigned,
    TodoCaptured,
)
from schemas.explain_asks import Fact
from services.domain.often import quantity
from services.domain.senders import kind_of
from services.domain.texts.bounds import in_line

MAX_TEXT = 160


def fact_of(envelope: Envelope) -> Fact:
    """A fact of the log in one line."""
    event = decode_event(envelope)
    actor = ":".join(filter(None, (kind_of(envelope.actor), envelope.actor.id)))
    return Fact(envelope.seq, envelope.type, envelope.at, actor, in_line(_summary(event), MAX_TEXT) if event else "")


def part_in_words(part: PartRecorded) -> str:
    """The kind of a part in words: `the output of read`, `a text`."""
    match part:
        case PartRecorded(kind="tool" | "tool_result"):
            return f"the output of {part.tool or 'a tool'}"
        case PartRecorded(kind="tool_call"):
            return f"the call of {part.tool or 'a tool'}"
        case PartRecorded(kind="file"):
            return f"the file {part.filename or part.mime}"
        case PartRecorded(kind="reasoning"):
            return "thinking"
        case _:
            return f"a {part.kind}"


def _of_window(rebase: PlanRebased) -> str:
    """The model's window, and who reported it, as far as that was recorded."""
    return f", usable {rebase.window} ({rebase.window_source})" if rebase.window_source else ""


def _summary(event: Event) -> str:
    """The fact in a few words."""
    match event:
        case PartRecorded(kind="tool" | "tool_result", bytes=size):
            return f"{part_in_words(event)}, {size} bytes"
        case PartRecorded(kind="file" | "tool_call"):
            return part_in_words(event)
        case MessageRecorded(message=name, role=role):
            return f"the message {name} ({role or 'its role is not known'})"
        case TagAssigned(first=first, parts=parts):
            return f"numbers {first} to {first + len(parts) - 1}"
        case DropRequested(tags=tags):
            return f"drop {', '.join(map(str, tags))}"
        case StepOpened(step=step, provider=provider, model=model):
            return f"the call {step} of {'/'.join(filter(None, (provider, model))) or 'a model'}"
        case PlanRebased(causes=causes, tokens_before=before, tokens_after=after):
            return f"{', '.join(causes)}: {before} to {after} tokens{_of_window(event)}"
        case PlanExtended(edit_count=count):
            return f"{quantity(count, 'edit')} of new messages"
        case CompartmentSealed(first=first, last=last, title=title):
            return f"messages {first} to {last} compressed: {title}"
        case DocumentCaptured(path=path, bytes=size, digest=digest):
            return f"{path}, {size} bytes" if digest else f"{path} is gone"
        case FileTouched(path=path, action=action):
            return f"{path} was {action}"
        case TodoCaptured(contents=contents):
            return f"a list of {quantity(len(contents), 'thing')} to do"
        case HintDecided(decision=decision, reason=reason, ids=ids):
            return f"{decision}: {', '.join(ids) or reason}"
        case MemoryReinforced(effect=effect, origin=origin):
            return f"seen again{f' in {origin}' if origin else ''}: {effect or 'a sighting'}"
        case MemoryPinned(is_pinned=is_pinned):
            return "pinned" if is_pinned else "no longer pinned"
        case _:
            return _words_of(event)


def _words_of(event: Event) -> str:
    """The words that a fact consists of; empty: it has none."""
    match event:
        case (
            PartRecorded(text=text)
            | MemoryProposed(text=text)
            | MemoryWritten(text=text)
            | MemoryRevised(text=text)
            | MemoryMerged(text=text)
            | NoteWritten(text=text)
            | NoteUpdated(text=text)
            | ProfileObserved(text=text)
        ):
            return text
        case MemoryDivided(texts=texts):
            return " ".join(texts)
        case MemoryArchived(reason=reason) | MemoryRestored(reason=reason) | MemoryVerified(reason=reason):
            return reason
        case _:
            return ""
