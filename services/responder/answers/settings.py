"""The answer to `ask.settings`: what a project has set for itself, and which of its files are wanted then."""

from collections.abc import Awaitable, Callable

from schemas.codec import decode_event, encode
from schemas.events import SettingsApplied
from schemas.subjects import Address
from schemas.view_asks import ProjectSettingsAsk, ProjectSettingsReply
from services.domain.aliases import GLOBAL
from services.domain.project_settings import own_values, set_in, settings_of, with_own
from services.plan.head.documents import at_the_head
from services.responder.answers.base import Context, Question
from services.responder.answers.client_manifest import DOCUMENT_BYTES
from services.responder.projections.folds import ALIASES


def _open(context: Context) -> Callable[[ProjectSettingsAsk], Awaitable[ProjectSettingsReply]]:
    settings = context.kit.settings
    installation = encode(own_values(settings.plan, settings.history, settings.memory, settings.dream)).decode()

    async def answer(question: ProjectSettingsAsk) -> ProjectSettingsReply:
        name = question.project
        if not question.is_of_name:
            name = (await context.cache.state(ALIASES, GLOBAL)).project(name)
        subject = Address(name).log(SettingsApplied.TYPE)
        newest = await context.kit.reader.last(subject)  # whoever has just set something sees it
        event = decode_event(newest) if newest is not None else None
        own = settings_of(event) if isinstance(event, SettingsApplied) else {}
        return ProjectSettingsReply(
            seq=newest.seq if newest is not None else 0,
            settings=encode(dict(set_in(own))).decode(),
            installation=installation,
            documents=at_the_head(with_own(context.limits, own)),
            document_bytes=DOCUMENT_BYTES,
        )

    return answer


PROJECT_SETTINGS = Question(ProjectSettingsAsk, _open, lambda reason: ProjectSettingsReply(error=reason))
