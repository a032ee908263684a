"""The runner itself: isolated, restarted, killed, and plain about what is missing."""

from pathlib import Path

import psutil
import pytest

from tests.harness import installed
from tests.harness.api import Refused
from tests.harness.installed import NotInstalled
from tests.harness.isolation import ANTHROPIC, OPENAI, merged
from tests.harness.opencode import OpenCode, Stopped
from tests.harness.provider import Call, Provider, Reply, Script
from tests.harness.saying import Talk, bash, calls

PLUGIN = """
export default { id: "sign", server: async (_, options) => ({
  tool: { sign: { description: "Signs.", args: {}, execute: async () => options.name } },
}) }
"""


@pytest.mark.harness
async def test_a_session_outlives_a_kill_and_a_restart_with_a_plugin(tmp_path: Path) -> None:
    plugin = tmp_path / "sign.mjs"
    plugin.write_text(PLUGIN)
    async with Provider() as provider, OpenCode(tmp_path, provider.url) as oc:
        talk = await Talk.open(oc, provider, "Sign")
        await talk.say("Hello.", Reply(text="Hi."))
        assert "sign" not in await oc.tool_ids()
        killed = oc.pid
        await oc.kill()
        assert not psutil.pid_exists(killed)
        await oc.restart(plugins=[[plugin.as_uri(), {"name": "Annals"}]])
        assert "sign" in await oc.tool_ids()
        await talk.say("Sign it.", calls(Call("sign", {})), Reply(text="Signed."))
        assert ["Annals"] == await talk.outputs("sign")
        first, *_ = await talk.messages()
        await oc.patch_part({**first["parts"][0], "text": "Good day."})
        assert ["Good day.", "Sign it."] == await talk.texts("user")
        assert list(range(1, 4)) == [event["seq"] for event in await oc.history({talk.session: 0})][:3]
        await oc.delete(talk.session)
        with pytest.raises(Refused, match="404"):
            await oc.info(talk.session)


@pytest.mark.harness
async def test_two_run_side_by_side_and_leave_no_process_behind(tmp_path: Path) -> None:
    async with Provider() as provider:
        async with (
            OpenCode(tmp_path / "one", provider.url, family=OPENAI) as one,
            OpenCode(tmp_path / "two", provider.url, family=ANTHROPIC) as two,
        ):
            talk = await Talk.open(one, provider, "Only here")
            mark = one.events.mark()
            talk.script(calls(bash("sleep 60")))
            await one.prompt_async(talk.session, "Wait.")
            await talk.running("bash", mark)
            with pytest.raises(Refused, match="404"):
                await two.info(talk.session)
            started = [psutil.Process(oc.pid) for oc in (one, two)]
            started += started[0].children(recursive=True)
        _, alive = psutil.wait_procs(started, timeout=5)
        assert [] == alive


@pytest.mark.harness
async def test_one_prompt_can_be_run_without_a_server(tmp_path: Path) -> None:
    script = Script(calls(bash("echo from the shell")), Reply(text="It spoke."))
    async with Provider(script) as provider:
        oc = OpenCode(tmp_path, provider.url)
        reported = await oc.run_once("Say something.")
        assert ["It spoke."] == [event["part"]["text"] for event in reported if event["type"] == "text"]
        assert ["from the shell\n"] == list(provider.of()[-1].outputs.values())


@pytest.mark.harness
async def test_broken_settings_are_told(tmp_path: Path) -> None:
    async with Provider() as provider:
        oc = OpenCode(tmp_path, provider.url, config={"model": 17})
        with pytest.raises(Stopped, match="Expected string"):
            await oc.run_once("Say something.")
        with pytest.raises(Stopped, match="Expected string"):
            await oc.start()


def test_what_is_not_installed_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match=r"OpenCode is missing.*make setup"):
        installed.opencode(tmp_path)
    with pytest.raises(NotInstalled, match=r"ripgrep is missing.*make setup"):
        installed.ripgrep(tmp_path)


def test_a_binary_that_was_never_linked_is_not_taken_for_one(tmp_path: Path) -> None:
    stub = tmp_path / "opencode-ai" / "bin" / "opencode.exe"
    stub.parent.mkdir(parents=True)
    stub.write_text("echo install me\n")
    with pytest.raises(NotInstalled, match="install script"):
        installed.opencode(tmp_path)


def test_settings_are_merged_key_by_key() -> None:
    assert {"a": {"b": 1, "c": 3}, "d": [2]} == merged({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]})
