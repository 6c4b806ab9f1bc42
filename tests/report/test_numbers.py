import pytest

from hloscope.model.units import Measured, Missing
from hloscope.report.numbers import (
    bytes_text,
    count_text,
    maybe_bytes,
    percent_text,
    seconds_text,
    signed,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (1024, "1.00 KiB"),
        (-1536, "-1.50 KiB"),
        (2**20 - 1, "1.00 MiB"),
        (3 * 2**30, "3.00 GiB"),
        (2**60, "1024.00 PiB"),
    ],
)
def test_bytes(count: int, text: str) -> None:
    assert bytes_text(count) == text


def test_counts_keep_their_unit() -> None:
    assert [count_text(n, "FLOP") for n in (0, 999, 1000, -2.5e12)] == [
        "0 FLOP",
        "999 FLOP",
        "1.00 kFLOP",
        "-2.50 TFLOP",
    ]


def test_seconds() -> None:
    assert [seconds_text(s) for s in (0, 2, 0.0123, 4.5e-6, 7e-9)] == [
        "0 s",
        "2 s",
        "12.3 ms",
        "4.5 us",
        "7 ns",
    ]


def test_a_delta_has_a_sign_unless_it_is_nothing() -> None:
    assert [signed(bytes_text(n)) for n in (-5, 0, 5)] == ["-5 B", "0 B", "+5 B"]


def test_unknown_is_not_zero() -> None:
    assert maybe_bytes(Missing("not given")) == "unknown"
    assert maybe_bytes(Measured(0)) == "0 B"


def test_no_ratio_without_a_base() -> None:
    assert percent_text(5, 0) == ""
    assert percent_text(-5, 50) == "-10.0%"
    assert percent_text(400, 50) == "+800.0%"
    assert percent_text(682_100, 100) == "x6,822"
