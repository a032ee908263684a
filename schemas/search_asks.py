"""The questions of search, those that it asks other rooms included, and the replies."""

from datetime import datetime
from typing import ClassVar, Literal

import msgspec

from schemas.ask import Ask, RequestReply
from schemas.numbers import Count, Wait
from schemas.tools import Source


class SearchAsk(Ask, frozen=True):
    """What is known that bears on these words?"""

    NAME: ClassVar[str] = "search"

    project: str
    query: str
    session: str = ""
    """The session that asks: what its prompt shows already is not repeated. Empty: a person asks, in none."""
    sources: tuple[str, ...] = ()
    """The sources to search; empty: all. Unknown ones are left out, and the reply names them; an error where all are
    unknown."""
    sessions: tuple[str, ...] = ()
    """Only from these."""
    actors: tuple[str, ...] = ()
    """Only what these have written, by their ids."""
    since: datetime | None = None
    until: datetime | None = None
    as_of: Count = 0
    """Only what is made of facts up to this position of the log; 0: all."""
    min_seq: Count = 0
    """Wait a little until the index has read the log up to this position. What was confirmed to be remembered or noted
    before the question was sent is waited for in any case."""
    deadline_ms: Wait = 0
    """Milliseconds after which the asker no longer listens: what is found by then is the reply. 0: a few seconds. Below
    500 the index is searched as it was up to a minute ago, and what is in the prompt already is not looked for."""
    limit: Count = 10
    """At most 25 for a session, and 200 for a person."""
    group: Literal["", "session"] = ""
    """`session`: of each session only what fits best."""


class Hit(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that was found."""

    source: Source
    id: str
    """Of the message, memory, compartment or note; of a commit its whole sha; of outputs the message that has them."""
    score: float
    """The score of how well it fits whatever else there is, from 0 to 1."""
    fragment: str = ""
    """Of its text, where it fits; of outputs the name with the names next to it there."""
    why: tuple[str, ...] = ()
    """The reasons why it fits: words of the query, something that it has word for word, or its meaning."""
    session: str = ""
    ordinal: int = 0
    """Of a message, and of its outputs, its place in its session; of a compartment the first one that it covers."""
    first: int = 0
    """The first of the messages around it that are worth reading for who wants to know more."""
    last: int = 0
    """The last of the messages around it that are worth reading."""
    at: datetime | None = None
    actor: str = ""
    role: str = ""
    """Of a message `user`, `assistant` or `task`: what an agent asks of one that it started. Of a memory its class."""
    files: tuple[str, ...] = ()
    """Of a commit some of the paths that it touches."""


class FoundSession(msgspec.Struct, frozen=True, omit_defaults=True):
    """A session that a query names by its id, or by the beginning of it."""

    session: str
    messages: int = 0
    """The number of its messages that can be found."""
    compartments: int = 0
    """The number of parts of its history that can be found."""
    last: int = 0
    """The number of its newest message that has one."""
    began: datetime | None = None
    ended: datetime | None = None


class Hits(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.search`; what fits best comes first."""

    hits: tuple[Hit, ...] = ()
    session: FoundSession | None = None
    """The session that the query names; then the hits are messages of it."""
    in_prompt: tuple[Hit, ...] = ()
    """The hits that the session that asks has before it already, where nothing else is known."""
    unknown: tuple[str, ...] = ()
    """Those of the sessions that were asked for of which nothing is indexed."""
    searched: tuple[Source, ...] = ()
    """The sources that were searched."""
    degraded: tuple[str, ...] = ()
    """The parts that could not be searched as they should have been, each with the reason."""
    read_through: int = 0
    """The position of the log up to which all was searched."""
    index_failure: str = ""
    """The reason why the index cannot be written now, so that it may lack what the log has; empty: it can, as far as is
    known."""
    is_behind: bool = False
    """Whether the index lacks something that the log had when the question came, or nobody knows whether it does."""
    text: str = ""
    """The same for an agent to read."""
    error: str = ""


class AugmentAsk(Ask, frozen=True):
    """What of the project helps with this request? At most three searches and one question to a model answer it."""

    NAME: ClassVar[str] = "augment"

    project: str
    text: str = ""
    """The request, as a person has typed it."""
    session: str = ""
    """The session in which it is made: what its prompt shows already is not repeated. Empty: in none."""


class Augmentation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.augment`."""

    hits: tuple[Hit, ...] = ()
    """The hits that help: where each was found, and as its fragment the words that are quoted."""
    text: str = ""
    """The same to read. For a session it is the element that goes out behind the request, where there are hits."""
    notice: str = ""
    """The way in which the hits were chosen, in a sentence for the person."""
    model: str = ""
    """The model that has chosen them; empty: they are the best hits of the searches."""
    searches: tuple[str, ...] = ()
    """The queries that were searched for."""
    degraded: tuple[str, ...] = ()
    """The parts that could not be searched as they should have been, each with the reason."""
    error: str = ""


class ServedAsk(Ask, frozen=True):
    """What does this session have before it now, word for word or in its head? Asked by rooms."""

    NAME: ClassVar[str] = "served"

    project: str
    session: str


class Served(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.served`."""

    messages: tuple[str, ...] = ()
    """Whose text is sent as it is."""
    outputs: tuple[str, ...] = ()
    """The messages of which the outputs of tools are sent as they are."""
    memories: tuple[str, ...] = ()
    compartments: tuple[str, ...] = ()
    quarantined: tuple[str, ...] = ()
    """Sessions of the project of which all is taken back: no other session gets their messages."""
    quarantined_messages: tuple[tuple[str, str], ...] = ()
    """Single messages of which that is so: their session, and their id."""
    is_known: bool = True
    """Whether this is what is so: not where the question could not be answered."""
    error: str = ""


class IndexPositionAsk(Ask, frozen=True):
    """How far has the index read the log? Asked by rooms. The answer waits for a position, which is written at once."""

    NAME: ClassVar[str] = "index_position"

    seq: Count = 0
    """The position that the asker waits for; 0: none."""
    deadline_ms: Wait = 2_000
    """After this time the asker no longer listens."""


class IndexPosition(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reply to `ask.index_position`."""

    through: Count = 0
    """All up to this position is in the index."""
    error: str = ""
    failure: str = ""
    """The reason why the index cannot be written now; empty: it can."""


SEARCH = RequestReply(SearchAsk, Hits, order=20)
AUGMENT = RequestReply(AugmentAsk, Augmentation, order=30)
SERVED = RequestReply(ServedAsk, Served, order=40)
INDEX_POSITION = RequestReply(IndexPositionAsk, IndexPosition, order=50)
