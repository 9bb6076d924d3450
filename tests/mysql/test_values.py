"""Values are read as people and servers write them, and printed as servers print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.mysql import values
from advisor.mysql.values import BadValue


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("134217728", 134_217_728),
        ("128M", 134_217_728),
        ("128m", 134_217_728),
        ("1G", 1 << 30),
        ("64K", 65_536),
        ("2T", 2 << 40),
        ("0x10", 16),
        ("-1", -1),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_whole_numbers_are_read_with_suffixes_and_in_hexadecimal(text: str, number: int) -> None:
    assert values.parse_size(text) == number


@pytest.mark.parametrize("text", ["1.5G", "1,5G", "2.0", "1.5 GiB"])
def test_a_fraction_is_refused_with_what_to_write_instead(text: str) -> None:
    with pytest.raises(BadValue, match=r"take no fractions here: write a smaller unit, such as 1536M for 1\.5G\.$"):
        values.parse_size(text)


@pytest.mark.parametrize("text", ["", "G", "12X", "1 G", "1GB", "ON", "1; DROP TABLE t", "0x", "１２"])
def test_what_is_no_whole_number_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match=r"is not a whole number"):
        values.parse_integer(text)


def test_booleans_are_what_servers_take() -> None:
    assert [values.parse_boolean(text) for text in ("ON", "on", "TRUE", "1")] == [True] * 4
    assert [values.parse_boolean(text) for text in ("OFF", "false", "0")] == [False] * 3
    for text in ("yes", "2", ""):
        with pytest.raises(BadValue, match="write ON or OFF"):
            values.parse_boolean(text)


def test_reals_are_read_as_servers_print_them() -> None:
    assert values.parse_real("90.000000") == 90.0
    assert values.parse_real("99.9") == 99.9
    for text in ("nan", "inf", "90%", ""):
        with pytest.raises(BadValue, match="is not a number"):
            values.parse_real(text)


def test_enums_are_found_by_name_and_by_position() -> None:
    methods = ["fsync", "O_DSYNC", "O_DIRECT"]
    assert values.parse_enum("o_direct", methods) == "O_DIRECT"
    assert values.parse_enum("1", methods) == "O_DSYNC"
    with pytest.raises(BadValue, match="is none of fsync, O_DSYNC, O_DIRECT"):
        values.parse_enum("3", methods)


def test_sets_come_back_in_the_servers_order() -> None:
    allowed = ["FILE", "TABLE", "NONE"]
    assert values.parse_set("table,file, TABLE", allowed) == ("FILE", "TABLE")
    assert values.parse_set("", allowed) == ()


def test_flags_survive_reading_and_printing() -> None:
    text = "index_merge=on,mrr=off,mrr_cost_based=on"
    assert values.parse_flags(text) == {"index_merge": True, "mrr": False, "mrr_cost_based": True}
    assert values.print_flags(values.parse_flags(text)) == text
    with pytest.raises(BadValue, match="write it as name=on"):
        values.parse_flags("mrr")


def test_values_are_printed_as_select_global_prints_them() -> None:
    assert values.as_printed(True) == "1"
    assert values.as_printed(False) == "0"
    assert values.as_printed(90, real=True) == "90.000000"
    assert values.as_printed(75.5) == "75.500000"
    assert values.as_printed(268_435_456) == "268435456"
    assert values.as_printed("O_DIRECT") == "O_DIRECT"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1G", 1 << 30),
        ("ON", 1),
        ("OFF", "0"),
        (True, "on"),
        (90, "90.000000"),
        (99.9, "99.900000"),
        ("O_DIRECT", "o_direct"),
        ("FILE, TABLE", "file,table"),
        ("0x10", "16"),
    ],
)
def test_two_spellings_of_one_value_are_the_same(one: values.Value, other: values.Value) -> None:
    assert values.same(one, other)
    assert values.same(other, one)


def test_different_values_are_not_the_same() -> None:
    assert not values.same("1G", "1M")
    assert not values.same("ON", "OFF")
    assert not values.same("fsync", "1")
    assert not values.same(90.0, 90.1)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (8 << 30, "8 GiB"),
        (1_610_612_736, "1.5 GiB"),
        (1_048_575, "1 MiB"),
        (122_683_392, "117 MiB"),
        (100_000_000, "95.37 MiB"),
        (-2048, "-2 KiB"),
    ],
)
def test_sizes_for_people_have_a_binary_unit(size: int, text: str) -> None:
    assert values.human_size(size) == text


def test_exact_sizes_hide_no_byte() -> None:
    assert values.exact_size(8 << 30) == "8 GiB"
    assert values.exact_size(1536 << 20) == "1,536 MiB"
    assert values.exact_size(122_683_393) == "122,683,393 B"
    assert values.exact_size(0) == "0 B"


@given(st.integers(min_value=0, max_value=2**63))
def test_an_option_files_size_reads_back_to_the_byte(size: int) -> None:
    assert values.parse_size(values.option_size(size)) == size


@given(st.text(max_size=40))
def test_no_text_breaks_out_of_a_literal(text: str) -> None:
    try:
        literal = values.literal(text)
    except BadValue:
        return
    assert literal in ("ON", "OFF") or (
        literal[0] == literal[-1] == "'" and not set("'\\\"`;#\n\x00") & set(literal[1:-1])
    )


def test_literals_have_the_form_their_kind_needs() -> None:
    assert [values.literal(value) for value in (True, False, 42, 75.5, "O_DIRECT", "off")] == [
        "ON",
        "OFF",
        "42",
        "75.5",
        "'O_DIRECT'",
        "OFF",
    ]
    with pytest.raises(BadValue):
        values.literal(float("nan"))
