"""How far the sender of a command is trusted: by the subject that it came on, and then by who it claims to be."""

from schemas.envelope import Actor
from schemas.subjects import Address

_ROOMS = frozenset({"historian", "dreamer", "desk"})


def trust_of(address: Address, actor: Actor) -> str:
    """Whose words a command has (`memory.TRUSTS`); `desk` is the desk itself; empty: nobody who has a say in it.

    The broker lets rooms and people alone send a project's commands. On a session's subject a harness may claim to be
    anybody: nobody is trusted further than its agent there, and no room sends anything on it.
    """
    match actor.kind:
        case "room":
            return actor.id if actor.id in _ROOMS and not address.session else ""
        case "person" if not address.session:
            return "person"
        case _:
            return "agent"
