"""The facts of the log, one module for each noun, which ends with its `EVENTS`. Here they are one vocabulary."""

from schemas.events import (
    adapter,
    alias,
    call,
    commit,
    commits,
    compartment,
    docs,
    document,
    dream,
    drop,
    erasure,
    fact,
    file,
    flush,
    hint,
    history,
    limit,
    memory,
    message,
    model,
    native,
    note,
    observation,
    overflow,
    part,
    plan,
    policy,
    profile,
    project,
    prompt,
    question,
    session,
    settings,
    signature,
    spend,
    step,
    tag,
    task,
    todo,
    tool,
    toolset,
    usage,
)
from schemas.events.adapter import *
from schemas.events.alias import *
from schemas.events.base import Event as Event
from schemas.events.base import LogOnly as LogOnly
from schemas.events.call import *
from schemas.events.commit import *
from schemas.events.commits import *
from schemas.events.compartment import *
from schemas.events.docs import *
from schemas.events.document import *
from schemas.events.dream import *
from schemas.events.drop import *
from schemas.events.erasure import *
from schemas.events.fact import *
from schemas.events.file import *
from schemas.events.flush import *
from schemas.events.hint import *
from schemas.events.history import *
from schemas.events.limit import *
from schemas.events.memory import *
from schemas.events.message import *
from schemas.events.model import *
from schemas.events.native import *
from schemas.events.note import *
from schemas.events.observation import *
from schemas.events.overflow import *
from schemas.events.part import *
from schemas.events.plan import *
from schemas.events.policy import *
from schemas.events.profile import *
from schemas.events.project import *
from schemas.events.prompt import *
from schemas.events.question import *
from schemas.events.session import *
from schemas.events.settings import *
from schemas.events.signature import *
from schemas.events.spend import *
from schemas.events.step import *
from schemas.events.tag import *
from schemas.events.task import *
from schemas.events.todo import *
from schemas.events.tool import *
from schemas.events.toolset import *
from schemas.events.usage import *

EVENTS = (
    *project.EVENTS,
    *alias.EVENTS,
    *settings.EVENTS,
    *document.EVENTS,
    *docs.EVENTS,
    *adapter.EVENTS,
    *session.EVENTS,
    *message.EVENTS,
    *part.EVENTS,
    *tool.EVENTS,
    *file.EVENTS,
    *todo.EVENTS,
    *tag.EVENTS,
    *usage.EVENTS,
    *model.EVENTS,
    *toolset.EVENTS,
    *native.EVENTS,
    *call.EVENTS,
    *overflow.EVENTS,
    *signature.EVENTS,
    *limit.EVENTS,
    *step.EVENTS,
    *drop.EVENTS,
    *flush.EVENTS,
    *history.EVENTS,
    *spend.EVENTS,
    *question.EVENTS,
    *memory.EVENTS,
    *note.EVENTS,
    *policy.EVENTS,
    *profile.EVENTS,
    *dream.EVENTS,
    *task.EVENTS,
    *compartment.EVENTS,
    *fact.EVENTS,
    *observation.EVENTS,
    *commit.EVENTS,
    *commits.EVENTS,
    *plan.EVENTS,
    *prompt.EVENTS,
    *erasure.EVENTS,
    *hint.EVENTS,
)
"""Every event, in the order of the pages that are made of them."""
