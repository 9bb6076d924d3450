"""What is taken out of a server's answers where they are read, so that no store, page or recording ever holds it."""

from __future__ import annotations

import re

REDACTED = "<redacted>"

#: Variables whose value is, or may hold, a secret or somebody's statement.
_NAMES = re.compile(
    r"^(?:init_(?:connect|slave|replica|file)|wsrep_sst_auth|wsrep_provider_options|.*_password|report_user"
    r"|.*(?:passwd|passphrase|secret|token|credential|api_key|private_key|auth_string).*"
    r"|keyring_.*|hashicorp_.*|aws_key_management_.*|file_key_management_.*|vault_.*"
    r"|authentication_(?:ldap|pam|oidc|oci|openid|webauthn|kerberos|windows).*|component_keyring.*)$",
    re.IGNORECASE,
)
#: Of those, what is known to hold no secret: rules about passwords, not passwords.
_HARMLESS = re.compile(r"^(?:validate_password.*|secure_file_priv|max_.*)$", re.IGNORECASE)

#: Of Galera's provider options, these are sizes, limits and weights; the others may name keys and passwords.
_PROVIDER = re.compile(
    r"(gcache\.(?:page_)?size|gcs\.fc_(?:limit|factor)|pc\.weight|repl\.max_ws_size) = ([0-9.]+[KMGT]?)(?=;|$)"
)

#: user:password@ in a URL, and password=... in a list of options.
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*://)(?P<user>[^/\s:@]*):[^/\s@]*@", re.IGNORECASE)
_OPTION = re.compile(r"(?P<name>\b\w*(?:password|passwd|secret|token)\w*)(?P<sign>\s*=\s*)[^;,\s]+", re.IGNORECASE)
#: What SHOW GRANTS tells of how an account is identified: hashes, and on some servers the words around them.
_IDENTIFIED = re.compile(
    r"\s+IDENTIFIED\s+(?:BY\s+PASSWORD|BY|VIA|WITH)\b.*?(?=\s+(?:REQUIRE|WITH\s+(?:GRANT|MAX)|PASSWORD\s+EXPIRE|ACCOUNT)\b|$)",
    re.IGNORECASE | re.DOTALL,
)


def variable(name: str, value: str) -> str:
    """A system variable's value as it may be kept. An empty secret stays empty: that it is not set is no secret."""
    if name.lower() == "wsrep_provider_options" and value:
        return "; ".join([REDACTED, *(f"{option} = {number}" for option, number in _PROVIDER.findall(value))])
    if value and _NAMES.match(name) and not _HARMLESS.match(name):
        return REDACTED
    return text(value)


def text(value: str) -> str:
    """Any text of a server's without passwords inside URLs and option lists."""
    if "://" in value:
        value = _URL.sub(rf"\g<scheme>\g<user>:{REDACTED}@", value)
    if "=" in value:
        value = _OPTION.sub(rf"\g<name>\g<sign>{REDACTED}", value)
    return value


def grant(line: str) -> str:
    """A line of SHOW GRANTS without how the account is identified."""
    return _IDENTIFIED.sub("", line)
