"""The redo limits are computed to the byte: compared with what real servers report for sizes drawn at random.

The draws differ in every run; TIDEMARK_TEST_SEED repeats one (a failure prints it).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from advisor.mysql import redo
from advisor.mysql.redo import MIB, RedoLimits, RedoUnknown
from advisor.mysql.version import ServerVersion, identify
from tests.servers import RunningServer, ServerDidNotStart, places, start_server
from tests.servers.fixtures import every_server, server_params

SEED = int(os.environ.get("TIDEMARK_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
DRAWS = 3

PAGE_SIZES = (4096, 16384, 65536)
#: From which size to which the three draws go, in MiB: near the minimum, usual, large.
SIZES = ((8, 24), (48, 128), (160, 400))

_METRICS = ("log_max_modified_age_async", "log_max_modified_age_sync", "log_concurrency_margin")
_VARIABLES = (
    "version",
    "version_comment",
    "innodb_page_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_log_buffer_size",
    "innodb_redo_log_capacity",
    "innodb_thread_concurrency",
    "server_uuid",
    "aria_block_size",
)


@dataclass(frozen=True)
class Draw:
    """One configuration: the redo log's whole size, its files, the page size, innodb_thread_concurrency."""

    total_bytes: int
    files: int
    page_size: int
    thread_concurrency: int


def draws(name: str) -> list[Draw]:
    """Three configurations of a server, each of another page size and another order of size."""
    chance = random.Random(f"{SEED} {name}")
    pages = list(PAGE_SIZES)
    chance.shuffle(pages)
    return [
        Draw(
            total_bytes=chance.randrange(low * MIB, high * MIB),
            files=chance.randint(2, 5),
            page_size=page,
            # Large ones would need more than the smallest log has with large pages: the server then does not start.
            thread_concurrency=chance.choice((0, chance.randint(1, 8 if low < 48 else 64))),
        )
        for (low, high), page in zip(SIZES, pages, strict=True)
    ]


def one_file(number: tuple[int, ...], flavor: str) -> bool:
    return flavor == "mariadb" and number >= (10, 5)


def options_for(name: str, draw: Draw) -> dict[str, str | None]:
    """The options that give a server this configuration."""
    installation = places.find(name)
    assert installation is not None
    number = tuple(int(part) for part in installation.version.split("."))
    options: dict[str, str | None] = {
        "innodb_page_size": str(draw.page_size),
        "innodb_monitor_enable": "log%",
    }
    if installation.flavor == "mysql" and number >= (8, 0, 30):
        options["innodb_redo_log_capacity"] = str(draw.total_bytes)
    elif one_file(number, installation.flavor):
        options["innodb_log_file_size"] = str(draw.total_bytes)
    else:
        options["innodb_log_file_size"] = str(max(4 * MIB, draw.total_bytes // draw.files))
        options["innodb_log_files_in_group"] = str(draw.files)
    if installation.flavor == "mysql" or number < (10, 6):
        options["innodb_thread_concurrency"] = str(draw.thread_concurrency)
    return options


def shown(server: RunningServer) -> dict[str, str]:
    names = ", ".join(f"'{name}'" for name in _VARIABLES)
    return {str(n): str(v) for n, v in server.sql(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})")}


def version_of(variables: Mapping[str, str]) -> ServerVersion:
    return identify(variables["version"], variables["version_comment"], variables=variables)


def metrics(server: RunningServer) -> dict[str, int]:
    names = ", ".join(f"'{name}'" for name in _METRICS)
    rows = server.sql(f"SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE NAME IN ({names})")
    return {str(name): int(str(count)) for name, count in rows}


def assert_equal_to_the_byte(server: RunningServer) -> RedoLimits:
    """Compares every point that the server reports with the one computed from its variables alone."""
    variables = shown(server)
    version = version_of(variables)
    status = server.status("Innodb%")
    in_force = redo.capacity_in_force(version, variables, status)
    computed = redo.limits_in_force(
        version, variables, {"Innodb_redo_log_capacity_resized": status.get("Innodb_redo_log_capacity_resized", 0)}
    )
    assert computed.reported == frozenset()
    told = metrics(server)
    compared = {"async": (computed.async_point_bytes, told["log_max_modified_age_async"])}
    if "log_max_modified_age_sync" in told:
        compared["sync"] = (computed.sync_point_bytes or 0, told["log_max_modified_age_sync"])
    else:
        assert computed.sync_point_bytes is None
    if version.is_mariadb and version.number >= (10, 5, 0):
        compared["maximum"] = (computed.maximum_bytes, int(status["Innodb_checkpoint_max_age"]))
    if version.is_mysql and version.number >= (8, 0, 30):
        compared["margin"] = (computed.margin_bytes, told["log_concurrency_margin"] * 512 // 496)
    wrong = {point: pair for point, pair in compared.items() if pair[0] != pair[1]}
    assert wrong == {}, f"seed {SEED}, {version}, capacity {in_force}, {variables}: computed, reported {wrong}"
    return computed


def resize(server: RunningServer, variable: str, wanted_bytes: int) -> None:
    """Resize the redo log at run time and wait until the new size is in force."""
    server.sql(f"SET GLOBAL {variable} = {wanted_bytes}")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        status = server.status("Innodb_redo_log_%")
        if variable == "innodb_log_file_size" or (
            status["Innodb_redo_log_resize_status"] == "OK"
            and status["Innodb_redo_log_capacity_resized"] == server.value(f"@@GLOBAL.{variable}")
        ):
            return
        time.sleep(0.1)
    pytest.fail(f"seed {SEED}: {server} did not resize its redo log to {wanted_bytes} bytes within a minute.")


@pytest.mark.parametrize("name", server_params())
@pytest.mark.parametrize("number", range(DRAWS))
def test_computed_limits_equal_reported_ones_at_a_size_drawn_at_random_and_after_a_resize(
    name: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = draws(name)[number]
    with capsys.disabled():
        print(f"\n{name}: {draw}, TIDEMARK_TEST_SEED={SEED}", end=" ")  # noqa: T201 - the seed has to be seen
    chance = random.Random(f"{SEED} {name} {number} resize")
    with start_server(name, options=options_for(name, draw)) as server:
        before = assert_equal_to_the_byte(server)
        variables = shown(server)
        assert int(variables["innodb_page_size"]) == draw.page_size
        assert int(variables.get("innodb_thread_concurrency", 0)) in {0, draw.thread_concurrency}
        version = version_of(variables)
        variable = redo.capacity_variable(version)
        if not redo.resizable_online(version):
            return
        # Up, down again, and with another innodb_thread_concurrency, which moves MySQL's margin at run time.
        for _ in range(2):
            resize(server, variable, chance.randrange(32 * MIB, 300 * MIB))
            after = assert_equal_to_the_byte(server)
            assert after != before
        if version.is_mysql:
            server.sql(f"SET GLOBAL innodb_thread_concurrency = {chance.randint(1, 900)}")
            moved = assert_equal_to_the_byte(server)
            assert moved.async_point_bytes == after.async_point_bytes


@pytest.mark.matrix
def test_a_capacity_made_of_the_old_names_is_read_from_what_is_in_force() -> None:
    """MySQL 8.0.30 to 8.4 started with innodb_log_file_size alone shows a capacity that it does not work with."""
    size = random.Random(f"{SEED} old").randrange(40, 120) * MIB
    with start_server(
        "mysql-8.0.33",
        options={
            "innodb_log_file_size": str(size),
            "innodb_log_files_in_group": "3",
            "innodb_monitor_enable": "log%",
        },
    ) as server:
        variables = shown(server)
        version = version_of(variables)
        assert int(variables["innodb_redo_log_capacity"]) == 100 * MIB
        assert redo.capacity_in_force(version, variables, server.status("Innodb_redo%")) == 3 * size
        assert_equal_to_the_byte(server)


# MySQL 8 and later start with a small log or not, depending on innodb_thread_concurrency, but then may be given any
# other value of it at run time: for them there are limits in any case.
@pytest.mark.parametrize(
    "name", server_params(name for name in every_server() if name.startswith(("mysql-5", "mariadb")))
)
def test_limits_can_be_computed_for_the_smallest_log_exactly_where_the_server_starts_with_it(name: str) -> None:
    """The least redo with the largest pages: old versions refuse to start then, newer ones work with what is left."""
    options = options_for(name, Draw(total_bytes=8 * MIB, files=2, page_size=65536, thread_concurrency=16))
    version = version_of_installation(name)
    if one_file(version.number, version.flavor):
        options["innodb_log_file_size"] = str(4 * MIB)
    total = int(options.get("innodb_redo_log_capacity") or options["innodb_log_file_size"] or 0)
    files = int(options.get("innodb_log_files_in_group") or 1)
    try:
        redo.limits(version, capacity_bytes=total * files, page_size=65536, thread_concurrency=16, files=files)
    except RedoUnknown:
        with (
            pytest.raises(ServerDidNotStart, match=r"innodb_log_file_size|ib_logfiles"),
            start_server(name, options=options),
        ):
            pytest.fail("It started.")
    else:
        with start_server(name, options=options) as server:
            assert_equal_to_the_byte(server)


def test_old_versions_are_among_those_that_refuse_the_smallest_log() -> None:
    """So that the test above has seen both outcomes."""
    for version in (identify("5.7.22", "MySQL"), identify("10.2.11-MariaDB"), identify("10.5.23-MariaDB")):
        with pytest.raises(RedoUnknown):
            redo.limits(version, capacity_bytes=4 * MIB, page_size=65536, thread_concurrency=16)


def version_of_installation(name: str) -> ServerVersion:
    installation = places.find(name)
    assert installation is not None
    if installation.flavor == "mariadb":
        return identify(f"{installation.version}-MariaDB")
    return identify(installation.version, "MySQL")
