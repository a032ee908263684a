"""The answer to `ask.keyfiles`: what was proposed as key files of a project, and what was decided."""

from collections.abc import Awaitable, Callable, Iterator

from schemas.subjects import Address
from schemas.view_asks import KeyFileList, KeyFileReport, KeyFilesAsk
from services.domain.aliases import GLOBAL
from services.domain.key_files import KeyFile
from services.domain.project_settings import ProjectSettings, evolve
from services.kit.nouns import NounReader
from services.responder.answers.base import Context, Question
from services.responder.projections.folds import ALIASES, SETTINGS


def _open(context: Context) -> Callable[[KeyFilesAsk], Awaitable[KeyFileList]]:
    reader = NounReader(context.kit.reader, SETTINGS.nouns)

    async def answer(ask: KeyFilesAsk) -> KeyFileList:
        name = (await context.cache.state(ALIASES, GLOBAL)).project(ask.project)
        state = ProjectSettings()
        async for record in reader.after(0, Address(name).log_filter):  # whoever has just decided sees it
            if record.event is not None:
                state = evolve(state, record.event, record.envelope)
        return KeyFileList(tuple(_reports(state)))

    return answer


def _reports(state: ProjectSettings) -> Iterator[KeyFileReport]:
    accepted = (state.files.known.get(path, KeyFile(path)) for path in state.accepted)
    for one in (*state.files.of("pending"), *accepted, *state.files.of("dismissed")):
        yield KeyFileReport(one.path, one.status, one.use.reads, one.use.edits, one.size)


KEY_FILES = Question(KeyFilesAsk, _open, lambda reason: KeyFileList(error=reason))
