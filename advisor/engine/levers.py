"""Safe levers: what may be pulled on a running server while writers wait for redo, and put back an hour later.

A lever is one system variable that this very server takes while it runs and takes back while it runs; that touches no
durability, no data and no semantics; and that helps against the trouble which is seen now. It is first aid: what lasts
is a recommendation, with its own evidence. Values are bounded, statements are SET GLOBAL alone, so that a restart takes
a lever back too, and a lever that cannot help is named with the reason instead of being offered.
"""

from __future__ import annotations

from collections.abc import Callable

from advisor.engine.facts.flushing import HDD_PAGES, UNKNOWN_DEVICE_PAGES
from advisor.engine.lever import Idea, Lever, Levers, Situation, Trouble, Withheld
from advisor.engine.outcome import Message, Price, PriceKind
from advisor.engine.units import DAY, GIB, HOUR, MIB, Quantity, Unit
from advisor.mysql import redo, statements
from advisor.mysql.proposal import SetVariable
from advisor.mysql.statements import BadProposal
from advisor.mysql.version import ServerVersion

#: A raised limit of flushing is taken back after an hour: it stands in the way of reads as long as it is raised.
_FLUSHING_SECONDS = HOUR
#: A redo log shrinks by flushing what no longer fits: not in the hour in which flushing is behind anyway.
_REDO_SECONDS = DAY
_SMALLEST_REDO_BYTES = 256 * MIB
_LARGEST_REDO_BYTES = 64 * GIB
#: The log may grow by at most this share of the free disk, where that is known.
_FREE_DISK_RATIO = 0.25
#: Below this share of what its settings allow, flushing is held back by something else than its settings.
_BOUND_RATIO = 0.7
_LWM_PERCENT = 10
_HIGHEST_LWM_PERCENT = 20


def levers(situation: Situation) -> Levers:
    """The levers that help now, the strongest first. None at all where redo and flushing are not the trouble."""
    if situation.trouble is Trouble.NONE or not redo.has_redo_log(situation.server):
        return Levers()
    offered: list[Lever] = []
    withheld: list[Withheld] = []
    for think in _THOUGHTS:
        thought = think(situation)
        found = _written(thought, situation) if isinstance(thought, Idea) else thought
        if isinstance(found, Withheld):
            withheld.append(found)
        elif found is not None:
            offered.append(found)
    return Levers(tuple(offered), tuple(withheld))


def _written(idea: Idea, situation: Situation) -> Lever | Withheld:
    """The idea as this server takes it, or why it does not."""
    try:
        text = statements.render(
            (SetVariable(idea.name, idea.value),), situation.server, situation.variables, status=situation.status
        )
    except BadProposal as refused:
        return Withheld(idea.name, Message("{why}", {"why": Quantity(str(refused), Unit.TEXT)}))
    managed = situation.server.distribution.managed
    do, undo = (text.parameters, text.undo_parameters) if managed else (text.sql, text.undo)
    if text.needs_restart or not do or not undo:
        return Withheld(idea.name, Message("This version changes it by a restart only."))
    return Lever(
        idea.name, idea.effect, idea.price, idea.expires_seconds, do, undo, text.changes, idea.notes, managed
    )  # fmt: skip


# --- the levers, the strongest first ---------------------------------------------------------------------------------


def _adaptive_flushing(at: Situation) -> Idea | None:
    if at.is_on("innodb_adaptive_flushing") is not False:
        return None
    return Idea(
        "innodb_adaptive_flushing",
        True,
        Message("Flushing rises with the checkpoint age, instead of setting in when the redo log is almost full."),
        Price(PriceKind.DISK_WRITES, Message("pages are written earlier, some of them once more")),
        _FLUSHING_SECONDS,
    )


def _redo_capacity(at: Situation) -> Idea | Withheld | None:
    name = redo.capacity_variable(at.server)
    if not redo.resizable_online(at.server):
        return Withheld(name, Message("This version changes it by a restart only."))
    try:
        present = redo.capacity_in_force(at.server, at.variables, at.status)
        before = redo.limits_in_force(at.server, at.variables, at.status).effective_sync_bytes
        wanted = max(_SMALLEST_REDO_BYTES, 2 * present)
        if at.free_disk_bytes is not None:
            wanted = min(wanted, present + int(at.free_disk_bytes * _FREE_DISK_RATIO) // MIB * MIB)
        wanted = min(wanted, _LARGEST_REDO_BYTES)
        if wanted < 1.25 * present:
            return Withheld(name, Message("The log holds what it may already, or the free disk leaves no room."))
        after = redo.limits_in_force(at.server, at.variables, at.status, capacity_bytes=wanted).effective_sync_bytes
    except redo.RedoUnknown as unknown:
        return Withheld(name, Message("{why}", {"why": Quantity(str(unknown), Unit.TEXT)}))
    notes = [
        Message("Shrinking the log back flushes what no longer fits: put it back in a quiet hour, within a day."),
    ]
    if at.server.is_mariadb:
        notes.append(Message("MariaDB writes both logs until the next checkpoint, and only then uses the larger one."))
    if at.free_disk_bytes is None:
        notes.append(Message("The free disk is not known here: look before you pull it."))
    share = 1.0 if at.pressure is None else at.pressure
    return Idea(
        name,
        wanted,
        Message(
            "The same checkpoint age is {after} of the point at which writers wait, instead of {before}.",
            {
                "before": Quantity(share, Unit.RATIO),
                "after": Quantity(share * before / after, Unit.RATIO),
            },
        ),
        Price(
            PriceKind.DISK,
            Message("{more} more of disk, and a crash takes longer to recover", {"more": _bytes(wanted - present)}),
            _bytes(present),
            _bytes(wanted),
        ),
        _REDO_SECONDS,
        tuple(notes),
    )


def _io_capacity_maximum(at: Situation) -> Idea | Withheld | None:
    return _more_flushing(
        at,
        "innodb_io_capacity_max",
        Message("Above the async point flushing may write twice as much before it is held back.")
        if _enters_linearly(at.server)
        else Message("The same checkpoint age asks for twice the pages, up to twice as many as now."),
    )


def _io_capacity(at: Situation) -> Idea | Withheld | None:
    """Only where a round of flushing grows with it. Elsewhere InnoDB multiplies it by the maximum *divided by it*, so
    that raising it alone asks for as many pages as before.
    """
    if not _enters_linearly(at.server):
        return None
    return _more_flushing(
        at, "innodb_io_capacity", Message("A round of flushing writes more: in the long run, twice as much as now.")
    )


def _enters_linearly(server: ServerVersion) -> bool:
    return server.is_mariadb and server.number >= (10, 5, 0)


def _more_flushing(at: Situation, name: str, effect: Message) -> Idea | Withheld | None:
    """Twice as much as now, as far as the device may be asked; pointless where flushing does not use what it has."""
    present, capacity = at.number(name), at.number("innodb_io_capacity")
    if present is None or capacity is None:
        return None
    most = HDD_PAGES if at.storage == "hdd" else UNKNOWN_DEVICE_PAGES
    if present >= most:
        return Withheld(name, Message("It is as high already as this kind of device may be asked for."))
    flushed = at.flushed_pages_per_second
    if flushed is not None and flushed < _BOUND_RATIO * capacity:
        return Withheld(
            name,
            Message(
                "Flushing writes {flushed} and may write {allowed}: its settings do not hold it back.",
                {
                    "flushed": Quantity(round(flushed), Unit.PAGES_PER_SECOND),
                    "allowed": Quantity(int(capacity), Unit.PAGES_PER_SECOND),
                },
            ),
        )
    wanted = int(min(2 * present, most))
    notes = () if at.storage else (Message("The kind of storage is not known here: watch the latency of reads."),)
    return Idea(
        name,
        wanted,
        effect,
        Price(
            PriceKind.READ_LATENCY,
            Message("reads share the device with up to {pages}", {"pages": Quantity(wanted, Unit.PAGES_PER_SECOND)}),
            Quantity(int(present), Unit.PAGES_PER_SECOND),
            Quantity(wanted, Unit.PAGES_PER_SECOND),
        ),
        _FLUSHING_SECONDS,
        notes,
    )


def _sync_flushing(at: Situation) -> Idea | None:
    if at.is_on("innodb_flush_sync") is not False:
        return None
    return Idea(
        "innodb_flush_sync",
        True,
        Message("A burst of flushing at the sync point may take the whole device, so that writers wait shorter."),
        Price(PriceKind.READ_LATENCY, Message("reads wait while such a burst lasts")),
        _FLUSHING_SECONDS,
    )


def _dirty_low_water(at: Situation) -> Idea | None:
    """MariaDB 10.5+ flushes by the age only above this mark, and at 0 never; elsewhere 0 switches early flushing off,
    and a mark above what is dirty keeps it from beginning.
    """
    name = "innodb_max_dirty_pages_pct_lwm"
    present, dirty = at.number(name), at.dirty_percent
    if present is None or dirty is None:
        return None
    if present > 0 and dirty >= present:
        return None
    wanted = min(_HIGHEST_LWM_PERCENT, max(1, int(dirty / 2)))
    if present and wanted >= present:
        return None
    return Idea(
        name,
        float(wanted),
        Message("Flushing by the age begins now, not when the redo log is almost full.")
        if _enters_linearly(at.server)
        else Message(
            "Pages are written in advance from {share} dirty pages on.", {"share": Quantity(wanted / 100, Unit.RATIO)}
        ),
        Price(PriceKind.DISK_WRITES, Message("pages are written earlier, some of them once more")),
        _FLUSHING_SECONDS,
    )


def _adaptive_low_water(at: Situation) -> Idea | None:
    present = at.number("innodb_adaptive_flushing_lwm")
    if present is None or present <= _LWM_PERCENT:
        return None
    return Idea(
        "innodb_adaptive_flushing_lwm",
        _LWM_PERCENT,
        Message("Adaptive flushing begins at a tenth of the redo log."),
        Price(PriceKind.DISK_WRITES, Message("pages are written earlier, some of them once more")),
        _FLUSHING_SECONDS,
    )


def _neighbors(at: Situation) -> Idea | None:
    present = at.number("innodb_flush_neighbors")
    if at.storage != "ssd" or not present:
        return None
    return Idea(
        "innodb_flush_neighbors",
        0,
        Message("Every write goes to a page that holds the checkpoint back, none to its neighbours."),
        Price(PriceKind.DISK_WRITES, Message("neighbouring pages are written later, one by one")),
        _FLUSHING_SECONDS,
    )


_THOUGHTS: tuple[Callable[[Situation], Idea | Withheld | None], ...] = (
    _adaptive_flushing,
    _redo_capacity,
    _io_capacity_maximum,
    _io_capacity,
    _dirty_low_water,
    _adaptive_low_water,
    _sync_flushing,
    _neighbors,
)


def _bytes(value: int) -> Quantity:
    return Quantity(value, Unit.BYTES)
