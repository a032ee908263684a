"""The one table of tools: what each is for, by its name, whatever the harness.

Names stand as `plain` makes them. A tool that is not listed is judged by its arguments alone, see `request.py`.
"""

from functools import lru_cache

READERS = frozenset({"read", "readfile", "view"})
"""They show a file by lines."""
READS = READERS | {"notebookread"}
LISTINGS = frozenset({"list", "ls", "tree", "glob", "find", "listdirectory"})
SYMBOLS = frozenset({
    "lspdiagnostics", "lspsymbols", "lspfindreferences", "lspgotodefinition", "lspgotoimplementation",
    "lsphover", "lspdocumentsymbols", "lspworkspacesymbols", "lsppreparerename",
})  # fmt: skip
"""They ask a language server."""
SEARCHES = frozenset({
    "grep", "grepsearch", "searchfilecontent", "codesearch", "astgrepsearch", "websearch", "googlewebsearch",
})  # fmt: skip
LOOKUPS = LISTINGS | SYMBOLS | SEARCHES | {"webfetch"}
"""They look for something, in files or elsewhere."""
READ_ONLY = READS | LOOKUPS
"""Tools that change nothing: asked the same again, the newer answer is the one that holds."""

EDITS = frozenset({"edit", "multiedit", "notebookedit", "editfile", "strreplace", "replace"})
"""Tools that change a part of the file that their arguments name."""
WRITES = frozenset({"write", "writefile", "create", "createfile"})
"""Tools that write all of the file that their arguments name."""
PATCHES = frozenset({"patch", "applypatch"})
"""They take a text with `*** Update File: ...`, which may change several files."""
EDITORS = frozenset({"strreplaceeditor", "strreplacebasededittool"})
"""Tools that read, change and write; their argument `command` names which of these a call does."""
EDITOR_ACTIONS = {
    "view": "read",
    "create": "written",
    "str_replace": "edited",
    "insert": "edited",
    "undo_edit": "edited",
}
"""The `command` of an editor -> its effect on the file."""

TODO_WRITER = "todowrite"
"""The tool that an agent writes its list of things to do with."""
TODO_LISTS = frozenset({TODO_WRITER, "todoread"})
"""Tools whose answer is the whole list of things to do."""
RECEIPTS = frozenset({"planenter", "planexit", "taskupdate", "taskstop"})
"""Tools of an agent's plan whose answer only confirms the call."""

GUIDES = frozenset({"skill"})
"""Tools whose output says how to work."""
WAYFINDERS = READS | LISTINGS | SYMBOLS | GUIDES | {"lsp"}
"""Tools that an agent finds its way by: their outputs are worth the most later."""
WORKERS = EDITS | WRITES | PATCHES | EDITORS | SEARCHES | {"search"}
"""Tools that change files or search texts: their outputs are worth less than those, and more than all others."""

ACTIONS = {
    **dict.fromkeys(READS, "read"),
    **dict.fromkeys(EDITS, "edited"),
    **dict.fromkeys(WRITES, "written"),
}
"""The name of a tool -> its effect on the file that its arguments name."""

_PREFIX = "mcp_"
_SERVER = "mcp__"


@lru_cache(maxsize=1024)
def plain(tool: str) -> str:
    """A tool's name without what harnesses do to it: `mcp_Read_File` is `readfile`.

    Only the bare prefix goes: `mcp__wiki__read` is the tool of some server, which may do anything.
    """
    name = tool.lower()
    bare = name if name.startswith(_SERVER) else name.removeprefix(_PREFIX)
    return bare.replace("_", "").replace("-", "")


def is_ours(tool: str) -> bool:
    """Whether it is one of the tools of this service, whatever a harness puts before its name."""
    return "ctx_" in tool.lower()


SEARCH_TOOL = "ctx_search"
"""The tool of this service that finds what is known."""
_OUR_SEARCH = plain(SEARCH_TOOL)


def is_our_search(tool: str) -> bool:
    """Whether it is that tool, whatever a harness puts before its name."""
    return plain(tool).endswith(_OUR_SEARCH)
