"""The choice of who answers the rooms' questions for a model: rules, or a harness with its own logins."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from services.edges.argument_types import RULES, SMALL, model_choice
from services.edges.connect import files
from services.edges.connect.jsonc import UnreadableConfig
from services.edges.connect.settings_text import chain_of, with_chain
from services.edges.launcher.run import current
from services.edges.terminal import prompt, write
from services.settings import Settings
from services.settings.sources import user_file

PROVIDER = "harness"
"""The provider of a chain whose models are those of a harness."""
VARIABLE = "ANNALS_MODEL__CHAIN"


class Chain(msgspec.Struct, frozen=True):
    """A person's file of settings, and what is about to be written into it. No text: there is no such file."""

    path: Path
    before: str | None = None
    after: str | None = None
    remark: str = ""
    """The part that is left to a person; empty: nothing is."""
    costs: bool = False
    """Whether a model may be asked by it."""

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def ask(title: str, settings: Settings) -> str:
    """Have the person choose; empty: it stays as it is. Raises `ValueError` for an answer that is no choice."""
    write("Who writes history and looks after memory?")
    write("  1  rules: no model is asked")
    write(f"  2  {title}'s small model, with the logins of {title}")
    write(f"  3  a model of your choice, with the logins of {title}")
    write(cost(settings))
    prompt("1, 2, 3 [as it is now]: ")
    match sys.stdin.readline().strip():
        case "":
            return ""
        case "1":
            return RULES
        case "2":
            return SMALL
        case "3":
            prompt(f"PROVIDER/MODEL, as {title} names it: ")
            chosen = sys.stdin.readline().strip()
        case other:
            chosen = other
    try:
        return model_choice(chosen)
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"nothing was changed: {error}") from error


def cost(settings: Settings) -> str:
    """The most that a model may cost, in words."""
    most = f"{settings.model.daily_usd:.2f} USD and {settings.model.daily_tokens:,} tokens"
    return (
        f"A model may cost at most {most} a day and project (ANNALS_MODEL__DAILY_USD, ANNALS_MODEL__DAILY_TOKENS); "
        "then rules do the work."
    )


def chain(model: str, settings: Settings, environment: Mapping[str, str]) -> Chain:
    """The chain that this choice makes of the installation's settings. Without a choice, none."""
    return msgspec.structs.replace(_changed(model, settings, environment), costs=model not in ("", RULES))


def _changed(model: str, settings: Settings, environment: Mapping[str, str]) -> Chain:
    path = user_file(environment)
    if not model:
        return Chain(path)
    if settings.nats.url:
        return Chain(path, remark=_by_hand(model, (), "where the rooms run"))
    try:
        before = files.read(path)
    except UnreadableConfig as error:
        return Chain(path, remark=f"{path} stays as it is: {error}. {_by_hand(model, (), 'for the installation')}")
    known = chain_of(before or "")
    wanted = chosen(model, known or ())
    if wanted == known:
        return Chain(path, before, before, _overruled(wanted, environment))
    after = None if known is None else with_chain(before or "", wanted)
    if after is None:
        remark = f"{path} stays as it is, as it cannot be changed safely. {_by_hand(model, known or (), 'in it')}"
        return Chain(path, before, before, remark)
    return Chain(path, before, after or None, _overruled(wanted, environment))


def chosen(model: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The chain that a choice makes of another one: models that are asked without a harness stay, behind it."""
    others = tuple(one for one in known if not one.startswith(f"{PROVIDER}/"))
    return others if model == RULES else (f"{PROVIDER}/{model}", *others)


def apply(change: Chain) -> None:
    if not change.is_changed:
        return
    if change.after is None:
        change.path.unlink()
    else:
        files.write(change.path, change.after.encode())


def restart(change: Chain, settings: Settings) -> str:
    """A sentence about what is left to do for a change to take effect; empty: nothing."""
    if not change.is_changed or current(settings.data) is None:
        return ""
    return "The installation that runs has read its settings before: `annals down`, then `annals up --detach`."


def _by_hand(model: str, known: tuple[str, ...], where: str) -> str:
    wanted = json.dumps(list(chosen(model, known)), ensure_ascii=False)
    return f"Set {VARIABLE} to {wanted} {where}."


def _overruled(wanted: tuple[str, ...], environment: Mapping[str, str]) -> str:
    """A sentence about a variable that applies instead of the file."""
    given, right = environment.get(VARIABLE, ""), json.dumps(list(wanted), ensure_ascii=False)
    if given in ("", right):
        return ""
    return f"{VARIABLE} of this environment applies instead of the file: set it to {right}, or unset it."
