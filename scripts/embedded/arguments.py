"""What `./start` was asked to do."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of one start."""

    port: int
    host: str
    demo: bool
    only_set_up: bool
    password_file: Path | None
    servers: tuple[str, ...]


class OneSentenceParser(argparse.ArgumentParser):
    """An argument parser that says what is wrong in one sentence, without the usage text."""

    def error(self, message: str) -> NoReturn:
        """Exit with 2, as every usage error does."""
        self.exit(2, f"./start: {message} (./start --help)\n")


def port_number(text: str) -> int:
    """A TCP port; raises the error that argparse prints."""
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f'wants a number from 1 to 65535, not "{text}"')
    return int(text)


def server_url(text: str) -> str:
    """A server's URL without a password: one on the command line could be read by every user of the machine."""
    try:
        parts = urlsplit(text)
        well_formed = parts.scheme == "mysql" and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        well_formed = False
    if not well_formed or not parts.username:
        raise argparse.ArgumentTypeError("a server's URL looks like mysql://user@host:3306")
    if parts.password is not None:
        raise argparse.ArgumentTypeError(
            "leave the password out of a server's URL, since other users of this machine could read it: "
            "it is asked for, or read from --password-file"
        )
    return text


def parse(arguments: list[str]) -> Request:
    """Read the arguments; exits with 2 and one sentence when they make no sense."""
    parser = OneSentenceParser(prog="./start", allow_abbrev=False, add_help=False)
    parser.add_argument("--port", type=port_number, default=8000)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--no-demo", action="store_true")
    parser.add_argument("--setup", action="store_true")
    parser.add_argument("--password-file", type=Path)
    parser.add_argument("servers", nargs="*", type=server_url)
    read = parser.parse_args(arguments)
    if read.password_file is not None and not read.servers:
        parser.error("--password-file is for servers that are named as mysql://user@host:port, and none is")
    # A pipe such as a shell's <(command) will do as well; it is read later, and only once.
    if read.password_file is not None and not read.password_file.exists():
        parser.error(f"there is no password file {read.password_file}")
    if read.password_file is not None and read.password_file.is_dir():
        parser.error(f"the password file {read.password_file} is a folder")
    if read.password_file is not None and not os.access(read.password_file, os.R_OK):
        parser.error(f"the password file {read.password_file} cannot be read")
    return Request(
        port=read.port,
        host=read.host,
        demo=not read.no_demo,
        only_set_up=read.setup,
        password_file=read.password_file,
        servers=tuple(read.servers),
    )
