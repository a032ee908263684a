"""The facts of the log. One module per noun; `EVENTS` is the whole vocabulary."""

from schemas.events.adapter import AdapterConnected
from schemas.events.base import Event, LogOnly
from schemas.events.call import CallFailed
from schemas.events.compartment import CompartmentRescored, CompartmentSealed
from schemas.events.document import DocumentCaptured
from schemas.events.drop import DropRequested
from schemas.events.fact import FactExtracted
from schemas.events.file import FileTouched
from schemas.events.flush import FlushRequested
from schemas.events.history import (
    HistoryAbandoned,
    HistoryAdvanced,
    HistoryAttempted,
    HistoryFailed,
    HistoryOrdered,
    HistoryReplaced,
    HistoryRequested,
)
from schemas.events.limit import LimitLearned, LimitWithdrawn
from schemas.events.memory import MemoryProposed, MemoryReinforced
from schemas.events.message import MessageListed, MessageRecorded, MessageRemoved
from schemas.events.model import ModelChanged
from schemas.events.native import NativeCompacted
from schemas.events.observation import ObservationRecorded
from schemas.events.overflow import OverflowDetected
from schemas.events.part import PartRecorded, PartRemoved
from schemas.events.plan import PlanExtended, PlanRebased
from schemas.events.project import ProjectIdentified
from schemas.events.session import SessionClosed, SessionForked, SessionIdled, SessionOpened, SessionRenamed
from schemas.events.spend import SpendRefused, SpendReserved, SpendSettled
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
    LimitLearned,
    LimitWithdrawn,
    StepOpened,
    DropRequested,
    FlushRequested,
    HistoryOrdered,
    SpendReserved,
    SpendSettled,
    SpendRefused,
    MemoryProposed,
    MemoryReinforced,
    HistoryRequested,
    HistoryAttempted,
    HistoryAdvanced,
    HistoryFailed,
    HistoryReplaced,
    HistoryAbandoned,
    CompartmentSealed,
    CompartmentRescored,
    FactExtracted,
    ObservationRecorded,
    PlanExtended,
    PlanRebased,
)

__all__ = [
    "EVENTS",
    "AdapterConnected",
    "CallFailed",
    "CompartmentRescored",
    "CompartmentSealed",
    "DocumentCaptured",
    "DropRequested",
    "Event",
    "FactExtracted",
    "FileTouched",
    "FlushRequested",
    "HistoryAbandoned",
    "HistoryAdvanced",
    "HistoryAttempted",
    "HistoryFailed",
    "HistoryOrdered",
    "HistoryReplaced",
    "HistoryRequested",
    "LimitLearned",
    "LimitWithdrawn",
    "LogOnly",
    "MemoryProposed",
    "MemoryReinforced",
    "MessageListed",
    "MessageRecorded",
    "MessageRemoved",
    "ModelChanged",
    "NativeCompacted",
    "ObservationRecorded",
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
    "SpendRefused",
    "SpendReserved",
    "SpendSettled",
    "StepOpened",
    "TagAssigned",
    "TodoCaptured",
    "ToolRan",
    "ToolsetChanged",
    "UsageSampled",
]
