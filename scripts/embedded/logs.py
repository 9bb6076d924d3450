"""The one readable log on the terminal: the programs' log files, followed, each line with its program's name."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path


class FollowedFile:
    """A growing file, read line by line; it may be rotated away or not exist yet."""

    def __init__(self, file: Path, *, from_end: bool) -> None:
        self._file = file
        self._inode: int | None = None
        self._position = 0
        self._partial = b""
        if from_end and file.exists():
            status = file.stat()
            self._inode, self._position = status.st_ino, status.st_size

    def new_lines(self) -> list[str]:
        """Complete lines written since the last call, decoded leniently; control characters are made harmless."""
        try:
            with self._file.open("rb") as source:
                status = os.fstat(source.fileno())
                if status.st_ino != self._inode or status.st_size < self._position:
                    self._inode, self._position, self._partial = status.st_ino, 0, b""
                source.seek(self._position)
                read = source.read(1 << 20)
        except OSError:
            return []
        self._position += len(read)
        *lines, self._partial = (self._partial + read).split(b"\n")
        return [printable(line.decode(errors="replace")) for line in lines]


def printable(line: str) -> str:
    """The line without escape sequences' first character: what a server says must not steer somebody's terminal."""
    return "".join(
        character if character.isprintable() or character == "\t" else "·" for character in line.rstrip("\r")
    )


class TerminalLog:
    """All programs' logs as one."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._width = max(map(len, files))
        # What stands in the files from earlier starts has been read.
        self._followed = {name: FollowedFile(file, from_end=True) for name, file in files.items()}

    def new_lines(self) -> Iterator[str]:
        """What the programs wrote since the last call, as `name | line`."""
        for name, followed in self._followed.items():
            for line in followed.new_lines():
                if line.strip():
                    yield f"{name:<{self._width}} | {line}"
