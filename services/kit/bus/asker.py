"""Who asks: the connection that a request came over, known by its inbox."""

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
