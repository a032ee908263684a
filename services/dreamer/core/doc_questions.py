"""Questions to a model about sections of documents whose files have changed, or are gone, since people wrote them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from services.domain.documents.edits import Hunk, with_hunks
from services.domain.documents.lines import lines_of
from services.domain.secrets import mask
from services.domain.texts.injection import steers
from services.dreamer.core.doc_checks import ShownExcerpts, fault_of, words_shown
from services.dreamer.core.doc_folder import DocFolder
from services.dreamer.core.doc_paths import renamed
from services.dreamer.core.doc_sections import DocSection, SectionFiles, files_of, key_of, sections_of
from services.dreamer.core.drafts import DocDraft, drafts, proposal
from services.dreamer.core.sheet import DATA, about_offered, judged, listed
from services.dreamer.core.task import JudgedAnswer, QuestionSheet, Scene, TaskChange

MOST_BYTES = 6_000
"""Of a section that a model is asked about; a longer one is left to people."""
MOST_SHOWN = 48_000
"""Bytes of the items of one question."""
MOST_FILES, MOST_LINES, MOST_CHARACTERS = 5, 40, 2_000
"""Files whose beginnings go with a section, and the lines and characters of these."""
MOST_COMMITS, LONGEST_SUBJECT = 10, 300
"""Commits whose first lines go with a section, and characters of such a line; a longer one is left out."""
UNREADABLE = "\ufffd"
_SYSTEM = f"""\
You look after the documents of a software project. You are given sections of them, one JSON object per line: a \
handle, the document, the text, the first lines of commits that have changed files which the section names since it \
was written, the beginnings of these files, paths that the section names and that are gone, and folders next to those \
that it lists, which the document does not name. Paths begin in the folder of the document. Correct what a section \
says that no longer holds.

- Change as little as possible. Give a text back as it is where nothing in it is shown to be wrong.
- Keep headings, comments, code blocks, links and lists as they are, and all that is still right, word for word.
- Add a folder to a list of folders only where that is meant to be complete, and say what the files in it show.
- Use no name, path, number or address that is neither in the section nor in what goes with it.
- State what holds now. Do not report what has changed.

{DATA}

Answer with one JSON object and nothing else, with each handle once:
{{"sections": [{{"handle": "s1", "text": "..."}}]}}"""


class FileBeginning(msgspec.Struct, frozen=True):
    """The first lines of a file."""

    path: str
    text: str


class SectionItem(msgspec.Struct, frozen=True):
    """One section in the prompt of a question."""

    handle: str
    document: str
    text: str
    commits: tuple[str, ...]
    files: tuple[FileBeginning, ...]
    gone: tuple[str, ...]
    folders: tuple[str, ...] = ()
    """Those next to the ones that it lists, which the document does not name."""


class SectionText(msgspec.Struct, frozen=True):
    """One section in the answer."""

    handle: str
    text: str


class SectionTexts(msgspec.Struct, frozen=True):
    """The whole answer."""

    sections: tuple[SectionText, ...]


class OfferedSection(msgspec.Struct, frozen=True):
    """A section that a model may be asked about."""

    draft: DocDraft
    section: DocSection
    files: SectionFiles
    commits: tuple[str, ...]
    beginnings: tuple[FileBeginning, ...]

    @property
    def key(self) -> str:
        return key_of(self.draft.path, self.section.text, self.files)

    def item(self, handle: str) -> SectionItem:
        text = self.section.text.replace("\r\n", "\n")
        files = self.files
        return SectionItem(handle, self.draft.path, text, self.commits, self.beginnings, files.gone, files.added)


def offered_sections(scene: Scene) -> list[OfferedSection]:
    """The sections that a model was not asked about as they are, in the order of the documents."""
    found = (one for draft in drafts(scene) for one in _of_document(draft))
    return [one for one in found if one.key not in scene.asked]


def _of_document(draft: DocDraft) -> Iterator[OfferedSection]:
    """Those whose files have changed or are gone, and that no other change waits for but new paths."""
    if "\r\n" in draft.draft and draft.draft.count("\r\n") != draft.draft.count("\n"):
        return  # it is not known which of the two line endings a new line should have
    folder, commits = draft.folder, [*draft.folder.commits()]
    by_rules = sections_of(renamed(draft.text, folder)[0])
    sections = sections_of(draft.draft)
    for section, plain in zip(sections, by_rules, strict=False):
        text = section.text
        if text != plain.text or len(text.encode()) > MOST_BYTES or steers(text) or not text.strip():
            continue
        files = files_of(draft.draft, section, folder, commits)
        if files.changed or files.gone:
            subjects = tuple(one.subject for one in files.commits if _is_subject(one.subject))[:MOST_COMMITS]
            yield OfferedSection(draft, section, files, subjects, tuple(_beginnings(files.changed, folder)))


def _is_shown(text: str) -> bool:
    return mask(text) == text and UNREADABLE not in text and "\0" not in text


def _is_subject(text: str) -> bool:
    return len(text) <= LONGEST_SUBJECT and _is_shown(text)


def _beginnings(paths: Iterable[str], folder: DocFolder) -> Iterator[FileBeginning]:
    """The beginnings of the first of these files that are there and have no secret."""
    count = 0
    for path in paths:
        text = folder.text(path)
        if text is None or not _is_shown(text):
            continue
        lines, room = list[str](), MOST_CHARACTERS
        for line in lines_of(text)[:MOST_LINES]:
            room -= len(line)
            if room < 0:
                break
            lines.append(line)
        yield FileBeginning(path, "".join(lines))
        count += 1
        if count == MOST_FILES:
            return


def sheet_about(scene: Scene, most: int) -> QuestionSheet | None:
    """The next question, about so many sections at most; none: nothing is left."""
    offered: dict[str, OfferedSection] = {}
    items: list[SectionItem] = []
    room = MOST_SHOWN
    for number, one in enumerate(offered_sections(scene)[:most], 1):
        item = one.item(f"s{number}")
        room -= len(msgspec.json.encode(item))
        if items and room < 0:
            break
        offered[item.handle] = one
        items.append(item)
    if not items:
        return None
    return QuestionSheet(
        system=_SYSTEM,
        prompt=listed(f"Correct these {len(items)} sections, each under its handle.", items),
        shape=SectionTexts,
        check=lambda answer: about_offered(answer.sections, offered, "such as s1"),
        judge=lambda answer: judged_sections(answer, offered, scene),
    )


def judged_sections(answer: SectionTexts, offered: Mapping[str, OfferedSection], scene: Scene) -> JudgedAnswer:
    """One proposal for each document, of the sections with new texts that pass the checks."""
    accepted: dict[str, list[tuple[OfferedSection, str]]] = defaultdict(list)

    def decide(new: SectionText, one: OfferedSection) -> str | None:
        text = _as_in_document(new.text, one)
        if text == one.section.text:
            return None
        fault = _fault(text, one)
        if not fault:
            accepted[one.draft.path].append((one, text))
        return fault or None

    found = judged(answer.sections, offered, lambda one: one.key, decide)
    changes = [change for sections in accepted.values() for change in _proposed(scene, sections)]
    news = (key_of(path, text, one.files) for path, sections in accepted.items() for one, text in sections)
    return JudgedAnswer(tuple(changes), (*found.items, *news), found.dropped)


def _as_in_document(text: str, one: OfferedSection) -> str:
    """A text with the line endings and the blank end that the section has."""
    old = one.section.text
    plain = text.replace("\r\n", "\n").rstrip()
    plain = plain.replace("\n", "\r\n") if "\r\n" in one.draft.draft else plain
    return f"{plain}{old[len(old.rstrip()) :]}"


def _fault(text: str, one: OfferedSection) -> str:
    shown = (*one.commits, *(file.text for file in one.beginnings))
    names = (name for path in one.files.changed for name in (path, path.rpartition("/")[2]))
    words = frozenset(names).union(*map(words_shown, shown))
    return fault_of(
        one.draft.draft, one.section, text, frozenset(one.files.gone), ShownExcerpts(words, one.draft.folder)
    )


def _proposed(scene: Scene, sections: Sequence[tuple[OfferedSection, str]]) -> Iterator[TaskChange]:
    draft = sections[0][0].draft
    hunks = (Hunk(one.section.start, one.section.end, tuple(lines_of(text))) for one, text in sections)
    commits = (commit for one, _ in sections for commit in one.files.commits if _is_subject(commit.subject))
    reasons = [f"{commit.sha} {commit.subject}" for commit in commits]
    reasons += [f"there is no {draft.folder.from_root(path)}" for one, _ in sections for path in one.files.gone]
    reasons += [f"{draft.folder.from_root(path)} is new" for one, _ in sections for path in one.files.added]
    command = proposal(scene, draft, with_hunks(draft.draft, hunks), reasons)
    if command is not None:
        keys = " ".join(one.key for one, _ in sections)
        yield TaskChange(command, f"{draft.path}: a model has worded {len(sections)} sections anew", f"docs {keys}")
