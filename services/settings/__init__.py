"""Settings: each is defined once, read once when a process starts, and handed on as a plain value."""

from services.domain.limits import Commits, History, Limits, MemoryLimits, Prices
from services.settings.groups import (
    Dream,
    Embed,
    Http,
    IndexSettings,
    Logs,
    LoopSettings,
    Model,
    Nats,
    Price,
    ProviderSettings,
    Settings,
    Views,
)
from services.settings.load import LoadedSettings, environment, load
from services.settings.sources import Problem

__all__ = [
    "Commits",
    "Dream",
    "Embed",
    "History",
    "Http",
    "IndexSettings",
    "Limits",
    "LoadedSettings",
    "Logs",
    "LoopSettings",
    "MemoryLimits",
    "Model",
    "Nats",
    "Price",
    "Prices",
    "Problem",
    "ProviderSettings",
    "Settings",
    "Views",
    "environment",
    "load",
]
