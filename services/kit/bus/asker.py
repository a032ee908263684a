"""The client of a request: the connection that it came over, known by its inbox."""

from contextvars import ContextVar

current_client: ContextVar[str] = ContextVar("current_client", default="")
"""The client whose request is being answered, for the task that answers it; empty outside of one."""


def client_of(reply: str) -> str:
    """The client that listens to this reply subject: all of it but the last token, which is new for each request.

    A client library has one inbox for a connection, so that a process (a harness with all its sessions, or a room)
    is one client: `_INBOX.<connection>.<request>` -> `_INBOX.<connection>`. Where the broker makes reply subjects of
    its own, each request may be a client by itself, and all are answered as they come.
    """
    return reply.rpartition(".")[0]


INBOXES = ("_INBOX.", "_R_.")
"""The beginnings of reply subjects: of those of clients, and of those that the broker makes between accounts."""


def may_answer(reply: str) -> bool:
    """Whether an answer may be sent to this reply subject, or there is none to answer to.

    The broker lets anyone name any reply subject, and the answer comes from the room, which may publish everywhere:
    where that is a subject of a stream or a command, the answer would be stored or carried out as the room's.
    """
    return not reply or reply.startswith(INBOXES)
