"""What a unit was about, in a few words."""

from services.historian.drafts import TITLE
from services.historian.extract import marks
from services.historian.extract.points import Point, Points
from services.historian.extract.todos import Plan
from services.historian.extract.work import Work
from services.kit.history.clean import beginning
from services.kit.history.names import base

SHORT = 60
"""Characters of a wish of which a unit is only a part."""
TELLING = 14
"""UTF-8 bytes of a wish that is more than `yes, do that`."""
PART = 90
"""Characters of a sentence that can be a title."""
EMPTY = "Nothing was said or done"


def wishes(said: Points) -> list[str]:
    """What a person wanted, where that can be told."""
    return [one for one in said.openings if len(one.encode()) >= TELLING]


def title(said: Points, done: Work, plan: Plan, before: str) -> str:
    """The wish; for a unit without one what came of it, or how it went on with the wish `before`."""
    lead = f"{beginning(before, SHORT).rstrip(' :.')}: " if before else ""
    on = _best(said) or _files(done) or _looked(done)
    candidates = (
        next(iter(wishes(said)), ""),
        _result(said, done, plan),
        f"{lead}{on}" if on else "",
        next(iter(said.openings), ""),
        said.first,
        EMPTY,
    )
    return beginning(next(text for text in candidates if text.strip()).strip(" :\uff1a"), TITLE)


def _result(said: Points, done: Work, plan: Plan) -> str:
    """What was committed, finished or reported."""
    subject = next((one.subject for one in reversed(done.commits) if one.subject), "")
    tasks = "; ".join((plan.done or plan.active)[:2])
    return subject or tasks or next((one.text for one in _telling(said) if one.last), "")


def _best(said: Points) -> str:
    """What says most, in a few words."""
    short = [one for one in _telling(said) if len(one.text) <= PART]
    return max(short, key=lambda one: one.weight + len(one.text) / PART).text if short else ""


def _telling(said: Points) -> list[Point]:
    plain = [one for one in said.told if not one.head and one.weight > 1]
    return [one for one in plain if not (marks.ANNOUNCEMENT.search(one.text) or marks.DOING.search(one.text))]


def _files(done: Work) -> str:
    files = ", ".join(base(path) for path, _ in done.changed[:3])
    return f"work on {files}" if files else ""


def _looked(done: Work) -> str:
    """What was read or run, where nothing else came of it."""
    if done.read:
        return f"Read {', '.join(map(base, done.read[:3]))}"
    return f"Ran {done.runs[0].command}" if done.runs else ""
