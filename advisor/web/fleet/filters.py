"""What of the fleet is shown, and in which order: all of it stands in the address, so that a link reproduces it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.utils.translation import gettext_lazy as _

from advisor.recommendations.fleet import NEEDING

STATES = ("critical", "warning", "watch", "calm", "stale", "new")
FLAVORS = {"mysql": "MySQL", "mariadb": "MariaDB"}
_LONGEST = 100


@dataclass(frozen=True)
class Sort:
    """One order of the list. ``words`` say it in the card's head; ``aria`` is the direction of its column.

    ``order`` are the columns of one index of ``FleetRow``, and each order has one, so that no list is ever sorted.
    """

    name: str
    title: object
    words: object
    order: tuple[str, ...]
    aria: str = "descending"


#: The first is the default. It ranks by state before time: who looks at three in the morning wants the server whose
#: writers wait now, not the one that was in warning for longest; and within a state it is the longest trouble first.
SORTS: dict[str, Sort] = {
    one.name: one
    for one in (
        Sort(
            "trouble",
            _("time in trouble"),
            _("longest in trouble first"),
            ("-sort_rank", "-trouble_seconds", "folded", "server_id"),
        ),
        Sort(
            "state",
            _("newest change"),
            _("newest change of state first"),
            ("-sort_rank", "-state_since", "server_id"),
        ),
        Sort("pressure", _("redo pressure"), _("highest pressure first"), ("-pressure", "server_id")),
        Sort("headroom", _("headroom"), _("least headroom first"), ("headroom_order", "server_id"), "ascending"),
        Sort(
            "transactions",
            _("transactions"),
            _("most transactions first"),
            ("-transactions_per_second", "server_id"),
        ),
        Sort("dirty", _("dirty pages"), _("most dirty pages first"), ("-dirty_percent", "server_id")),
        Sort("name", _("name"), _("by name"), ("folded", "server_id"), "ascending"),
    )
}
DEFAULT_SORT = "trouble"


@dataclass(frozen=True)
class Filters:
    """``state`` is one of STATES, "needs", "all", or "": whoever only opens the page is shown what needs somebody, and
    whoever looks for a server, a tag or a group finds it in any state. ``tag`` and ``group`` are folded.
    """

    search: str = ""
    state: str = ""
    tag: str = ""
    group: str | None = None
    flavor: str = ""
    sort: str = DEFAULT_SORT

    @classmethod
    def read(cls, parameters: Mapping[str, str]) -> Filters:
        """From an address; what it does not know is as if it were not there."""
        state, flavor, sort = (parameters.get(name, "") for name in ("state", "flavor", "sort"))
        group = parameters.get("group", "").strip().casefold()[:_LONGEST]
        return cls(
            search=" ".join(parameters.get("q", "").split())[:_LONGEST],
            state=state if state in (*STATES, "needs", "all") else "",
            tag=parameters.get("tag", "").strip().casefold()[:_LONGEST],
            # A dash stands for the servers without a group: an empty parameter is what an untouched menu sends.
            group="" if group == "-" else group or None,
            flavor=flavor if flavor in FLAVORS else "",
            sort=sort if sort in SORTS else DEFAULT_SORT,
        )

    @property
    def looks_for_something(self) -> bool:
        """Whether it narrows by anything but the state."""
        return bool(self.search or self.tag or self.flavor or self.group is not None)

    @property
    def narrowed(self) -> bool:
        return bool(self.looks_for_something or self.state)

    @property
    def states(self) -> tuple[str, ...] | None:
        """The states that are shown, None for all."""
        if self.state in STATES:
            return (self.state,)
        if self.state == "needs" or (not self.state and not self.looks_for_something):
            return NEEDING
        return None

    @property
    def query(self) -> str:
        """The address' query, without a page."""
        group = None if self.group is None else self.group or "-"
        sort = "" if self.sort == DEFAULT_SORT else self.sort
        pairs = (
            ("q", self.search), ("state", self.state), ("group", group), ("tag", self.tag),
            ("flavor", self.flavor), ("sort", sort),
        )  # fmt: skip
        return urlencode([(name, value) for name, value in pairs if value])

    def address(self, **changes: object) -> str:
        """The address of the list with something else chosen."""
        query = replace(self, **changes).query  # type: ignore[arg-type]
        return f"?{query}" if query else "?"
