"""The import page: what its form holds, the plan it shows, and the box with the lines that have to be corrected."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils.translation import gettext_lazy

from advisor.teams import access
from advisor.teams.models import Team
from advisor.web.forms import TargetServer
from collector import drafts, importing
from collector.errors import printable
from collector.importing import Defaults, Line, Plan
from collector.importing_entries import COLUMNS, MOST_BYTES, BadList, too_large
from collector.importing_text import decode
from collector.secret import Secret

PURPOSE = "import"
#: So many lines of each kind are shown; the rest is counted.
SHOWN = 200
EXAMPLE = "name,host,port,user,password,tags\norders-db-07,10.0.3.7,3306,tidemark,…,prod;orders"
EXAMPLE_YAML = (
    "servers:\n  - name: orders-db-07\n    host: 10.0.3.7\n    tags: [prod, orders]\n  - mysql://tidemark@10.0.3.8:3306"
)


class ImportForm(forms.Form):
    """A list, pasted or uploaded, and what counts for every line that says nothing else."""

    text = forms.CharField(
        label=gettext_lazy("List"),
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 10, "class": "mono", "spellcheck": "false", "wrap": "off", "placeholder": EXAMPLE}
        ),
        help_text=gettext_lazy(
            "CSV with a first line that names the columns, YAML, or one mysql:// address a line. At most 2,000."
        ),
    )
    file = forms.FileField(label=gettext_lazy("Or a file"), required=False, allow_empty_file=True)
    team = forms.ChoiceField(label=gettext_lazy("Team"), required=False)
    user = TargetServer.base_fields["user"]
    password = TargetServer.base_fields["password"]
    tags = TargetServer.base_fields["tags"]
    tls_mode = TargetServer.base_fields["tls_mode"]
    tls_ca = TargetServer.base_fields["tls_ca"]
    test = forms.BooleanField(
        label=gettext_lazy("Test each connection"),
        required=False,
        help_text=gettext_lazy("Sixteen at once, for 20 seconds at most."),
    )
    field_order = ("text", "file", "team")

    def __init__(self, *args: Any, teams: Sequence[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.teams = {team.pk: team for team in teams}
        if len(teams) > 1:
            self.fields["team"].choices = [(team.pk, team.name) for team in teams]  # type: ignore[attr-defined]
        else:
            del self.fields["team"]

    @property
    def chosen_team(self) -> Team:
        """The team that was chosen, else the only one (or the first)."""
        return self.teams.get(self.cleaned_data.get("team", "")) or next(iter(self.teams.values()))

    def list_text(self) -> str:
        """The uploaded file's text, else what was pasted. Raises BadList."""
        file = self.cleaned_data["file"]
        if file is None:
            return str(self.cleaned_data["text"])
        if file.size > MOST_BYTES:
            raise BadList(too_large())
        return decode(file.read())

    def draft(self, text: str) -> Draft:
        clean = self.cleaned_data
        return Draft(
            team=self.chosen_team.pk,
            text=text,
            user=clean["user"].strip() or "tidemark",
            password=clean["password"],
            tags=[tag.strip() for tag in clean["tags"].split(",") if tag.strip()],
            tls_mode=clean["tls_mode"],
            tls_ca=clean["tls_ca"],
        )


@dataclass(frozen=True)
class Draft:
    """A list and its defaults between the dry run and the confirmation; ``good`` are the lines that were promised."""

    team: str
    text: str
    user: str
    password: str
    tags: list[str]
    tls_mode: str
    tls_ca: str
    good: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"Draft(team={self.team})"

    def plan(self, team: Team, user: AbstractBaseUser | AnonymousUser) -> Plan:
        """What it would do now. Raises BadList."""
        return importing.plan(
            team=team,
            text=self.text,
            defaults=Defaults(self.user, Secret(self.password), tuple(self.tags), self.tls_mode, self.tls_ca),
            unrestricted=access.may_name_any_address(user),
        )

    def sealed(self, plan: Plan, person: object) -> str:
        """For the hidden field of the confirmation."""
        good = [line.number for line in plan.good]
        return drafts.seal({**self.__dict__, "good": good}, person=str(person), purpose=PURPOSE)

    @classmethod
    def unsealed(cls, text: str, person: object) -> Draft:
        """Raises DraftLost."""
        values = drafts.unseal(text, person=str(person), purpose=PURPOSE)
        return cls(**{**values, "good": tuple(values["good"])})

    def is_as_promised(self, plan: Plan) -> bool:
        """Whether the same lines would be added as when the person looked."""
        return self.good == tuple(line.number for line in plan.good)


def corrections(lines: Sequence[Line]) -> str:
    """Lines that cannot be added, as a table to correct them in; without their passwords, which never come back."""
    if not lines:
        return ""
    columns = [column for column in COLUMNS if any(column in line.given for line in lines)]
    if any("password" in line.hidden for line in lines):
        columns.append("password")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for line in lines:
        writer.writerow([printable(line.given.get(column, ""), 2000) for column in columns])
    return out.getvalue()


def may_be_shown_again(text: str) -> bool:
    """Whether a text that cannot be read holds no password as far as can be told: then it may stay in the box."""
    return "pass" not in text.lower() and not re.search(r"://[^\s/@]*:[^\s/@]*@", text)
