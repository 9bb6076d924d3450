"""Hands pip's settings to uv, which ignores them: a machine behind a mirror says so in pip's configuration only."""

import os
import subprocess
from collections.abc import Mapping


def read_pip_settings(python: str) -> dict[str, str]:
    """Settings of the pip that belongs to the interpreter `python`, by name without section; {} when pip cannot tell.

    `pip config list` prints lines such as `global.index-url='https://...'` and, for the environment,
    `:env:.find-links='/wheels'`. The environment comes last here, since it wins in pip as well.
    """
    listed = subprocess.run([python, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        return {}
    return parse_pip_settings(listed.stdout)


def parse_pip_settings(text: str) -> dict[str, str]:
    """Read what `pip config list` prints; a name that stands in several places has the value that pip would use."""
    ranked: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        name, equals, quoted = line.partition("=")
        section, dot, key = name.rpartition(".")
        if not equals or not dot:
            continue
        value = quoted.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1].replace("\\n", "\n")
        rank = {"global": 0, "install": 1, ":env:": 2}.get(section)
        if rank is not None and rank >= ranked.get(key, (-1, ""))[0]:
            ranked[key] = (rank, value)
    return {key: value for key, (_, value) in ranked.items()}


def uv_environment(settings: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Environment variables that make uv use the index, mirrors, proxy and certificates of these pip settings.

    A variable of uv that is already set stays as it is: whoever set it meant uv.
    """
    found: dict[str, str] = {}
    for key, variable, joint in (
        ("index-url", "UV_DEFAULT_INDEX", ""),
        ("extra-index-url", "UV_INDEX", " "),
        ("find-links", "UV_FIND_LINKS", ","),
        ("trusted-host", "UV_INSECURE_HOST", " "),
        ("proxy", "HTTPS_PROXY", ""),
        ("cert", "SSL_CERT_FILE", ""),
        ("default-timeout", "UV_HTTP_TIMEOUT", ""),
        ("timeout", "UV_HTTP_TIMEOUT", ""),
    ):
        value = settings.get(key, "").split()
        if value:
            found[variable] = joint.join(value) if joint else value[0]
    if settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}:
        found["UV_NO_INDEX"] = "1"
    # Without a certificate file of pip's own, the system's certificates are right: a company's proxy is known there.
    if "SSL_CERT_FILE" not in found:
        found["UV_SYSTEM_CERTS"] = "1"
    return {variable: value for variable, value in found.items() if variable not in environment}
