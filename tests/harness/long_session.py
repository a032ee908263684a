"""A day's work in one session, as it goes: look around, plan, write, fail, mend, ask a scout, tidy up, go on."""

import contextlib
import re

from tests.harness.api import Refused
from tests.harness.opencode import OpenCode
from tests.harness.provider.refusals import rate_limited
from tests.harness.provider.script import Answer, Call, Reply
from tests.harness.provider.server import Provider
from tests.harness.provider.wire import Request
from tests.harness.scenarios import RIGHT, TESTS, WRONG
from tests.harness.scripted import Calls, Conversation, attached, bash, calls, glob, grep, task, todos
from tests.harness.workspace import LONG, restore

SEASON = "orchard/season.py"
SEASON_TEST = "tests/test_season.py"
WHOLE_NAME = "SEASONS.get(fruit, ())"
LAST_WORD = 'SEASONS.get(fruit.rsplit("-", 1)[-1], ())'
MUCH = (140_000, 0)
"""Tokens that the provider counts when the context window is filling."""

NO_NUMBER = "9000"
"""One that is never given."""

_MODULE = f'''"""What a fruit costs in which month."""

from orchard.money import share

SEASONS = {{"apple": (9, 10, 11), "pear": (8, 9), "plum": (7, 8)}}
CHEAPER = 20


def in_season(fruit, month):
    """Whether a fruit is ripe in a month."""
    return month in {WHOLE_NAME}


def season_price(price, fruit, month):
    """The price of a piece in a month."""
    return price - share(price, CHEAPER) if in_season(fruit, month) else price
'''

_TEST = """import unittest

from orchard.season import in_season, season_price


class SeasonTest(unittest.TestCase):
    def test_a_ripe_fruit_is_cheaper(self):
        self.assertEqual(20, season_price(25, "apple", 10))
        self.assertEqual(25, season_price(25, "apple", 3))

    def test_every_sort_is_ripe_with_its_fruit(self):
        self.assertTrue(in_season("boxed-early-pear", 8))
"""

_TURNS = 25


async def seasons(oc: OpenCode, provider: Provider) -> list[str]:
    """Prices by season come into the shop, in more than twenty-five turns."""
    for name in ("docs/ideas.md", "docs/pricing.md", "orchard/pricing.py", "orchard/cli.py"):
        restore(oc.workspace, name)
    for name in (SEASON, SEASON_TEST):
        (oc.workspace / name).unlink(missing_ok=True)
    conversation, on = await Conversation.open(oc, provider, "Prices by season"), Calls(oc)
    await _look(conversation, on)
    await _mend(conversation, on)
    await _write(conversation, on)
    await _stumble(conversation, on)
    await _ask_a_scout(conversation, on)
    await _tidy(conversation, on)
    await _finish(conversation, on)
    (child,) = await oc.children(conversation.session)
    assert _TURNS < len(await conversation.texts("user"))
    assert {"read", "edit", "write", "bash", "grep", "glob", "todowrite", "task"} <= {
        name for name, _ in await conversation.tools()
    }
    assert LAST_WORD in oc.text(SEASON)
    assert "OK" in (await conversation.outputs("bash"))[-1]
    assert {"completed"} == {todo["status"] for todo in await oc.todo(conversation.session)}
    return [conversation.session, child["id"]]


async def _look(conversation: Conversation, on: Calls) -> None:
    await conversation.send(
        "I am new here. What is this, and how do I work on it?",
        calls(glob("**/*.py"), on.read("README.md"), on.read("AGENTS.md"), text="I look around."),
        Reply(text="A fruit shop. Money is in cents; tests run with unittest."),
    )
    await conversation.send(
        "What was planned?", calls(on.read("docs/ideas.md")), Reply(text="Prices by season, among others.")
    )
    await conversation.send(
        "Where do prices come from?",
        calls(grep("PRICES"), on.read(LONG, limit=120), reasoning="The catalogue is generated, they say."),
        Reply(text="From orchard/catalogue.py, which is generated from data/fruit.csv."),
    )
    await conversation.send("Which sorts of quince are there?", calls(grep("quince")), Reply(text="Thirty-two."))
    await conversation.send(
        "Show me the discounts.", calls(on.read("docs/pricing.md"), on.read("orchard/pricing.py")), Reply(text="Two.")
    )


async def _mend(conversation: Conversation, on: Calls) -> None:
    await conversation.send(
        "Do the tests pass?", calls(TESTS), Reply(text="One fails: the step at ten pieces comes too late.")
    )
    await conversation.send(
        "Mend that first.",
        calls(todos(("Mend the discount", "in_progress"), ("Prices by season", "pending"), ("Say so", "pending"))),
        calls(on.edit("orchard/pricing.py", "if pieces > limit:", RIGHT)),
        calls(on.edit("orchard/pricing.py", WRONG, RIGHT), text="That was not how the line reads."),
        calls(TESTS, reasoning="It should pass now."),
        Reply(text="Mended."),
    )
    await conversation.send(
        "What did you change?", calls(bash("git diff --stat", "See what changed")), Reply(text="One line.")
    )


async def _write(conversation: Conversation, on: Calls) -> None:
    await conversation.send(
        "Now the seasons: apples are cheaper in autumn, pears and plums in summer.",
        calls(todos(("Mend the discount", "completed"), ("Prices by season", "in_progress"), ("Say so", "pending"))),
        calls(on.read("orchard/money.py"), on.read("tests/test_money.py")),
        calls(on.write(SEASON, _MODULE), on.write(SEASON_TEST, _TEST), text="A module, and its test."),
        calls(TESTS),
        Reply(text="One test fails: a sort of pear is not taken for a pear."),
    )
    await conversation.send(
        "Mend it.",
        calls(on.edit(SEASON, WHOLE_NAME, LAST_WORD), reasoning="A sort ends with the name of its fruit."),
        calls(TESTS),
        Reply(text="All pass."),
    )
    await conversation.send(
        "Is every fruit covered?", calls(on.read(LONG)), calls(grep("SEASONS")), Reply(text="Three of ten are.")
    )
    await conversation.send("Leave it so. Who imports it?", calls(grep("season_price")), Reply(text="The test only."))
    attachment = attached("letter.txt", "Dear shop, please have cheap plums in July. A friend of plums.")
    await conversation.send(
        "Can this friend come?", Reply(text="Yes: plums are cheaper in July and August."), parts=[attachment]
    )


async def _stumble(conversation: Conversation, on: Calls) -> None:
    await conversation.send(
        "There was a file of opening times, I think.",
        calls(on.read("docs/opening.md"), bash("cat docs/opening.md; exit 3", "Look for it")),
        calls(glob("docs/*")),
        Reply(text="There is none."),
    )
    form = conversation.oc.family.format
    await conversation.send(
        "A pity. Go on.", Reply(refusal=rate_limited(form, 0.05)), Reply(text="With the command line?")
    )
    await conversation.send(
        "Yes, with the command line.",
        calls(on.read("orchard/cli.py")),
        calls(on.edit("orchard/cli.py", 'price.add_argument("pieces", type=int)', _MONTH)),
        calls(bash("python3 -m orchard.cli price plum 12 --month", "Try it badly")),
        calls(bash("python3 -m orchard.cli price plum 12 --month 7", "Try it")),
        Reply(text="The option is there; nobody uses it yet."),
    )
    await conversation.send("Say something.", Reply(broken="garbage"), Reply(text="I was not understood at first."))


_MONTH = 'price.add_argument("pieces", type=int)\n    price.add_argument("--month", type=int, default=0)'
_OLD_PRINT = "print(formatted(line_price(PRICES[chosen.fruit], chosen.pieces)))"
_NEW_PRINT = (
    "piece = season_price(PRICES[chosen.fruit], chosen.fruit, chosen.month)\n"
    "    print(formatted(line_price(piece, chosen.pieces)))"
)


async def _ask_a_scout(conversation: Conversation, on: Calls) -> None:
    conversation.script(
        calls(on.read("orchard/basket.py"), grep("line_price")),
        calls(bash("python3 -m orchard.cli price apple 12", "See what it prints")),
        Reply(text="The command line and the basket call line_price; only the first knows a month."),
        lane="child",
    )
    await conversation.send(
        "Have a scout find out who reckons prices.",
        calls(task("Who reckons prices", "Who calls line_price, and does it know the month?"), text="I send one."),
        Reply(text="The command line and the basket do."),
    )
    await conversation.send(
        "Use it in the command line.",
        calls(on.edit("orchard/cli.py", _OLD_PRINT, _NEW_PRINT)),
        calls(bash("python3 -m orchard.cli price plum 12 --month 7; echo exit=$?", "Try it")),
        calls(
            on.edit(
                "orchard/cli.py", "import line_price\n", "import line_price\nfrom orchard.season import season_price\n"
            )
        ),
        calls(bash("python3 -m orchard.cli price plum 12 --month 7; echo exit=$?", "Try it again")),
        Reply(text="It takes the month into account; I had forgotten an import."),
    )


async def _tidy(conversation: Conversation, on: Calls) -> None:
    """The agent lets go of what it has read, and the person wants it gone; later the context window fills."""
    await conversation.send(
        "Drop what you no longer need.", _done_with("boxed-early-quince", "PRICES"), Reply(text="Done.")
    )
    await conversation.send(
        "That includes numbers that were never given.",
        calls(Call("ctx_reduce", {"drop": NO_NUMBER})),
        Reply(text="No."),
    )
    with contextlib.suppress(Refused):  # any end of a command without a model call is reported so
        await conversation.oc.command(conversation.session, "ctx-flush")
    await conversation.send(
        "Good. Is the catalogue sorted?", calls(on.read(LONG)), Reply(text="By name, sort and quality.")
    )
    await conversation.send(
        "And the stock?", calls(bash("python3 -m orchard.cli stock", "List the stock")), Reply(text="By name.")
    )
    await conversation.send(
        "Read the tests again.", calls(*map(on.read, _READ_LAST)), Reply(text="They say what they should.")
    )
    await conversation.send("What reads a basket?", calls(*map(on.read, _READ_MORE)), Reply(text="Its total."))
    await conversation.send(
        "Is the catalogue still needed?", _done_with("(End of file", "wild-fig"), Reply(text="No.", usage=MUCH)
    )
    await conversation.send("Go on.", Reply(text="With the documents."))


_READ_LAST = ("tests/test_money.py", "tests/test_pricing.py", "tests/test_stock.py", SEASON_TEST, SEASON)
_READ_MORE = ("orchard/basket.py", "orchard/stock.py", "orchard/money.py", "orchard/pricing.py", "orchard/cli.py")


async def _finish(conversation: Conversation, on: Calls) -> None:
    await conversation.send(
        "Say it in the documents.",
        calls(on.edit("docs/ideas.md", "- prices by season\n", "")),
        calls(on.read("docs/pricing.md")),
        calls(
            on.edit(
                "docs/pricing.md",
                "A discount is rounded",
                "In its season a fruit costs 20 % less.\n\nA discount is rounded",
            )
        ),
        Reply(text="It stands in docs/pricing.md now."),
    )
    await conversation.send(
        "Then we are done?",
        calls(todos(("Mend the discount", "completed"), ("Prices by season", "completed"), ("Say so", "completed"))),
        calls(TESTS),
        Reply(text="We are: all tests pass.", reasoning="Nothing is left on the list."),
    )


def _done_with(*texts: str) -> Answer:
    """An answer that lets go of the outputs with these texts, where they have numbers to name them by."""

    def answer(request: Request) -> Reply:
        numbers = [
            tag[1]
            for output in request.outputs.values()
            if any(text in output for text in texts) and (tag := re.match(r"§(\d+)§", output))
        ]
        return calls(Call("ctx_reduce", {"drop": ",".join(numbers) or NO_NUMBER}))

    return answer
