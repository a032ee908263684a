"""The facts of the log. One module per noun; `EVENTS` is the whole vocabulary."""

from schemas.events.adapter import AdapterConnected
from schemas.events.base import Event, LogOnly
from schemas.events.call import CallFailed
from schemas.events.document import DocumentCaptured
from schemas.events.drop import DropRequested
from schemas.events.file import FileTouched
from schemas.events.flush import FlushRequested
from schemas.events.message import MessageListed, MessageRecorded, MessageRemoved
from schemas.events.model import ModelChanged
from schemas.events.native import NativeCompacted
from schemas.events.overflow import OverflowDetected
from schemas.events.part import PartRecorded, PartRemoved
from schemas.events.plan import PlanExtended, PlanRebased
from schemas.events.project import ProjectIdentified
from schemas.events.session import SessionClosed, SessionForked, SessionIdled, SessionOpened, SessionRenamed
from schemas.events.step import StepOpened
from schemas.events.tag import TagAssigned
from schemas.events.todo import TodoCaptured
from schemas.events.tool import ToolRan
from schemas.events.toolset import ToolsetChanged
from schemas.events.usage import UsageSampled

EVENTS: tuple[type[Event], ...] = (
    ProjectIdentified,
    DocumentCaptured,
    AdapterConnected,
    SessionOpened,
    SessionRenamed,
    SessionIdled,
    SessionClosed,
    SessionForked,
    MessageRecorded,
    MessageListed,
    MessageRemoved,
    PartRecorded,
    PartRemoved,
    ToolRan,
    FileTouched,
    TodoCaptured,
    TagAssigned,
    UsageSampled,
    ModelChanged,
    ToolsetChanged,
    NativeCompacted,
    CallFailed,
    OverflowDetected,
    StepOpened,
    DropRequested,
    FlushRequested,
    PlanExtended,
    PlanRebased,
)

__all__ = [
    "EVENTS",
    "AdapterConnected",
    "CallFailed",
    "DocumentCaptured",
    "DropRequested",
    "Event",
    "FileTouched",
    "FlushRequested",
    "LogOnly",
    "MessageListed",
    "MessageRecorded",
    "MessageRemoved",
    "ModelChanged",
    "NativeCompacted",
    "OverflowDetected",
    "PartRecorded",
    "PartRemoved",
    "PlanExtended",
    "PlanRebased",
    "ProjectIdentified",
    "SessionClosed",
    "SessionForked",
    "SessionIdled",
    "SessionOpened",
    "SessionRenamed",
    "StepOpened",
    "TagAssigned",
    "TodoCaptured",
    "ToolRan",
    "ToolsetChanged",
    "UsageSampled",
]
