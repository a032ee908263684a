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


def names_by_place(package: ModuleType, kind: type[T]) -> dict[str, T]:
    """Values by the name of the module that defines each; of a value in several modules, the first one."""
    found: dict[int, tuple[str, T]] = {}
    for one in iter_modules(package.__path__):
        for value in vars(import_module(f"{package.__name__}.{one.name}")).values():
            if isinstance(value, kind):
                found.setdefault(id(value), (one.name, value))
    return dict(found.values())
