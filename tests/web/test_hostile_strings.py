"""Whatever a server or a person says is text: on every page, in every file, whichever field it came in."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from advisor.recommendations.models import FleetRow, Recommendation, RuleSetting
from collector.models import Server
from tests.conftest import build_server
from tests.web import demo, payloads, walking
from tests.web.test_every_page import widest

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mouth(team: Any) -> Server:
    """A server in trouble, with history and advice, that says all forty in every field."""
    server = demo.build(team, hours=0.6, courses=demo.COURSES[:1])[0]
    payloads.say(server)
    server.refresh_from_db()
    return server


def _values(server: Server) -> dict[str, str]:
    advice = Recommendation.objects.get(server=server, rule="redo.redo-log-undersized")
    setting = RuleSetting.objects.get(rule="flush.neighbors-on-ssd")
    return walking.filling(server, advice, setting_id=setting.pk, other_id=server.pk)


def _places(server: Server, client: Client) -> list[walking.Page]:
    return [
        *walking.pages(client, _values(server)),
        walking.Page("rule with a setting", "/rules/flush.neighbors-on-ssd"),
    ]


def _is_drawing_of_ours(address: str) -> bool:
    """Whether it is the square that an authenticator app reads: drawn by us, and an image runs no script."""
    kind, _, drawing = address.partition(";base64,")
    return kind == "data:image/svg+xml" and b"tmx" not in base64.b64decode(drawing)


class Injected(HTMLParser):
    """Elements and attributes that only a payload can have made."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            handler = name.startswith("on") or name.startswith("hx-on")
            address = name in {"href", "src", "action", "formaction", "xlink:href", "data", "srcdoc"}
            if tag == "img" and _is_drawing_of_ours(value or ""):
                continue
            if handler or (address and re.match(r"\s*(javascript|data):", value or "", re.IGNORECASE)):
                self.found.append(f"<{tag} {name}={(value or '')[:60]}>")
        refreshes = tag == "meta" and ("http-equiv", "refresh") in attrs
        if refreshes or tag in {"iframe", "object", "embed", "base", "math", "mglyph"}:
            self.found.append(f"<{tag}>")

    def handle_data(self, data: str) -> None:
        if (
            self.cdata_elem == "script"
            and "tmx()" in data
            and "application/json" not in (self.get_starttag_text() or "")
        ):
            self.found.append(f"script: {data[:60]}")


def _injected(html: str) -> list[str]:
    parser = Injected()
    parser.feed(html)
    return parser.found


def test_forty_are_forty() -> None:
    assert len(set(payloads.PAYLOADS)) == 40
    assert all("tmx" in one for one in payloads.PAYLOADS)


def test_the_search_for_injected_elements_finds_them() -> None:
    raw = [one for one in payloads.PAYLOADS if one.startswith("<")]
    assert len(raw) > 12
    missed = [one for one in raw if not _injected(f"<p>{one}</p>") and "hx-get" not in one]
    assert missed == []


@pytest.mark.browser
def test_everything_said_is_text_on_every_page(
    visit: Any, mouth: Server, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    seen = visit()
    dialogs: list[str] = []

    def refuse(dialog: Any) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    seen.page.on("dialog", refuse)
    seen.page.add_init_script("window.reached = []; window.tmx = () => window.reached.push(location.pathname);")
    wrong, silent = [], []
    for place in _places(mouth, sign_in(owner)):
        seen.errors.clear()
        page = seen.open(place.path)
        facts = page.evaluate(
            "() => ({reached: window.reached,"
            " made: [...document.querySelectorAll('iframe, object, embed, base, math, [onerror], [onload], [onfocus],"
            ' [onmouseover], [ontoggle], [onanimationstart], [srcdoc], meta[http-equiv], [href^="javascript:" i],'
            ' [href^="data:" i], [action^="javascript:" i], [hx-get="/tmx"]\')].map(one => one.outerHTML.slice(0, 90)),'
            " said: document.documentElement.outerHTML.includes('tmx'),"
            " wide: document.documentElement.scrollWidth - innerWidth})"
        )
        wrong += [f"{place.name}: ran {one}" for one in facts["reached"]]
        wrong += [f"{place.name}: made {one}" for one in facts["made"]]
        wrong += [
            f"{place.name}: console: {text}" for text in seen.errors if "responded with a status of 4" not in text
        ]
        if facts["wide"] > 0:
            wrong.append(f"{place.name}: {facts['wide']} px wider than the screen: {widest(page)}")
        if not facts["said"]:
            silent.append(place.name)
    assert dialogs == []
    assert not wrong, "\n".join(wrong)
    # Those that show nothing of a server may be silent; the others must have shown what it says.
    assert not [
        name for name in silent if name.startswith(("server", "recommendation", "fleet", "system", "rule with"))
    ]


def test_a_fleet_of_forty_hostile_names_shows_forty_texts(
    team: Any, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    from advisor.recommendations import fleet

    for number, payload in enumerate(payloads.PAYLOADS):
        server = build_server(team, f"s{number}")
        Server.objects.filter(pk=server.pk).update(
            name=payload, folded=f"{number} {payload}", host=payload, tags=[payload]
        )
        fleet.ensure_row(server=server)
        FleetRow.objects.filter(server=server).update(folded=payload.casefold(), group=payload, version=payload)
    html = sign_in(owner).get("/?state=all").content.decode()
    assert _injected(html) == []
    assert "<script>tmx" not in html
    assert html.count("tmx") >= 40


@pytest.mark.ci
@pytest.mark.parametrize("payload", payloads.PAYLOADS, ids=range(40))
def test_each_alone_is_text_in_every_field_of_every_page(
    payload: str, team: Any, owner: Any, sign_in: Callable[[Any], Client]
) -> None:
    server = demo.build(team, hours=0.3, courses=demo.COURSES[:1])[0]
    payloads.say(server, payload)
    client = sign_in(owner)
    setting = client.get("/rules/flush.neighbors-on-ssd").content.decode()
    wrong = [f"rule with a setting: {one}" for one in _injected(setting)]
    for place, answer in walking.answers(client, _values(server)):
        if walking.is_page(answer):
            wrong += [f"{place.name}: {one}" for one in _injected(answer.content.decode())]
    assert not wrong, "\n".join(wrong)


def test_no_cell_of_a_file_is_taken_for_a_formula(mouth: Server, owner: Any, sign_in: Callable[[Any], Client]) -> None:
    client = sign_in(owner)
    files, linked = {}, set()
    for place, answer in walking.answers(client, _values(mouth)):
        if walking.is_page(answer):
            linked |= {
                one.replace("&amp;", "&") for one in re.findall(r'href="([/?][^"]*csv[^"]*)"', answer.content.decode())
            }
        files[place.path] = answer
    files |= {address: client.get(address) for address in linked if address.startswith("/")}
    cells = 0
    for address, answer in files.items():
        if not answer.headers.get("Content-Type", "").startswith("text/csv"):
            continue
        for row in csv.reader(io.StringIO(answer.getvalue().decode())):
            for cell in row:
                cells += 1
                number = re.fullmatch(r"[-+]?[\d.,]+([eE][-+]?\d+)?", cell)
                assert number or not cell.startswith(("=", "+", "-", "@", "\t", "\r")), f"{address}: {cell[:40]}"
    assert cells > 100
