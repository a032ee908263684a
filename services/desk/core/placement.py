"""Which commands are about a whole project, and which about one session."""

from schemas.commands import (
    Command,
    HistoryOrder,
    HistoryRebuild,
    HistoryRescore,
    SettingsApply,
    SpendReserve,
    SpendSettle,
)
from schemas.subjects import Address
from services.desk.core.aliases import COMMANDS as OF_NAMES
from services.desk.core.book.permission import OF_PROJECTS as OF_BOOKS

OF_LEDGERS = (SpendReserve, SpendSettle)
OF_SESSIONS = (HistoryOrder, HistoryRebuild, HistoryRescore)


def misplaced(address: Address, command: Command) -> str:
    """What is wrong with the address of a command; empty: nothing is."""
    right = Address(address.project).command(command.TYPE)
    if isinstance(command, OF_LEDGERS) and address.session:
        return f"{command.TYPE} is about the whole project: send it to {right}, and name the session in `session`."
    if isinstance(command, (*OF_BOOKS, *OF_NAMES, SettingsApply)) and address.session:
        return f"{command.TYPE} is about the whole project: send it to {right}."
    if isinstance(command, OF_SESSIONS) and not address.session:
        return f"{command.TYPE} is about one session: name it in the subject."
    return ""
