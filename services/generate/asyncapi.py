"""The AsyncAPI document: what the author of a harness says and hears on the broker."""

from schemas.ask import Ask
from schemas.commands import Answer, Command, CommandMessage
from schemas.envelope import Envelope
from schemas.events import EVENTS, Event
from schemas.inbox import Inbound
from schemas.streams import BODIES, DEAD, IN, INBOUND_BODIES, LOG, MAX_BODY_BYTES, MAX_PIECE_BYTES, Stream
from schemas.subjects import MAX_ID_BYTES, SHARDS, token
from services.desk.core.commands import COMMANDS
from services.generate.markdown import summary
from services.generate.schema import ASKS, Json, reply_to, to_text

VERSION = "1"
"""The language only ever grows, and each event has a version of its own."""
SCHEMA_FORMAT = "application/schema+json;version=draft-2020-12"
ESCAPED = ("", "_", "ses_01-A", "/home/ada/src", "a.b*c>d e", "ä", "=")

TOKENS = (
    "A parameter of an address, other than `{shard}` and `{room}`, is an id as one subject token. ASCII letters, "
    "digits, `-` and `_` stay; every other byte of the id's UTF-8 becomes `=XX`, two upper-case hex digits, and "
    "nothing else is escaped. The empty id becomes `_`, so the id `_` becomes `=5F`. "
    f"An id has at most {MAX_ID_BYTES} bytes of UTF-8 before escaping. Examples: "
    f"{', '.join(f'`{text!r}` is `{token(text)}`' for text in ESCAPED)}."
)
ABOUT = f"""\
What a harness sends to Annals and receives from it, over NATS. Operations are described from the harness's side.

**Subject tokens.** {TOKENS}

**Values.** JSON in UTF-8. Times are RFC 3339 with an offset. Fields that have their default may be left out; unknown \
fields, unknown event types and versions newer than one's own are to be passed over.

**Ids.** What is published on `in.*` carries the header `Nats-Msg-Id`, equal to `id` in its body: the harness's own \
key, the same at every attempt, so that a message sent twice counts once. It must be unique among all messages of all \
harnesses and sessions, or a second message under it is taken for the first one.

**Long texts.** A text of more than {MAX_BODY_BYTES} bytes goes into the object store `{INBOUND_BODIES.name}` under \
the sha256 of its content, and the message carries that as `text_ref`, `input_ref` or `output_ref`; the log's are in \
`{BODIES.name}`. One message on `in.*` holds at most {MAX_PIECE_BYTES} bytes.

**Silence is safe.** When no answer comes in time, go on with the newest plan at hand."""

PARAMETERS = {
    "harness": "The kind of harness (`opencode`, `pi`, ...), as a subject token.",
    "project": "The project's id as a subject token; `_` in what is about all projects or none.",
    "session": "The session's id as a subject token; `_` for what concerns the whole project.",
    "shard": f"blake2b of the project's id with a digest of 4 bytes, read big-endian, modulo {SHARDS}; or `*`.",
    "room": "The room that could not deliver it.",
}


def asyncapi() -> str:
    return to_text(
        {
            "asyncapi": "3.0.0",
            "info": {"title": "Annals", "version": VERSION, "description": ABOUT, "license": {"name": "Apache-2.0"}},
            "defaultContentType": "application/json",
            "servers": {"broker": _server()},
            "channels": _channels(),
            "operations": _operations(),
            "components": {
                "parameters": {name: {"description": text} for name, text in PARAMETERS.items()},
                "schemas": {"MessageId": _message_id()},
                "messages": _messages(),
            },
        }
    )


def _server() -> Json:
    host = {"default": "localhost:4222", "description": "Host and port of the broker."}
    return {"host": "{host}", "protocol": "nats", "variables": {"host": host}}


def _message_id() -> Json:
    text = (
        "The id of the message, the same at every attempt: within the duplicate window the broker keeps only the first."
    )
    return {
        "type": "object",
        "properties": {"Nats-Msg-Id": {"type": "string", "description": text}},
        "required": ["Nats-Msg-Id"],
    }


def _channels() -> Json:
    return {
        "in": _channel("in.{harness}.{project}.{session}", _stream_text(IN), "in"),
        **{
            _do(command): _channel(f"do.{{project}}.{{session}}.{command.TYPE}", summary(command), _do(command))
            for command in COMMANDS
        },
        "do.reply": _inbox("do.reply"),
        **{_ask(ask): _channel(f"ask.{ask.NAME}.{{project}}", summary(ask), _ask(ask)) for ask in ASKS},
        **{_reply(ask): _inbox(_reply(ask)) for ask in ASKS},
        **{
            _log(event): _channel(f"log.{{shard}}.{{project}}.{{session}}.{event.TYPE}", _stream_text(LOG), _log(event))
            for event in EVENTS
        },
        "dead": _channel("dead.{room}", _stream_text(DEAD), "dead"),
    }


def _operations() -> Json:
    """From the harness's side."""
    return {
        "in": _operation("send", "in", summary(Inbound)),
        **{_do(command): _request(_do(command), "do.reply", summary(command)) for command in COMMANDS},
        **{_ask(ask): _request(_ask(ask), _reply(ask), summary(ask)) for ask in ASKS},
        **{_log(event): _operation("receive", _log(event), summary(event)) for event in EVENTS},
        "dead": _operation("receive", "dead", DEAD.description),
    }


def _messages() -> Json:
    return {
        "in": _message(summary(Inbound), _ref("inbox", "Inbound"), identified=True),
        **{_do(command): _message(summary(command), _command_message(command)) for command in COMMANDS},
        "do.reply": _message(summary(Answer), _ref("commands", Answer.__name__)),
        **{_ask(ask): _message(summary(ask), _ref("asks", _ask(ask))) for ask in ASKS},
        **{_reply(ask): _message(summary(reply_to(ask)), _ref("asks", reply_to(ask).__name__)) for ask in ASKS},
        **{_log(event): _message(summary(event), _fact(event), identified=True) for event in EVENTS},
        "dead": {"summary": "The message that was refused, as it came."},
    }


def _do(command: type[Command]) -> str:
    return f"do.{command.TYPE}"


def _ask(ask: type[Ask]) -> str:
    return f"ask.{ask.NAME}"


def _reply(ask: type[Ask]) -> str:
    return f"{_ask(ask)}.reply"


def _log(event: type[Event]) -> str:
    return f"log.{event.TYPE}"


def _stream_text(stream: Stream) -> str:
    return f"In the stream `{stream.name}`: {stream.description}."


def _channel(address: str, description: str, message: str) -> Json:
    parameters = {name: {"$ref": f"#/components/parameters/{name}"} for name in PARAMETERS if f"{{{name}}}" in address}
    return {"address": address, "description": description, "parameters": parameters, "messages": _carries(message)}


def _inbox(message: str) -> Json:
    text = "The reply subject that the NATS client makes up for each request."
    return {"address": None, "description": text, "messages": _carries(message)}


def _carries(message: str) -> Json:
    return {message: {"$ref": f"#/components/messages/{message}"}}


def _operation(action: str, channel: str, text: str) -> Json:
    return {"action": action, "summary": text, **_over(channel)}


def _request(channel: str, reply: str, text: str) -> Json:
    return {**_operation("send", channel, text), "reply": _over(reply)}


def _over(channel: str) -> Json:
    """Refer to a channel and to its only message, which has the same name."""
    return {
        "channel": {"$ref": f"#/channels/{channel}"},
        "messages": [{"$ref": f"#/channels/{channel}/messages/{channel}"}],
    }


def _message(text: str, schema: Json, *, identified: bool = False) -> Json:
    headers: Json = {"headers": {"$ref": "#/components/schemas/MessageId"}} if identified else {}
    return {"summary": text, **headers, "payload": {"schemaFormat": SCHEMA_FORMAT, "schema": schema}}


def _command_message(command: type[Command]) -> Json:
    return _narrowed(_ref("commands", CommandMessage.__name__), {"data": _ref("commands", command.TYPE)})


def _fact(event: type[Event]) -> Json:
    known: Json = {"type": {"const": event.TYPE}, "v": {"const": event.V}, "data": _ref("events", event.TYPE)}
    return _narrowed(_ref("envelope", Envelope.__name__), known)


def _narrowed(schema: Json, properties: Json) -> Json:
    return {"allOf": [schema, {"properties": properties}]}


def _ref(file: str, name: str) -> Json:
    return {"$ref": f"./{file}.schema.json#/$defs/{name}"}
