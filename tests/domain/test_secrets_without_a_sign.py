"""Passwords in frames that put no sign between a name and its value: files of logins, blocks, attributes, pipes."""

import pytest

from services.domain.secrets import mask

VALUE = "qT7kP2vQ7mR4tY8wLq"
MASKED = (
    "machine api.example.com\n  login ada\n  password {}\n",
    "machine api.example.com login ada account dev password {}",
    "default login anonymous password {}",
    "password: >-\n  {}\n",
    "db:\n  password: |\n    {}\n  port: 5432\n",
    "  clientSecret: |2- # rotated\n      {}\n",
    "API_KEY: >\n  {}",
    '<add key="ApiSecret" value="{}" />',
    "<input type='hidden' name='access_token' value='{}'>",
    '{"xml": "<property name=\\"db.password\\" value=\\"{}\\"/>"}',
    "ENV API_TOKEN {}",
    "setx DB_PASSWORD {} /m",
    'set -gx GITHUB_TOKEN "{}"',
    "echo {} | docker login --password-stdin -u ada",
    "  502  printf '%s' '{}' | gh auth login --with-token",
    "echo '{}' | sudo -S make install",
    "docker login -u ada --password-stdin <<< '{}'",
)
UNTOUCHED = (
    "machine learning login page password reset",
    "machine api.example.com login ada password ${PASSWORD}",
    "password: |\n  Enter the one that you were given.\n",
    "token: >-\n  ${{ secrets.DEPLOY_TOKEN }}\n",
    "secret: |\n  description: the 2nd key of the pier\n",
    '<param name="token-limit" value="128000">',
    '<property name="tokenUri" value="https://oauth2.example.com/token" />',
    '<input name="password" value="password">',
    "ENV TOKEN_TTL 3600",
    "ENV PASSWORD_FILE /run/secrets/db1",
    "setenv API_TOKEN $TOKEN_OF_2",
    "echo $TOKEN_1 | docker login --password-stdin -u ada",
    "echo build-42-done | tee log; sudo -s",
    "cat token.txt | gh auth login --with-token",
)


@pytest.mark.parametrize("frame", MASKED)
def test_a_password_is_masked_where_no_sign_is_before_it(frame: str) -> None:
    text = frame.replace("{}", VALUE)
    assert frame.replace("{}", "[masked:password]") == mask(text)


def test_each_piece_of_a_block_is_masked() -> None:
    text = f"tls:\n  private_key: >-\n    {VALUE}\n    a{VALUE}\n  port: 5432\n"
    assert mask(text) == "tls:\n  private_key: >-\n    [masked:password]\n    [masked:password]\n  port: 5432\n"


@pytest.mark.parametrize("text", UNTOUCHED)
def test_what_is_no_password_stays(text: str) -> None:
    assert text == mask(text)
