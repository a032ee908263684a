"""Settings: each is defined once, read once when a process starts, and handed on as a plain value."""

from services.domain.limits import Commits, History, Limits, Memory, Prices
from services.settings.groups import (
    Dream,
    Embed,
    Http,
    Index,
    Logs,
    Loop,
    Model,
    Nats,
    Price,
    Provider,
    Settings,
    Views,
)
from services.settings.load import Loaded, environment, load
from services.settings.sources import Problem

__all__ = [
    "Commits",
    "Dream",
    "Embed",
    "History",
    "Http",
    "Index",
    "Limits",
    "Loaded",
    "Logs",
    "Loop",
    "Memory",
    "Model",
    "Nats",
    "Price",
    "Prices",
    "Problem",
    "Provider",
    "Settings",
    "Views",
    "environment",
    "load",
]
