"""The lane that takes old images out of prompts and answers of tools, once the agent has seen them and gone on.

What they showed was written down then.
"""

from collections.abc import Iterator

from schemas.plan import ReplaceText
from services.domain.attachments import is_picture_of_prompt, is_picture_of_tool
from services.domain.conversation import Part
from services.domain.tokens import tokens
from services.plan.lanes.base import Change, Lane, View, spares_firm
from services.plan.lanes.dropping import calls, drop
from services.plan.lanes.drops import placeholder
from services.plan.lanes.tool_pairs import IdleCall
from services.plan.lanes.turns import Ages, ages, is_free

NAME = "images"


def rebase(view: View) -> Change:
    known = ages(view)
    answered = view.index.answers[-1].ordinal if view.index.answers else 0
    edits: list[ReplaceText] = []
    reclaimed = 0
    for part in _of_prompts(view, known, answered):
        text = placeholder(part.number)
        edits.append(ReplaceText(part=part.recorded.part, text=text, by=(part.seq, part.tag_seq), lane=NAME))
        reclaimed += part.recorded.tokens - tokens(len(text.encode()))
    numbers = tuple(view.session.conversation.parts[edit.part].number for edit in edits)
    outputs = drop(view, NAME, map(IdleCall, _of_tools(view, known, answered)))
    return Change((*edits, *outputs.edits), (*numbers, *outputs.dropped), reclaimed + outputs.reclaimed)


def _of_prompts(view: View, known: Ages, answered: int) -> Iterator[Part]:
    """Images of prompts that stand before an answer, older than the protected tags."""
    for placed in view.index.prompts:
        if placed.ordinal > answered:
            return
        for part in placed.parts:
            recorded = part.recorded
            if recorded.kind != "file" or not known.is_old(part.number):
                continue
            if is_picture_of_prompt(recorded, part.head) and view.is_whole(recorded.part) and is_free(view, part):
                yield part


def _of_tools(view: View, known: Ages, answered: int) -> Iterator[Part]:
    """Answers of tools that are little else than images, under the same conditions: an answer comes behind them."""
    with_attachments = [part for part in view.index.calls if part.recorded.attachment_tokens]
    for part in calls(view, [part for part in with_attachments if is_picture_of_tool(part.recorded)]):
        if known.is_old(part.number) and view.session.conversation.place(part.recorded.part) < answered:
            yield part


LANE = Lane(NAME, spares_firm=spares_firm, rebase=rebase, order=80, empties=True)
