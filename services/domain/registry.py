"""Registration by place: what a package's modules define is found there, so that a new one costs one file."""

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def registered(package: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Everything of this type that the modules of a package define at their top, by the modules' names."""
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    values = (value for module in modules for value in vars(module).values() if isinstance(value, kind))
    return tuple({id(value): value for value in values}.values())
