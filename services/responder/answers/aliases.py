"""The answer to `ask.aliases`: what became of the names of projects, in the order of the log."""

from collections.abc import Awaitable, Callable

import msgspec

from schemas.view_asks import AliasChange, AliasesAsk, ProjectAliases
from services.responder.answers.base import LONG, Context, Question
from services.responder.answers.view_rows import view_rows

MOST = 10_000
CHANGES = """\
select seq, 'added' as change, alias, leads_to, how from alias_added
union all by name select seq, 'proposed' as change, alias, leads_to, directory, reason from alias_proposed
union all by name select seq, 'removed' as change, alias, leads_to from alias_removed
order by seq"""


def _open(context: Context) -> Callable[[AliasesAsk], Awaitable[ProjectAliases]]:
    async def answer(_: AliasesAsk) -> ProjectAliases:
        rows = await view_rows(context, CHANGES, max_rows=MOST)
        given = [{name: value for name, value in row.items() if value is not None} for row in rows]
        return ProjectAliases(tuple(msgspec.convert(given, list[AliasChange])))

    return answer


ALIASES = Question(AliasesAsk, _open, lambda reason: ProjectAliases(error=reason), LONG)
