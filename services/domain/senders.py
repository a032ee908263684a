"""The sender of a message: known by its subject, which the broker lets nobody else publish on.

What a body says of its sender is recorded as claimed. A harness speaks for whoever works with it, and nobody sees
whether what it says of them is so.
"""

from schemas.envelope import Actor
from schemas.subjects import PERSON, Address, BadSubject

SUBAGENT = "subagent"
"""The mode of a session that another agent has started."""
PEOPLE = frozenset({"person", "person_by_harness"})
"""Trusts of a person's own words: sent by themselves, or reported by a harness that vouches that they typed them."""


def sender_of(address: Address, user: str, claimed: Actor) -> Actor:
    """The sender of a command: `user` is the last token of its subject. Raises `BadSubject`.

    A name is what the sender calls itself: people share one user, and so do rooms.
    """
    if user == PERSON:
        return Actor("person", claimed.id)
    if address.session:
        return reported(claimed)
    if claimed.kind != "room":
        raise BadSubject(
            f"commands about a whole project come from people, as the user `person` on their own subject: "
            f"one that ends in .{PERSON}"
        )
    return Actor("room", claimed.id)


def reported(claimed: Actor) -> Actor:
    """The sender of what came from a harness: itself, or the agent in it. Anybody else is somebody it speaks of."""
    if claimed.kind in ("harness", "agent"):
        return Actor(claimed.kind, claimed.id)
    return Actor("harness", claimed.id, claimed=claimed.kind)


def is_of_subagent(parent: str, mode: str) -> bool:
    """Whether another agent has started a session: then that agent wrote its messages of the role `user`.

    `parent`: the session that started it; `mode`: the mode that a step reports. A harness may report only one of them.
    """
    return bool(parent) or mode == SUBAGENT


def name_of(actor: Actor) -> str:
    """The one name of a sender."""
    name = actor.id or actor.claimed or actor.kind
    return f"{name}, by {actor.kind}" if actor.claimed else name


def words_of(trust: str) -> str:
    """The author of a memory of this trust, in words."""
    return {"person_by_harness": "person, by harness"}.get(trust, trust)


def kind_of(actor: Actor) -> str:
    """The kind of a sender, in words."""
    return f"{actor.claimed}, by {actor.kind}" if actor.claimed else actor.kind
