"""The runner itself: isolated, restarted, killed, and plain about what is missing."""

from pathlib import Path

import psutil
import pytest

from tests.harness import installed
from tests.harness.api import Refused
from tests.harness.installed import NotInstalled
from tests.harness.isolation import ANTHROPIC, OPENAI, merged
from tests.harness.opencode import OpenCode, Stopped
from tests.harness.provider import Call, Provider, Reply
from tests.harness.scripted import Conversation, bash, calls

PLUGIN = """
export default { id: "sign", server: async (_, options) => ({
  tool: { sign: { description: "Signs.", args: {}, execute: async () => options.name } },
}) }
"""


@pytest.mark.soak
@pytest.mark.harness
async def test_a_session_outlives_a_kill_and_a_restart_with_a_plugin(tmp_path: Path) -> None:
    plugin = tmp_path / "sign.mjs"
    plugin.write_text(PLUGIN)
    async with Provider() as provider, OpenCode(tmp_path, provider.url) as oc:
        conversation = await Conversation.open(oc, provider, "Sign")
        await conversation.send("Hello.", Reply(text="Hi."))
        assert "sign" not in await oc.tool_ids()
        killed = oc.pid
        await oc.kill()
        assert not psutil.pid_exists(killed)
        await oc.restart(plugins=[[plugin.as_uri(), {"name": "Annals"}]])
        assert "sign" in await oc.tool_ids()
        await conversation.send("Sign it.", calls(Call("sign", {})), Reply(text="Signed."))
        assert ["Annals"] == await conversation.outputs("sign")
        first, *_ = await conversation.messages()
        await oc.patch_part({**first["parts"][0], "text": "Good day."})
        assert ["Good day.", "Sign it."] == await conversation.texts("user")
        assert list(range(1, 4)) == [event["seq"] for event in await oc.history({conversation.session: 0})][:3]
        await oc.delete(conversation.session)
        with pytest.raises(Refused, match="404"):
            await oc.info(conversation.session)


@pytest.mark.soak
@pytest.mark.harness
async def test_two_run_side_by_side_and_leave_no_process_behind(tmp_path: Path) -> None:
    async with Provider() as provider:
        async with (
            OpenCode(tmp_path / "one", provider.url, family=OPENAI) as one,
            OpenCode(tmp_path / "two", provider.url, family=ANTHROPIC) as two,
        ):
            conversation = await Conversation.open(one, provider, "Only here")
            mark = one.events.mark()
            conversation.script(calls(bash("sleep 60")))
            await one.prompt_async(conversation.session, "Wait.")
            await conversation.running("bash", mark)
            with pytest.raises(Refused, match="404"):
                await two.info(conversation.session)
            started = [psutil.Process(oc.pid) for oc in (one, two)]
            started += started[0].children(recursive=True)
        _, alive = psutil.wait_procs(started, timeout=60)
        assert [] == alive


@pytest.mark.soak
@pytest.mark.harness
async def test_broken_settings_are_reported(tmp_path: Path) -> None:
    async with Provider() as provider:
        oc = OpenCode(tmp_path, provider.url, config={"model": 17})
        with pytest.raises(Stopped, match="Expected string"):
            await oc.run_once("Say something.")
        with pytest.raises(Stopped, match="Expected string"):
            await oc.start()


def test_what_is_not_installed_is_named_with_its_remedy(tmp_path: Path) -> None:
    with pytest.raises(NotInstalled, match=r"OpenCode is missing.*make test"):
        installed.opencode(tmp_path)
    with pytest.raises(NotInstalled, match=r"ripgrep is missing.*make test"):
        installed.ripgrep(tmp_path)


def test_a_binary_that_was_never_linked_is_not_taken_for_one(tmp_path: Path) -> None:
    stub = tmp_path / "opencode-ai" / "bin" / "opencode.exe"
    stub.parent.mkdir(parents=True)
    stub.write_text("echo install me\n")
    with pytest.raises(NotInstalled, match="install script"):
        installed.opencode(tmp_path)


def test_settings_are_merged_key_by_key() -> None:
    assert {"a": {"b": 1, "c": 3}, "d": [2]} == merged({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"c": 3}, "d": [2]})
