"""The definitions as pydantic takes them: a model of each struct, derived from its fields and their bounds."""

import os.path
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, TypeAdapter, ValidationError, create_model
from pydantic_core import InitErrorDetails
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from services.settings.entries import BETWEEN, BOUNDS, PREFIX, SettingEntry, is_struct
from services.settings.groups import Settings

S = TypeVar("S", bound=msgspec.Struct)
M = TypeVar("M", bound=BaseModel)


class Group(BaseModel, extra="forbid"):
    """The base of the models of all groups."""


class SourcedSettings(BaseSettings, env_prefix=PREFIX, env_nested_delimiter=BETWEEN, validate_default=False):
    """Everything that can be set, read from the `sources` that it is made with, the first of which holds."""

    @classmethod
    def settings_customise_sources(  # type: ignore[override] # no source but those that it is made with
        cls, *_: object, init_settings: InitSettingsSource, **_others: object
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return tuple(init_settings.init_kwargs["sources"])


def typed(kind: Any) -> Any:  # noqa: ANN401 - whatever an annotation may be
    """A type of the definitions as pydantic takes it. A value of a struct's model ends as that struct."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_struct(kind):
        return Annotated[model_of(kind, Group), AfterValidator(partial(build_group, kind))]
    if kind in {int, float}:  # true is no number, and what is not finite is none that can be worked with
        plain = BeforeValidator(lambda given: str(given) if isinstance(given, bool) else given)
        return Annotated[kind, plain, *([Field(allow_inf_nan=False)] if kind is float else [])]
    if kind is Path:
        return Annotated[str, AfterValidator(absolute_path)]
    if origin is Annotated:
        return Annotated[typed(inner[0]), Field(**{name: getattr(inner[1], name) for name in (*BOUNDS, "pattern")})]
    if origin is None or origin is Literal:
        return kind
    return (Union if origin is UnionType else origin)[tuple(map(typed, inner))]


def absolute_path(text: str) -> Path:
    """A path as every process means it, wherever it is started and whatever links lead there."""
    return Path(os.path.realpath(os.path.expanduser(text)))  # noqa: PTH111 - pathlib's raises for an unknown user


def model_of(struct: type[msgspec.Struct], base: type[M]) -> type[M]:
    """The model of a struct. Defaults stay with the struct, which gets what has been set alone."""
    fields: Any = {one.name: (typed(one.type), ... if one.required else None) for one in msgspec.structs.fields(struct)}
    return create_model(struct.__name__, __base__=base, **fields)


def build_group(struct: type[S], model: BaseModel) -> S:
    """The struct of a model. Its values are judged together; one that contradicts the others is refused in its name."""
    given = {name: getattr(model, name) for name in type(model).model_fields if name in model.model_fields_set}
    try:
        return struct(**given)
    except ValueError:
        name, error = _contradiction(struct, given)
    wrong = InitErrorDetails(type="value_error", loc=(name,), input=None, ctx={"error": error})
    raise ValidationError.from_exception_data(struct.__name__, [wrong])


def _contradiction(struct: type[S], given: Mapping[str, object]) -> tuple[str, ValueError]:
    """The first value that cannot be added, however many of the others are there before it, and why not."""
    fitting: dict[str, object] = {}
    while True:
        before, refused = len(fitting), dict[str, ValueError]()
        for name in [one for one in given if one not in fitting]:  # in their order, so that one name is always blamed
            try:
                struct(**fitting, **{name: given[name]})
            except ValueError as error:
                refused[name] = error
            else:
                fitting[name] = given[name]
        if len(fitting) == before:
            return next((name, refused[name]) for name in given if name in refused)


def parse_value(entry: SettingEntry, value: object) -> object:
    """A value of one setting, by itself. Raises `ValidationError` where it cannot be used."""
    return TypeAdapter[object](typed(entry.field.type)).validate_python(value)


EVERYTHING = model_of(Settings, SourcedSettings)
