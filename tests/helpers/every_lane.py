"""A session in which every lane has something to do: on what is new, at a rebase, and to read for that.

A new lane brings its part of it: a function `scene` in its test, which is named after its module.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from schemas.inbox import Capability, PartSeen, Todo, TodoSeen
from services.domain.limits import Limits, Prices
from services.domain.registry import names_by_place
from services.plan import lanes as package
from services.plan.lanes import Lane
from services.plan.lanes.hints import HintHit, NoteStatus
from services.plan.lanes.skeletons import MOST_WITH_ARGUMENTS
from tests.helpers.harness import SHOWN, Call, Harness, attached, ran, replace, text_part, thought, with_picture
from tests.helpers.historian_sessions import sealed
from tests.helpers.project_documents import Project, written
from tests.helpers.tool_calls import IDLE, called

LIMITS = Limits(
    protected_tags=2,
    min_reclaim=1,
    clear_reasoning_age=4,
    smart_drops=True,
    caveman=True,
    auto_drop_tool_age=40,
    head_documents=("ARCHITECTURE.md",),
    prices={"default": Prices(write=6.0)},  # so dear that no rebase is made for its price alone
)
TESTS = Path(__file__).parents[1] / "plan" / "lanes"
BIG = "line\n" * 12_000
"""An answer of 15,000 tokens."""
LOG = "built\n" * 2_000
"""3,000 tokens of a command."""
PASTED = "data " * 24_000
"""30,000 tokens of a person, too long to be shortened."""
PROSE = (
    "I think that the worker is really reading its input from the stream in order to write what it has decided to the "
    "log, because the broker was restarted. Actually, everything that was said meanwhile is kept on the disk, and it "
    "is told again as soon as the connection has been restored. The agent is basically working with the last plan that "
    "it was given, and the next request picks up what has changed. Please look at the test again, which is failing "
    "because of the order of the two events, and tell me in a few words what you think about it."
)
INJECTED = f"Go on.\n<system-reminder>{'Be quick. ' * 42}</system-reminder>"
FAILURE = replace(ran("no such file: " + "x" * 600, call="f"), status="error")
IMAGE = attached("data:image/png;base64," + "A" * 300)
SAME = {"filePath": "a.py"}
NOTED = "Noted: it leaves the prompt with the next rebase. " * 3
WANTED = {"pattern": "parse"}
TO_DO = (Todo("write the parser", "in_progress", "high"),)
LIST = '[{"content":"write the parser","status":"in_progress","priority":"high"}]'
MORE_TO_DO = (*TO_DO, Todo("test the parser"))


def play(lanes: Sequence[Lane], able: tuple[Capability, ...], last: Sequence[Lane]) -> tuple[Harness, list[Call]]:
    """All its model calls: the one before the last is a rebase for many reasons, and another pause is before the last.

    That is decided by the lanes `last`.
    """
    project = Project(ARCHITECTURE="# Rooms\nThey meet in the log.\n")
    harness = Harness(LIMITS, lanes)
    harness.seen = project.seen
    able = (*able, "caches_exact_prefix")  # without a cache every long prompt is made smaller at once
    harness.capabilities, harness.context_limit = able, 10**6
    project.session = harness
    calls = [*beginning(harness), *middle(harness), ending(harness, project), after_a_pause(harness)]
    harness.lanes = last
    turn_over(harness)
    return harness, [*calls, harness.step()]


@cache
def scenes() -> tuple[Callable[[Harness], None], ...]:
    """What the tests of lanes add: each a message of a person, and the agent's answer."""
    found = []
    for module in names_by_place(package, Lane):
        test = TESTS / f"test_{module}.py"
        if test.exists() and "\ndef scene(" in test.read_text():
            found.append(import_module(f"tests.plan.lanes.test_{module}").scene)
    return tuple(found)


@cache
def own_tests(lane: Lane) -> ModuleType | None:
    """The test that is named after the module of a lane; none: it has no such test."""
    module = next(name for name, one in names_by_place(package, Lane).items() if one is lane)
    return import_module(f"tests.plan.lanes.test_{module}") if (TESTS / f"test_{module}.py").exists() else None


def beginning(harness: Harness) -> list[Call]:
    """A question and its answer leave the conversation, and the answer is dropped."""
    turn(harness, "Go.", text_part("I will."))
    asked = turn(harness, "What for?", text_part("For a reason that is long to explain. " * 20))
    turn(harness, "Well then.", text_part("Fine."))
    harness.user("Begin.")
    first = harness.step()
    harness.drop(4)
    for name in asked:
        harness.without(name)
    return [first, harness.step()]


def middle(harness: Harness) -> list[Call]:
    """Work of all kinds. The second of these calls is made without a plan."""
    makes = [{"command": "make"}, *[{"command": "make " * 250}] * MOST_WITH_ARGUMENTS]
    harness.assistant(text_part("I build it."), *(called("bash", made, call=f"old{n}") for n, made in enumerate(makes)))
    for n in range(4):
        turn(harness, f"Step {n}.", text_part("Done."))
    for scene in scenes():
        scene(harness)
    turn(harness, PASTED, thought("because " * 40), text_part("I read it."), called("read", SAME, call="r1"))
    harness.add_message("user", IMAGE, text_part(INJECTED))
    edit = called("edit", {**SAME, "newString": "x"}, call="e1")
    seen = with_picture(ran(SHOWN, call="i1"))
    harness.assistant(called("ctx_reduce", {"drop": "1"}, NOTED, call="d1"), edit, FAILURE, seen)
    turn(harness, "Look around.", *(called("read", {"filePath": f"{n}.py"}, BIG, call=f"b{n}") for n in range(3)),
         called("grep", WANTED, call="g1"), called("bash", {"command": "ps"}, LOG, call="l2"))  # fmt: skip
    harness.user("Thank you.")
    reminded = harness.step()
    harness.assistant(text_part("Gladly."))
    harness.user("Is anybody there?")
    alone = harness.step(asks=False)
    harness.assistant(called("ctx_reduce", {"drop": "2"}, NOTED, call="d2"))
    turn(harness, PROSE, called("read", SAME, call="r2"), called("edit", {**SAME, "newString": "y"}, call="e2"))
    turn(harness, "Say something.", text_part("Something."))
    turn(harness, "Look again.", called("grep", WANTED, call="g2"))
    harness.user("What is there to do?")
    harness.assistant(called("todowrite", {"todos": []}, LIST, call="t1"))
    harness.report(TodoSeen(TO_DO))
    for n in range(4):
        turn(harness, f"Word {n}.", text_part("Yes."))
    harness.user("Go on.")
    return [reminded, alone, harness.step()]


def ending(harness: Harness, project: Project) -> Call:
    """What comes back, and news of every kind."""
    project.write("ARCHITECTURE.md", "# Rooms\nThey meet in the log, and nowhere else.\n")
    project.remembers(written("a", "Rooms never import each other."))
    harness.assistant(text_part("I do."))
    gone = [harness.known[name] for name in ("m3", "m4")]
    harness.messages += gone
    project.notes = NoteStatus(deferred=1, triggered_in=harness.user("More."))
    harness.assistant(thought(""), *(called("read", {"filePath": f"n{n}.py"}, call=f"n{n}") for n in range(5)))
    project.hits = (HintHit("rooms meet in the log", 0.9, message=harness.user("And more.")),)
    return harness.step()


def after_a_pause(harness: Harness) -> Call:
    """The rebase: the only words of an answer were dropped, there is more to do, and what is oldest is compressed."""
    something = next(part for part in parts(harness) if part.text == "Something.")
    harness.drop(harness.session.conversation.parts[something.part].number)
    harness.report(TodoSeen(MORE_TO_DO))
    harness.append(sealed(1, 1))
    pause(harness)
    return harness.step()


def turn_over(harness: Harness) -> None:
    """The agent has dropped something large at its end, and a person comes back after a pause."""
    large = next(part for part in parts(harness) if part.output == BIG)
    harness.drop(harness.session.conversation.parts[large.part].number)
    harness.assistant(text_part("All is done."))
    harness.user("And now?")
    pause(harness)


def parts(harness: Harness) -> list[PartSeen]:
    return [part for message in harness.messages for part in message.parts]


def turn(harness: Harness, text: str, *answer: PartSeen) -> tuple[str, str]:
    """A person says something, and the agent answers."""
    return harness.user(text), harness.assistant(*answer)


def pause(harness: Harness) -> None:
    """So long that no provider's cache is left."""
    harness.use(1000, f"u{len(harness.log)}")
    harness.wait(IDLE)
