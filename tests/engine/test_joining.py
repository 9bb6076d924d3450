"""Two findings that want one variable are one recommendation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.engine.joining import join, variables_twice
from advisor.engine.outcome import Confidence, Measured, Message, Price, PriceKind, Severity
from advisor.engine.recommendation import Recommendation
from advisor.engine.units import Unit
from advisor.mysql.proposal import SetMetricCounters, SetVariable


def recommendation(
    rule: str,
    *changes: SetVariable | SetMetricCounters,
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.LOW,
    price: tuple[Price, ...] = (),
) -> Recommendation:
    return Recommendation(
        rule=rule,
        rules=(rule,),
        severity=severity,
        confidence=confidence,
        message=Message(rule),
        evidence=(Measured(rule, 1, Unit.COUNT),),
        proposal=changes,
        key=rule,
        keys=(rule,),
        price=price,
    )


def test_what_shares_no_variable_stays_apart() -> None:
    assert len(join([recommendation("a", SetVariable("x", 1)), recommendation("b", SetVariable("y", 1))])) == 2


def test_agreeing_findings_are_one_with_the_changes_evidence_and_prices_of_both() -> None:
    more = Price(PriceKind.MEMORY, Message("memory"))
    joined = join(
        [
            recommendation("a", SetVariable("x", 1), severity=Severity.NOTICE),
            recommendation("b", SetVariable("x", 1), SetVariable("y", 2), severity=Severity.WARNING, price=(more,)),
        ]
    )
    assert len(joined) == 1
    assert joined[0].rule == "b"
    assert joined[0].rules == ("b", "a")
    assert joined[0].keys == ("b", "a")
    assert joined[0].variables == {"x": 1, "y": 2}
    assert [figure.name for figure in joined[0].evidence] == ["b", "a"]
    assert joined[0].price == (more,)
    assert joined[0].overruled == ()


def test_the_more_severe_finding_decides_and_the_other_one_is_named() -> None:
    joined = join(
        [
            recommendation("low", SetVariable("x", 1), severity=Severity.NOTICE),
            recommendation("high", SetVariable("x", 9), severity=Severity.CRITICAL),
        ]
    )
    assert joined[0].variables == {"x": 9}
    assert [one.rule for one in joined[0].overruled] == ["low"]


def test_of_two_equally_severe_findings_the_surer_one_decides() -> None:
    joined = join(
        [
            recommendation("a", SetVariable("x", 1), confidence=Confidence.LOW),
            recommendation("b", SetVariable("x", 2), confidence=Confidence.HIGH),
        ]
    )
    assert joined[0].rule == "b"


def test_joining_follows_chains_of_shared_variables() -> None:
    joined = join(
        [
            recommendation("a", SetVariable("x", 1)),
            recommendation("b", SetVariable("y", 1)),
            recommendation("c", SetVariable("x", 1), SetVariable("y", 1)),
        ]
    )
    assert len(joined) == 1
    assert set(joined[0].rules) == {"a", "b", "c"}


def test_a_counter_and_a_variable_of_one_name_are_two_things() -> None:
    assert len(join([recommendation("a", SetMetricCounters(("x",))), recommendation("b", SetVariable("x", 1))])) == 2


@given(
    st.lists(
        st.tuples(
            st.sampled_from(list(Severity)),
            st.sampled_from(list(Confidence)),
            st.dictionaries(st.sampled_from("uvwxyz"), st.integers(0, 2), max_size=3),
        ),
        max_size=8,
    )
)
def test_no_variable_is_ever_in_two_recommendations_and_no_rule_is_lost(
    found: list[tuple[Severity, Confidence, dict[str, int]]],
) -> None:
    all_found = [
        recommendation(
            f"r{index}", *(SetVariable(*pair) for pair in wants.items()), severity=severity, confidence=confidence
        )
        for index, (severity, confidence, wants) in enumerate(found)
    ]
    joined = join(all_found)
    assert variables_twice(joined) == set()
    assert sorted(rule for one in joined for rule in one.rules) == sorted(one.rule for one in all_found)
    assert all(len({change.name for change in one.proposal}) == len(one.proposal) for one in joined)  # type: ignore[union-attr]
    assert [one.severity.rank for one in joined] == sorted((one.severity.rank for one in joined), reverse=True)
    assert join(list(reversed(all_found))) == joined
