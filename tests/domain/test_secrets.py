"""What never reaches the log, and what is left as it is."""

import json

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from services.domain.secrets import mask
from tests.helpers.cells import cells

pytestmark = pytest.mark.slow

# Put together here, so that no scanner takes the fixtures for secrets.
HEX = "0123456789abcdef" * 4
ALNUM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6a7B8c9D0e1F2g3H4i5J6k7L8m9N0"
JWT_HEADER = "ey" + "JhbGciOiJIUzI1NiJ9"
TOKENS = {
    "anthropic key": ("anthropic-key", "sk-" + "ant-api03-" + ALNUM),
    "AWS key id": ("aws-key", "AK" + "IA" + "IOSFODNN7EXAMPLE"),
    "temporary AWS key id": ("aws-key", "AS" + "IA" + "IOSFODNNAEXAMPLE"),
    "Databricks token": ("databricks-token", "da" + "pi" + HEX[:32]),
    "DigitalOcean token": ("digitalocean-token", "dop_" + "v1_" + HEX),
    "Discord token": ("discord-token", "MT" + ALNUM[:22] + "." + ALNUM[:6] + "." + ALNUM[:27]),
    "GitHub token": ("github-token", "gh" + "p_" + ALNUM[:36]),
    "GitHub token of an app": ("github-token", "gh" + "s_" + ALNUM[:36]),
    "GitHub token without a digit": ("github-token", "gh" + "p_" + "a" * 36),
    "fine-grained GitHub token": ("github-token", "github" + "_pat_" + ALNUM[:22] + "_" + ALNUM[:59]),
    "GitLab token": ("gitlab-token", "gl" + "pat-" + ALNUM[:20]),
    "longer GitLab token": ("gitlab-token", "gl" + "pat-" + ALNUM),
    "Google key": ("google-key", "AI" + "za" + ALNUM[:35]),
    "Groq key": ("groq-key", "gs" + "k_" + ALNUM[:52]),
    "Hugging Face token": ("huggingface-token", "h" + "f_" + ALNUM[:34]),
    "JSON web token": ("jwt", JWT_HEADER + ".ey" + "JzdWIiOiIxIn0." + ALNUM[:43]),
    "unsigned JSON web token": ("jwt", JWT_HEADER + ".ey" + "JzdWIiOiIxIn0."),
    "Mailchimp key": ("mailchimp-key", HEX[:32] + "-us" + "12"),
    "npm token": ("npm-token", "np" + "m_" + ALNUM[:36]),
    "OpenAI key": ("openai-key", "s" + "k-" + ALNUM[:48]),
    "OpenAI key of a project": ("openai-key", "sk-" + "proj-" + ALNUM + "_" + ALNUM),
    "PyPI token": ("pypi-token", "pypi-" + "AgEIcHlwaS5vcmc" + ALNUM),
    "SendGrid key": ("sendgrid-key", "S" + "G." + ALNUM[:22] + "." + ALNUM[:43]),
    "Slack token": ("slack-token", "xo" + "xb-123456789012-123456789012-" + ALNUM[:24]),
    "Slack webhook": ("slack-token", "https://hooks.slack" + ".com/services/T12345678/B12345678/" + ALNUM[:24]),
    "Square token": ("square-token", "sq0" + "csp-" + ALNUM[:43]),
    "Stripe key": ("stripe-key", "sk" + "_live_" + ALNUM[:24]),
    "longer Stripe key": ("stripe-key", "rk" + "_live_" + ALNUM),
    "Stripe key for tests": ("stripe-key", "sk" + "_test_" + ALNUM[:24]),
    "Telegram token": ("telegram-token", "1234567890" + ":AA" + ALNUM[:33]),
    "Twilio key": ("twilio-key", "S" + "K" + HEX[:32]),
    "age key": ("age-key", "AGE-SECRET" + "-KEY-1" + (ALNUM * 2).upper()[:58]),
    "Atlassian token": ("atlassian-token", "AT" + "ATT3" + ALNUM),
    "Docker token": ("docker-token", "dc" + "kr_pat_" + ALNUM[:27]),
    "Grafana token": ("grafana-token", "gl" + "sa_" + ALNUM[:32] + "_" + HEX[:8]),
    "Linear key": ("linear-key", "lin" + "_api_" + ALNUM[:40]),
    "New Relic key": ("newrelic-key", "NR" + "AK-" + ALNUM.upper()[:27]),
    "Postman key": ("postman-key", "PM" + "AK-" + HEX[:24] + "-" + HEX[:34]),
    "Pulumi token": ("pulumi-token", "pu" + "l-" + HEX[:40]),
    "Sentry token": ("sentry-token", "sn" + "trys_" + ALNUM),
    "Shopify token": ("shopify-token", "shp" + "at_" + HEX[:32]),
    "Supabase token": ("supabase-token", "sb" + "p_" + HEX[:40]),
    "Vault token": ("vault-token", "hv" + "s." + ALNUM[:24]),
}
KEY_LINES = [(ALNUM * 2)[start : start + 64] for start in range(4)]


def key_block(kind: str, newline: str = "\n") -> str:
    return newline.join([f"-----BEGIN {kind}-----", *KEY_LINES, f"-----END {kind}-----"])


@pytest.mark.parametrize(("kind", "token"), TOKENS.values(), ids=TOKENS)
def test_an_issued_token_is_masked_wherever_it_stands(kind: str, token: str) -> None:
    masked = f"[masked:{kind}]"
    assert masked == mask(token)
    assert f"see {masked}, and again:\n{masked}" == mask(f"see {token}, and again:\n{token}")
    assert f'{{"cmd": "echo \\"{masked}\\""}}' == mask(f'{{"cmd": "echo \\"{token}\\""}}')


SHOWN = [
    # environment
    ("DB_PASSWORD={}", "letmein", "password"),
    ("export POSTGRES_PASSWORD={}\n", "postgres1", "password"),
    ("MYSQL_PASS={}", "s3cret!", "password"),
    ("docker run -e API_KEY={} app", "abcdefghijklmnopqrst", "key"),
    ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY", "key"),
    ("GITEA_TOKEN={}", HEX[:40], "token"),
    ("SECRET={}&more", "hush", "secret"),
    # code and configuration
    ('password = "{}"', "hunter2", "password"),
    ('password2 = "{}"', "hunter2", "password"),
    ('pwd = "{}"', "hunter2", "password"),
    ('passcode = "{}"', "hunter2", "password"),
    ("password='{}'", "hunter2", "password"),
    ('password: str = "{}"', "hunter2", "password"),
    ('const secret: string = "{}"', "hush-hush", "secret"),
    ('let secret = b"{}"', "hush-hush", "secret"),
    ('password := "{}"', "hunter2", "password"),
    ("password: {}\n", "hunter2", "password"),
    ("password: {}, user: me", "p@ssword!", "password"),
    ("**Password:** {}", "hunter2", "password"),
    ("- Password: `{}`", "hunter2", "password"),
    ("The password: {}.", "hunter2", "password"),
    ('"password": "{}"', "hunter2", "password"),
    ('"command": "export PASSWORD={}"', "letmein", "password"),
    ("${{DB_PASSWORD:{}}}", "-hunter2", "password"),
    ('"password":"{}"', "it's\\\"so", "password"),
    ('"password":"{}"', "<[hunter2", "password"),
    ('{{"body": "{{\\"password\\": \\"{}\\"}}"}}', "hunter2", "password"),
    ("'passphrase' => '{}'", "correct-horse", "password"),
    ('os.environ["PASSWORD"] = "{}"', "hunter2", "password"),
    ('client_secret="{}"', "abcDEF", "secret"),
    ('apiKey: "{}"', "0123456789abcdef", "key"),
    ('"api-key": "{}"', "0123456789abcdef", "key"),
    ("AccountKey={};EndpointSuffix=x", ALNUM + "abcdef==", "key"),
    ("Server=db;Password={};", "letmein", "password"),
    ("ALTER USER me WITH PASSWORD '{}';", "hunter2", "password"),
    ("//packages.example.org/:_authToken={}", "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0", "token"),
    ('"auth": "{}"', "dXNlcjpwYXNzd29yZDE=", "authorization"),
    ("password={}", "x" + "y1" * 5000, "password"),
    ("clé password='{}'", "clé-où", "password"),
    # commands
    ("login --password {} --user me", "xyz", "password"),
    ("login --password={}", "letmein", "password"),
    ("login --db-password '{}'", "let(me)in", "password"),
    ("deploy --token {}", "abcdefgh", "token"),
    ("curl -u admin:{} https://example.com", "hunter2", "password"),
    ('"curl -u \\"admin:{}\\" https://example.com"', "hunter2", "password"),
    ("curl -sS --user 'admin:{}' https://example.com", "hunter2", "password"),
    # headers and addresses
    ("Authorization: Bearer {}", "abcdef123456", "authorization"),
    ('"Authorization": "Bearer {}"', "abcdef123456", "authorization"),
    ("Authorization: Basic {}", "dXNlcjpwYXNz", "authorization"),
    ("authorization: token {}", HEX[:40], "authorization"),
    ('-H "X-Api-Key: {}"', HEX[:32], "key"),
    ("curl -H 'Bearer {}'", "abcdef123456", "token"),
    ("Bearer {}", "abcdefghijklmnopqrst", "token"),
    ("https://example.com/?token={}&page=2", "abcdef123", "token"),
    ("https://example.com/?password={}", "letmein", "password"),
    ("https://example.com/?page=2&password={}", "letmein", "password"),
    ("postgres://user:{}@localhost:5432/db", "pass", "password"),
    ("redis://:{}@cache", "s3cr@t", "password"),
    ("git clone https://me:{}@example.com/x.git", "hunter2", "password"),
    ("mysql -u root -p{} harbour", "S3cret", "password"),
    ("mysqldump --all -p'{}' > all.sql", "letmein", "password"),
    ("sshpass -p {} ssh me@example.com", "hunter2", "password"),
    ("sshpass -p'{}' scp a b", "letmein", "password"),
    # documents
    ("db:\n  user: me\n  password: {}\n", "letmein", "password"),
    ("- admin_password: {} # of the first day", "changeme", "password"),
    ('passphrase: "{}"', "correct horse battery staple", "password"),
    ("export GPG_PASSPHRASE='{}'", "correct horse battery staple", "password"),
    ('ADMIN_PASSWORD = "{}"', "blue whale sings", "password"),
    ("DD_APP_KEY={}", HEX[:40], "key"),
    # cards
    ("pay with {}.", "4111 1111" + " 1111 1111", "card"),
    ('"number": "{}"', "5555-5555" + "-5555-4444", "card"),
    ("card={}", "37828224" + "6310005", "card"),
]


@cells("frame, secret, kind", SHOWN)
def test_only_the_value_of_a_telling_key_is_masked(frame: str, secret: str, kind: str) -> None:
    assert frame.format(f"[masked:{kind}]") == mask(frame.format(secret))


KEY_KINDS = [
    "PRIVATE KEY",
    "RSA PRIVATE KEY",
    "EC PRIVATE KEY",
    "OPENSSH PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PGP PRIVATE KEY BLOCK",
]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\\\n", "\n  12\t"])
@pytest.mark.parametrize("kind", KEY_KINDS)
def test_a_private_key_is_masked_as_a_whole(kind: str, newline: str) -> None:
    assert '"[masked:private-key]"\nend' == mask(f'"{key_block(kind, newline)}"\nend')


@pytest.mark.parametrize("newline", ["\n", "\\r\\n"])
def test_a_private_key_that_was_cut_is_masked_as_far_as_it_goes(newline: str) -> None:
    cut = key_block("PRIVATE KEY", newline).rpartition(newline)[0]
    assert "$ head key.pem\n[masked:private-key]\n$ ls" == mask(f"$ head key.pem\n{cut}\n$ ls")


def test_each_of_two_private_keys_is_masked_and_what_is_between_them_stays() -> None:
    two = f"{key_block('PRIVATE KEY')}\nand\n{key_block('EC PRIVATE KEY')}"
    assert "[masked:private-key]\nand\n[masked:private-key]" == mask(two)


def test_a_token_inside_a_longer_secret_is_masked_once() -> None:
    _, token = TOKENS["GitHub token"]
    assert 'password="[masked:password]"' == mask(f'password="x{token}/y"')
    assert "GITHUB_TOKEN=[masked:github-token]" == mask(f"GITHUB_TOKEN={token}")


def test_a_token_may_be_the_user_of_an_address() -> None:
    _, token = TOKENS["GitHub token"]
    assert "https://[masked:github-token]@github.com" == mask(f"https://{token}@github.com")
    assert "curl -u [masked:github-token]: x" == mask(f"curl -u {token}: x")


PLAIN = [
    # code
    "password = get_password()",
    "password = password",
    "password=self.password, token=user.token",
    "password = form.password2",
    "login(user, password=password)",
    "token: str",
    "token: string | null;",
    "password: string;",
    "secret?: string;",
    "secret: bytes32",
    "tokens=123",
    "token=12345678",
    "token_count = 5",
    "max_tokens: 4096",
    "cost per token: 0.00000125",
    "token: first_token2",
    "secret = os.environ['X']",
    'secret = os.environ["X"]',
    "process.env.API_TOKEN = originalApiToken",
    "const token = await fetchToken(user1)",
    "password=None",
    "password=null,",
    "token := lexer.next2()",
    "key = 'a1b2c3d4e5f6'",
    "cache_key: a1b2c3d4e5f6",
    'token: "identifier"',
    'token === "("',
    "if token == 'end':",
    "password = hash2(x)",
    "secret: db-credentials",
    'token: "v1.2"',
    "tests that pass: 12345",
    "password: !isEmpty",
    "secret: *anchor1",
    "f'{user}:{password}'",
    'password=f"{value1}"',
    "passwords: 3, passport: 'x1234567'",
    # nothing, or something that stands for it
    '"password": ""',
    "password=''",
    "password: ",
    "password:\nuser: me1",
    "password=${PASSWORD}",
    'password: "${DB_PASSWORD:?is required}"',
    "password=$PASSWORD",
    "password=$(cat file1)",
    "password={{ password1 }}",
    'password="%s"',
    'password="%(password1)s"',
    'password="{password1}-{name}"',
    "password=<password>",
    'password="<password1>"',
    "password=%PASSWORD1%",
    'password="********"',
    'password="---"',
    'password="xxxx"',
    'password="XXXX"',
    "The password: required.",
    "password: ********",
    "password=xxxx",
    "PASSWORD=...",
    "API_KEY=your-api-key-1234",
    "API_KEY=YOUR_API_KEY_GOES_HERE",
    "API_KEY=REPLACE_THIS_WITH_A_KEY",
    '"password": "[REDACTED]"',
    "PWD=/home/me1",
    "token: /run/secrets/token1",
    '"password": "password"',
    '{"type": "string", "password": {"type": "string"}}',
    # prose and commands
    "Enter the password of user 12345678 here",
    "The token '0123456789' is unexpected",
    "use --password to set one",
    "the --password option",
    "the password 'hunter2' is wrong",
    "--api-key KEY_ID",
    "--token TOKEN",
    "Authorization: Bearer ${token}",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ACCESS_TOKEN",
    "Bearer your-token-0123456789",
    "the bearer authentication scheme",
    "docker run -u 1000:1000 app",
    "git@github.com:me/repo.git",
    "ssh://git@example.com:22/x",
    "http://localhost:8080/@scope/name",
    "http://localhost:8080?to=me@example.com",
    "listens on http://localhost:8080\\nme@example.com",
    "https://user:${PASSWORD}@example.com",
    "https://user:***@example.com",
    # long runs that are no tokens
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "sha256:" + HEX,
    "a-task-that-is-done-in-2-days-or-more",
    "sk-fading-circle-spinner-child",
    "def test_a_token_is_masked_wherever_it_stands_1() -> None:",
    "=" * 80 + "-" * 80 + "_" * 80,
    "eyJ" + ALNUM,
    "-----BEGIN PUBLIC KEY-----\n" + KEY_LINES[0] + "\n-----END PUBLIC KEY-----",
    'if "-----BEGIN PRIVATE KEY-----" in text: pass',
    # commands, documents and numbers
    "mysql -h harbour -P3306 -u root -p",
    "mkdir -path/of/mysql",
    "password: letmein,",
    "return password: letmein;",
    "  password: string\n",
    "  password: optional\n",
    'password: "Enter your password here"',
    'PASSWORD_HELP = "The password must match"',
    'ERROR_PASSWORD = "Passwords do not match"',
    'title: "correct horse battery staple"',
    "order 4111111111111112",
    "at 4111111111111111.5 or v4111111111111111",
    "1699999999999999999",
]


@cells("text", PLAIN)
def test_code_and_prose_about_secrets_stay_as_they_are(text: str) -> None:
    assert mask(text) is text


# Too long to be a private key, until the token in it is masked.
LONG_BLOCK = f"-----BEGIN PRIVATE KEY----- {'x ' * 8000} sk-{'ant-' + ALNUM * 10} -----END PRIVATE KEY-----"
FRAGMENTS = [
    *(token for _, token in TOKENS.values()),
    *(frame.format(secret) for frame, secret, _ in SHOWN if len(secret) < 100),
    *PLAIN,
    *(
        "password",
        "token",
        "secret=",
        "--password ",
        "api_key: ",
        "pwd",
        "://",
        ":",
        "@",
        "=",
        '"',
        "'",
        "\\",
        " ",
        "\n",
    ),
    *("[masked:", "[masked:jwt]", "[masked:password]", "]", "Bearer ", "curl -u ", "-----BEGIN PRIVATE KEY-----"),
    *("-----END PRIVATE KEY-----", "eyJ", ".eyJ", "İ", "é", "\ud800", "1", "x"),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=8), max_size=12).map("".join)


@given(text=TEXTS)
@example(text="[masked:password]: hunter2")
@example(text=LONG_BLOCK)
@example(text="password=hunter2=token=hunter2")
def test_masking_a_masked_text_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) is once


def test_a_placeholder_is_no_key_to_what_follows_it() -> None:
    assert "[masked:password] = 0123456789" == mask("[masked:password] = 0123456789")


@given(text=st.text())
def test_a_text_without_a_trace_of_a_secret_is_returned_itself(text: str) -> None:
    folded = text.lower()
    assume(
        not any(trace in folded for trace in ("pass", "pwd", "secret", "token", "auth", "key", "bearer", "curl", "@"))
    )
    assume(all(len(word) < 20 for word in text.split()))
    assert mask(text) is text


@given(before=st.text(), after=st.text(), token=st.sampled_from(list(TOKENS.values())))
def test_a_token_never_survives_its_surroundings(before: str, after: str, token: tuple[str, str]) -> None:
    assert token[1] not in mask(f"{before} {token[1]} {after}")


@given(before=TEXTS, after=TEXTS, token=st.sampled_from(list(TOKENS.values())))
def test_a_token_never_survives_other_secrets_around_it(before: str, after: str, token: tuple[str, str]) -> None:
    assert f" {token[1]} " not in mask(f"{before} {token[1]} {after}")


@given(
    before=st.text(),
    after=st.text(),
    secret=st.text(
        st.characters(min_codepoint=ord("!"), max_codepoint=ord("~"), exclude_characters="{$#%"), min_size=3
    ),
)
def test_a_password_in_a_document_never_survives(before: str, after: str, secret: str) -> None:
    document = json.dumps({"before": before, "password": f"7{secret}", "after": after})
    assert {"before": before, "password": "[masked:password]", "after": after} == json.loads(mask(document))


@given(before=st.text(), after=st.text(), token=st.sampled_from(list(TOKENS.values())))
def test_all_text_around_a_token_stays_as_it_is(before: str, after: str, token: tuple[str, str]) -> None:
    assume(mask(f"{before} x {after}") == f"{before} x {after}")
    kind, secret = token
    assert f"{before} [masked:{kind}] {after}" == mask(f"{before} {secret} {after}")
