"""The adapter masks tokens of known shape, and nothing that the service would keep."""

import pytest
from hypothesis import HealthCheck, Phase, example, find, given, settings
from hypothesis import strategies as st

from services.domain.secrets import mask
from tests.adapter.conftest import Adapter
from tests.domain.test_secrets import TOKENS, key_block
from tests.helpers.examples import examples

patient = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=examples(60)
)
SECRETS = {**{name: token for name, (_, token) in TOKENS.items()}, "private key": key_block("RSA PRIVATE KEY")}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
def test_masks_tokens_of_known_shape(adapter: Adapter, secret: str) -> None:
    text = f"the first line\nhere it is: {secret} and the rest"

    masked = adapter("mask", text)

    assert secret not in masked
    assert "[masked:" in masked
    assert mask(masked) == masked


def test_masks_the_password_of_an_address(adapter: Adapter) -> None:
    masked = adapter("mask", "postgres://bob:hunter22@db/x and postgres://bob:${PASSWORD}@db/x")

    assert masked == "postgres://bob:[masked:password]@db/x and postgres://bob:${PASSWORD}@db/x"


@st.composite
def nearly_tokens(draw: st.DrawFn) -> str:
    """A token of known shape, cut or with a character changed: some of these are tokens still."""
    secret = draw(st.sampled_from([*SECRETS.values()]))
    at = draw(st.integers(0, len(secret) - 1))
    match draw(st.sampled_from(["whole", "changed", "cut", "begun"])):
        case "changed":
            return secret[:at] + draw(st.characters(exclude_categories=["Cs"])) + secret[at + 1 :]
        case "cut":
            return secret[:at]
        case "begun":
            return secret[at:]
        case _:
            return secret


noise = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
nearly_secret = st.lists(
    nearly_tokens() | st.sampled_from([" ", "\n", "=", '"', "-", "_", "."]) | noise, max_size=8
).map("".join)


@patient
@given(nearly_secret)
@example(f"x {SECRETS['GitHub token']}")
def test_masks_nothing_that_the_service_would_keep(adapter: Adapter, text: str) -> None:
    if adapter("mask", text) != text:
        assert mask(text) != text


def test_of_such_texts_it_masks_some_and_keeps_some(adapter: Adapter) -> None:
    settled = settings(phases=[Phase.generate], database=None, deadline=None, max_examples=1_000)
    assert find(nearly_secret, lambda text: "[masked:" in adapter("mask", text), settings=settled)
    assert find(nearly_secret, lambda text: len(text) > 8 and adapter("mask", text) == text, settings=settled)
