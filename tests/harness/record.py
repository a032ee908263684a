"""`python -m tests.harness.record OUT` plays scenarios with the adapter and records the traffic, to be sent again."""

import argparse
import asyncio
import gzip
import re
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from services.domain.limits import History, Limits, MemoryLimits, Prices
from services.kit.logs import configure
from tests.conftest import running_installation
from tests.harness import scenarios
from tests.harness.connected import Connected, assert_whole, connected
from tests.harness.isolation import ANTHROPIC, OPENAI, Family, Rooms
from tests.harness.long_session import seasons
from tests.harness.provider import Provider
from tests.harness.scenarios import Scenario
from tests.harness.traffic import Tap, encoded
from tests.harness.transcripts import neutral, stored_transcripts

FAMILIES: dict[str, Family] = {family.format: family for family in (OPENAI, ANTHROPIC)}
SCENARIOS: dict[str, Scenario] = {one.__name__: one for one in (*scenarios.ALL, seasons)}
USUAL = tuple(one.__name__ for one in (*scenarios.COMMON, seasons))
HOME = "/home/dev"
WORKSPACE = f"{HOME}/orchard"
PROVIDER = "http://provider.example"
DEADLINE_MS = 20_000
"""A recording is no race: no question goes without its answer."""
SETTINGS: Mapping[str, object] = {
    "memory": MemoryLimits(enabled=False),
    "plan": Limits(prices={"default": Prices(read=0.0)}),
    "history": History(ahead=False),
}
"""Where what a project remembers stood at a prompt's head, it would depend on how fast it was judged. And where
history is made ready, or a prompt made smaller for what reading it costs, it depends on how fast history was made."""
STORED_BODY = b'_ref":"'
TRANSCRIPTS = "transcripts.json.gz"
TRAFFIC = "traffic.jsonl.gz"


class Unfit(Exception):
    """The reason for which a recording cannot be stored."""


class Recording(msgspec.Struct, frozen=True):
    """The traffic as JSON Lines, and nothing of the machine that it was recorded on."""

    transcripts: bytes
    traffic: bytes

    def write(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in ((TRANSCRIPTS, self.transcripts), (TRAFFIC, self.traffic)):
            (folder / name).write_bytes(gzip.compress(data, 9, mtime=0))


async def record(family: Family, played: Sequence[Scenario], root: Path) -> Recording:
    """Play them one after the other in rooms below `root`."""
    async with (
        Provider() as provider,
        connected(root, running_installation, provider, family, settings=SETTINGS, deadline_ms=DEADLINE_MS) as running,
    ):
        async with Tap(running.bus) as tap:
            sessions = await _play(running, played)
        lines = [line for session in sessions for line in map(neutral, await stored_transcripts(running.oc, session))]
    if failed := [line for line in tap.lines if line.status == "failed"]:
        raise Unfit(f"a question was not answered but failed: {bytes(failed[0].reply).decode()}")
    here = places(root, provider.url)
    return Recording(elsewhere(b"".join(lines), here), elsewhere(encoded(tap.lines), here))


async def _play(running: Connected, played: Sequence[Scenario]) -> list[str]:
    sessions = []
    for scenario in played:
        sys.stderr.write(f"{scenario.__name__}\n")
        sessions += await scenario(running.oc, running.provider)
    await assert_whole(running, sessions)
    if running.provider.faults:
        raise Unfit(f"a provider would have refused what was sent: {running.provider.faults[0]}")
    if left := running.provider.script.left():
        raise Unfit(f"{left} answers were not asked for: the scenarios went another way than they were written")
    return sessions


def places(root: Path, provider: str) -> dict[str, str]:
    """What stands for the places of this machine, the longest first: one may lie within another."""
    rooms = Rooms(root / "opencode")
    found = {str(rooms.workspace): WORKSPACE, str(rooms.home): HOME, str(rooms.data): f"{HOME}/.local/share"}
    found |= {str(rooms.config): f"{HOME}/.config", str(rooms.root): HOME, str(root): HOME, provider: PROVIDER}
    return dict(sorted(found.items(), key=lambda pair: len(pair[0]), reverse=True))


def elsewhere(data: bytes, here: dict[str, str]) -> bytes:
    """The same as if it had happened elsewhere. Raises `Unfit` where something names this place nevertheless."""
    for old, new in here.items():
        data = data.replace(old.encode(), new.encode())
    if STORED_BODY in data:
        raise Unfit("a body was too long for a message and is stored apart, where a recording has no place; shorten it")
    if found := _recorded(here).search(data):
        around = data[max(0, found.start() - 200) : found.end() + 100].decode(errors="replace")
        raise Unfit(f"{found[0].decode()!r} names the machine that this was recorded on: ...{around}...")
    return data


def _recorded(here: dict[str, str]) -> re.Pattern[bytes]:
    """What must not be stored: where this machine has its files, and its name as a word of its own."""
    folders = [Path(__file__).parents[2], Path.home(), Path(sys.base_prefix)]
    named = [f"{folder}/" for folder in folders if len(folder.parts) > 1]
    alternatives = [re.escape(text) for text in (*here, *named) if not HOME.startswith(text)]
    return re.compile("|".join([*alternatives, rf"\b{re.escape(socket.gethostname())}\b"]).encode())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.harness.record", description=__doc__)
    parser.add_argument("out", type=Path, help=f"the folder for {TRANSCRIPTS} and {TRAFFIC}")
    parser.add_argument("--family", choices=FAMILIES, default=OPENAI.format, help="whose models are played")
    parser.add_argument("--scenarios", default=",".join(USUAL), help=f"of {', '.join(SCENARIOS)}")
    options = parser.parse_args()
    names = options.scenarios.split(",")
    unknown = [name for name in names if name not in SCENARIOS]
    if unknown:
        parser.error(f"there is no scenario {', '.join(unknown)}; choose of {', '.join(SCENARIOS)}")
    configure("record", level="warning", as_json=False)
    with tempfile.TemporaryDirectory(prefix="annals-") as folder:
        played = [SCENARIOS[name] for name in names]
        made = asyncio.run(record(FAMILIES[options.family], played, Path(folder).resolve()))
    made.write(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
