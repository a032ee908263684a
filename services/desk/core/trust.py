"""The trust in the sender of a command, which follows from its subject."""

from schemas.envelope import Actor

_ROOMS = frozenset({"historian", "dreamer", "searcher", "desk"})


def trust_of(sender: Actor) -> str:
    """Whose words a command has (`memory.TRUSTS`); `desk` is the desk itself; empty: nobody who has a say in it.

    What comes from a harness has the words of its agent, whoever it claims to be from; a room sends nothing by it.
    """
    match sender.kind:
        case "room":
            return sender.id if sender.id in _ROOMS else ""
        case "person":
            return "person"
        case _:
            return "" if sender.claimed == "room" else "agent"
