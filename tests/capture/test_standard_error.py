from __future__ import annotations

from hloscope.capture.standard_error import compiler_warnings, tail

TEXT = """\
Failed to find host bounds for accelerator type: WARNING: could not determine TPU accelerator type
WARNING: Logging before InitGoogle() is written to STDERR
E0000 00:00:1796073466.542941   10542 common_lib.cc:860] unexpected worker hostname
=== Source Location Trace: ===
learning/45eac/tfrc/runtime/libtpu_init_utils.cc:370
I0000 00:00:1796073466.542942   10542 cpu_client.cc:1] all is well
W1130 21:22:33.123456   10542 hlo_rematerialization.cc:3005] Can't reduce memory use below 1GiB
W1130 21:22:34.123456   10542 hlo_rematerialization.cc:3005] Can't reduce memory use below 1GiB
the program's own words
"""
REMATERIALIZATION = "hlo_rematerialization.cc: Can't reduce memory use below 1GiB"


def test_warnings_are_kept_once_without_time_thread_and_noise() -> None:
    assert compiler_warnings(TEXT) == (REMATERIALIZATION,)


def test_the_tail_has_the_last_lines_that_say_something() -> None:
    assert tail(TEXT).splitlines()[-1] == "the program's own words"
    assert "hostname" not in tail(TEXT)
    assert len(tail("line\n" * 100).splitlines()) == 12
