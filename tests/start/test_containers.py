"""docker-compose.yml and Dockerfile name programs, files and settings that exist, and run what ./start runs."""

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from scripts.embedded.places import ROOT, Places
from scripts.embedded.programs import product_programs

COMPOSE: dict[str, Any] = YAML(typ="safe").load(ROOT / "docker-compose.yml")
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = [name for name, service in SERVICES.items() if service.get("image") == "tidemark"]
#: What distinguishes a container from a place on one machine: where it listens and where it may write.
DIFFERENT = {"--bind", "--graceful-timeout", "--schedule", "--loglevel"}


def options(command: list[str]) -> set[str]:
    """A command's words with every option and its value joined, its program without a folder."""
    words = [Path(command[0]).name, *command[1:]]
    return set(re.sub(r" (?!-)", "=", " ".join(word or "''" for word in words).replace(" ''", "=")).split())


def without_places(found: set[str]) -> set[str]:
    return {option for option in found if option.split("=")[0] not in DIFFERENT}


@pytest.mark.parametrize("name", ["web", "collect", "judge", "apply", "beat"])
def test_a_container_runs_the_same_command_as_start(name: str) -> None:
    programs = product_programs(Places(data=Path("/data")), redis=Path("redis-server"), host="127.0.0.1", port=8000)
    started = next(program for program in programs if program.name == name)
    assert without_places(options(SERVICES[name]["command"])) == without_places(options(list(started.command)))


def test_every_setting_of_the_containers_exists() -> None:
    known = set(re.findall(r'"(TIDEMARK_\w+)"', (ROOT / "advisor" / "settings.py").read_text()))
    given = {variable.removesuffix("_FILE") for name in OURS for variable in SERVICES[name]["environment"]}
    assert given
    assert given <= known


def test_every_secret_is_declared_and_comes_from_a_file() -> None:
    for name, service in SERVICES.items():
        asked = set(service.get("secrets", []))
        assert asked <= set(COMPOSE["secrets"]), name
        for variable, value in service.get("environment", {}).items():
            if str(value).startswith("/run/secrets/"):
                assert Path(value).name in asked, (name, variable)


def test_no_secret_stands_in_a_command_or_a_variable() -> None:
    for name, service in SERVICES.items():
        for variable, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|KEY", variable) and variable != "MARIADB_RANDOM_ROOT_PASSWORD":
                assert variable.endswith("_FILE"), (name, variable)
            assert not re.search(r"://[^/]*:[^/@]*@", str(value)), (name, variable)


def test_every_service_that_stays_says_how_to_see_its_health() -> None:
    assert {name for name, service in SERVICES.items() if "healthcheck" not in service} == {"migrate"}


def test_services_wait_only_for_services_that_can_tell() -> None:
    for name, service in SERVICES.items():
        for other, condition in service.get("depends_on", {}).items():
            if condition["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other], (name, other)


def test_our_containers_have_no_rights_and_nothing_but_the_web_is_published() -> None:
    for name in OURS:
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert SERVICES[name]["read_only"] is True
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}
    assert set(published) == {"web"}
    assert all(port.startswith("127.0.0.1:") for port in published["web"])


def test_image_tags_are_pinned() -> None:
    images = [service["image"] for name, service in SERVICES.items() if name not in OURS]
    images += re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert len(images) == 4
    for image in images:
        assert re.search(r":\d+\.\d+\.\d+", image), image


def test_the_dockerfile_copies_and_runs_what_exists() -> None:
    text = (ROOT / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        for source in shlex.split(line)[:-1]:
            assert (ROOT / source).exists(), source
    assert re.search(r"^USER tidemark$", text, re.MULTILINE)
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {"var", "secrets", ".git", ".venv"} <= set(ignored)


@pytest.mark.parametrize("name", ["collect", "judge", "apply"])
def test_a_workers_health_check_asks_that_worker_only(name: str) -> None:
    assert f"--hostname={name}@%h" in SERVICES[name]["command"]
    assert f"--destination={name}@$$HOSTNAME " in SERVICES[name]["healthcheck"]["test"][1]


def test_the_commands_that_make_the_secrets_make_all_of_them_readable_in_the_containers(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "containers.md").read_text()
    lines = [line for line in re.findall(r"^    (.*)$", text, re.MULTILINE) if not line.startswith("docker ")]
    subprocess.run(["sh", "-euc", "umask 077\n" + "\n".join(lines)], cwd=tmp_path, check=True)
    assert {file.name for file in (tmp_path / "secrets").iterdir()} == set(COMPOSE["secrets"])
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    for file in (tmp_path / "secrets").iterdir():
        assert file.stat().st_mode & 0o777 == 0o444
        assert len(file.read_text().strip()) >= 40
