"""Registration by place: what a package's modules define is found there, so that a new one costs one file."""

import ast
import inspect
from collections.abc import Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType, ModuleType
from typing import TypeVar, get_args

import schemas
from schemas.ask import RequestReply
from schemas.events import EVENTS, Event

T = TypeVar("T")


def registered(package: ModuleType, kind: type[T]) -> tuple[T, ...]:
    """Everything of this type that the modules of a package define at their top, by the modules' names."""
    modules = [import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__)]
    values = (value for module in modules for value in vars(module).values() if isinstance(value, kind))
    return tuple({id(value): value for value in values}.values())


def events_made_in(*places: ModuleType) -> tuple[type[Event], ...]:
    """The events that functions of these modules and packages return by their annotations, in the log's order.

    So what a room may append is declared where it is decided, and checked there by the types. A function that returns
    `Event` declares nothing.
    """
    made = {event for module in _modules(places) for function in _functions(module) for event in _returned(function)}
    return tuple(event for event in EVENTS if event in made)


def _modules(places: tuple[ModuleType, ...]) -> Iterator[ModuleType]:
    for place in places:
        yield place
        for found in iter_modules(getattr(place, "__path__", ())):
            yield import_module(f"{place.__name__}.{found.name}")


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions that a module defines, and the methods of its classes."""
    own = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    yield from filter(inspect.isfunction, own)
    for kind in filter(inspect.isclass, own):
        yield from filter(inspect.isfunction, vars(kind).values())


def _returned(function: FunctionType) -> Iterator[object]:
    """The types that the annotation of a function's result is made of."""
    returned = function.__annotations__.get("return")
    parts = [returned]
    if isinstance(returned, str):  # it is not evaluated: a persistent map cannot be subscripted at run time
        names = [node.id for node in ast.walk(ast.parse(returned)) if isinstance(node, ast.Name)]
        parts = [function.__globals__.get(name) for name in names]
    while parts:
        part = parts.pop()
        yield part
        parts += get_args(part)


def names_by_place(package: ModuleType, kind: type[T]) -> dict[str, T]:
    """Values by the name of the module that defines each; of a value in several modules, the first one."""
    found: dict[int, tuple[str, T]] = {}
    for one in iter_modules(package.__path__):
        for value in vars(import_module(f"{package.__name__}.{one.name}")).values():
            if isinstance(value, kind):
                found.setdefault(id(value), (one.name, value))
    return dict(found.values())


def request_replies() -> tuple[RequestReply, ...]:
    """All questions with their replies, in the order of the pages."""
    return in_order(registered(schemas, RequestReply))


def in_order(declared: Iterable[RequestReply]) -> tuple[RequestReply, ...]:
    """These, in the order of the pages. Raises `ValueError` where two have one name."""
    ordered = sorted(declared, key=lambda one: (one.order, one.ask.NAME))
    names = [one.ask.NAME for one in ordered]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"questions are declared twice: {sorted(twice)}; give one of two another name")
    return tuple(ordered)
