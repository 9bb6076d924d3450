"""Quantities and messages in English."""

from __future__ import annotations

import pytest

from advisor.engine.outcome import Measured, Message
from advisor.engine.units import DAY, GIB, HOUR, MIB, Quantity, Unit
from advisor.engine.wording import measured_text, message_text, quantity_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (8 * MIB, Unit.BYTES, "8 MiB"),
        (1.5 * GIB, Unit.BYTES, "1.5 GiB"),
        (3.25 * MIB, Unit.BYTES_PER_SECOND, "3.25 MiB/s"),
        (0.712, Unit.RATIO, "71.2 %"),
        (0.0, Unit.RATIO, "0 %"),
        (1.0, Unit.RATIO, "100 %"),
        (0.29, Unit.SECONDS, "0.29 s"),
        (45, Unit.SECONDS, "45 s"),
        (90, Unit.SECONDS, "1 min 30 s"),
        (12 * 60 + 31, Unit.SECONDS, "12 min"),
        (HOUR + 12 * 60, Unit.SECONDS, "1 h 12 min"),
        (2 * DAY + 3 * HOUR, Unit.SECONDS, "2 d 3 h"),
        (1234, Unit.PAGES_PER_SECOND, "1,234 pages/s"),
        (12.34, Unit.PER_SECOND, "12.3 per second"),
        (12345, Unit.COUNT, "12,345"),
        ("ON", Unit.TEXT, "ON"),
    ],
)
def test_a_quantity_is_printed_with_its_unit(value: float | str, unit: Unit, text: str) -> None:
    assert quantity_text(Quantity(value, unit)) == text


def test_a_message_keeps_its_template_until_the_values_are_put_in() -> None:
    message = Message("The redo log of {capacity} is small", {"capacity": Quantity(8 * MIB, Unit.BYTES)})
    assert message.text == "The redo log of {capacity} is small"
    assert message_text(message) == "The redo log of 8 MiB is small"


def test_a_measurement_is_printed_as_name_and_value() -> None:
    assert measured_text(Measured("time at the limit", 0.05, Unit.RATIO)) == "time at the limit: 5 %"
