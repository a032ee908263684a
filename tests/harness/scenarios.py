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
from tests.harness.scripted import Calls, Conversation, attached, bash, calls, glob, grep, task, todos
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
    conversation, on = await Conversation.open(oc, provider, "Mend the discount"), Calls(oc)
    await conversation.send(
        "What is this project, and in what shape is it?",
        calls(glob("**/*.py"), on.read("README.md"), grep("discount"), text="I look around."),
        calls(TESTS, reasoning="The README says nothing of the tests. Run them."),
        Reply(text="A small shop. One test fails, in orchard/pricing.py."),
    )
    await conversation.send(
        "Plan the repair, then make it.",
        calls(todos(("Mend the steps", "in_progress"), ("Run the tests", "pending")), on.read("orchard/pricing.py")),
        calls(on.edit("orchard/pricing.py", "if pieces > limit:", RIGHT), reasoning="The step is one too late."),
        calls(on.edit("orchard/pricing.py", WRONG, RIGHT), text="That was not the line."),
        calls(TESTS),
        calls(todos(("Mend the steps", "completed"), ("Run the tests", "completed"))),
        Reply(text="Mended; all tests pass.", reasoning="Five tests, none failed."),
    )
    await conversation.send(
        "Where is the price of a boxed quince?", calls(grep("boxed-early-quince"), on.read(LONG, limit=400))
    )
    assert RIGHT in oc.text("orchard/pricing.py")
    assert ["completed", "completed"] == [todo["status"] for todo in await oc.todo(conversation.session)]
    assert ("edit", "error") in await conversation.tools()
    assert "OK" in (await conversation.outputs("bash"))[-1]
    assert "boxed-early-quince" in (await conversation.outputs("read"))[-1]
    return [conversation.session]


async def delegating(oc: OpenCode, provider: Provider) -> list[str]:
    """A sub-agent reads for the agent, in a session of its own."""
    conversation, on = await Conversation.open(oc, provider, "Ask a scout"), Calls(oc)
    conversation.script(
        calls(on.read("orchard/cli.py"), bash("python3 -m orchard.cli frobnicate; echo exit=$?")),
        Reply(text="An unknown verb ends with status 2."),
        lane="child",
    )
    await conversation.send(
        "Have a scout find out what the command line does with an unknown verb.",
        calls(task("Unknown verbs", "What does orchard/cli.py do with an unknown verb?"), text="I ask a scout."),
        Reply(text="It ends with status 2."),
    )
    (child,) = await oc.children(conversation.session)
    assert "status 2" in (await conversation.outputs("task"))[0]
    assert "exit=2" in (await Conversation(oc, provider, child["id"]).outputs("bash"))[0]
    return [conversation.session, child["id"]]


async def failing(oc: OpenCode, provider: Provider) -> list[str]:
    """Tools fail, the provider is busy for a moment and refuses once: the session goes on."""
    conversation, on = await Conversation.open(oc, provider, "Bad luck"), Calls(oc)
    await conversation.send(
        "Read a file that is not there.",
        calls(on.read("orchard/none.py"), bash("echo lost >&2; exit 3"), text="I try."),
        Reply(text="It is not there."),
    )
    form = oc.family.format
    await conversation.send("And now?", Reply(refusal=rate_limited(form, 0.05)), Reply(text="It was busy."))
    await conversation.send("Say something.", Reply(broken="garbage"), Reply(text="I was not understood."))
    error = await conversation.failed("Once more.", Reply(refusal=refused(form, "I will not.")))
    assert "APIError" == error["name"]
    assert "I will not." in error["data"]["message"]
    await conversation.send("Are you there?", Reply(text="Here I am."))
    assert [("read", "error"), ("bash", "completed")] == await conversation.tools()
    assert "It was busy." in await conversation.texts()
    assert "Here I am." == (await conversation.texts())[-1]
    return [conversation.session]


async def reverting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person takes turns back, and changes their mind once."""
    conversation, on = await Conversation.open(oc, provider, "Take it back"), Calls(oc)
    await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    await conversation.send("Read the ideas.", calls(on.read("docs/ideas.md")), Reply(text="Two ideas."))
    second = await conversation.user(1)
    await oc.revert(conversation.session, second)
    await oc.unrevert(conversation.session)
    await conversation.send("Which is the first?", Reply(text="A list of what is nearly gone."))
    assert 3 == len(await conversation.texts("user"))
    await oc.revert(conversation.session, second)
    await conversation.send("Read about pricing instead.", calls(on.read("docs/pricing.md")), Reply(text="Two steps."))
    assert ["Read the readme.", "Read about pricing instead."] == await conversation.texts("user")
    return [conversation.session]


async def forking(oc: OpenCode, provider: Provider) -> list[str]:
    """A session is copied up to a message, and both go on."""
    conversation, on = await Conversation.open(oc, provider, "Two ways"), Calls(oc)
    await conversation.send(
        "Read the stock.", calls(on.read("orchard/stock.py")), Reply(text="A dictionary of pieces.")
    )
    await conversation.send("Name its methods.", Reply(text="put, take, low."))
    copy = Conversation(oc, provider, await oc.fork(conversation.session, await conversation.user(1)))
    await copy.send("Name its errors.", Reply(text="Missing."))
    await conversation.send("Which of them sorts?", Reply(text="low."))
    assert ["Read the stock.", "Name its errors."] == await copy.texts("user")
    assert ["Read the stock.", "Name its methods.", "Which of them sorts?"] == await conversation.texts("user")
    return [conversation.session, copy.session]


async def aborting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person stops the agent in the middle of a tool and in the middle of a sentence, and goes on."""
    conversation, on = await Conversation.open(oc, provider, "Stop"), Calls(oc)
    await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    mark = oc.events.mark()
    conversation.script(calls(on.read("docs/ideas.md"), bash("echo begun; sleep 30"), text="This takes a while."))
    await oc.prompt_async(conversation.session, "Wait for a minute.")
    await conversation.running("bash", mark)
    await conversation.stop(mark)
    await conversation.send("Never mind. What did it say?", Reply(text="Nothing yet."))
    pause, mark = asyncio.Event(), oc.events.mark()
    conversation.script(Reply(text="It is a long story that nobody hears to its end.", pause=pause))
    await oc.prompt_async(conversation.session, "Tell me a story.")
    await oc.event(lambda event: "long story" in event["properties"].get("delta", ""), since=mark)
    await conversation.stop(mark)
    pause.set()
    await conversation.send("Enough.", Reply(text="Good."))
    assert "abort" in (await conversation.outputs("bash"))[0].lower()
    assert "Good." == (await conversation.texts())[-1]
    return [conversation.session]


async def crashing(oc: OpenCode, provider: Provider) -> list[str]:
    """The harness is killed while a tool runs, started again, and the session goes on."""
    conversation, on = await Conversation.open(oc, provider, "Crash"), Calls(oc)
    await conversation.send("Read the readme.", calls(on.read("README.md")), Reply(text="Read."))
    mark = oc.events.mark()
    conversation.script(calls(bash("echo begun; sleep 30"), text="This takes a while."))
    await oc.prompt_async(conversation.session, "Wait for a minute.")
    await conversation.running("bash", mark)
    await oc.kill()
    await oc.start()
    await conversation.send("What happened?", Reply(text="I was interrupted."))
    assert "I was interrupted." == (await conversation.texts())[-1]
    return [conversation.session]


async def compacting(oc: OpenCode, provider: Provider) -> list[str]:
    """The person has the harness summarise the session, which goes on behind the summary."""
    conversation, on = await Conversation.open(oc, provider, "Sum up"), Calls(oc)
    for name in ("orchard/stock.py", "orchard/basket.py", "orchard/money.py"):
        await conversation.send(f"Read {name}.", calls(on.read(name)), Reply(text=f"Read {name}."))
    await oc.summarize(conversation.session)
    await conversation.send("Go on.", Reply(text="On it."))
    assert any(message["info"].get("summary") is True for message in await conversation.messages())
    assert "On it." == (await conversation.texts())[-1]
    return [conversation.session]


async def overflowing(oc: OpenCode, provider: Provider) -> list[str]:
    """A model with a small context fills it up, and the harness compacts by itself."""
    mark = oc.events.mark()
    conversation = await _filled(oc, provider)
    await oc.event(lambda event: event["type"] == "session.compacted", since=mark)
    await conversation.send("Which fruit is cheapest?", Reply(text="The apple."), model=oc.family.small)
    assert any(message["info"].get("summary") is True for message in await conversation.messages())
    assert "The apple." == (await conversation.texts())[-1]
    return [conversation.session]


async def filling(oc: OpenCode, provider: Provider) -> list[str]:
    """The same, where somebody may keep the context small, so that the harness need not compact."""
    conversation = await _filled(oc, provider)
    await conversation.send("Which fruit is cheapest?", Reply(text="The apple."), model=oc.family.small)
    assert "The apple." == (await conversation.texts())[-1]
    return [conversation.session]


async def _filled(oc: OpenCode, provider: Provider) -> Conversation:
    conversation, on = await Conversation.open(oc, provider, "Too much"), Calls(oc)
    for _ in range(4):
        await conversation.send("Read the catalogue.", calls(on.read(LONG)), Reply(text="Read."), model=oc.family.small)
    return conversation


async def refused_as_too_long(oc: OpenCode, provider: Provider) -> list[str]:
    """The provider says that the prompt is too long, and the harness compacts and tries again."""
    conversation, on = await Conversation.open(oc, provider, "Too long"), Calls(oc)
    await conversation.send("Read the catalogue.", calls(on.read(LONG)), Reply(text="Read."))
    await conversation.send("And again.", Reply(refusal=overflow(oc.family.format)), Reply(text="Once was enough."))
    assert "Once was enough." in await conversation.texts()
    return [conversation.session]


async def switching(oc: OpenCode, provider: Provider) -> list[str]:
    """The person changes the model in the middle, and back."""
    conversation, on = await Conversation.open(oc, provider, "Another model"), Calls(oc)
    other = oc.family.other
    await conversation.send(
        "Read the ideas.", calls(on.read("docs/ideas.md"), reasoning="Two lines, surely."), Reply(text="Two ideas.")
    )
    await conversation.send("And you, what do you think?", Reply(text="Both are good.", reasoning="Hm."), model=other)
    await conversation.send("And you?", Reply(text="The second."))
    models = [message["info"].get("modelID") for message in await conversation.messages()]
    assert other.name in models
    assert oc.family.main.name == models[-1]
    return [conversation.session]


async def planning(oc: OpenCode, provider: Provider) -> list[str]:
    """First a plan, with the agent that may not write, then the work."""
    restore(oc.workspace, "docs/ideas.md")
    conversation, on = await Conversation.open(oc, provider, "Plan first"), Calls(oc)
    await conversation.send(
        "Plan a list of ideas.", calls(on.read("docs/ideas.md")), Reply(text="I would add one."), agent="plan"
    )
    await conversation.send("In which file?", calls(glob("docs/*")), Reply(text="docs/ideas.md"), agent="plan")
    old, new = "- prices by season\n", "- prices by season\n- a scale\n"
    await conversation.send("Do it.", calls(on.edit("docs/ideas.md", old, new)), Reply(text="Done."))
    await conversation.send("Thanks.", Reply(text="Gladly."))
    assert "- a scale" in oc.text("docs/ideas.md")
    return [conversation.session]


async def two_at_once(oc: OpenCode, provider: Provider) -> list[str]:
    """Two sessions without a title work in one workspace at the same time."""
    mark = oc.events.mark()
    conversations = [Conversation(oc, provider, await oc.untitled()) for _ in range(2)]
    on = Calls(oc)
    names = ("orchard/stock.py", "orchard/basket.py")

    async def work(conversation: Conversation, name: str) -> None:
        for turn in range(3):
            await conversation.send(
                f"Read {name}, {turn}.", calls(on.read(name), bash(f"wc -l {name}")), Reply(text=f"Read {name}.")
            )

    await asyncio.gather(*(work(conversation, name) for conversation, name in zip(conversations, names, strict=True)))
    for conversation, name in zip(conversations, names, strict=True):
        await conversation.titled(mark)
        assert [f"Read {name}."] * 3 == await conversation.texts()
        assert 3 == len(await conversation.outputs("read"))
    return [conversation.session for conversation in conversations]


async def commanding(oc: OpenCode, provider: Provider) -> list[str]:
    """The person uses the shell, a slash command, an attachment, and refuses a tool its leave."""
    conversation, on = await Conversation.open(oc, provider, "By hand"), Calls(oc)
    await oc.shell(conversation.session, "git log --oneline")
    await conversation.send("What did I run?", Reply(text="git log."))
    conversation.script(calls(bash("wc -l README.md")), Reply(text="Nine lines."))
    await oc.command(conversation.session, "count", "README.md")
    attachment = attached("letter.txt", "Dear shop, your pears are good.")
    await conversation.send("What is in the letter?", Reply(text="A greeting."), parts=[attachment])
    mark = oc.events.mark()
    conversation.script(calls(bash("rm docs/ideas.md")))
    await oc.prompt_async(conversation.session, "Remove the ideas.")
    asked = await oc.event(lambda event: event["type"] == "permission.asked", since=mark)
    await oc.reply(asked["properties"]["id"], "reject")
    await conversation.idle(oc.events.seen.index(asked))
    await conversation.send("Better not.", calls(on.read("docs/ideas.md")), Reply(text="It is still there."))
    assert "Begin" in (await conversation.outputs("bash"))[0]
    assert ("bash", "error") in await conversation.tools()
    assert "It is still there." == (await conversation.texts())[-1]
    return [conversation.session]


async def growing(oc: OpenCode, provider: Provider, turns: int = 16) -> list[str]:
    """A session that grows by a large file with every turn, and goes on long enough for what is taken out to pay."""
    conversation, on = await Conversation.open(oc, provider, "Grow"), Calls(oc)
    for turn in range(turns):
        await conversation.send(f"Read the catalogue, {turn}.", calls(on.read(LONG)), Reply(text=f"Read, {turn}."))
    assert turns == len(await conversation.outputs("read"))
    return [conversation.session]


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

COMPARED: tuple[Scenario, ...] = (growing, mending)
"""The longest. They are played with Annals and without in one test, which looks at what both have sent."""
APART = tuple(scenario for scenario in ALL if scenario not in COMPARED)
"""The others, played with Annals and without in a test each."""
