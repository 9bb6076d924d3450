"""Forms, each named for an intention. They read and check; the views pass what they hold to one service."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from advisor.engine.rule import Rule
from advisor.engine.thresholds import Thresholds
from advisor.web.middleware import zone_named


class NewPassword(SetPasswordForm):  # type: ignore[type-arg]
    """A password for a person who is signed in; asks for the present one where there is one."""

    old_password = forms.CharField(
        label=gettext_lazy("Present password"),
        strip=False,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ("old_password", "new_password1", "new_password2")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not self.user.has_usable_password():
            del self.fields["old_password"]

    def clean_old_password(self) -> str:
        password = str(self.cleaned_data["old_password"])
        if not self.user.check_password(password):
            raise forms.ValidationError(_("That is not your present password."))
        return password


def _languages() -> list[tuple[str, Any]]:
    return [("", gettext_lazy("as the browser asks")), *settings.LANGUAGES]


def _zones() -> list[tuple[str, Any]]:
    return [("", gettext_lazy("as the browser says")), *((name, name) for name in sorted(available_timezones()))]


class Choices(forms.Form):
    """How pages look to one person."""

    theme = forms.ChoiceField(
        label=gettext_lazy("Colours"),
        required=False,
        choices=[
            ("", gettext_lazy("as the system")),
            ("light", gettext_lazy("light")),
            ("dark", gettext_lazy("dark")),
        ],
    )
    language = forms.ChoiceField(label=gettext_lazy("Language"), required=False, choices=_languages)
    time_zone = forms.ChoiceField(label=gettext_lazy("Time zone"), required=False, choices=_zones)

    def clean_time_zone(self) -> str:
        name = str(self.cleaned_data["time_zone"])
        if name and zone_named(name) is None:
            raise forms.ValidationError(_("There is no such time zone."))
        return name


class Dismissal(forms.Form):
    """Why somebody lives with a recommendation, and until when."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Whoever comes next reads this."),
        error_messages={"required": gettext_lazy("Say why: whoever comes next will want to know.")},
    )
    until = forms.DateField(
        label=gettext_lazy("Until"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=gettext_lazy("It comes back on that day if it still holds, and earlier if it gets a fifth worse."),
    )

    def clean_until(self) -> Any:
        day = self.cleaned_data["until"]
        if day is not None and day <= timezone.now().date():
            raise forms.ValidationError(_("The day has to lie in the future."))
        return day


class RuleChange(forms.Form):
    """What a team makes of one rule. The thresholds' fields are made of what the rule declares, in its units."""

    tag = forms.CharField(
        label=gettext_lazy("For servers tagged"),
        required=False,
        max_length=60,
        help_text=gettext_lazy("Empty: for all servers of the team."),
    )
    off = forms.BooleanField(label=gettext_lazy("Switch the rule off"), required=False)
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={"required": gettext_lazy("Say why: whoever comes next will want to know.")},
    )

    def __init__(self, rule: Rule, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        described = rule.parameters.described() if isinstance(rule.parameters, Thresholds) else ()
        self.names = [one.name for one in described]
        for one in described:
            # The meaning is said as the rule says it; its unit stands beside it.
            self.fields[one.name] = forms.FloatField(
                label=one.name,
                initial=one.value,
                min_value=0,
                required=False,
                help_text=f"{_(one.meaning)} ({one.unit.value})",
                widget=forms.NumberInput(attrs={"step": "any"}),
            )
        self.order_fields(["tag", "off", *self.names, "reason"])

    def thresholds(self) -> dict[str, float]:
        """The numbers that were filled in."""
        return {name: self.cleaned_data[name] for name in self.names if self.cleaned_data.get(name) is not None}


class TargetServer(forms.Form):
    """Where a server is and how to get in. What it holds is checked by the collector, which alone knows what can be."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=100, required=False)
    host = forms.CharField(
        label=gettext_lazy("Host"), max_length=255, required=False, help_text=gettext_lazy("A name or an address.")
    )
    port = forms.IntegerField(label=gettext_lazy("Port"), min_value=1, max_value=65535, initial=3306, required=False)
    socket = forms.CharField(
        label=gettext_lazy("Or unix socket"),
        max_length=107,
        required=False,
        help_text=gettext_lazy("Instead of host and port, for a server on this machine. Administrators only."),
    )
    user = forms.CharField(label=gettext_lazy("User"), max_length=80, initial="tidemark", required=False)
    password = forms.CharField(
        label=gettext_lazy("Password"),
        required=False,
        strip=False,
        max_length=1000,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Stored encrypted, never shown again."),
    )
    tls_mode = forms.ChoiceField(
        label=gettext_lazy("Encryption"),
        required=False,
        choices=[
            ("", gettext_lazy("verified; on this machine as the server offers it")),
            ("verify-identity", gettext_lazy("verify the certificate and the name")),
            ("verify-ca", gettext_lazy("verify the certificate, not the name")),
            ("insecure", gettext_lazy("insecure: no verification, I accept the risk")),
        ],
    )
    tls_ca = forms.CharField(
        label=gettext_lazy("Certificate authority"),
        required=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": "-----BEGIN CERTIFICATE-----"}),
        help_text=gettext_lazy("PEM, where the server's certificate is not signed by one that this machine trusts."),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"), required=False, max_length=500, help_text=gettext_lazy("Parted by commas.")
    )
    memory_gib = forms.FloatField(
        label=gettext_lazy("Memory, GiB"),
        required=False,
        min_value=0.1,
        max_value=1_000_000,
        help_text=gettext_lazy("Of the machine: no server tells it."),
    )
    cpus = forms.IntegerField(label=gettext_lazy("CPUs"), required=False, min_value=1, max_value=100_000)
    storage = forms.ChoiceField(
        label=gettext_lazy("Storage"),
        required=False,
        choices=[("", gettext_lazy("unknown")), ("ssd", gettext_lazy("SSD")), ("hdd", gettext_lazy("hard disk"))],
    )
    write_latency_ms = forms.FloatField(
        label=gettext_lazy("Write latency, ms"),
        required=False,
        min_value=0.001,
        max_value=60_000,
        help_text=gettext_lazy("Of the device under load, as iostat shows it (w_await): no server tells it."),
    )

    def values(self) -> dict[str, Any]:
        """What the collector's services take."""
        clean = self.cleaned_data
        facts: dict[str, Any] = {}
        if clean["memory_gib"]:
            facts["memory_bytes"] = round(clean["memory_gib"] * 1024**3)
        if clean["cpus"]:
            facts["cpus"] = clean["cpus"]
        if clean["storage"]:
            facts["storage"] = clean["storage"]
        if clean["write_latency_ms"]:
            facts["write_latency_microseconds"] = max(1, round(clean["write_latency_ms"] * 1000))
        return {
            "name": clean["name"] or clean["host"] or clean["socket"],
            "host": clean["host"].strip(),
            "port": clean["port"] or 3306,
            "socket": clean["socket"].strip(),
            "user": clean["user"].strip(),
            "tls_mode": clean["tls_mode"],
            "tls_ca": clean["tls_ca"],
            "tags": [tag.strip() for tag in clean["tags"].split(",") if tag.strip()],
            "host_facts": facts,
        }

    def take_errors(self, errors: dict[str, str]) -> None:
        """The collector's sentences, at the fields they are about."""
        for name, sentence in errors.items():
            self.add_error(name if name in self.fields else None, sentence)


class NewServer(TargetServer):
    """A server to be added; the team is asked for only where there is more than one to choose from."""

    team = forms.ChoiceField(label=gettext_lazy("Team"), required=False)
    field_order = ("team", "name")

    def __init__(self, *args: Any, teams: list[tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if len(teams) > 1:
            self.fields["team"].choices = teams  # type: ignore[attr-defined]
        else:
            del self.fields["team"]


class ServerSettings(TargetServer):
    """A server that is watched already. An empty password keeps the stored one."""

    enabled = forms.BooleanField(label=gettext_lazy("Watch it"), required=False)

    @classmethod
    def initial_of(cls, server: Any) -> dict[str, Any]:
        """What the form shows first."""
        facts = server.host_facts if isinstance(server.host_facts, dict) else {}

        def stated(name: str) -> Any:
            entry = facts.get(name)
            return entry.get("value") if isinstance(entry, dict) else None

        memory, latency = stated("memory_bytes"), stated("write_latency_microseconds")
        return {
            "name": server.name,
            "host": server.host,
            "port": server.port,
            "socket": server.socket,
            "user": server.user,
            "tls_mode": "" if server.tls_mode == "opportunistic" else server.tls_mode,
            "tls_ca": server.tls_ca,
            "tags": ", ".join(str(tag) for tag in server.tags),
            "memory_gib": round(memory / 1024**3, 2) if memory else None,
            "write_latency_ms": latency / 1000 if latency else None,
            "cpus": stated("cpus"),
            "storage": stated("storage"),
            "enabled": server.enabled,
        }
