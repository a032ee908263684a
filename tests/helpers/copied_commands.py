"""`python -m MODULE` as a copy of a process that has loaded what our commands need: the rest is as in a new process.

It has arguments, variables, a folder, streams and an exit status of its own. To load takes seconds, to copy
milliseconds.
"""

import ast
import os
import runpy
import signal
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import msgspec

ANNALS = "services.edges.cli"
ALONE = {"services.edges.erase.command"}
"""What begins threads when it is imported, which a copy would not have: it is imported by the command that needs it."""
STREAMS = 3


class Run(msgspec.Struct, frozen=True):
    """Run a module as a program. All are bytes, as the system has them: a home may have a name that is no UTF-8."""

    module: str
    words: tuple[bytes, ...]
    environment: tuple[tuple[bytes, bytes], ...]
    folder: bytes


def load() -> Mapping[bytes, bytes]:
    """Import what each command imports when it is run; the variables that this has set."""
    before = dict(os.environb)
    for module in sorted({*_imported_when_run()} - ALONE):
        import_module(module)
    return {name: value for name, value in os.environb.items() if before.get(name) != value}


def _imported_when_run() -> Iterator[str]:
    spec = find_spec(ANNALS)
    assert spec is not None
    assert spec.origin is not None
    for node in ast.walk(ast.parse(Path(spec.origin).read_text())):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("services."):
            yield str(node.module)


def attend(asker: socket.socket, variables: Mapping[bytes, bytes]) -> NoReturn:
    """Run what is asked for with the three streams that come with it, and answer with its exit status.

    `variables`: those that were set by what is loaded, which the caller's own precede.
    """
    _, streams, _, _ = socket.recv_fds(asker, 1, STREAMS)
    with asker.makefile("rb") as asked:
        run = msgspec.json.decode(asked.read(), type=Run)
    pid = os.fork()
    if not pid:
        asker.close()
        _become(run, streams, variables)
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(pid, 0)
    asker.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(run: Run, streams: Sequence[int], variables: Mapping[bytes, bytes]) -> NoReturn:
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(run.folder)
    os.environ.clear()
    os.environb.update({**variables, **dict(run.environment)})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv = [run.module, *map(os.fsdecode, run.words)]
    code = _ran(run.module)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _ran(module: str) -> int:
    """The exit status that the interpreter would end with."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        sys.stderr.write(f"{end.code}\n")
        return 1
    except BaseException:  # noqa: BLE001 - as the interpreter does with whatever nobody catches
        traceback.print_exc()
        return 1
    return 0
