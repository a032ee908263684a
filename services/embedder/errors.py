"""Errors of the embedder."""


class Unavailable(RuntimeError):
    """There are no vectors now; says why."""
