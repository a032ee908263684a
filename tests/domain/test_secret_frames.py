"""A secret is masked in whatever frame it is: not only where code assigns it to a name."""

import json
import re
import textwrap
from base64 import b64encode
from collections.abc import Callable, Sequence
from random import Random
from urllib.parse import quote

import pytest

from services.domain.secrets import mask
from services.domain.secrets.rules import used_rules
from tests.helpers.cells import cells
from tests.helpers.examples import share
from tests.helpers.fresh_secrets import FreshSecret, fresh_secret

pytestmark = pytest.mark.slow

ENOUGH = 0.95
PIECE = 8
"""Characters of a secret in a row that give away where it is broken."""
COMMAND = "curl-auth-header"
"""The rule for a whole command, which has no name of an issuer."""

Frame = Callable[[FreshSecret], str]


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name).upper()


def coloured(one: FreshSecret) -> str:
    return f"\x1b[32m{variable(one.name)}_TOKEN\x1b[0m=\x1b[1m{one.secret}\x1b[0m\n"


SHOWN_OTHERWISE: dict[str, Frame] = {
    "colours": coloured,
    "colours in JSON": lambda one: json.dumps({"out": coloured(one)}),
    "colours without their escape": lambda one: coloured(one).replace("\x1b", ""),
    "true colours": lambda one: (
        f"\x1b[38;2;255;100;0m{one.name} token\x1b[0m \x1b[38;5;244m│\x1b[0m \x1b[1;38;2;1;2;3m{one.secret}\x1b[0m\n"
    ),
    "a difference in colours": lambda one: (
        f"\x1b[31m-{one.name}_token=\x1b[m\n\x1b[32m+\x1b[m\x1b[32m{one.name}_token={one.secret}\x1b[m\n"
    ),
    "letters without width": lambda one: f"{one.name} token:\u200b{one.secret}\u200b",
    "JSON in an address": lambda one: "q=" + quote(json.dumps({f"{one.name}_token": one.secret})),
    "an address in an address": lambda one: "to=" + quote(quote(f"https://x.org/?{one.name}_token={one.secret}&a=1")),
    "HTML in HTML": lambda one: f"&lt;add key=&quot;{one.name}Token&quot; value=&quot;{one.secret}&quot; /&gt;",
    "JSON that escapes what it need not": lambda one: (
        f'{{"html":"\\u003ctoken name=\\u0022{one.name}\\u0022\\u003e{one.secret}\\u003c/token\\u003e"}}'
    ),
}
BETWEEN: dict[str, Frame] = {
    "an attribute": lambda one: f'<add key="{one.name}ApiKey" value="{one.secret}" />',
    "an input": lambda one: f'<input name="{one.name}_token" value="{one.secret}">',
    "a property list": lambda one: f"<key>{one.name}ApiToken</key>\n\t<string>{one.secret}</string>\n",
    "a table": lambda one: f"| name | value |\n|---|---|\n| `{variable(one.name)}_TOKEN` | `{one.secret}` |\n",
    "a table with lines": lambda one: f"│ {variable(one.name)}_TOKEN │ {one.secret} │\n",
    "an answer of SQL": lambda one: (
        f" id | name | value\n----+------+------\n  1 | {one.name}_api_key | {one.secret} \n"
    ),
    "SQL": lambda one: f"INSERT INTO settings (name, value) VALUES ('{one.name}_api_key', '{one.secret}');\n",
    "Rust": lambda one: f'const {variable(one.name)}_TOKEN: &str = "{one.secret}";',
    "Kotlin": lambda one: f'const val {variable(one.name)}_TOKEN: String = "{one.secret}"\n',
    "Ruby": lambda one: f"config = {{ :{one.name}_token => '{one.secret}' }}\n",
    "Lua": lambda one: f'local tokens = {{ ["{one.name}_token"] = "{one.secret}" }}\n',
    "Nix": lambda one: f'  services.{one.name}.apiKey = "{one.secret}";\n',
    "JSX": lambda one: f'<Provider {one.name}Key={{"{one.secret}"}} />\n',
    "LaTeX": lambda one: f"\\newcommand{{\\{one.name}token}}{{{one.secret}}}\n",
    "a value of Go": lambda one: f"&{{Name:{one.name} Token:{one.secret} Port:80}}\n",
    "a value of Python": lambda one: f"Settings({one.name}_token=SecretStr('{one.secret}'), debug=True)",
    "Terraform": lambda one: f'variable "{one.name}_token" {{\n  default = "{one.secret}"\n}}',
    "a text of Terraform": lambda one: f"{one.name}_token = <<EOT\n{one.secret}\nEOT\n",
    "a manifest": lambda one: f"env:\n  - name: {variable(one.name)}_TOKEN\n    value: {one.secret}\n",
    "a list of settings": lambda one: json.dumps(
        [{"name": f"{variable(one.name)}_TOKEN", "slotSetting": False, "value": one.secret}], indent=2
    ),
    "a form": lambda one: (
        f'--b\r\nContent-Disposition: form-data; name="{one.name}_token"\r\n\r\n{one.secret}\r\n--b--\r\n'
    ),
    "a log of a build": lambda one: f"2026-11-29T10:00:01.3Z   {variable(one.name)}_TOKEN: {one.secret}\n",
    "a cookie": lambda one: f"Cookie: theme=dark; {one.name}_session_token={one.secret}; lang=de\r\n",
    "a registry": lambda one: f"    {one.name}Token    REG_SZ    {one.secret}\r\n",
    "netrc": lambda one: f"machine api.{one.name}.com\n  login me\n  password {one.secret}\n",
    "systemd": lambda one: f'Environment="{variable(one.name)}_TOKEN={one.secret}" "A=1"\n',
    "a difference in words": lambda one: f"{variable(one.name)}_TOKEN=[-changeme-]{{+{one.secret}+}}\n",
    "a file's name": lambda one: f"{one.name}_token_{one.secret}.json",
    "a path": lambda one: f"wrote /tmp/{one.name}-token-{one.secret}.txt",
    "a link": lambda one: f"[{one.name} token](https://x.example/?t={one.secret})",
    "the user of an address": lambda one: f"git clone https://{one.secret}@git.{one.name}.com/a/b.git",
    "lines of a document": lambda one: f"Your {one.name} API key\nis shown once only:\n{one.secret}\n",
}
LANGUAGES: dict[str, Frame] = {
    "French": lambda one: f"La clé {one.name} est {one.secret}, merci de ne pas la publier.",
    "French quotes": lambda one: f"Le jeton {one.name} est « {one.secret} ».",
    "English quotes": lambda one: f"The {one.name} token is “{one.secret}”.",
    "Spanish": lambda one: f"La clave de {one.name} es {one.secret} y no debe subirse.",
    "Portuguese": lambda one: f"A chave do {one.name} é {one.secret}, não publique.",
    "Italian": lambda one: f"La chiave di {one.name} è {one.secret}, non pubblicarla.",
    "Polish": lambda one: f"Klucz do {one.name} to {one.secret}, nie wrzucaj go.",
    "Czech": lambda one: f"Klíč pro {one.name} je {one.secret}.",
    "Turkish": lambda one: f"{one.name} anahtarı {one.secret} olarak değişti.",  # noqa: RUF001 - a letter of Turkish
    "Vietnamese": lambda one: f"Khóa {one.name} là {one.secret} nhé.",
    "Russian": lambda one: f"Ключ {one.name}: {one.secret}",
    "Arabic": lambda one: f"مفتاح {one.name} هو {one.secret}",
    "Hindi": lambda one: f"{one.name} की कुंजी {one.secret} है",
    "Chinese": lambda one: f"{one.name} 的密钥是{one.secret}，不要提交。",  # noqa: RUF001 - punctuation of Chinese
    "Japanese": lambda one: f"{one.name}のトークンは{one.secret}です。",
    "Korean": lambda one: f"{one.name} 토큰은 {one.secret}입니다. 커밋하지 마세요.",
}
FAR: dict[str, Frame] = {
    "a sentence on two lines": lambda one: textwrap.fill(
        f"We have created the access token that you asked for in the console of {one.name} today, it is {one.secret}.",
        80,
        break_long_words=False,
        break_on_hyphens=False,
    ),
    "a name behind its value": lambda one: f"echo {one.secret} | {one.name} auth login --with-token\n",
    "pgpass": lambda one: f"db.{one.name}.com:5432:main:me:{one.secret}\n",
}
FRAMES = {**SHOWN_OTHERWISE, **BETWEEN, **LANGUAGES, **FAR}


def terminal(text: str, width: int = 80) -> str:
    """A text as a terminal shows it: it breaks each line at its width."""
    lines = text.split("\n")
    return "\n".join("\n".join(pieces(line, width)) for line in lines)


def pieces(text: str, length: int) -> list[str]:
    return [text[start : start + length] for start in range(0, len(text), length)] or [""]


def halves(one: FreshSecret) -> tuple[str, str]:
    middle = (len(one.secret) + 1) // 2
    return one.secret[:middle], one.secret[middle:]


def at_the_edge(one: FreshSecret) -> str:
    """A command that has the middle of its secret at the 80th column."""
    name = f"export {variable(one.name)}_TOKEN="
    return terminal(name.rjust(80 - len(one.secret) // 2 % 40) + one.secret)


BROKEN: dict[str, Frame] = {
    "a terminal": lambda one: f"$ history\n{at_the_edge(one)}\n$ \n",
    "a log in a terminal": lambda one: terminal(
        f"2026-11-29T10:00:01.331Z INFO  harbour.settings loaded {one.name} token={one.secret} from the environment\n"
    ),
    "a wide terminal": lambda one: terminal(
        f"curl -sS https://api.harbour.example/berths?pier=9 -H 'X-Quay: north' {one.name}_token={one.secret} -o x\n",
        100,
    ),
    "a backslash": lambda one: "export {}_TOKEN={}\\\n{}\n".format(variable(one.name), *halves(one)),
    "a backslash in quotes": lambda one: '{}_token = "{}\\\n    {}"\n'.format(one.name, *halves(one)),
    "a backslash and Windows": lambda one: "{}_TOKEN={}\\\r\n{}\r\n".format(variable(one.name), *halves(one)),
    "YAML that is folded": lambda one: "{}_token: >-\n  {}\n  {}\nport: 80\n".format(one.name, *halves(one)),
    "YAML without a sign": lambda one: "{}_token: {}\n  {}\nport: 80\n".format(one.name, *halves(one)),
    "YAML in lines": lambda one: f"{one.name}_token: |\n    " + "\n    ".join(pieces(one.secret, 24)) + "\nport: 80\n",
    "a block": lambda one: (
        f"-----BEGIN {variable(one.name)} TOKEN-----\n"
        + "\n".join(pieces(one.secret, 32))
        + f"\n-----END {variable(one.name)} TOKEN-----\n"
    ),
    "lines of 64": lambda one: f"The token of {one.name}:\n\n" + "\n".join(pieces(one.secret, 64)) + "\n",
}


@pytest.fixture(scope="module")
def secrets() -> Sequence[tuple[str, FreshSecret]]:
    """Two of each rule."""
    rules = [rule for rule in used_rules() if rule.id != COMMAND]
    chances = ((rule, Random(f"{rule.id} in a frame{again}")) for rule in rules for again in ("", " again"))
    return [(rule.id, fresh_secret(rule, chance)) for rule, chance in chances]


@pytest.mark.parametrize("where", FRAMES)
def test_fresh_secrets_of_each_rule_are_masked_in_a_frame(
    secrets: Sequence[tuple[str, FreshSecret]], where: str
) -> None:
    tried = share(secrets, [*FRAMES].index(where))
    left = [rule for rule, one in tried if one.secret in mask(FRAMES[where](one))]
    assert len(left) <= (1 - ENOUGH) * len(tried), left


@pytest.mark.parametrize("where", BROKEN)
def test_fresh_secrets_of_each_rule_are_masked_where_they_are_broken_over_lines(
    secrets: Sequence[tuple[str, FreshSecret]], where: str
) -> None:
    left = [rule for rule, one in secrets if is_left(one.secret, mask(BROKEN[where](one)))]
    assert len(left) <= (1 - ENOUGH) * len(secrets), left


def is_left(secret: str, masked: str) -> bool:
    """Whether some characters of a secret in a row are left, wherever lines are broken."""
    joined = re.sub(r"\[masked:[a-z0-9-]+\]", "\x00", masked)
    joined = re.sub(r"\\?\r?\n|[ \t]", "", joined)
    return any(secret[start : start + PIECE] in joined for start in range(max(1, len(secret) - PIECE + 1)))


def test_a_secret_in_base64_is_masked_as_a_whole(secrets: Sequence[tuple[str, FreshSecret]]) -> None:
    left = []
    for rule, one in secrets:
        encoded = b64encode(one.secret.encode()).decode()
        manifest = f"kind: Secret\ndata:\n  {variable(one.name)}_TOKEN: {encoded}\n"
        masked = mask(manifest)
        if encoded in masked or not re.fullmatch(r"kind: Secret\ndata:\n  \w+: \[masked:[\w-]+\]\n", masked):
            left.append(rule)
    assert len(left) <= (1 - ENOUGH) * len(secrets), left


def test_all_around_a_secret_in_colours_stays() -> None:
    assert "\x1b[32mA\x1b[0m=\x1b[1m[masked:github-token]\x1b[0m\n" == mask(
        "\x1b[32mA\x1b[0m=\x1b[1m" + "gh" + "p_" + "a1B2" * 9 + "\x1b[0m\n"
    )


@pytest.mark.parametrize("escape", ["\\u0022", "\\\\u0022", '\\"'])
def test_what_is_left_of_escapes_is_a_document(escape: str) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    text = f'{{"a": "{escape}{secret}{escape}", "b": "\\u005c{escape}"}}'
    assert json.loads(text) != json.loads(mask(text))


PLAIN = [
    "git clone ssh://687fb701029421ae5549d998@example.org/a.git",
    "https://some-user-name-2024@example.org/a.git",
    "a heroku key: see page%20two of the%20list",
    "| sentry_key | 4c0b7c8e1d2f4a6b8c9d0e1f2a3b4c5d6e7f8091 | commit |",
    '{"name": "okta_token_cache", "digest": "4c0b7c8e1d2f4a6b8c9d0e1f2a3b4c5d"}',
    "The heroku token was rotated.\n\ndeploy 550e8400-e29b-41d4-a716-446655440000",
    "dGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcw==",
    "\x1b[32mok\x1b[0m 12 passed",
    "arr[0] = x[1]m",
    # lines that are no parts of one word
    "keys:\n" + "".join(f"{number:032x}\n" for number in range(3**50, 3**50 + 5)),
    "tokens of the run:\n550e8400-e29b-41d4-a716-446655440000\n6ba7b810-9dad-11d1-80b4-00c04fd430c8\n",
    (
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo\n"
        "4lgOEePzNm0tRgeLezV6ffAt0gunVTLw7onLRnrq0/IzW7yWR7QkrmBL7jTKEn5u\n-----END PUBLIC KEY-----\n"
    ),
    "-SERVICE_TOKEN=\n-\n-alpha1b2c3\n",
    "the secret names:\nalpha-one-2024\nbeta-two-2025\ngamma-three-2026\n",
    "token_count = first_total_1 + \\\n    second_total_2\n",
    "x" * 79 + "1\n2nd line of a token\n",
    "a.py:1024:main:error:it-is-2-late\n12:1034:56:78:9a:bc\n",
]


@pytest.mark.parametrize(
    ("width", "following"), [(70, "-"), (70, "OTHER"), (70, "-# the next one"), (70, "ready"), (80, "4: next")]
)
def test_a_line_behind_an_assignment_is_not_part_of_its_value(width: int, following: str) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    name = "-A_TOKEN=".rjust(width - len(secret))
    assert f"{name}[masked:github-token]\n{following}\n" == mask(f"{name}{secret}\n{following}\n")


@cells("text", PLAIN)
def test_what_is_no_secret_stays_in_these_frames(text: str) -> None:
    assert mask(text) is text
