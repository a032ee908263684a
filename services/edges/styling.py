"""Tables, colours and progress on the terminal, whose texts are as safe to look at as all that a command prints."""

from typing import NoReturn, TextIO

from rich.console import Console
from rich.text import Text

from services.edges.terminal import printable


def styled(text: str, style: str = "") -> Text:
    """A text for a table or a line in colour: square brackets in it are no markup."""
    return Text(printable(text), style)


class TerminalConsole(Console):
    """A console that leaves it to the command what to do where nobody reads its output any more."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise the error again that it has met."""
        raise  # noqa: PLE0704 - the library calls this where it handles the error


def console(file: TextIO | None = None, *, width: int | None = None, soft_wrap: bool = False) -> Console:
    """The console for tables, colours and progress: standard output, or this file. Texts in it are never markup."""
    return TerminalConsole(file=file, width=width, soft_wrap=soft_wrap, markup=False, emoji=False, highlight=False)
