"""What a room may append is read from the functions that decide it."""

from types import ModuleType

from schemas.events import Event, SessionClosed, SessionIdled, SessionOpened, StepOpened
from services.domain.registry import events_made_in

Ended = SessionIdled | SessionClosed


def _opened() -> list[SessionOpened]:
    return []


def _read(event: StepOpened) -> Event:
    return event


class _Job:
    def ended(self) -> "tuple[Ended, ...]":
        return ()


def _place(**values: object) -> ModuleType:
    place = ModuleType(__name__)
    vars(place).update(values)
    return place


def test_events_are_found_in_the_results_of_functions_and_methods_and_behind_names() -> None:
    assert (SessionOpened, SessionIdled, SessionClosed) == events_made_in(_place(opened=_opened, job=_Job))


def test_an_argument_and_a_result_of_any_event_declare_none() -> None:
    assert () == events_made_in(_place(read=_read))


def test_what_a_module_only_imports_declares_nothing() -> None:
    assert () == events_made_in(ModuleType("another"), _place(event=SessionOpened))
