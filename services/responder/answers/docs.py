"""The answer to `ask.docs`: which changes of documents were proposed for a project, and what was decided."""

from collections.abc import Awaitable, Callable, Iterator

from schemas.subjects import Address
from schemas.view_asks import DocProposalList, DocProposalReport, DocsAsk
from services.domain.aliases import GLOBAL
from services.domain.documents.proposals import DocProposals, evolve
from services.kit.nouns import NounReader
from services.responder.answers.base import Context, Question
from services.responder.projections.folds import ALIASES

NOUN = "docs"


def _open(context: Context) -> Callable[[DocsAsk], Awaitable[DocProposalList]]:
    reader = NounReader(context.kit.reader, (NOUN,))

    async def answer(ask: DocsAsk) -> DocProposalList:
        name = (await context.cache.state(ALIASES, GLOBAL)).project(ask.project)
        state = DocProposals()
        async for record in reader.after(0, Address(name).log_filter):  # whoever has just decided sees it
            if record.event is not None:
                state = evolve(state, record.event, record.envelope)
        return DocProposalList(tuple(_reports(state)))

    return answer


def _reports(state: DocProposals) -> Iterator[DocProposalReport]:
    for one in (*state.of("pending"), *state.of("applied"), *state.of("dismissed")):
        old, new = tuple(edit.old for edit in one.edits), tuple(edit.new for edit in one.edits)
        yield DocProposalReport(one.path, one.name, one.status, one.digest, old, new, one.reason)


DOCS = Question(DocsAsk, _open, lambda reason: DocProposalList(error=reason))
