"""What goes wrong with vectors."""


class Unavailable(RuntimeError):
    """There are no vectors now; says why."""
