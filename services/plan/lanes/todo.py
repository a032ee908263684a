"""The lane that shows an agent its list of what there is to do, once its own call with it has left the prompt."""

import hashlib
from collections.abc import Iterable

import msgspec

from schemas.events import TodoCaptured
from schemas.plan import AnyEdit, InsertPair, OmitPart, Withdraw, target
from services.domain.conversation import Part
from services.domain.tokens import tokens
from services.domain.tools.names import TODO_WRITER, plain
from services.domain.tools.todos import UNDONE
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.turns import is_free
from services.plan.provider_rules.signed_thinking import boundary
from services.plan.session.lane_marks import is_of
from services.plan.session.reclaim import OUTPUTS

NAME = "todo"
MODES = frozenset({"primary", "reduce_off"})
CALL = "annals_todo_"
"""The id of the call begins like this; what follows is a pure function of the list."""
DEFAULT_PRIORITY = "medium"
WAITS_FOR_TURN = "the list of what there is to do waits for the end of the turn, whose thinking is signed"
_UNFIT = frozenset({"tool_call", "compaction"})
"""A call that ends in another message would be torn from its result."""


class TodoLine(msgspec.Struct, frozen=True):
    """One line of the list, as a call of the tool has it."""

    content: str
    status: str
    priority: str = ""

    @property
    def complete(self) -> "TodoLine":
        return self if self.priority else TodoLine(self.content, self.status, DEFAULT_PRIORITY)


_lines = msgspec.json.Decoder(tuple[TodoLine, ...])


def lines_of(todos: TodoCaptured) -> tuple[TodoLine, ...]:
    captured = zip(todos.contents, todos.statuses, todos.priorities, strict=True)
    return tuple(TodoLine(*line).complete for line in captured)


def json_of(lines: Iterable[TodoLine]) -> str:
    return msgspec.json.encode(tuple(lines)).decode()


def call_id(state: str) -> str:
    return CALL + hashlib.sha256(state.encode()).hexdigest()[:16]


def needs(view: View) -> tuple[str, ...]:
    """The answer of the newest real call: it repeats the list, and so shows whether this is still the list."""
    call = _real(view) if _is_open(view) and not _current_pair(view) else None
    return (call.recorded.part,) if call is not None and _is_seen(view, call) else ()


def rebase(view: View) -> Change:
    """Place the list, or a newer one, or take it away; a list that is placed already stays."""
    pairs = _pairs_in_force(view)
    current = _current_pair(view)
    placed = current or _wanted(view)
    taken = [pair for pair in pairs if all(pair.message != other.message for other in placed)]
    edits: tuple[AnyEdit, ...] = (*map(_withdrawn, taken), *(() if current else placed))
    if edits and boundary(view.session):
        return Change(delays=(WAITS_FOR_TURN,))
    return Change(edits, reclaimed=max(0, sum(map(_cost, pairs)) - sum(map(_cost, placed))))


def _current_pair(view: View) -> tuple[InsertPair, ...]:
    """The pair that shows this very list already."""
    if not _is_open(view):
        return ()
    call = call_id(json_of(lines_of(view.session.activity.todos)))
    found = [pair for pair in _pairs_in_force(view) if pair.call == call and _may_bear(view, pair.message)]
    return tuple(found[-1:])


def _wanted(view: View) -> tuple[InsertPair, ...]:
    """The pair with the list behind the newest answer; none if nothing is open, or the agent sees it anyway."""
    if not _is_open(view):
        return ()
    lines = lines_of(view.session.activity.todos)
    real = _real(view)
    anchor = next((placed.name for placed in reversed(view.index.answers) if _may_bear(view, placed.name)), "")
    if not anchor or (real is not None and _is_seen(view, real) and _states(view, real, lines)):
        return ()
    state = json_of(lines)
    pair = InsertPair(
        message=anchor,
        call=call_id(state),
        tool=real.recorded.tool if real else TODO_WRITER,
        input=f'{{"todos":{state}}}',
        output=msgspec.json.format(state, indent=2),
        by=(real.seq,) if real else (),
        lane=NAME,
    )
    return (pair,)


def _is_open(view: View) -> bool:
    return view.limits.todo and any(status in UNDONE for status in view.session.activity.todos.statuses)


def _real(view: View) -> Part | None:
    """The newest call of the agent that wrote a list."""
    for placed in reversed(view.index.placed):
        for part in reversed(placed.parts):
            recorded = part.recorded
            if recorded.kind in OUTPUTS and recorded.status == "completed" and plain(recorded.tool) == TODO_WRITER:
                return part
    return None


def _is_seen(view: View, call: Part) -> bool:
    """Whether its answer is served whole, and will be after this rebase as far as can be predicted."""
    return is_free(view, call) and view.is_whole(call.recorded.part) and _is_sent(view, call.recorded.message)


def _states(view: View, call: Part, lines: tuple[TodoLine, ...]) -> bool:
    """Whether the call wrote this very list. An answer that is no list only says that one was written: the newest."""
    try:
        recorded = _lines.decode(view.texts.get(call.recorded.part, ""))
    except msgspec.DecodeError:
        return True
    return tuple(line.complete for line in recorded) == lines


def _may_bear(view: View, name: str) -> bool:
    """Whether a pair can stand at the end of it: an answer that is served, and whose own calls end in it.

    Where a model wants to see the thinking that led to a call, only an answer that thought and called will do.
    """
    message = view.session.conversation.messages.get(name)
    if message is None or message.recorded.role != "assistant" or not _is_sent(view, name):
        return False
    sent = view.session.conversation.sent_parts(message)
    kinds = {part.recorded.kind for one, part in sent if _remains(view, one, part)}
    if not kinds - {"reasoning"} or kinds & _UNFIT:
        return False
    return "requires_reasoning_on_tool_calls" not in view.able or kinds >= {"reasoning", "tool"}


def _remains(view: View, name: str, part: Part) -> bool:
    """Whether it holds its message in the prompt: words do while they are served, a call does without its answer."""
    if part.recorded.ignored or (part.recorded.kind == "text" and not part.head.strip()):
        return False
    if part.recorded.kind == "text":
        return view.is_served(name)
    return name not in view.session.plan.in_arcs and not isinstance(view.edit_of(name), OmitPart)


def _is_sent(view: View, name: str) -> bool:
    """Whether the message is part of what is served."""
    message = view.session.conversation.messages.get(name)
    if message is None or not message.present or name in view.session.plan.left_out:
        return False
    return message.ordinal >= view.session.cut


def _pairs_in_force(view: View) -> tuple[InsertPair, ...]:
    """The pairs in force, also those behind messages that are not listed now: they may come back."""
    messages = view.session.conversation.messages
    found = [(messages[name].ordinal, name, pair) for name, pair in view.session.plan.pairs.items() if name in messages]
    return tuple(pair for *_, pair in sorted(found, key=lambda one: one[:2]) if is_of(pair, (NAME,)))


def _withdrawn(pair: InsertPair) -> Withdraw:
    return Withdraw(what=str(target(pair)), by=pair.by, lane=NAME)


def _cost(pair: InsertPair) -> int:
    return tokens(len(pair.input.encode()) + len(pair.output.encode()))


LANE = Lane(NAME, spares_firm=spares_firm, rebase=rebase, needs=needs, modes=MODES, order=170)
