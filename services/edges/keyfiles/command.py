"""`annals keyfiles`, run: what the dreamer has proposed, and what a person decides about it."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from schemas.commands import KeyFileAccept, KeyFileDecision, KeyFileDismiss, KeyFileRemove
from schemas.subjects import Address, BadSubject
from schemas.view_asks import KeyFileList, KeyFilesAsk
from services.domain.often import often
from services.edges.asking import answer
from services.edges.memory.place import PATIENCE, NoProject, project_meant
from services.edges.person import NO_TEXT, person_bus, print_answer, refused, send_as_person
from services.edges.terminal import write_json, write_lines
from services.kit.bus import Bus, TooLarge, Unreachable
from services.settings import Settings

COMMANDS: Mapping[str, type[KeyFileDecision]] = {
    "accept": KeyFileAccept,
    "dismiss": KeyFileDismiss,
    "remove": KeyFileRemove,
}
NONE = (
    "Nothing was proposed yet: the dreamer's task key_files does that (`annals dream run key_files`), and "
    "plan.key_files names files without it."
)


async def keyfiles(options: argparse.Namespace, settings: Settings, here: Path) -> int:
    """Run one action; its exit status: 0 where it is done, 1 where it is refused, with a sentence why."""
    try:
        async with person_bus(settings, "keyfiles") as bus:
            project = await project_meant(bus, options.project, here)
            return await (_list if options.action == "list" else _decide)(bus, options, project)
    except (NoProject, Unreachable, TooLarge, BadSubject) as error:
        return refused(str(error))
    except UnicodeEncodeError:
        return refused(NO_TEXT)


async def _list(bus: Bus, options: argparse.Namespace, project: str) -> int:
    reply = await answer(bus, KeyFilesAsk(project), KeyFileList, PATIENCE, project)
    if reply.error:
        return refused(f"the key files cannot be read ({reply.error}): try again in a moment")
    if options.json:
        write_json({"project": project, "files": reply.files})
    else:
        write_lines(_lines(reply))
    return 0


def _lines(reply: KeyFileList) -> Iterator[str]:
    if not reply.files:
        yield NONE
    for one in reply.files:
        yield f"{one.status:<9}  {one.path}  (read {often(one.reads)}, changed {often(one.edits)}, {one.size} bytes)"
    if any(one.status == "pending" for one in reply.files):
        yield "`annals keyfiles accept PATH` puts one at the head of prompts, and `dismiss PATH` dismisses it."


async def _decide(bus: Bus, options: argparse.Namespace, project: str) -> int:
    decided = await send_as_person(bus, Address(project), COMMANDS[options.action](options.paths))
    return print_answer(decided, as_json=options.json)
