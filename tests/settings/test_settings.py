"""Settings: one definition, several sources, and nothing that a person writes there stops a command."""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, get_args, get_origin

import msgspec
import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from services.domain.limits import inside
from services.kit.model.chain import chain
from services.settings import (
    History,
    Limits,
    MemoryLimits,
    Model,
    Nats,
    Price,
    Prices,
    ProviderSettings,
    Settings,
    environment,
    load,
)
from services.settings.entries import SettingEntry, groups_of, value_of
from services.settings.models import build_group, model_of
from services.settings.sources import ENTRIES, VARIABLES
from tests.helpers.cells import cells
from tests.helpers.sourced_settings import Loading, lines, loading

__all__ = ["loading"]

ROOT = Path(__file__).parents[2]
KEY = "a-key-of-no-known-shape-4711"


def test_a_process_reads_the_very_settings_that_started_it(tmp_path: Path) -> None:
    given = Settings(
        data=tmp_path,
        nats=Nats(url="nats://127.0.0.1:1", password=SecretStr("s3cret")),
        plan=Limits(
            protected_tags=3,
            thresholds={"opus": 40.0},
            prices={"gpt": Prices(write=1.0)},
            head=False,
            key_files=("src/core.py", "docs/map.md"),
        ),
        history=History(ahead=False),
        memory=MemoryLimits(enabled=False, mode="full"),
        model=Model(
            chain=("local/small", "openai/large"),
            providers={"local": ProviderSettings(url="http://127.0.0.1:1/v1", key=SecretStr(KEY))},
            prices={"openai/*": Price(input=1.0, cached=0.1)},
            windows={"small": 8192},
        ),
    )

    loaded = load({"HOME": str(tmp_path), **environment(given)})

    assert (given, ()) == (loaded.settings, loaded.problems)
    assert {"environment"} == set(loaded.sources.values())


def test_without_any_source_the_defaults_hold(loading: Loading) -> None:
    loaded = loading()
    assert (Settings(), ()) == (msgspec.structs.replace(loaded.settings, data=Settings().data), loaded.problems)
    assert {"default"} == set(loaded.sources.values())


def test_every_default_is_one_that_may_be_set() -> None:
    for path, group in groups_of(Settings):
        if path:
            built = msgspec.to_builtins(group(), enc_hook=lambda _: "")
            assert group() == msgspec.convert(built, group, dec_hook=lambda kind, value: kind(value))


def test_the_environment_holds_before_the_users_file_and_that_before_the_default(loading: Loading) -> None:
    loaded = loading(
        {"ANNALS_PLAN__THRESHOLD": "70", "annals_plan__head": "off"},
        user='[plan]\nthreshold = 60\nprotected_tags = 5\ncaveman = true\n[model]\nchain = ["openai/a"]\n',
    )
    plan = loaded.settings.plan
    assert (70.0, False, 5, True) == (plan.threshold, plan.head, plan.protected_tags, plan.caveman)
    assert ("openai/a",) == loaded.settings.model.chain
    assert () == loaded.problems
    sources = [loaded.sources[f"plan.{name}"] for name in ("threshold", "head", "protected_tags", "todo")]
    assert ["environment", "environment", sources[2], "default"] == sources
    assert sources[2].endswith("/home/.config/annals/config.toml")


SAMPLES: dict[str, list[object]] = {
    "dream.slots": [{"repeated_notes": "0 3 * * *"}, {"repeated_notes": ""}],
    "dream.zone": ["Europe/Berlin"],
    "dream.hosts": [["docs.example.org"]],
    "dream.documents": [["DESIGN.md"], []],
    "data": ["/srv/annals"],
    "views.memory_limit": ["2GiB"],
    "model.providers": [{"near": {"url": "http://127.0.0.1:1/v1"}}],
    "model.chain": [["near/small"], ["anthropic/claude", "near/small"]],
    "model.windows": [{"near/small": 4096}],
    "model.prices": [{"near/*": {"input": 1.5, "output": 2.0}}],
    "embed.url": ["http://127.0.0.1:1/v1"],
    "nats.url": ["nats://127.0.0.1:1"],
    "commits.remotes": [{"shop": "https://git.example.org/shop.git"}],
    "plan.cache_ttls": [{"near/small": "1h"}],
    "plan.prices": [{"near/*": {"read": 0.5, "write": 1.0}}],
    "plan.head_documents": [["docs/map.md"]],
    "plan.key_files": [["src/core.py"]],
    "plan.skip_prompts": [["You write titles"]],
}
"""Values of settings whose type does not say which there are."""
WITH: dict[str, dict[str, object]] = {
    "model.chain": {"model.providers": {"near": {"url": "http://127.0.0.1:1/v1"}}},
    "embed.provider": {"embed.url": "http://127.0.0.1:1/v1", "embed.model": "small"},
}
"""What else must be set for these."""


def samples(entry: SettingEntry) -> list[object]:
    """Valid values of a setting, none of them its default."""
    default = value_of(Settings(), entry)
    if entry.key in SAMPLES:
        return SAMPLES[entry.key]
    if isinstance(default, bool):
        return [not default]
    if get_origin(entry.kind) is Literal:
        return [one for one in get_args(entry.kind) if one != default]
    if isinstance(default, int | float):
        ends = [entry.meta.ge, entry.meta.le, default + 1 if entry.meta.le is None else None]
        return [type(default)(one) for one in ends if one is not None and one != default] or [default / 2]
    return [{"near/small": 42}] if isinstance(default, Mapping) else ["some text"]


@cells("key", ENTRIES)
@pytest.mark.parametrize("source", ["environment", "file", "both"])
def test_every_setting_can_be_set_from_each_source(loading: Loading, key: str, source: str) -> None:
    """`both`: itself from the environment, and what it depends on from the file."""
    for sample in samples(ENTRIES[key]):
        given = {key: sample, **WITH.get(key, {})}
        in_file = {} if source == "environment" else given if source == "file" else WITH.get(key, {})
        variables = {
            ENTRIES[name].variable: value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, value in given.items()
            if name not in in_file
        }
        user = "".join(f"{name} = {_toml(value)}\n" for name, value in in_file.items())
        loaded = loading(variables, user)
        assert [] == lines(loaded)
        assert value_of(Settings(), ENTRIES[key]) != loaded.value(ENTRIES[key])
        assert ("environment" == loaded.sources[key]) == (key in variables or ENTRIES[key].variable in variables)


@cells("key", [key for key, entry in ENTRIES.items() if entry.kind is float])
@cells("text", ["nan", "inf", "1e999"])
def test_no_setting_takes_a_number_that_is_not_finite(loading: Loading, key: str, text: str) -> None:
    for loaded in (
        loading({ENTRIES[key].variable: text}),
        loading({}, "{} = {}\n".format(key, "inf" if text == "1e999" else text)),
    ):
        assert 1 == len(loaded.problems)
        assert value_of(Settings(), ENTRIES[key]) == loaded.value(ENTRIES[key])


def test_no_setting_of_several_models_takes_such_a_number(loading: Loading) -> None:
    for key, text in {"plan.thresholds": '{"a/b": NaN}', "model.prices": '{"a/b": {"input": Infinity}}'}.items():
        loaded = loading({ENTRIES[key].variable: text})
        assert 1 == len(loaded.problems)
        assert value_of(Settings(), ENTRIES[key]) == loaded.value(ENTRIES[key])


def _toml(value: object) -> str:
    """A value as TOML writes it, on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(one)}" for name, one in value.items()) + "}"
    return json.dumps(value)


def test_settings_that_depend_on_each_other_are_judged_together(loading: Loading) -> None:
    remote = {"ANNALS_EMBED__PROVIDER": "remote"}
    alone = loading(remote)
    assert ["ANNALS_EMBED__PROVIDER" in line and "ANNALS_EMBED__URL" in line for line in lines(alone)] == [True]
    assert "local" == alone.settings.embed.provider
    mixed = loading(remote, "[embed]\nurl = 'http://127.0.0.1:1/v1'\nmodel = 'small'\n")
    assert ([], "remote") == (lines(mixed), mixed.settings.embed.provider)
    one_wrong = loading({**remote, "ANNALS_EMBED__URL": "ftp://x", "ANNALS_EMBED__MODEL": "small"})
    assert 2 == len(lines(one_wrong)), "the url is no address, and without one there is no remote model"
    assert ("local", "small") == (one_wrong.settings.embed.provider, one_wrong.settings.embed.model)
    chains = loading(
        {"ANNALS_MODEL__CHAIN": '["x/y"]', "ANNALS_MODEL__PROVIDERS": '{"z": {}}', "ANNALS_MODEL__TIMEOUT": "5"}
    )
    assert 2 == len(lines(chains)), "each of the two falls in its own name"
    assert ((), {}, 5.0) == (
        chains.settings.model.chain,
        chains.settings.model.providers,
        chains.settings.model.timeout,
    )


def test_the_users_file_is_where_the_system_keeps_configuration(tmp_path: Path) -> None:
    (tmp_path / "annals").mkdir()
    (tmp_path / "annals" / "config.toml").write_text('data = "~/stored"\n')
    loaded = load({"HOME": "/nowhere", "XDG_CONFIG_HOME": str(tmp_path)})
    assert (Path("~/stored").expanduser(), ()) == (loaded.settings.data, loaded.problems)


@pytest.mark.parametrize("written", ["stored", "link", "other/../stored", "{here}/link"])
def test_the_data_directory_is_the_same_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    (tmp_path / "link").symlink_to("stored")
    monkeypatch.chdir(tmp_path)
    loaded = load({"HOME": str(tmp_path), "ANNALS_DATA": written.format(here=tmp_path)})
    assert ((tmp_path / "stored").resolve(), ()) == (loaded.settings.data, loaded.problems)


def test_the_data_directory_is_none_that_cannot_be() -> None:
    loaded = load({"HOME": "/nowhere", "ANNALS_DATA": "a\0b"})
    assert Settings().data == loaded.settings.data
    assert ["ANNALS_DATA"] == [problem.where.split()[0] for problem in loaded.problems]


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        (
            "PLAN__THRESHOLD",
            "200",
            "(it should be less than or equal to 90), and its default holds; give at least `20.0` and at most",
        ),
        ("PLAN__THRESHOLD", "nan", "give at least `20.0` and at most `90.0`"),
        ("PLAN__THRESHOLD", "high", "(it should be a valid number"),
        ("PLAN__HEAD", "perhaps", "(it should be a valid boolean"),
        ("PLAN__CONTEXT", "tiny", "; give one of `lean`, `balanced`, `full`"),
        (
            "PLAN__KEY_FILES",
            "src/core.py",
            "(it should be a valid list), and its default holds; docs/settings.md says what it takes, as JSON",
        ),
        ("PLAN__KEY_FILES", '["/etc/passwd"]', "write it from the project's root, such as docs/map.md"),
        ("PLAN__KEY_FILES_TOKENS", "30001", "give at least `2000` and at most `30000`"),
        ("PLAN__PRICES", '{"opus": {"read": 3}}', "(it should be less than or equal to 1 at opus.read)"),
        ("PLAN__PRICES", '{"opus": {"raed": 0.3}}', "not permitted at opus.raed)"),
        ("MODEL__CHAIN", '["large"]', "'large' in ANNALS_MODEL__CHAIN is no model: write provider/model"),
        ("MODEL__CHAIN", '["/large"]', "'/large' in ANNALS_MODEL__CHAIN is no model: write provider/model"),
        ("MODEL__CHAIN", '["own/x"]', "nothing is known of the provider of 'own/x': describe it in ANNALS_MODEL__"),
        (
            "MODEL__CHAIN",
            '["harness/x"]',
            "'harness/x' in ANNALS_MODEL__CHAIN names no model of a harness: write harness/",
        ),
        ("MODEL__CHAIN", '["harness/x/"]', "write harness/small or harness/provider/model"),
        ("MODEL__PROVIDERS", '{"own": {}}', "the provider 'own' in ANNALS_MODEL__PROVIDERS needs a url"),
        ("MODEL__PROVIDERS", '{"own": {"url": "own:80"}}', "should match pattern"),
        ("NATS__USER", "boss", "give one of `room`, `harness`, `person`"),
        ("LOOP__SESSIONS", "1.5", "(it should be a valid integer"),
        ("LOOP__SESSIONS", "0", "give at least `1`"),
        ("VIEWS__MEMORY_LIMIT", "lots", "should match pattern"),
        ("HTTP__PORT", "99999", "give at least `0` and at most `65535`"),
    ],
)
def test_a_wrong_value_is_named_and_its_default_holds(
    loading: Loading, variable: str, text: str, sentence: str
) -> None:
    loaded = loading({f"ANNALS_{variable}": text, "ANNALS_PLAN__MIN_RECLAIM": "17"})

    (line,) = lines(loaded)
    assert line.startswith(f"ANNALS_{variable} (environment): it is not used (")
    assert sentence in line
    entry = VARIABLES[f"ANNALS_{variable}"]
    assert (value_of(Settings(), entry), "default") == (loaded.value(entry), loaded.sources[entry.key])
    assert 17 == loaded.settings.plan.min_reclaim, "the others hold all the same"


def test_what_stands_in_for_a_wrong_value_is_the_next_source_that_has_one(loading: Loading) -> None:
    loaded = loading({"ANNALS_PLAN__THRESHOLD": "abc"}, user="[plan]\nthreshold = 60\n")
    assert 60.0 == loaded.settings.plan.threshold
    (line,) = lines(loaded)
    assert "config.toml says holds" in line


def test_a_mapping_is_never_mixed_of_two_sources(loading: Loading) -> None:
    user = '[model.providers.own]\nurl = "http://models.local/v1"\n'
    loaded = loading({"ANNALS_MODEL__PROVIDERS": '{"Barn": {"url": "http://barn/v1"}}'}, user=user)
    assert ({"Barn": ProviderSettings(url="http://barn/v1")}, ()) == (loaded.settings.model.providers, loaded.problems)


def test_a_value_may_rest_on_one_of_another_source(loading: Loading) -> None:
    user = '[model]\nchain = ["openai/a"]\nproviders = {own = {url = "http://models.local/v1"}}\n'
    assert ("own/x",) == loading({"ANNALS_MODEL__CHAIN": '["own/x"]'}, user=user).settings.model.chain
    assert ("openai/a",) == loading({"ANNALS_MODEL__CHAIN": '["barn/x"]'}, user=user).settings.model.chain


@pytest.mark.parametrize(
    ("user", "sentence"),
    [
        (
            "[plan]\nthreshold = 200\n",
            "plan.threshold ({file}): it is not used (it should be less than or equal to 90)",
        ),
        ("[loop]\nsessions = true\n", "loop.sessions ({file}): it is not used (it should be a valid integer"),
        ("[plan]\ntreshold = 70\n", "plan.treshold ({file}): there is no such setting; did you mean plan.threshold?"),
        ("[plann]\nthreshold = 70\n", "plann ({file}): there is no such setting; docs/settings.md lists all"),
        ("plan = 3\n", "plan ({file}): there is no such setting"),
        ("[nats]\npassword = 3\n", "nats.password ({file}): it is not used (it should be a valid string)"),
        ("threshold = \n", "{file}: nothing of it is used, as it cannot be read (Invalid value"),
        (f"threshold = {'[' * 5000}", "{file}: nothing of it is used, as it cannot be read ("),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_the_file(
    loading: Loading, tmp_path: Path, user: str, sentence: str
) -> None:
    loaded = loading(user=user)
    (line,) = lines(loaded)
    assert line.startswith(sentence.format(file=tmp_path / "home" / ".config" / "annals" / "config.toml"))
    assert Limits() == loaded.settings.plan


def test_an_unknown_variable_is_named_with_the_nearest_one(loading: Loading) -> None:
    loaded = loading(
        {
            "ANNALS_PLAN__TRESHOLD": "70",
            "ANNALS_WHATEVER": "1",
            "ANNALS_PASSWORD": "of compose.yaml",
            "ANNALS_PERSON_PASSWORD": "of compose.yaml",
            "ANNALS_ROOM_PASSWORD": "of compose.yaml",
            "ANNALS_BIND": "127.0.0.1",
            "ANNALS_OWN_KEY": "k",
            "ANNALS_MODEL__PROVIDERS": '{"own": {"url": "http://models.local/v1", "key_variable": "ANNALS_OWN_KEY"}}',
            "OTHER": "x",
        }
    )
    assert [
        "ANNALS_PLAN__TRESHOLD (environment): there is no such setting; did you mean ANNALS_PLAN__THRESHOLD?",
        "ANNALS_WHATEVER (environment): there is no such setting; docs/settings.md lists all",
    ] == lines(loaded)


def test_an_empty_variable_says_nothing(loading: Loading) -> None:
    loaded = loading({"ANNALS_PLAN__THRESHOLD": "", "ANNALS_NATS__URL": ""}, user='[nats]\nurl = "nats://x:1"\n')
    assert ("", 85.0, ()) == (loaded.settings.nats.url, loaded.settings.plan.threshold, loaded.problems)


def test_a_key_is_handed_on_and_never_shown(loading: Loading) -> None:
    given = Settings(
        model=Model(providers={"local": ProviderSettings(url="http://127.0.0.1:1/v1", key=SecretStr(KEY))})
    )
    assert KEY in environment(given)["ANNALS_MODEL__PROVIDERS"]
    assert KEY not in f"{given!r} {given}"

    for wrong in (f'{{"local": {{"kind": "oracle", "key": "{KEY}"}}}}', f'{{"local": "{KEY}"}}', f"[{KEY}"):
        loaded = loading({"ANNALS_MODEL__PROVIDERS": wrong})
        assert {} == loaded.settings.model.providers
        assert KEY not in f"{loaded!r} {lines(loaded)}"


A_NEW_ONE = '''\
    patience: Annotated[int, Meta(ge=1, extra={"project": "lower"})] = 7
    """How long is waited."""
'''
PROGRAM = """\
from services.generate.settings import settings_page
from services.settings import Settings, environment, load
loaded = load({"HOME": "/nowhere", "ANNALS_PLAN__PATIENCE": "9", "ANNALS_PLAN__PATIENSE": "9"})
print(loaded.settings.plan.patience, environment(Settings())["ANNALS_PLAN__PATIENCE"], loaded.problems[0].line)
print(next(line for line in settings_page(Settings).splitlines() if "PATIENCE" in line))
"""


def test_a_new_setting_is_one_definition(tmp_path: Path) -> None:
    for package in ("schemas", "services"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__", "*.gz"))
    limits = tmp_path / "services" / "domain" / "limits.py"
    before, field, after = limits.read_text().partition("    min_reclaim: ")
    limits.write_text(before + A_NEW_ONE + field + after)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert [
        "9 7 ANNALS_PLAN__PATIENSE (environment): there is no such setting; did you mean ANNALS_PLAN__PATIENCE?",
        "| `ANNALS_PLAN__PATIENCE` | `7` | How long is waited. At least `1`. A project may lower it. |",
    ] == ran.stdout.splitlines(), ran.stderr


# What the definitions themselves take


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_no_setting_leaves_every_prompt_alone(text: str) -> None:
    with pytest.raises(ValueError, match="would leave every prompt alone"):
        Limits(skip_prompts=("<!-- ours -->", text))


@pytest.mark.parametrize(
    "path", ["", ".", "/etc/passwd", "../a", "a/../../b", "a/..", "C:/a", "C:a", "\\a", "a\\..\\b"]
)
@pytest.mark.parametrize("name", ["key_files", "head_documents"])
def test_a_path_that_leads_out_of_the_project_is_refused(name: str, path: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert({name: ["src/core.py", path]}, Limits)
    remedy = "write it from the project's root, such as docs/map.md"
    assert f"{path!r} is no path within a project: {remedy}" == str(refused.value)


def test_a_path_is_spelled_in_one_way() -> None:
    plan = Limits(key_files=("./src//core.py", "src/core.py", "..b/a b.py", "docs/"))
    assert ("src/core.py", "src/core.py", "..b/a b.py", "docs") == plan.key_files
    assert "a../b.." == inside("a../b..")


def test_a_model_of_a_harness_needs_neither_address_nor_key() -> None:
    chosen = ("harness/small", "harness/anthropic/claude/x", "mine/small")
    settings = Model(chain=chosen, providers={"mine": ProviderSettings(kind="harness")}, windows={"small": 32_000})
    assert [("harness", "", "small", "", 32_000), ("harness", "", "anthropic/claude/x", "", 128_000)] == [
        (one.kind, one.url, one.model, one.key.get_secret_value(), one.window) for one in chain(settings, {})
    ][:2]
    assert [(True, False)] * 3 == [(one.is_of_harness, one.is_vendor) for one in chain(settings, {})]


def test_each_model_is_reached_as_it_was_configured() -> None:
    settings = Model(
        chain=("openai/gpt", "anthropic/claude/x", "own/small", "hidden/b", "barn/c"),
        providers={
            "own": ProviderSettings(url="http://meadow/v1"),
            "hidden": ProviderSettings(url="http://hidden/v1", key_variable="HIDDEN"),
            "barn": ProviderSettings(kind="anthropic", url="http://barn", key=SecretStr("b"), key_variable="HIDDEN"),
        },
        windows={"small": 8000},
        max_output=4000,
    )
    known = {"OPENAI_API_KEY": "o\n", "ANTHROPIC_API_KEY": "a", "HIDDEN": "h"}

    assert [
        ("openai", "https://api.openai.com/v1", "gpt", "o", 128_000, 4000),
        ("anthropic", "https://api.anthropic.com", "claude/x", "a", 128_000, 4000),
        ("openai", "http://meadow/v1", "small", "", 8000, 2000),
        ("openai", "http://hidden/v1", "b", "h", 128_000, 4000),
        ("anthropic", "http://barn", "c", "b", 128_000, 4000),
    ] == [
        (one.kind, one.url, one.model, one.key.get_secret_value(), one.window, one.output)
        for one in chain(settings, known)
    ]


class OneOfMany(msgspec.Struct, frozen=True):
    """A group of which one setting alone may be given."""

    first: int = 0
    second: int = 0
    third: int = 0
    fourth: int = 0
    fifth: int = 0
    sixth: int = 0
    seventh: int = 0
    eighth: int = 0

    def __post_init__(self) -> None:
        if sum(getattr(self, name) for name in self.__struct_fields__) > 1:
            raise ValueError("only one of them may be given")


def test_of_settings_that_contradict_each_other_the_later_one_is_always_blamed() -> None:
    given = dict.fromkeys(OneOfMany.__struct_fields__, 1)
    model = model_of(OneOfMany, BaseModel).model_validate(given)
    with pytest.raises(ValidationError) as refused:
        build_group(OneOfMany, model)
    assert ("second",) == refused.value.errors()[0]["loc"]
