"""`annals` as a process: a copy of one that has loaded it, where the system can copy processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from tests.helpers.copied_commands import ANNALS, Run
from tests.helpers.shared_rooms import COMMANDS, loaded


def annals(
    *words: str, environment: Mapping[str, str], folder: Path | None = None, text: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run a command to its end, in this folder. `text`: what it reads from its standard input."""
    place = folder or Path.cwd()
    if sys.platform != "linux":
        return subprocess.run(
            [sys.executable, "-m", ANNALS, *words],
            env=environment,
            cwd=place,
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
    run = Run(
        ANNALS,
        tuple(map(os.fsencode, words)),
        tuple((os.fsencode(name), os.fsencode(value)) for name, value in environment.items()),
        os.fsencode(place),
    )
    with TemporaryFile() as given, TemporaryFile() as output, TemporaryFile() as errors:
        given.write(text.encode(errors="surrogateescape"))
        given.seek(0)
        status = _status(run, [stream.fileno() for stream in (given, output, errors)])
        for stream in (output, errors):
            stream.seek(0)
        return subprocess.CompletedProcess(words, status, output.read().decode(), errors.read().decode())


def _status(run: Run, streams: list[int]) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(loaded() / COMMANDS))
        socket.send_fds(connection, [b"\n"], streams)
        connection.sendall(msgspec.json.encode(run))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            return int(answer.read())
