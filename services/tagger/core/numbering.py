"""The numbering: parts get their tags when a step sends them for the first time, in the order they stand."""

from collections.abc import Iterator

from schemas.events import TagAssigned
from services.tagger.core.state import TaggedSession, are_sent_together, identity

MAX_NAMES_PER_EVENT = 2000
"""Names in one event; more are recorded in several."""


def assignments(session: TaggedSession) -> Iterator[TagAssigned]:
    """Numbers for the parts that are sent for the first time, in the order they stand."""
    numbers = _numbers(session)
    run: list[str] = []
    first = 0
    for name, number in numbers:
        if run and (number != first + len(run) or len(run) == MAX_NAMES_PER_EVENT):
            yield _assigned(session, first, run)
            run = []
        if not run:
            first = number
        run.append(name)
    if run:
        yield _assigned(session, first, run)


def _assigned(session: TaggedSession, first: int, names: list[str]) -> TagAssigned:
    parts = [session.conversation.parts[name].recorded for name in names]
    return TagAssigned(
        first=first,
        parts=list(names),
        messages=[part.owner or part.message for part in parts],
        kinds=[{"text": "message", "file": "file"}.get(part.kind, "tool") for part in parts],
    )


def _numbers(session: TaggedSession) -> list[tuple[str, int]]:
    """Each part that waits for its number, with it: the one it had, the one it inherits, or the next."""
    taken: dict[str, int] = {}
    spent: dict[str, int] = {}
    holders: dict[int, str] = {}
    last = session.last_number
    numbered = []
    for name in _sent_in_order(session):
        part = session.conversation.parts[name].recorded
        key = identity(part)
        number = session.numbers.get(key) or taken.get(key)
        if number is not None and are_sent_together(
            session.conversation, holders.get(number) or session.conversation.numbered.get(number), name
        ):
            key = f"part:{name}"  # two calls with one id in one message are two
            number = session.numbers.get(key) or taken.get(key)
        if number is None:
            heirs = session.inherited.get(part.digest, ())[spent.get(part.digest, 0) :]
            spent[part.digest] = spent.get(part.digest, 0) + 1
            last = last if heirs else last + 1
            number = heirs[0] if heirs else last
        taken[key] = number
        holders[number] = name
        numbered.append((name, number))
    return numbered


def _sent_in_order(session: TaggedSession) -> list[str]:
    """The waiting parts that are sent now: by message, then by place in it."""
    places = []
    for name in session.waiting:
        message = session.conversation.messages.get(session.conversation.parts[name].recorded.message)
        if message is not None and message.present and name in message.sent:
            places.append((message.ordinal, message.sent.index(name), name))
    return [name for _, _, name in sorted(places)]
