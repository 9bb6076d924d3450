"""The buffer pool's size: what a server makes of a value, and whether it takes it without a restart. Sizes are bytes.

Three generations: multiples of chunk x instances (MySQL, MariaDB up to 10.5), multiples of one chunk (MariaDB 10.6 to
10.11.11 and 11.4.5), and whole MiB below a ceiling set at start-up (MariaDB from 10.11.12, 11.4.6 and 11.8 on). They
are told apart by the variables a server has, since distributions carry the change back.
"""

from __future__ import annotations

from collections.abc import Mapping

from advisor.mysql.version import ServerVersion

MIB = 1 << 20

_DEFAULT_CHUNK_BYTES = 128 * MIB


def size_step(server: ServerVersion, variables: Mapping[str, str]) -> int:
    """What innodb_buffer_pool_size is rounded up to on this server, in bytes."""
    if "innodb_buffer_pool_size_max" in variables:
        return MIB
    chunk = _whole(variables, "innodb_buffer_pool_chunk_size", _DEFAULT_CHUNK_BYTES)
    if chunk == 0:
        return MIB
    # MariaDB 10.6 removed the instances; where the variable is still shown by 10.5 it counts for the rounding.
    instances = _whole(variables, "innodb_buffer_pool_instances", 1)
    return chunk * max(1, instances)


def rounded_pool_size(server: ServerVersion, variables: Mapping[str, str], size_bytes: int) -> int:
    """The size the server will show after it was set to ``size_bytes``: rounded up to ``size_step``."""
    step = size_step(server, variables)
    return max(step, -(-size_bytes // step) * step)


def ceiling(variables: Mapping[str, str]) -> int | None:
    """The largest size that takes effect without a restart; None where there is no such ceiling.

    MariaDB 11.8 reserves address space once, at start-up: a larger value is accepted with a warning and changes
    nothing.
    """
    text = variables.get("innodb_buffer_pool_size_max", "")
    return int(text) if text.isdigit() and int(text) > 0 else None


def resizable_to(variables: Mapping[str, str], size_bytes: int) -> bool:
    """Whether ``SET GLOBAL innodb_buffer_pool_size`` to this size takes effect without a restart."""
    highest = ceiling(variables)
    return highest is None or size_bytes <= highest


def _whole(variables: Mapping[str, str], name: str, default: int) -> int:
    text = variables.get(name, "")
    return int(text) if text.isdigit() else default
