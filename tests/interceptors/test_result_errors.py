"""Which results are errors in disguise, and which are not."""

from __future__ import annotations

import orjson
import pytest

from interceptors.result_errors import error_in, of_status, structured
from policies.patterns import Pattern
from policies.upkeep import ErrorRule, ResultError

JAVA = "java.net.SocketTimeoutException: Read timed out\n    at com.shop.Orders.get(Orders.java:41)"
NODE = "TypeError: Cannot read properties of undefined (reading 'id')\n    at getOrder (/srv/app.js:10:5)"
PYTHON = (
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nrequests.exceptions.Timeout: timed out'
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ResultError.EMPTY),
        ("  \n ", ResultError.EMPTY),
        ("null", ResultError.EMPTY),
        ("None", ResultError.EMPTY),
        ("<html><body><h1>502 Bad Gateway</h1>", ResultError.TRANSIENT),
        ('<?xml version="1.0"?><!DOCTYPE html><html><title>404 Not Found</title>', ResultError.PERMANENT),
        ("<!doctype HTML>\n<title>Sign in</title>", ResultError.TRANSIENT),
        (PYTHON, ResultError.TRANSIENT),
        (PYTHON.replace("requests.exceptions.Timeout: timed out", "KeyError: 'id'"), ResultError.PERMANENT),
        (JAVA, ResultError.TRANSIENT),
        (NODE, ResultError.PERMANENT),
        ("HTTP/1.1 401 Unauthorized", ResultError.PERMISSION),
        ("Error: 404 not found", ResultError.PERMANENT),
        ("status code 429", ResultError.TRANSIENT),
        ("Request timed out after 30 s", ResultError.TRANSIENT),
        ("connect ECONNREFUSED 127.0.0.1:80", ResultError.TRANSIENT),
        ('{"status": 503, "title": "Down"}', ResultError.TRANSIENT),
        ('{"statusCode": "403", "message": "No"}', ResultError.PERMISSION),
        ('{"error": {"status": 400, "message": "order_id"}}', ResultError.VALIDATION),
        ('{"error": "upstream deadline exceeded"}', ResultError.TRANSIENT),
    ],
)
def test_an_error_in_disguise(text: str, kind: ResultError) -> None:
    """By its form, never by a word in the midst of data."""
    found = error_in([text], ())
    assert found is not None
    assert found[0] is kind


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "0",
        "false",
        '{"status": "timed out"}',
        '{"status": 200, "message": "ok"}',
        '{"status": 404}',
        '{"code": 500, "name": "half a thousand"}',
        '{"order": {"note": "<html>"}}',
        "The order was delivered on Monday. " * 20 + "The first attempt timed out.",
        "500 USD were paid for order A1001 and 20 for its delivery"[3:],
        '["error 503"]',
        '{"isError": true, "status": 503, "message": "said so itself"}',
    ],
)
def test_what_is_no_error(text: str) -> None:
    """Data stays data."""
    assert error_in([text], ()) is None


def test_a_rule_of_the_policy_comes_first() -> None:
    """It may call an error what is none to the built-in rules, and say another kind of one that is."""
    rules = (ErrorRule(Pattern.compile("(?i)order system offline"), ResultError.TRANSIENT),)
    assert error_in(['{"info": "Order system OFFLINE"}'], rules) == (
        ResultError.TRANSIENT,
        '{"info": "Order system OFFLINE"}',
    )
    own = (ErrorRule(Pattern.compile("502"), ResultError.PERMANENT),)
    assert error_in(["<html><title>502 Bad Gateway</title>"], own) == (
        ResultError.PERMANENT,
        "<html><title>502 Bad Gateway</title>",
    )


@pytest.mark.parametrize("kind", ResultError)
@pytest.mark.parametrize("is_write", [True, False])
def test_what_a_failed_write_did_is_not_known(kind: ResultError, *, is_write: bool) -> None:
    """It invites no second try (a payment that timed out may have been made); a read may be tried again."""
    said = orjson.loads(structured(kind, "x", is_write=is_write))
    assert said["isError"] is True
    assert said["errorCategory"] == kind.value
    retries = {ResultError.VALIDATION} if is_write else {ResultError.VALIDATION, ResultError.TRANSIENT}
    assert said["isRetryable"] is (kind in retries)
    is_open = is_write and kind in (ResultError.TRANSIENT, ResultError.PERMANENT, ResultError.EMPTY)
    assert ("not known whether" in said["next"]) is is_open


def test_every_status_has_a_kind() -> None:
    """From 400 to 599."""
    assert {of_status(status) for status in range(400, 600)} == set(ResultError) - {ResultError.EMPTY}
