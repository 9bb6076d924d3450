"""The verdict as the page of a change request says it."""

from __future__ import annotations

import re
from dataclasses import replace

from django.template.loader import render_to_string
from django.test import Client

from advisor.changes import page_history, verifying, verifying_page
from advisor.changes.models import Application
from tests.changes.building import Desk
from tests.changes.test_verifying import LARGE, SMALL, applied, at, watched


def page(application: Application) -> str:
    return render_to_string("changes/_verify.html", {"verdicts": verifying_page.read(application.request)})


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_before_anything_is_known_it_says_what_is_waited_for(desk: Desk) -> None:
    text = text_of(page(applied(desk)))
    assert "It is not judged yet." in text
    assert text.count("not yet") == 3


def test_what_helped_is_one_sentence_with_its_figures_and_leads_to_both_windows(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    verifying.tick(at(1200))
    html = page(application)
    text = text_of(html)
    assert re.search(r"It helped: [^.]* went from \S+ .* to \S+", text)
    assert re.search(r"pages written per MiB of redo aim \S+ \S+ ÷\S+ \(÷\S+ – ÷\S+\) better", text)
    assert "transactions per second" in text
    assert f"/s/{desk.server.pk}/diff?a_from=" in html
    assert "<svg" in html
    (shown,) = verifying_page.read(application.request)
    assert [name for name, _ in shown.windows] == ["before", "left out until it had settled", "after"]


def test_a_load_that_changed_is_told_with_its_factor_and_interval(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, LARGE, replace(LARGE, demand=lambda since: 40.0 if since < 0 else 80.0))
    verifying.tick(at(verifying.EARLY_UNTIL_SECONDS))
    text = text_of(page(application))
    assert re.search(r"because the load changed: transactions per second ×(1\.[7-9]|2)\S* \(×1\.\d+ – ×2\.\d+\)", text)


def test_what_the_server_says_of_itself_is_escaped(desk: Desk) -> None:
    application = applied(desk)
    row = application.verifications.get(stage="early")
    hostile = "<script>x</script>"
    row.document = {
        "why": "settings",
        "settings": [hostile],
        "metrics": [{"id": "x", "title": hostile, "before": hostile}],
    }
    row.save()
    html = page(application)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_the_page_of_a_rule_says_how_often_it_was_right_here(desk: Desk) -> None:
    rule = "redo.redo-log-undersized"
    client = Client()
    client.force_login(desk.author)
    said = "1 judged, 1 improved, 0 without a difference, 0 worse, 0 not to be told"
    assert said not in client.get(f"/rules/{rule}").content.decode()
    applied(desk, rule=rule).verifications.filter(stage="early").update(verdict="improved", judged_at=at(600))
    assert said in client.get(f"/rules/{rule}").content.decode()


def test_the_history_tells_every_verdict(desk: Desk) -> None:
    application = applied(desk)
    watched(desk, SMALL, LARGE)
    for seconds in (1200, 3600, 86_400):
        verifying.tick(at(seconds))
    told = [one.words for one in page_history.read(application.request)]
    assert sum("was judged, improved" in words for words in told) == 3
