"""The commands about changes of documents, next to the others of `schemas.commands`."""

from typing import ClassVar

from schemas.commands import Command


class DocsPropose(Command, frozen=True):
    """The dreamer proposes a change of a document of the project. It takes the place of one that waits."""

    TYPE: ClassVar[str] = "docs.propose"

    path: str
    """From the project's root."""
    digest: str
    """sha256 of the document that it was made from, in hex."""
    old: list[str]
    """The texts that are replaced, each of whole lines that are in the document once."""
    new: list[str]
    """The new text in place of each of `old`."""
    reason: str = ""
    """The reason for the changes, in lines."""


class DocsApply(Command, frozen=True):
    """A person has had a proposal written into the document of their working tree; nobody else writes it."""

    TYPE: ClassVar[str] = "docs.apply"

    path: str
    proposal: str
    """Its name, as `ask.docs` has it."""


class DocsDismiss(Command, frozen=True):
    """A person dismisses a proposal. None of its changes is proposed again."""

    TYPE: ClassVar[str] = "docs.dismiss"

    path: str
    proposal: str
    """Its name, as `ask.docs` has it."""
