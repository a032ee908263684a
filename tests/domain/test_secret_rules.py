"""Secrets of issuers whom nobody here has listed: found by rules that others publish, and nothing else by them."""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from string import ascii_letters, digits
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from services.domain.secrets import mask
from services.domain.secrets.rules import GENERIC, NOT_USED, WIDER, SecretRule, generic_rule, rule_file, used_rules
from tests.helpers.cells import cells
from tests.helpers.examples import share
from tests.helpers.fresh_secrets import FreshSecret, fresh_secret

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DATA = ROOT / "services" / "domain" / "secrets" / "gitleaks"
EACH = 2
"""So many secrets are made by each rule."""
ENOUGH = 0.95
COMMAND = "curl-auth-header"
"""The rule for a whole command, which has no name of an issuer."""


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


OUTPUTS: dict[str, Callable[[FreshSecret], str]] = {
    "a file of the environment": lambda one: f"DEBUG=1\n{variable(one.name)}_API_KEY={one.secret}\nPORT=80\n",
    "an exported variable": lambda one: f"$ export {variable(one.name)}_TOKEN='{one.secret}'\n$ make\n",
    "JSON": lambda one: json.dumps({"debug": True, f"{one.name}_token": one.secret}, indent=2),
    "JSON in JSON": lambda one: json.dumps({"body": json.dumps({f"{one.name}_token": one.secret})}),
    "JSON in one line": lambda one: json.dumps({f"{one.name}_key": one.secret, "region": "eu"}, separators=(",", ":")),
    "a log line": lambda one: f"10:31:02 INFO {one.name} client: api key {one.secret}, region eu-west-1\n",
    "a log line with fields": lambda one: (
        f'level=info issuer={one.name} msg="{one.name} token: {one.secret}" code=200\n'
    ),
    "YAML": lambda one: f"debug: true\n{one.name}_secret: {one.secret}\nport: 80\n",
    "quoted YAML": lambda one: f'env:\n  - {one.name}_api_key: "{one.secret}"\n',
    "code": lambda one: f'client = Client({one.name}_key="{one.secret}", timeout=3)\n',
}
SENTENCES: dict[str, Callable[[FreshSecret], str]] = {
    "use it": lambda one: f"Use the {one.name} token {one.secret} for the deployment, please.",
    "it is": lambda one: f"My {one.name} API key is {one.secret}.",
    "it is, with the name as the owner": lambda one: f"{one.name}'s secret key is {one.secret}, don't commit it",
    "after a colon": lambda one: f"here is the {one.name} key: {one.secret}",
    "in parentheses": lambda one: f"I have made a new {one.name} access token ({one.secret}) this morning.",
    "as code": lambda one: f"The login token for {one.name} is `{one.secret}`; can you add it to the vault?",
    "at the end": lambda one: f"Why is this {one.name} token refused? It worked yesterday: {one.name} {one.secret}",
    "in German": lambda one: f"Der Schlüssel für {one.name} ist {one.secret}, bitte nicht einchecken.",
}


def fresh(rule: SecretRule) -> Iterator[FreshSecret]:
    for number in range(EACH):
        yield fresh_secret(rule, Random(f"{rule.id} {number}"))


@pytest.fixture(scope="module")
def secrets() -> Sequence[tuple[SecretRule, FreshSecret]]:
    return [(rule, one) for rule in used_rules() if rule.id != COMMAND for one in fresh(rule)]


def left_by_rule(secrets: Sequence[tuple[SecretRule, FreshSecret]], frame: Callable[[FreshSecret], str]) -> list[str]:
    return [rule.id for rule, one in secrets if one.secret in mask(frame(one))]


@pytest.mark.parametrize("where", OUTPUTS)
def test_a_fresh_secret_of_each_rule_is_masked_in_an_output(
    secrets: Sequence[tuple[SecretRule, FreshSecret]], where: str
) -> None:
    tried = share(secrets, [*OUTPUTS].index(where))
    left = left_by_rule(tried, OUTPUTS[where])
    assert len(left) <= (1 - ENOUGH) * len(tried), sorted(left)


@pytest.mark.parametrize("where", SENTENCES)
def test_a_fresh_secret_of_each_rule_is_masked_in_a_sentence(
    secrets: Sequence[tuple[SecretRule, FreshSecret]], where: str
) -> None:
    tried = share(secrets, [*SENTENCES].index(where))
    left = left_by_rule(tried, SENTENCES[where])
    assert len(left) <= (1 - ENOUGH) * len(tried), sorted(left)


def test_what_is_left_of_a_document_is_a_document(secrets: Sequence[tuple[SecretRule, FreshSecret]]) -> None:
    for rule, one in secrets:
        document = json.dumps({"body": json.dumps({"a": f"see\n{one.secret}", "b": 1}), "c": [one.secret]})
        masked = json.loads(mask(document))
        assert 1 == json.loads(masked["body"])["b"], rule.id


def test_a_fresh_secret_of_each_rule_is_masked_on_a_line_of_its_own_in_a_document(
    secrets: Sequence[tuple[SecretRule, FreshSecret]],
) -> None:
    alone = [(rule, one) for rule, one in secrets if one.name == "service"]
    left = left_by_rule(alone, lambda one: json.dumps({"content": f"first\n{one.secret}\n\t{one.secret}\r\nlast"}))
    assert len(left) <= (1 - ENOUGH) * len(alone), sorted(left)


def test_what_a_rule_finds_is_masked_alone_and_under_its_name() -> None:
    secret = fresh_secret(rule_of("perplexity-api-key"), Random("alone")).secret
    assert "Try [masked:perplexity-api-key], then stop." == mask(f"Try {secret}, then stop.")


def test_a_header_of_a_command_is_masked() -> None:
    one = fresh_secret(rule_of(COMMAND), Random("command"))
    assert one.secret not in mask(f"$ {one.match} https://example.com\n")


def rule_of(name: str) -> SecretRule:
    return next(one for one in rule_file().rules if one.id == name)


def test_the_rules_are_the_published_ones() -> None:
    readme = (DATA / "README.md").read_text()
    for name in ("gitleaks.toml", "LICENSE"):
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() in readme
    assert "MIT License" in (DATA / "LICENSE").read_text()


def test_each_rule_is_run_or_named_on_the_page() -> None:
    left = {one.id for one in rule_file().rules} - {one.id for one in used_rules()} - {GENERIC}
    paths = {one.id for one in rule_file().rules if one.path}
    assert NOT_USED.keys() | paths == left
    page = (ROOT / "docs" / "secrets.md").read_text()
    assert [] == [one for one in left if f"`{one}`" not in page]


@pytest.mark.parametrize("piece", WIDER)
def test_each_piece_that_is_widened_occurs_in_many_rules(piece: str) -> None:
    assert 90 < sum(piece in one.regex for one in used_rules())


def test_the_rules_ask_for_nothing_that_is_not_looked_at() -> None:
    used = (*used_rules(), generic_rule())
    allowlists = [rule_file().allowlist, *(one for rule in used for one in rule.allowlists)]
    assert {"secret", "match", "line"} == {one.regex_target for one in allowlists}
    assert all(one.condition == "OR" or one.paths for one in allowlists)
    assert all(rule.keywords for rule in used)


PREFIXES = (
    "r8_",
    "fw_",
    "xai-",
    "csk-",
    "rnd_",
    "napi_",
    "phx_",
    "figd_",
    "bkua_",
    "CCIPAT_",
    "lsv2_pt_",
    "pcsk_",
    "tvly-",
    "",
)
"""How tokens begin of issuers whom no rule names; the last has no beginning of its own."""


def unlisted() -> Iterator[FreshSecret]:
    for prefix in PREFIXES:
        for number in range(20):
            chance = Random(f"{prefix} {number}")
            secret = prefix + "".join(chance.choice(ascii_letters + digits) for _ in range(32))
            yield FreshSecret("examplia", secret, secret)


CALLED = [where for where in (*OUTPUTS, *SENTENCES) if where not in ("at the end", "in German")]
"""Where an English word for a secret stands right before it."""


@pytest.mark.parametrize("where", CALLED)
def test_most_secrets_of_an_issuer_whom_no_rule_names_are_masked_where_they_are_called_one(where: str) -> None:
    frame, made = {**OUTPUTS, **SENTENCES}[where], [*unlisted()]
    left = [one.secret for one in made if one.secret in mask(frame(one))]
    assert len(left) <= 0.15 * len(made), left


NAMES = sorted({one.lower() for rule in used_rules() for one in rule.keywords if one.isalpha() and len(one) > 3})
"""What makes rules look at a text: mostly names of issuers."""
DIGESTS = {
    "md5": lambda text: hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
    "sha1": lambda text: hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest(),
    "sha256": lambda text: hashlib.sha256(text.encode()).hexdigest(),
    "sha512": lambda text: hashlib.sha512(text.encode()).hexdigest(),
    "integrity": lambda text: "sha512-" + b64encode(hashlib.sha512(text.encode()).digest()).decode(),
    "uuid": lambda text: str(UUID(bytes=hashlib.md5(text.encode(), usedforsecurity=False).digest())),
}
LISTINGS = {
    "a line of git": "commit {digest}\n    Merge {name} into main\n",
    "a line of git in short": "{digest} Update {name} to 2.1\n",
    "a pin": "{name}-sdk==2.1 \\\n    --hash=sha256:{digest}\n",
    "a lock file of npm": '"node_modules/@{name}/{name}-js": {{\n  "version": "7.0.1",\n  "integrity": "{digest}"\n}}',
    "a lock file of poetry": '{{file = "{name}_sdk-2.1.tar.gz", hash = "sha256:{digest}"}}',
    "a lock file of yarn": '{name}-js@^1.0.0:\n  resolved "https://example.org/{name}-js-1.0.1.tgz#{digest}"\n',
    "an image": "{name}/agent latest sha256:{digest} 2 days ago\n",
    "an image by digest": "image: example.org/{name}/agent@sha256:{digest}\n",
    "an id": '{{"{name}": "{digest}", "name": "{name}"}}',
    "an id in YAML": "{name}: {digest}\n",
    "a value": "{name}={digest}\n",
    "a request": "{name} request_id={digest} status=200\n",
    "a sentence": "The {name} commit is {digest}, see there.",
    "a path": "/var/cache/{name}/{digest}/data.bin\n",
    "a table": "| {name} | {digest} | 3 |\n",
}


@cells("kind", DIGESTS)
@pytest.mark.parametrize("listing", LISTINGS)
def test_digests_and_ids_next_to_the_name_of_an_issuer_stay(listing: str, kind: str) -> None:
    names = share(NAMES, [*LISTINGS].index(listing) + [*DIGESTS].index(kind))
    texts = [LISTINGS[listing].format(name=name, digest=DIGESTS[kind](f"{name} {listing}")) for name in names]
    assert [] == [text for text in texts if mask(text) != text]


@pytest.mark.parametrize("name", ["requirements-dev.lock", "deploy/package-lock.json", "requirements-model.lock"])
def test_lock_files_stay_as_they_are(name: str) -> None:
    text = (ROOT / name).read_text()
    assert mask(text) is text


@pytest.mark.parametrize("width", [64, 76, 0])
def test_pictures_in_base64_stay_as_they_are(width: int) -> None:
    picture = b64encode(Random("picture").randbytes(300_000)).decode()
    lines = [picture[at : at + width] for at in range(0, len(picture), width)] if width else [picture]
    text = "data:image/png;base64," + "\n".join(lines)
    assert mask(text) is text


CODE = [
    "twitter_card = 'summary_large_image_of_the_first_page_2'",
    "const linear = interpolateLinearBetweenTwoValues(first, second)",
    "import { something } from '@sentry/some-integration-for-the-browser-2'",
    "contentful: a-class-name-of-thirty-two-chars",
    "props.aVeryLongNameOfAFunctionXY",
    "discord_channel = 123456789012345678",
    "heroku logs --tail --app a-name-of-an-app-that-is-long-2",
    "asana: 1234567890123456",
    "CLOUDFLARE_ZONE=0123456789abcdef0123456789abcdef",
    "cache_key: 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "The key is 550e8400-e29b-41d4-a716-446655440000.",
    "KEY = 'settings.page2.title3.of_the_first_4_columns'",
    "the key named test_a_token_is_masked_wherever_it_stands_1",
    "the key of uploads/2024/11/28/picture_0042_of_0100.png",
    "key_sha256: 16b791a1e04886ccbbb4d448d6ff791267dc458a1b2c3d4e5",
    "import { validateKeyOfX509Certificates } from 'x509-certificates-of-2-kinds'",
    "key: arn:aws:kms:eu-west-1:123456789012:alias/a-name-2",
]


@cells("text", CODE)
def test_code_next_to_the_name_of_an_issuer_stays(text: str) -> None:
    assert mask(text) is text


FRAGMENTS = [
    *(fresh_secret(rule, Random(rule.id)).match for rule in used_rules()),
    *(f"[masked:{rule.id}]" for rule in used_rules()),
    *NAMES,
    *("[masked:", "]", ":", "=", " ", "\n", '"', "'", "\\", " key ", " token is ", "a1B2c3D4" * 4, "é", "."),
]


@given(text=st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=4), max_size=12).map("".join))
@example(text="".join(f"[masked:{rule.id}] = " for rule in used_rules()))
def test_masking_what_the_rules_have_masked_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) is once


@cells("rule", used_rules())
def test_the_placeholder_of_a_rule_stays_as_it_is(rule: SecretRule) -> None:
    text = f"[masked:{rule.id}]: [masked:{rule.id}], key=[masked:{rule.id}]"
    assert mask(text) is text


def test_more_keywords_than_are_looked_at_one_by_one_hide_nothing() -> None:
    secret = fresh_secret(rule_of("perplexity-api-key"), Random("many")).secret
    assert secret not in mask(f"{'sk_live' * 3_000} {secret}")
