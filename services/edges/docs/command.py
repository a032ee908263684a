"""`annals docs`, run: what the dreamer has proposed, and what a person decides about it.

Nothing but `apply` writes a document, and only in the working tree where it is typed. It neither stages nor commits.
"""

import argparse
from collections.abc import Sequence
from difflib import get_close_matches, unified_diff
from pathlib import Path
from shlex import quote
from uuid import uuid4

from schemas.commands import Answer, Command
from schemas.document_commands import DocsApply, DocsDismiss
from schemas.envelope import Actor
from schemas.subjects import Address, BadSubject
from schemas.view_asks import DocProposalList, DocProposalReport, DocsAsk
from services.domain.documents.edits import EditMisfit, edited
from services.domain.documents.lines import lines_of
from services.domain.documents.proposals import LONGEST_PATH, edits_in
from services.domain.finding import echo
from services.edges.asking import answer
from services.edges.docs.file import TreeDocument, UnfitDocument, read_document, write_document
from services.edges.memory.place import PATIENCE, NoProject, project_meant, working_tree
from services.edges.person import HARNESS, name_of_person, person_bus, refused
from services.edges.terminal import write, write_json
from services.kit.bus import Bus, TooLarge, Unreachable
from services.kit.commands import send
from services.kit.project_name import is_of
from services.settings import Settings

NONE = "Nothing was proposed yet: the dreamer's task maintain_docs does that (`annals dream run maintain_docs`)."
AGAIN = "run `annals dream run maintain_docs` for a new proposal, or dismiss this one with `annals docs dismiss"


class NoProposal(LookupError):
    """Nothing is done, as there is no proposal that it could be done with; says what there is."""


async def docs(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Run one action; its exit status: 0 where it is done, 1 where it is refused, with a sentence why."""
    try:
        async with person_bus(settings, "docs") as bus:
            project = await project_meant(bus, options.project, here)
            proposals = await _proposals(bus, project)
            match options.action:
                case "list":
                    return _list(options, project, proposals)
                case "show":
                    return await _show(options, project, proposals, here)
                case "apply":
                    return await _apply(bus, options, project, _waiting(proposals, options.path), here)
                case _:
                    return await _dismiss(bus, options, project, _waiting(proposals, options.path))
    except (NoProject, NoProposal, UnfitDocument, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused("what you have given is no Unicode text: leave out the bytes that are none")


async def _proposals(bus: Bus, project: str) -> Sequence[DocProposalReport]:
    """The newest proposal for each document. Raises `NoProposal` where they cannot be read."""
    reply = await answer(bus, DocsAsk(project), DocProposalList, PATIENCE, project)
    if reply.error:
        raise NoProposal(f"the proposals cannot be read ({reply.error}): try again in a moment")
    return reply.proposals


def _waiting(proposals: Sequence[DocProposalReport], path: str) -> DocProposalReport:
    """The proposal for a document that waits for a decision. Raises `NoProposal`."""
    found = next((one for one in proposals if one.path == path), None)
    if found is None:
        names = {one.path.lower(): one.path for one in proposals}
        like = get_close_matches(path.lower()[:LONGEST_PATH], names, 1)
        known = f"did you mean {names[like[0]]}?" if like else "`annals docs list` shows what there is"
        raise NoProposal(f"no change was proposed for {echo(path)}: {known}")
    if found.status != "pending":
        raise NoProposal(f"the change of {path} is {found.status} already: `annals docs list` shows what there is")
    return found


def _list(options: argparse.Namespace, project: str, proposals: Sequence[DocProposalReport]) -> int:
    if options.json:
        write_json({"project": project, "proposals": proposals})
        return 0
    for one in proposals:
        changes = "1 change" if len(one.old) == 1 else f"{len(one.old)} changes"
        write(f"{one.status:<9}  {one.path}  ({changes})")
        write("\n".join(f"           {line}" for line in one.reason.splitlines()) or "           no reason was given")
    if not proposals:
        write(NONE)
    if any(one.status == "pending" for one in proposals):
        write("`annals docs show PATH` shows a change, `apply PATH` writes it, and `dismiss PATH` dismisses it.")
    return 0


async def _show(options: argparse.Namespace, project: str, proposals: Sequence[DocProposalReport], here: Path) -> int:
    """Print the diff of one document, or of all that have a change that waits."""
    chosen = [_waiting(proposals, options.path)] if options.path else [one for one in proposals if _is_open(one)]
    tree = await _tree(project, here)
    shown = [(one, *_diff(one, tree)) for one in chosen]
    if options.json:
        given = [{"path": one.path, "diff": diff, "problem": problem} for one, diff, problem in shown]
        write_json({"project": project, "documents": given})
        return 0
    for one, diff, problem in shown:
        write(f"{one.path}: {'; '.join(one.reason.splitlines()) or 'no reason was given'}")
        if problem:
            write(f"This cannot be applied here: {problem}.")
        write(diff)
    if not shown:
        write(NONE if not proposals else "No change waits: `annals docs list` shows what was decided.")
    return 0


def _is_open(proposal: DocProposalReport) -> bool:
    return proposal.status == "pending"


async def _tree(project: str, here: Path) -> Path | None:
    """The working tree of the project that a person is in; none: they are in none of it."""
    tree = working_tree(here)
    return tree if await is_of(project, here, tree) else None


def _diff(proposal: DocProposalReport, tree: Path | None) -> tuple[str, str]:
    """The changes, and the reason why they cannot be applied to the document as it is here; empty: they can."""
    try:
        document = _document(tree, proposal.path)
        result = _edited(document, proposal)
        if result == document.text:
            return "It has these changes already: `annals docs apply` records that.", ""
        return _unified(proposal.path, document.text, result), ""
    except UnfitDocument as error:
        pairs = zip(proposal.old, proposal.new, strict=False)
        return "\n".join(_unified(proposal.path, old, new) for old, new in pairs), str(error)


def _document(tree: Path | None, name: str) -> TreeDocument:
    """The document in the working tree. Raises `UnfitDocument`."""
    if tree is None:
        raise UnfitDocument("this is no working tree of the project; go to one")
    return read_document(tree, name)


def _unified(name: str, before: str, after: str) -> str:
    """A diff of two texts. A carriage return before the end of a line is part of it, and is spelled out."""
    return "".join(_whole(line) for line in unified_diff(lines_of(before), lines_of(after), name, name)).rstrip("\n")


def _whole(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _edited(document: TreeDocument, proposal: DocProposalReport) -> str:
    """The document with the change. Raises `UnfitDocument` where it does not fit."""
    try:
        return edited(document.text, edits_in(proposal.old, proposal.new))
    except EditMisfit as error:
        raise UnfitDocument(
            f"it does not fit {proposal.path} as it is here, since {error}: {AGAIN} {proposal.path}`"
        ) from error


async def _apply(bus: Bus, options: argparse.Namespace, project: str, proposal: DocProposalReport, here: Path) -> int:
    """Write the change into the document of the working tree, and have that recorded."""
    if bus.user == HARNESS:
        return refused(
            "a document is only changed by a person, and the password that is set is that of harnesses: set that of "
            "people in ANNALS_NATS__PASSWORD"
        )
    tree = await _tree(project, here)
    if tree is None:
        return refused(f"{here} is no working tree of {project}: go to one, and type the command there")
    document = read_document(tree, proposal.path)
    result = _edited(document, proposal)
    is_written = result != document.text
    if is_written:
        write_document(document, result)
    done = f"{document.path} is changed" if is_written else f"{document.path} has these changes already"
    place = proposal.path if here == tree else f":/{proposal.path}"  # git takes others from where it is typed
    text = f"{done}. `git diff -- {quote(place)}` shows that; nothing was staged or committed."
    try:
        decided = await _sent(bus, project, DocsApply(proposal.path, proposal.name))
    except Unreachable as error:
        return refused(f"{done}, which could not be recorded ({error}): type the command again")
    if options.json:
        write_json(
            {"ok": decided.ok, "text": f"{text} {decided.text}", "path": str(document.path), "written": is_written}
        )
    if not decided.ok:
        return refused(f"{done}, and that was not recorded. {decided.text}")
    if not options.json:
        write(text)
    return 0


async def _dismiss(bus: Bus, options: argparse.Namespace, project: str, proposal: DocProposalReport) -> int:
    decided = await _sent(bus, project, DocsDismiss(proposal.path, proposal.name))
    if options.json:
        write_json({"ok": decided.ok, "text": decided.text})
    if not decided.ok:
        return refused(decided.text)
    if not options.json:
        write(decided.text)
    return 0


async def _sent(bus: Bus, project: str, command: Command) -> Answer:
    actor = Actor("person", name_of_person())
    return await send(bus, Address(project), command, name=f"person-{uuid4()}", actor=actor)
