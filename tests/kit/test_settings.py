"""Settings: what one process knows, the processes that it starts know, too."""

import contextlib
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from services.kit.model.chain import chain
from services.kit.settings import Model, Nats, Plan, Price, Prices, Provider, Settings, environment

KEY = "a-key-of-no-known-shape-4711"


def test_a_process_parses_the_very_settings_that_started_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = Settings(
        data=tmp_path,
        nats=Nats(url="nats://127.0.0.1:1", password=SecretStr("s3cret")),
        plan=Plan(
            protected_tags=3,
            thresholds={"opus": 40.0},
            prices={"gpt": Prices(write=1.0)},
            head=False,
            key_files=("src/core.py", "docs/map.md"),
        ),
        model=Model(
            chain=("local/small", "openai/large"),
            providers={"local": Provider(url="http://127.0.0.1:1/v1", key=SecretStr(KEY))},
            prices={"openai/*": Price(input=1.0, cached=0.1)},
            windows={"small": 8192},
        ),
    )

    for name, value in environment(given).items():
        monkeypatch.setenv(name, value)

    assert Settings() == given


def test_a_key_is_handed_on_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings(model=Model(providers={"local": Provider(url="http://127.0.0.1:1/v1", key=SecretStr(KEY))}))
    assert KEY in environment(given)["ANNALS_MODEL__PROVIDERS"]
    assert KEY not in f"{given!r} {given} {given.model_dump()} {given.model_dump_json()}"

    monkeypatch.setenv("ANNALS_MODEL__PROVIDERS", f'{{"local": {{"kind": "oracle", "key": "{KEY}"}}}}')
    with pytest.raises(ValidationError, match="Input should be 'openai' or 'anthropic'") as refused:
        Settings()
    assert KEY not in f"{refused.value} {refused.value!r}"


@pytest.mark.parametrize(
    "path", ["", ".", "/etc/passwd", "../a", "a/../../b", "a/..", "C:/a", "C:a", "\\a", "a\\..\\b"]
)
@pytest.mark.parametrize("name", ["key_files", "head_documents"])
def test_a_path_that_leads_out_of_the_project_is_refused_at_the_start(name: str, path: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Plan.model_validate({name: ["src/core.py", path]})
    (error,) = refused.value.errors()
    remedy = "write it from the project's root, such as docs/map.md"
    assert ((name, 1), f"Value error, {path!r} is no path within a project: {remedy}") == (error["loc"], error["msg"])


def test_a_path_is_spelled_in_one_way() -> None:
    plan = Plan.model_validate({"key_files": ["./src//core.py", "src/core.py", "..b/a b.py", "docs/"]})
    assert ("src/core.py", "src/core.py", "..b/a b.py", "docs") == plan.key_files


@pytest.mark.parametrize(("most", "is_taken"), [(1_999, False), (2_000, True), (30_000, True), (30_001, False)])
def test_key_files_have_room_within_bounds(most: int, is_taken: bool) -> None:  # noqa: FBT001 - a table of cases
    with contextlib.nullcontext() if is_taken else pytest.raises(ValidationError, match="should be"):
        Plan(key_files_tokens=most)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"chain": ["large"]}, "'large' in ANNALS_MODEL__CHAIN is no model: write provider/model"),
        ({"chain": ["/large"]}, "'/large' in ANNALS_MODEL__CHAIN is no model: write provider/model"),
        ({"chain": ["farm/large"]}, "nothing is known of the provider of 'farm/large': describe it in ANNALS_MODEL__"),
        ({"providers": {"farm": {"url": "farm:8000/v1"}}}, "String should match pattern"),
        ({"providers": {"farm": {}}}, "the provider 'farm' in ANNALS_MODEL__PROVIDERS needs a url"),
    ],
)
def test_a_chain_that_cannot_be_asked_is_refused_at_the_start(model: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Model.model_validate(model)


def test_each_model_is_reached_as_it_was_told() -> None:
    settings = Model(
        chain=("openai/gpt", "anthropic/claude/x", "farm/small", "hidden/b", "barn/c"),
        providers={
            "farm": Provider(url="http://meadow/v1"),
            "hidden": Provider(url="http://hidden/v1", key_variable="HIDDEN"),
            "barn": Provider(kind="anthropic", url="http://barn", key=SecretStr("b"), key_variable="HIDDEN"),
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
