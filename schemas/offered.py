"""The tools that agents are offered, as `make schema` writes them down from what commands and questions register.

They are sent in prompts, before everything else: a byte of difference makes every cached prompt of a provider void. So
they are checked in, and a room that offers them needs to know nothing of the room that decides.
"""

from pathlib import Path

import msgspec

from schemas.tools import MEMORY, Target, Tool

TOOLS = msgspec.json.decode(Path(__file__).with_name("json").joinpath("tools.json").read_bytes(), type=tuple[Tool, ...])
"""The tools, each with all of its actions."""
ACTIONS: dict[str, Target] = next(tool.actions for tool in TOOLS if tool.name == MEMORY)
"""The actions of an agent on the memory."""
