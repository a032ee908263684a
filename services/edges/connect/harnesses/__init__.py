"""The harnesses that can be connected: each is one module here, named as in `annals setup`, whose `HARNESS` it is."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # names are all that the command line needs at once; a harness brings its parsers
    from services.edges.connect.base import Harness


def names() -> tuple[str, ...]:
    """All of them, without importing any."""
    return tuple(sorted(module.name for module in iter_modules(__path__)))


def load(name: str) -> "type[Harness]":
    """One of them; what it needs is imported only now."""
    harness: type[Harness] = import_module(f"{__name__}.{name}").HARNESS
    return harness
