"""Masks the secrets in a harness's messages: every text that may reach the log passes here."""

import msgspec

from schemas.codec import mended_json
from schemas.inbox import (
    DocumentSeen,
    ErrorSeen,
    MessageSeen,
    PartSeen,
    Seen,
    SessionSeen,
    Todo,
    TodoSeen,
    ToolSeen,
    ToolsSeen,
)
from schemas.inbox import SessionClosed as SessionEnded
from services.domain.secrets import mask

replace = msgspec.structs.replace


def mask_item(items: tuple[Seen, ...]) -> tuple[Seen, ...]:
    return tuple(_item(item) for item in items)


def _item(item: Seen) -> Seen:
    match item:
        case MessageSeen(parts=parts):
            return replace(item, parts=tuple(_part(part) for part in parts))
        case PartSeen():
            return _part(item)
        case SessionSeen(title=title, directory=directory, root=root):
            return replace(item, title=mask(title), directory=mask(directory), root=mask(root))
        case SessionEnded(reason=reason):
            return replace(item, reason=mask(reason))
        case ErrorSeen(text=text, name=name):
            return replace(item, text=mask(text), name=mask(name))
        case TodoSeen(items=todos):
            return replace(item, items=tuple(_todo(todo) for todo in todos))
        case ToolsSeen(tools=tools):
            return replace(item, tools=tuple(_tool(tool) for tool in tools))
        case DocumentSeen(text=text):
            return replace(item, text=mask(text))
        case _:
            return item


def _part(part: PartSeen) -> PartSeen:
    return replace(
        part,
        text=mask(part.text),
        input=mask(mended_json(part.input)),
        output=mask(part.output),
        filename=mask(part.filename),
        attachments=tuple(replace(one, filename=mask(one.filename)) for one in part.attachments),
    )


def _todo(todo: Todo) -> Todo:
    return replace(todo, content=mask(todo.content))


def _tool(tool: ToolSeen) -> ToolSeen:
    return replace(tool, description=mask(tool.description), parameters=mask(tool.parameters))
