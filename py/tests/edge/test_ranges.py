"""Ranges: every form of `Range`, `If-Range` and `If-None-Match`, and what is answered."""

import pytest

from pgplane.edge.blobs.ranges import Wanted, wanted

SIZE = 1000
TAG = '"abc"'
WHOLE = Wanted(200, 0, SIZE)
KNOWN = Wanted(304, 0, 0)
NONE = Wanted(416, 0, 0)
HUGE = "9" * 5000


def part(start: int, end: int) -> Wanted:
    return Wanted(206, start, end)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-0", part(0, 1)),
        ("bytes=0-499", part(0, 500)),
        ("bytes=500-999", part(500, 1000)),
        ("bytes=500-", part(500, 1000)),
        ("bytes=999-", part(999, 1000)),
        ("bytes=0-", part(0, 1000)),
        ("bytes=0-999", part(0, 1000)),
        ("bytes=900-1000", part(900, 1000)),
        (f"bytes=900-{HUGE}", part(900, 1000)),
        ("bytes=-1", part(999, 1000)),
        ("bytes=-500", part(500, 1000)),
        ("bytes=-1000", part(0, 1000)),
        ("bytes=-1001", part(0, 1000)),
        (f"bytes=-{HUGE}", part(0, 1000)),
        ("bytes=00000000000000000000000000001-2", part(1, 3)),
        ("BYTES=0-0", part(0, 1)),
        (" bytes=0-0", part(0, 1)),
        ("bytes= 0-0 ", part(0, 1)),
        ("bytes=,0-0,", part(0, 1)),
        ("bytes=1000-", NONE),
        ("bytes=1000-1000", NONE),
        (f"bytes={HUGE}-", NONE),
        (f"bytes={HUGE}-{HUGE}", NONE),
        ("bytes=-0", NONE),
        ("bytes=-000", NONE),
        ("bytes=0-0,2-3", WHOLE),
        ("bytes=0-0, -1", WHOLE),
        ("bytes=1000-,2000-", WHOLE),
        ("bytes=5-4", WHOLE),
        (f"bytes={HUGE}-4", WHOLE),
        ("bytes=-", WHOLE),
        ("bytes=", WHOLE),
        ("bytes=,", WHOLE),
        ("bytes", WHOLE),
        ("", WHOLE),
        ("0-1", WHOLE),
        ("lines=0-1", WHOLE),
        ("bytes=a-b", WHOLE),
        ("bytes=0x1-2", WHOLE),
        ("bytes=+1-2", WHOLE),
        ("bytes=1 - 2", WHOLE),
        ("bytes=1-2-3", WHOLE),
        ("bytes=--1", WHOLE),
        ("bytes=１-２", WHOLE),
        ("bytes=1.0-2", WHOLE),
    ],
)
def test_a_range(header: str, expected: Wanted) -> None:
    assert wanted({"range": header}, "GET", SIZE, TAG) == expected


@pytest.mark.parametrize("header", ["bytes=0-0", "bytes=1000-", "bytes=-0"])
def test_only_a_get_has_ranges(header: str) -> None:
    assert wanted({"range": header}, "HEAD", SIZE, TAG) == WHOLE


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bytes=0-", NONE),
        ("bytes=0-0", NONE),
        ("bytes=-0", NONE),
        ("bytes=-5", Wanted(200, 0, 0)),
        ("", Wanted(200, 0, 0)),
    ],
)
def test_of_nothing_there_is_no_part(header: str, expected: Wanted) -> None:
    assert wanted({"range": header}, "GET", 0, TAG) == expected


@pytest.mark.parametrize(
    ("validator", "expected"),
    [
        (TAG, part(0, 1)),
        (f" {TAG} ", part(0, 1)),
        ('"abd"', WHOLE),
        (f"W/{TAG}", WHOLE),
        ("abc", WHOLE),
        ("*", WHOLE),
        (f"{TAG}, {TAG}", WHOLE),
        ("", WHOLE),
        ("Tue, 01 Dec 2026 00:00:00 GMT", WHOLE),
    ],
)
def test_a_part_of_what_is_no_more_is_the_whole(validator: str, expected: Wanted) -> None:
    headers = {"range": "bytes=0-0", "if-range": validator}
    assert wanted(headers, "GET", SIZE, TAG) == expected
    out_of_range = {**headers, "range": "bytes=5000-"}
    assert wanted(out_of_range, "GET", SIZE, TAG) == (NONE if expected != WHOLE else WHOLE)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    ("header", "known"),
    [
        (TAG, True),
        (f"W/{TAG}", True),
        (f'"x", {TAG}', True),
        (f'"x,y",W/"z" , W/{TAG}', True),
        ("*", True),
        (" * ", True),
        ('"abd"', False),
        ("abc", False),
        ('"*"', False),
        ("", False),
    ],
)
def test_what_the_client_has_is_not_sent_again(method: str, header: str, known: bool) -> None:
    assert wanted({"if-none-match": header}, method, SIZE, TAG) == (KNOWN if known else WHOLE)


def test_what_the_client_has_goes_before_what_it_wants_of_it() -> None:
    for spec in ("bytes=0-0", "bytes=5000-"):
        assert wanted({"range": spec, "if-none-match": TAG}, "GET", SIZE, TAG) == KNOWN
        assert wanted({"range": spec, "if-none-match": '"x"'}, "GET", SIZE, TAG) != KNOWN
