from __future__ import annotations

import re
import sysconfig

import pytest

from hloscope.capture.scrub import (
    Identity,
    scrub_bytes,
    scrub_text,
    source_prefixes,
    this_identity,
)

ME = Identity(homes=("/home/zebedee",), names=("zebedee", "florence-pc"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/zebedee/a.py", "~/a.py"),
        ("/home/zebedee", "~"),
        ("/home/zebedee2/a.py", "/home/zebedee2/a.py"),
        ("http://florence-pc:8476", "http://<name>:8476"),
        ("user_zebedee_1", "user_<name>_1"),
        ("zebedees", "zebedees"),
    ],
)
def test_text_loses_home_user_and_host(text: str, expected: str) -> None:
    assert scrub_text(text, ME) == expected


def test_bytes_lose_the_home_and_keep_their_length() -> None:
    data = b"\x0a\x12/home/zebedee/a.py\x10"
    assert scrub_bytes(data, ME) == b"\x0a\x12/~~~~/~~~~~~~/a.py\x10"


def test_names_that_identify_nobody_stay() -> None:
    identity = this_identity(
        {"HOME": "/", "USER": "root", "LOGNAME": "ed", "HOSTNAME": "localhost"}
    )
    assert not {"root", "ed", "localhost"} & set(identity.names)
    assert "/" not in identity.homes


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/srv/code/pkg/mod.py", "pkg/mod.py"),
        ("/home/zebedee/x.py", "x.py"),
        ("/srv/elsewhere/x.py", "elsewhere/x.py"),
        ("/data/x.py", "/data/x.py"),
        (f"{sysconfig.get_paths()['stdlib']}/json/decoder.py", "json/decoder.py"),
    ],
)
def test_source_locations_are_relative_to_the_import_path(path: str, expected: str) -> None:
    assert re.sub(source_prefixes(["/srv", "/srv/code"], ME), "", path) == expected
