"""What people do with a coding agent, as scenarios that can be played with Annals and without it.

Each plays its sessions through the real harness, asserts what came of them, and returns their ids.
"""

import asyncio
from collections.abc import Awaitable, Callable

from tests.harness.isolation import Json
from tests.harness.opencode import OpenCode
from tests.harness.provider.refusals import overflow, rate_limited, refused
from tests.harness.provider.script import Reply
from tests.harness.provider.server import Provider
from tests.harness.saying import Calls, Talk, attached, bash, calls, glob, grep, task, todos
from tests.harness.workspace import LONG, restore

Scenario = Callable[[OpenCode, Provider], Awaitable[list[str]]]

CONFIG: Json = {
    "permission": {"*": "allow", "bash": {"*": "allow", "rm *": "ask"}},
    "command": {"count": {"template": "Count the lines of $ARGUMENTS.", "description": "Count lines"}},
}
"""The settings that the scenarios need on top of the runner's own."""

TESTS = bash("python3 -m unittest discover -s tests 2>&1 | tail -12", "Run the tests")
WRONG = 'if pieces > least:  # one too late: the table says "10 and more"'
RIGHT = "if pieces >= least:"


async def mending(oc: OpenCode, provider: Provider) -> list[str]:
    """Several turns with every common tool: look around in parallel, plan, fail to edit, edit, test."""
    restore(oc.workspace, "orchard/pricing.py")
    talk, on = await Talk.open(oc, provider, "Mend the discount"), Calls(oc)
    await talk.say(
        "What is this project, and in what shape is it?",
        calls(glob("**/*.py"), on.read("README.md"), grep("discount"), text="I look around."),
        calls(TESTS, reasoning="The README says nothing of the tests. Run them."),
        Reply(text="A small shop. One test fails, in orchard/pricing.py."),
    )
    await talk.say(
        "Plan the repair, then make it.",
        calls(todos(("Mend the steps", "in_progress"), ("Run the tests", "pending")), on.read("orchard/pricing.py")),
        calls(on.edit("orchard/pricing.py", "if pieces > limit:", RIGHT), reasoning="The step is one too late."),
        calls(on.edit("orchard/pricing.py", WRONG, RIGHT), text="That was not the line."),
        calls(TESTS),
        calls(todos(("Mend the steps", "completed"), ("Run the tests", "completed"))),
        Reply(text="Mended; all tests pass.", reasoning="Five tests, none failed."),
    )
    await talk.say("Where is the price of a boxed quince?", calls(grep("boxed-early-quince"), on.read(LONG, limit=400)))
    assert RIGHT in oc.text("orchard/pricing.py")
    assert ["completed", "completed"] == [todo["status"] for todo in await oc.todo(talk.session)]
    assert ("edit", "error") in await talk.tools()
    assert "OK" in (await talk.outputs("bash"))[-1]
    assert "boxed-early-quince" in (await talk.outputs("read"))[-1]
    return [talk.session]


async def delegating(oc: OpenCode, provider: Provider) -> list[str]:
    """A sub-agent reads for the agent, in a session of its own."""
    talk, on = await Talk.open(oc, provider, "Ask a scout"), Calls(oc)
    talk.script(
        calls(on.read("orchard/cli.py"), bash("python3 -m orchard.cli frobnicate; echo exit=$?")),
        Reply(text="An unknown verb ends with status 2."),
        lane="child",
    )
    await talk.say(
        "Have a scout find out what the command line does with an unknown verb.",
        calls(task("Unknown verbs", "What does orchard/cli.py do with an unknown verb?"), text="I ask a scout."),
        Reply(text="It ends with status 2."),
    )
    (child,) = await oc.children(talk.session)
    assert "status 2" in (await talk.outputs("task"))[0]
    assert "exit=2" in (await Talk(oc, provider, child["id"]).outputs("bash"))[0]
    return [talk.session, child["id"]]


async def failing(oc: OpenCode, provider: Provider) -> list[str]:
    """Tools fail, the provider is busy for a moment and refuses once: the session goes on."""
    talk, on = await Talk.open(oc, provider, "Bad luck"), Calls(oc)
    await talk.say(
        "Read a file that is not there.",
        calls(on.read("orchard/none.py"), bash("echo lost >&2; exit 3"), text="I try."),
        Reply(text="It is not there."),
    )
    form = oc.family.format
    await talk.say("And now?", Reply(refusal=rate_limited(form, 0.05)), Reply(text="It was busy."))
    await talk.say("Say something.", Reply(broken="garbage"), Reply(text="I was not understood."))
    error = await talk.failed("Once more.", Reply(refusal=refused(form, "I will not.")))
    assert "APIError" == error["name"]
    assert "I will not." in error["data"]["message"]
    await talk.say("Are you there?", Reply(text="Here I am."))
    assert [("read", "error"), ("bash", "completed")] == await talk.tools()
    assert "It was busy." in await talk.texts()
    assert "Here I am." == (await talk.texts())[-1]
    return [talk.session]


async def reverting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person takes turns back, and changes their mind once."""
    talk, on = await Talk.open(oc, provider, "Take it back"), Calls(oc)
    await talk.say("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    await talk.say("Read the ideas.", calls(on.read("docs/ideas.md")), Reply(text="Two ideas."))
    second = await talk.user(1)
    await oc.revert(talk.session, second)
    await oc.unrevert(talk.session)
    await talk.say("Which is the first?", Reply(text="A list of what is nearly gone."))
    assert 3 == len(await talk.texts("user"))
    await oc.revert(talk.session, second)
    await talk.say("Read about pricing instead.", calls(on.read("docs/pricing.md")), Reply(text="Two steps."))
    assert ["Read the readme.", "Read about pricing instead."] == await talk.texts("user")
    return [talk.session]


async def forking(oc: OpenCode, provider: Provider) -> list[str]:
    """A session is copied up to a message, and both go on."""
    talk, on = await Talk.open(oc, provider, "Two ways"), Calls(oc)
    await talk.say("Read the stock.", calls(on.read("orchard/stock.py")), Reply(text="A dictionary of pieces."))
    await talk.say("Name its methods.", Reply(text="put, take, low."))
    copy = Talk(oc, provider, await oc.fork(talk.session, await talk.user(1)))
    await copy.say("Name its errors.", Reply(text="Missing."))
    await talk.say("Which of them sorts?", Reply(text="low."))
    assert ["Read the stock.", "Name its errors."] == await copy.texts("user")
    assert ["Read the stock.", "Name its methods.", "Which of them sorts?"] == await talk.texts("user")
    return [talk.session, copy.session]


async def aborting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person stops the agent in the middle of a tool and in the middle of a sentence, and goes on."""
    talk, on = await Talk.open(oc, provider, "Stop"), Calls(oc)
    await talk.say("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    mark = oc.events.mark()
    talk.script(calls(on.read("docs/ideas.md"), bash("echo begun; sleep 30"), text="This takes a while."))
    await oc.prompt_async(talk.session, "Wait for a minute.")
    await talk.running("bash", mark)
    await talk.stop(mark)
    await talk.say("Never mind. What did it say?", Reply(text="Nothing yet."))
    pause, mark = asyncio.Event(), oc.events.mark()
    talk.script(Reply(text="It is a long story that nobody hears to its end.", pause=pause))
    await oc.prompt_async(talk.session, "Tell me a story.")
    await oc.event(lambda event: "long story" in event["properties"].get("delta", ""), since=mark)
    await talk.stop(mark)
    pause.set()
    await talk.say("Enough.", Reply(text="Good."))
    assert "abort" in (await talk.outputs("bash"))[0].lower()
    assert "Good." == (await talk.texts())[-1]
    return [talk.session]


async def crashing(oc: OpenCode, provider: Provider) -> list[str]:
    """The harness is killed while a tool runs, started again, and the session goes on."""
    talk, on = await Talk.open(oc, provider, "Crash"), Calls(oc)
    await talk.say("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    mark = oc.events.mark()
    talk.script(calls(bash("echo begun; sleep 30"), text="This takes a while."))
    await oc.prompt_async(talk.session, "Wait for a minute.")
    await talk.running("bash", mark)
    await oc.kill()
    await oc.start()
    await talk.say("What happened?", Reply(text="I was interrupted."))
    assert "I was interrupted." == (await talk.texts())[-1]
    return [talk.session]


async def compacting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person has the harness summarise the session, which goes on behind the summary."""
    talk, on = await Talk.open(oc, provider, "Sum up"), Calls(oc)
    for name in ("orchard/stock.py", "orchard/basket.py", "orchard/money.py"):
        await talk.say(f"Read {name}.", calls(on.read(name)), Reply(text=f"Read {name}."))
    await oc.summarize(talk.session)
    await talk.say("Go on.", Reply(text="On it."))
    assert any(message["info"].get("summary") is True for message in await talk.messages())
    assert "On it." == (await talk.texts())[-1]
    return [talk.session]


async def overflowing(oc: OpenCode, provider: Provider) -> list[str]:
    """A model with a small context fills it up, and the harness compacts by itself."""
    talk, on = await Talk.open(oc, provider, "Too much"), Calls(oc)
    small = oc.family.small
    mark = oc.events.mark()
    for _ in range(4):
        await talk.say("Read the catalogue.", calls(on.read(LONG)), Reply(text="Read."), model=small)
    await oc.event(lambda event: event["type"] == "session.compacted", since=mark)
    await talk.say("Which fruit is cheapest?", Reply(text="The apple."), model=small)
    assert any(message["info"].get("summary") is True for message in await talk.messages())
    assert "The apple." == (await talk.texts())[-1]
    return [talk.session]


async def refused_as_too_long(oc: OpenCode, provider: Provider) -> list[str]:
    """The provider says that the prompt is too long, and the harness compacts and tries again."""
    talk, on = await Talk.open(oc, provider, "Too long"), Calls(oc)
    await talk.say("Read the catalogue.", calls(on.read(LONG)), Reply(text="Read."))
    await talk.say("And again.", Reply(refusal=overflow(oc.family.format)), Reply(text="Once was enough."))
    assert "Once was enough." in await talk.texts()
    return [talk.session]


async def switching(oc: OpenCode, provider: Provider) -> list[str]:
    """The person changes the model in the middle, and back."""
    talk, on = await Talk.open(oc, provider, "Another model"), Calls(oc)
    other = oc.family.other
    await talk.say(
        "Read the ideas.", calls(on.read("docs/ideas.md"), reasoning="Two lines, surely."), Reply(text="Two ideas.")
    )
    await talk.say("And you, what do you think?", Reply(text="Both are good.", reasoning="Hm."), model=other)
    await talk.say("And you?", Reply(text="The second."))
    models = [message["info"].get("modelID") for message in await talk.messages()]
    assert other.name in models
    assert oc.family.main.name == models[-1]
    return [talk.session]


async def planning(oc: OpenCode, provider: Provider) -> list[str]:
    """First a plan, with the agent that may not write, then the work."""
    restore(oc.workspace, "docs/ideas.md")
    talk, on = await Talk.open(oc, provider, "Plan first"), Calls(oc)
    await talk.say(
        "Plan a list of ideas.", calls(on.read("docs/ideas.md")), Reply(text="I would add one."), agent="plan"
    )
    await talk.say("In which file?", calls(glob("docs/*")), Reply(text="docs/ideas.md"), agent="plan")
    old, new = "- prices by season\n", "- prices by season\n- a scale\n"
    await talk.say("Do it.", calls(on.edit("docs/ideas.md", old, new)), Reply(text="Done."))
    await talk.say("Thanks.", Reply(text="Gladly."))
    assert "- a scale" in oc.text("docs/ideas.md")
    return [talk.session]


async def two_at_once(oc: OpenCode, provider: Provider) -> list[str]:
    """Two sessions without a title work in one workspace at the same time."""
    mark = oc.events.mark()
    talks = [Talk(oc, provider, await oc.untitled()) for _ in range(2)]
    on = Calls(oc)
    names = ("orchard/stock.py", "orchard/basket.py")

    async def work(talk: Talk, name: str) -> None:
        for turn in range(3):
            await talk.say(
                f"Read {name}, {turn}.", calls(on.read(name), bash(f"wc -l {name}")), Reply(text=f"Read {name}.")
            )

    await asyncio.gather(*(work(talk, name) for talk, name in zip(talks, names, strict=True)))
    for talk, name in zip(talks, names, strict=True):
        await talk.titled(mark)
        assert [f"Read {name}."] * 3 == await talk.texts()
        assert 3 == len(await talk.outputs("read"))
    return [talk.session for talk in talks]


async def commanding(oc: OpenCode, provider: Provider) -> list[str]:
    """The person uses the shell, a slash command, an attachment, and refuses a tool its leave."""
    talk, on = await Talk.open(oc, provider, "By hand"), Calls(oc)
    await oc.shell(talk.session, "git log --oneline")
    await talk.say("What did I run?", Reply(text="git log."))
    talk.script(calls(bash("wc -l README.md")), Reply(text="Nine lines."))
    await oc.command(talk.session, "count", "README.md")
    letter = attached("letter.txt", "Dear shop, your pears are good.")
    await talk.say("What is in the letter?", Reply(text="A greeting."), parts=[letter])
    mark = oc.events.mark()
    talk.script(calls(bash("rm docs/ideas.md")))
    await oc.prompt_async(talk.session, "Remove the ideas.")
    asked = await oc.event(lambda event: event["type"] == "permission.asked", since=mark)
    await oc.reply(asked["properties"]["id"], "reject")
    await talk.idle(oc.events.seen.index(asked))
    await talk.say("Better not.", calls(on.read("docs/ideas.md")), Reply(text="It is still there."))
    assert "Begin" in (await talk.outputs("bash"))[0]
    assert ("bash", "error") in await talk.tools()
    assert "It is still there." == (await talk.texts())[-1]
    return [talk.session]


async def growing(oc: OpenCode, provider: Provider, turns: int = 12) -> list[str]:
    """A session that grows by a large file with every turn."""
    talk, on = await Talk.open(oc, provider, "Grow"), Calls(oc)
    for turn in range(turns):
        await talk.say(f"Read the catalogue, {turn}.", calls(on.read(LONG)), Reply(text=f"Read, {turn}."))
    assert turns == len(await talk.outputs("read"))
    return [talk.session]


COMMON: tuple[Scenario, ...] = (
    mending,
    delegating,
    failing,
    reverting,
    forking,
    aborting,
    crashing,
    switching,
    planning,
    two_at_once,
    commanding,
    growing,
)
"""What goes the same way whoever keeps the context small."""

NATIVE: tuple[Scenario, ...] = (compacting, overflowing, refused_as_too_long)
"""What needs the harness's own compaction."""
ALL = (*COMMON, *NATIVE)
