"""Every page in Chromium, in both schemes, wide and on a phone, with scripts and without, in both languages: nothing on
the console, nothing refused by the policy, no barrier that axe finds by WCAG 2.2 AA, no sideways scroll, one heading.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.recommendations.building import switched_off
from tests.web import demo, walking

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

#: Level A and AA of WCAG 2.0, 2.1 and 2.2, as axe tags its rules.
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@dataclass(frozen=True)
class Mode:
    scheme: str
    width: int
    scripts: bool = True
    language: str = "en"

    def __str__(self) -> str:
        return f"{self.scheme}-{self.width}-{'scripts' if self.scripts else 'bare'}-{self.language}"

    @property
    def options(self) -> dict[str, Any]:
        return {
            "color_scheme": self.scheme,
            "viewport": {"width": self.width, "height": 900},
            "java_script_enabled": self.scripts,
            "locale": self.language,
        }


MODES = [
    *(Mode(scheme, width) for scheme in ("light", "dark") for width in (1366, 390)),
    Mode("light", 1366, scripts=False),
    Mode("dark", 390, scripts=False),
    Mode("light", 360, language="ko"),
    Mode("dark", 1366, language="ko"),
]


@pytest.fixture
def places(team: Any, owner: Any, sign_in: Callable[[Any], Client]) -> list[walking.Page]:
    """All pages over two servers: one in trouble, one that cannot be read."""
    from advisor.recommendations.models import Recommendation

    busy, silent = demo.build(team, hours=0.6, courses=(demo.COURSES[0], demo.COURSES[4]))
    advice = Recommendation.objects.get(server=busy, rule="redo.redo-log-undersized")
    setting = switched_off(team, "flush.neighbors-on-ssd")
    values = walking.filling(busy, advice, setting_id=setting.pk, other_id=silent.pk)
    found = walking.pages(sign_in(owner), values)
    return [
        *found,
        walking.Page("server of a silent server", reverse("server", args=[silent.pk])),
        walking.Page("nothing here", "/nothing-is-here"),
        # Last, since it is shown to nobody who is signed in.
        walking.Page("login", reverse("login")),
    ]


def wrong_with(seen: Any, place: walking.Page, mode: Mode) -> list[str]:
    """Opens the page; what is wrong with it, each in a line."""
    seen.errors.clear()
    seen.foreign.clear()
    if place.name == "login":
        seen.context.clear_cookies()
    page = seen.open(place.path)
    said = []
    # A page that is not there, or no more, says so with its status, which the console repeats.
    said += [f"console: {text}" for text in seen.errors if "responded with a status of 4" not in text]
    said += [f"foreign: {url}" for url in seen.foreign]
    facts = page.evaluate(
        "() => ({wide: document.documentElement.scrollWidth - innerWidth, title: document.title,"
        " heads: document.querySelectorAll('h1').length, language: document.documentElement.lang,"
        " switches: document.querySelectorAll('.look button').length})"
    )
    if facts["wide"] > 0:
        said.append(f"{facts['wide']} px wider than the screen: {widest(page)}")
    if not facts["title"].endswith("Tidemark"):
        said.append(f"title {facts['title']!r}")
    if facts["heads"] != 1:
        said.append(f"{facts['heads']} h1")
    if facts["language"] != mode.language:
        said.append(f"lang {facts['language']!r}")
    if facts["switches"] < 7:
        said.append("no switch of language, colours and clock")
    if mode.scripts:
        # Where scripts are off axe's own would wait for ever; the page is the same one.
        said += barriers(page)
    return [f"{place.name} ({mode}): {text}" for text in said]


def widest(page: Any) -> str:
    """What sticks out of something that does not, for the message."""
    return str(
        page.evaluate("""() => [...document.querySelectorAll('body *')]
            .filter(one => one.getBoundingClientRect().right > innerWidth
                && one.parentElement.getBoundingClientRect().right <= innerWidth)
            .slice(0, 3).map(one => one.outerHTML.slice(0, 90)).join(' ')""")
    )


def barriers(page: Any) -> list[str]:
    """What axe finds on the page as it stands."""
    from axe_playwright_python.sync_playwright import Axe

    answer = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}}).response
    return [
        f"axe {one['id']}: {' '.join(node['html'][:110] for node in one['nodes'][:5])}: {one['help']}"
        for one in answer["violations"]
    ]


def test_each_page_is_clean_in_one_mode_each(visit: Any, places: list[walking.Page]) -> None:
    main = MODES[:4]
    seen = {mode: visit(**mode.options) for mode in main}
    wrong = []
    for place, mode in zip(places, itertools.cycle(main), strict=False):
        wrong += wrong_with(seen[mode], place, mode)
    assert not wrong, "\n".join(wrong)


@pytest.mark.ci
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_every_page_is_clean_in_every_mode(mode: Mode, visit: Any, places: list[walking.Page]) -> None:
    seen = visit(**mode.options)
    wrong = []
    for place in places:
        wrong += wrong_with(seen, place, mode)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "bare"])
def test_language_colours_and_clock_are_switched_where_one_is(scripts: bool, visit: Any, busy: Any, owner: Any) -> None:
    from advisor.teams.models import Preferences

    seen = visit(java_script_enabled=scripts, timezone_id="Asia/Seoul", color_scheme="light")
    path = reverse("server", args=[busy.pk]) + "?range=15m"
    page = seen.open(path)
    page.get_by_role("button", name="한국어").click()
    assert page.url.endswith(path)
    assert page.locator("html").get_attribute("lang") == "ko"
    page.get_by_role("button", name="UTC").click()
    assert page.url.endswith(path)
    assert page.locator('.look button[value="UTC"]').get_attribute("aria-pressed") == "true"
    page.locator('.look button[value="dark"]').click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 22, 28)"
    kept = Preferences.objects.get(user=owner)
    assert (kept.language, kept.time_zone, kept.theme) == ("ko", "UTC", "dark")
    seen.clean()


def test_the_login_page_remembers_its_language_through_the_login(visit: Any, owner: Any) -> None:
    owner.set_password("a long enough password")
    owner.save()
    seen = visit()
    seen.context.clear_cookies()
    page = seen.open("/login?next=/rules")
    page.get_by_role("button", name="한국어").click()
    assert page.url.endswith("/login?next=/rules")
    page.fill("#id_username", "owner")
    page.fill("#id_password", "a long enough password")
    page.locator("button.primary").click()
    page.wait_for_url("**/rules")
    assert page.locator("html").get_attribute("lang") == "ko"
    seen.clean()


def test_paper_is_light_has_no_controls_and_cuts_no_chart(visit: Any, busy: Any) -> None:
    seen = visit(color_scheme="dark")
    page = seen.open(reverse("server", args=[busy.pk]))
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(26, 33, 43)"
    shown = page.evaluate(
        "[...document.querySelectorAll('button, .rail, .segments, nav.pages, .tools')]"
        ".filter(one => one.checkVisibility()).map(one => one.outerHTML.slice(0, 80))"
    )
    assert shown == []
    broken = page.evaluate(
        "[...document.querySelectorAll('figure[data-chart]')]"
        ".filter(one => getComputedStyle(one).breakInside !== 'avoid').length"
    )
    assert broken == 0
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    seen.clean()
