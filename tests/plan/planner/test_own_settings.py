"""What a project has set meanwhile goes with a rebase that is due for another reason, and never makes or spoils one."""

from collections.abc import Sequence

import pytest

from schemas.events import PlanRebased
from services.domain.limits import Limits, MemoryLimits
from services.memory.remembered import Remembered
from services.plan.head.documents import Document
from services.plan.lanes import View
from services.plan.lanes.base import PendingSettings
from services.plan.planner.plan import Pass
from services.plan.session.state import Session
from tests.helpers.harness import LIMITS, Harness, ran, replace, thought
from tests.helpers.project_documents import LANES_OF_HEADS, Project, headed

SHORT, LONG = "y = 2", "A line of it.\n" * 2_600
"""5 and 9,100 tokens."""


class Setting(Harness):
    """A session whose project sets something while it goes on."""

    def __init__(self, file: str = SHORT, limits: Limits = LIMITS) -> None:
        project = Project()
        project.documents = (Document("door.py", "d", file, 1), Document("ARCHITECTURE.md", "a", "# Rooms", 2))
        super().__init__(limits, LANES_OF_HEADS)
        self.seen = project.seen
        self.coming: Limits | None = None
        self.user("go")
        self.step()

    def _decide(self, state: Session) -> Pass:
        limits, known = self.limits, state.revisions.settings
        if known and self.coming is not None:
            limits = self.coming
        coming = (
            PendingSettings(self.coming, MemoryLimits(), Remembered())
            if self.coming is not None and not known
            else None
        )
        return self._decided(self.seen(View(state, limits, learned=self.shared, coming=coming)))

    def sets(self, **values: object) -> None:
        self.coming = replace(self.limits, **values)

    def works(self, *outputs: str) -> None:
        """Calls whose outputs are asked to be dropped."""
        for number, output in enumerate(outputs):
            self.assistant(ran(output, call=f"c{len(self.messages)}.{number}"))
        self.user("so")
        self.step()
        self.drop(*range(2, 2 + len(outputs)))
        for _ in range(3):
            self.user("on")
            self.step()

    @property
    def causes(self) -> Sequence[Sequence[str]]:
        return [event.causes for _, event in self.log if isinstance(event, PlanRebased)]


def test_it_makes_no_rebase_by_itself_whatever_is_set() -> None:
    harness = Setting()
    before = headed(harness)
    harness.sets(key_files=("door.py",), context="lean", head_documents=())
    for _ in range(5):
        harness.user("on")
        call = harness.step()
        assert () == call.causes
    assert ([], before) == (harness.causes, headed(harness))
    assert harness.session.revisions.settings == 0


@pytest.mark.parametrize("file", [SHORT, LONG])
def test_it_goes_with_a_flush_and_is_named(file: str) -> None:
    harness = Setting(file)
    harness.sets(key_files=("door.py",))
    harness.flush()
    harness.user("on")
    harness.step()
    assert [["flush", "settings"]] == [*harness.causes]
    assert "door.py" in headed(harness)
    at = harness.session.revisions.settings
    assert 0 < at < len(harness.log)
    harness.restart()
    assert at == harness.session.revisions.settings
    harness.flush()
    harness.user("on")
    harness.step()
    assert 1 == len(harness.causes), "it is taken in once"


def test_it_goes_with_the_loss_of_the_cache_also_where_the_head_grows() -> None:
    harness = Setting()
    harness.use(5_000)
    harness.sets(key_files=("door.py",))
    harness.wait(301)
    harness.user("on")
    harness.step()
    assert [["idle", "settings"]] == [*harness.causes]
    assert "door.py" in headed(harness)


def test_where_room_is_made_at_any_price_it_waits() -> None:
    harness = Setting(LONG)
    harness.works("x" * 40_000)
    harness.sets(key_files=("door.py",))
    harness.use(99_000)
    harness.user("on")
    harness.step()
    assert [["force"]] == [[cause for cause in causes if cause != "cost"] for causes in harness.causes]
    assert "door.py" not in headed(harness)
    assert 0 == harness.session.revisions.settings


@pytest.mark.parametrize(("file", "taken"), [(SHORT, True), (LONG, False)])
def test_a_rebase_that_pays_is_made_and_one_that_would_not_pay_with_it_is_made_without(file: str, taken: bool) -> None:  # noqa: FBT001
    harness = Setting(file)
    harness.works("x" * 40_000)
    harness.sets(key_files=("door.py",))
    harness.use(70_000)
    harness.user("on")
    harness.step()
    (causes,) = harness.causes
    assert "pressure" in causes
    assert taken == ("settings" in causes) == ("door.py" in headed(harness))


def test_in_front_of_signed_thinking_of_the_turn_nothing_changes() -> None:
    harness = Setting()
    harness.capabilities = ("accepts_empty_content", "binds_signed_thinking")
    harness.sets(key_files=("door.py",))
    harness.assistant(thought(signed=True), ran("one", call="c9"))
    harness.flush()
    call = harness.step()
    assert () == call.causes
    assert "door.py" not in headed(harness)
