"""Settings: what one process knows, the processes that it starts know, too."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from services.kit.settings import Nats, Plan, Prices, Settings, environment


def test_a_process_parses_the_very_settings_that_started_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given = Settings(
        data=tmp_path,
        nats=Nats(url="nats://127.0.0.1:1", password=SecretStr("s3cret")),
        plan=Plan(protected_tags=3, thresholds={"opus": 40.0}, prices={"gpt": Prices(write=1.0)}, head=False),
    )

    for name, value in environment(given).items():
        monkeypatch.setenv(name, value)

    assert Settings() == given
