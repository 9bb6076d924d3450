"""Every page in Chromium over 10, 1,000 and 10,000 servers: how long, how much, how steady, and what axe finds.

`benchmarks/run --pages [--write]` prints the table and puts it into docs/performance.md, between its own markers. The
server page is also measured as Plotly alone would draw it: the same page without its SVG, woken as soon as it is there.
"""

from __future__ import annotations

import gzip
import os
import re
import statistics
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.ratio import Ratio, compare
from tests.web.serving import Installation, installation
from tests.web.visiting import ARGUMENTS, CHROMIUM

SIZES = (10, 1000, 10_000)
#: Pages whose work grows with the fleet; the others are measured at the smallest size only.
OF_THE_FLEET = ("fleet", "fleet?state=all", "system", "server")
REQUESTS, LOADS, THROTTLE = 9, 3, 4
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: Kept by the browser from the first moment: largest paint, shifts, interactions, and the first chart that is painted.
_OBSERVE = """
window.kept = {lcp: 0, cls: 0, inp: 0, chart: 0};
new PerformanceObserver(l => { for (const e of l.getEntries()) kept.lcp = e.startTime; })
  .observe({type: 'largest-contentful-paint', buffered: true});
new PerformanceObserver(l => { for (const e of l.getEntries()) if (!e.hadRecentInput) kept.cls += e.value; })
  .observe({type: 'layout-shift', buffered: true});
new PerformanceObserver(l => {
  for (const e of l.getEntries()) if (e.interactionId) kept.inp = Math.max(kept.inp, e.duration);
}).observe({type: 'event', durationThreshold: 16, buffered: true});
const first = 'figure[data-chart="checkpoint-age"] :is(svg.chart path, .touched .scatterlayer path)';
const watch = () => {
  if (!document.querySelector(first)) { requestAnimationFrame(watch); return; }
  requestAnimationFrame(() => { kept.chart = performance.now(); });
};
requestAnimationFrame(watch);
"""


@dataclass(frozen=True)
class Row:
    """One page at one size. Times in milliseconds; ``slow`` is with the processor throttled."""

    page: str
    servers: int
    html_ms: float
    html_bytes: int
    script_bytes: int
    lcp: float
    lcp_slow: float
    inp: float
    inp_slow: float
    cls: float
    findings: int


def every_page(folder: Path, sizes: Sequence[int] = SIZES) -> tuple[list[Row], list[Ratio], list[str]]:
    """Measures all of it; rows, the ratio against Plotly, and notes. Takes minutes."""
    from playwright.sync_api import sync_playwright

    busy = os.getloadavg()[0]
    rows: list[Row] = []
    ratios: list[Ratio] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for size in sizes:
            with installation(folder / f"vitals-{size}", str(size)) as made:
                for name, path in made.pages:
                    if size == sizes[0] or name in OF_THE_FLEET:
                        sys.stderr.write(f"... {name} of {size} servers\n")
                        rows.append(_measured(browser, made, name, path, size))
                if size == sizes[0]:
                    ratios.append(_against_plotly(browser, made))
        browser.close()
    notes = [
        f"HTML is the median of {REQUESTS} requests to the last byte; LCP and INP are medians of {LOADS} loads, CLS is "
        f"the worst, in headless Chromium without a graphics processor; slowed: with {THROTTLE} times less processor.",
        "INP: Tab, a click on the first thing that unfolds, Tab, Escape; the slowest of them until the next frame.",
        "Script is what was loaded before anybody touched a chart, compressed.",
        f"The load average was {busy:.1f} on {os.cpu_count()} cores when it began: above 1, times tell of the machine.",
    ]
    return rows, ratios, notes


def _measured(browser: Any, made: Installation, name: str, path: str, servers: int) -> Row:
    html_ms, size = _fetched(made, path)
    plain = [_loaded(browser, made, path, 1) for _ in range(LOADS)]
    slow = [_loaded(browser, made, path, THROTTLE) for _ in range(LOADS)]
    return Row(
        page=name,
        servers=servers,
        html_ms=html_ms,
        html_bytes=size,
        script_bytes=plain[0]["script"],
        lcp=statistics.median(one["lcp"] for one in plain),
        lcp_slow=statistics.median(one["lcp"] for one in slow),
        inp=statistics.median(one["inp"] for one in plain),
        inp_slow=statistics.median(one["inp"] for one in slow),
        cls=max(one["cls"] for one in plain + slow),
        findings=_findings(browser, made, path),
    )


def _fetched(made: Installation, path: str) -> tuple[float, int]:
    """Milliseconds to the last byte and compressed bytes of the HTML alone."""
    times, size = [], 0
    for _ in range(REQUESTS):
        began = time.perf_counter()
        size = len(_answer(made, path))
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), size


def _answer(made: Installation, path: str) -> bytes:
    """The page as it comes, compressed."""
    headers = {"Cookie": f"tidemark_session={made.session}", "Accept-Encoding": "gzip"}
    request = urllib.request.Request(made.base + path, headers=headers)  # noqa: S310 -- our own address
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310 -- our own address
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        # A login link that is spent is a page too.
        return error.read()


def _html(made: Installation, path: str) -> str:
    return gzip.decompress(_answer(made, path)).decode()


@contextmanager
def _page(browser: Any, made: Installation, throttle: int) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    context.add_cookies([{"name": "tidemark_session", "value": made.session, "url": made.base}])
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(_OBSERVE)
    if throttle > 1:
        context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": throttle})
    try:
        yield page
    finally:
        context.close()


def _loaded(browser: Any, made: Installation, path: str, throttle: int) -> dict[str, Any]:
    """What the browser kept of one load and a few touches."""
    scripts: dict[str, int] = {}

    def seen(response: Any) -> None:
        if "javascript" in (response.headers.get("content-type") or ""):
            scripts[response.url] = len(gzip.compress(response.body()))

    with _page(browser, made, throttle) as page:
        page.on("response", seen)
        page.goto(made.base + path)
        page.wait_for_timeout(600)
        before = sum(scripts.values())
        page.keyboard.press("Tab")
        unfolds = page.locator("main summary:visible").first
        if unfolds.count():
            unfolds.click()
        page.keyboard.press("Tab")
        page.keyboard.press("Escape")
        page.wait_for_timeout(400)
        return {**page.evaluate("window.kept"), "script": before}


def _findings(browser: Any, made: Installation, path: str) -> int:
    from axe_playwright_python.sync_playwright import Axe

    with _page(browser, made, 1) as page:
        page.goto(made.base + path)
        answer = Axe().run(page, options={"runOnly": {"type": "tag", "values": WCAG}}).response
        return len(answer["violations"])


def _against_plotly(browser: Any, made: Installation) -> Ratio:
    """Until the first chart is painted, load after load in turns, at four times less processor."""
    path = f"/s/{next(iter(made.servers.values()))}?range=6h"

    def only_plotly(route: Any) -> None:
        if not route.request.is_navigation_request():
            route.continue_()
            return
        html = re.sub(r'<svg class="chart.*?</svg>', "", _html(made, path), flags=re.DOTALL)
        wake = "addEventListener('DOMContentLoaded', () => document.querySelector('[data-wake]').click())"
        route.fulfill(
            status=200, content_type="text/html", body=html.replace("</head>", f"<script>{wake}</script></head>")
        )

    def painted(prepare: Callable[[Any], None]) -> float:
        with _page(browser, made, THROTTLE) as page:
            prepare(page)
            page.goto(made.base + path)
            page.wait_for_function("window.kept.chart > 0")
            return float(page.evaluate("window.kept.chart"))

    return compare(
        f"first chart of the server page painted, processor slowed {THROTTLE} times",
        "the same page drawn by Plotly alone",
        lambda: painted(lambda page: None),
        lambda: painted(lambda page: page.route(re.compile(r"/s/[^/?]+\?range=6h$"), only_plotly)),
        unit="ms",
        blocks=10,
        target=0.35,
    )


def table(rows: list[Row], notes: list[str]) -> str:
    """Markdown."""
    heads = ("page", "servers", "HTML, ms", "HTML, KiB", "script, KiB", "LCP, ms", "LCP slowed, ms", "INP, ms",
             "INP slowed, ms", "CLS", "axe findings")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(heads) - 1)]
    for one in rows:
        times = [f"{value:.0f}" for value in (one.lcp, one.lcp_slow)]
        times += [f"{value:.0f}" if value else "< 16" for value in (one.inp, one.inp_slow)]
        sizes = [f"{size / 1024:.1f}" for size in (one.html_bytes, one.script_bytes)]
        cells = [
            one.page,
            f"{one.servers:,}",
            f"{one.html_ms:.0f}",
            *sizes,
            *times,
            f"{one.cls:.3f}",
            str(one.findings),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, "", *(f"- {note}" for note in notes)])
