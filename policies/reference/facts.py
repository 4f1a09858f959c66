"""What is read, of records and of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "FACT": Reference(
        ("key", "type", "default", "what it says"),
        {
            "key": ("mapping", "required", "what a key looks like, see below"),
            "http": (
                "URL with `{key}`",
                "one of the two",
                (
                    "where it is read; the key is percent-encoded as one path segment or query value. `${NAME}` may "
                    "stand for the beginning"
                ),
            ),
            "file": (
                "path with or without `{key}`",
                "one of the two",
                (
                    "a JSON file beside the policy: with `{key}` in its name one record a file, without it one "
                    "object from keys to records"
                ),
            ),
            "headers": ("mapping of texts", "none", "sent with the request; a secret is `${NAME}` or `${file:/path}`"),
            "timeout": (
                "duration to `60s`",
                "`2s`",
                "after it the fact counts as unavailable: forbidden for now, a retry may help",
            ),
            "missing": (
                "one of `forbid`, `escalate`, `clarify` with a reason",
                "`{escalate: facts_incomplete}`",
                "the answer where there is no such record",
            ),
            "fields": ("mapping", "required", "what may be read from it, and as what, see below"),
        },
    ),
    "FACT_KEY": Reference(
        ("key of `key`", "type", "default", "what it says"),
        {
            "pattern": ("RE2 pattern", "required", "the whole key must match; another is never asked for"),
        },
    ),
    "FACT_FIELD": Reference(
        ("key of a field", "type", "default", "what it says"),
        {
            "at": (
                "path",
                "the field's name",
                (
                    "where it stands in the record: `customer.id`. `items[*].sku` is the list of all there, read as "
                    "`order.skus[*]`"
                ),
            ),
            "type": ("{choices}", "one of three", "its type; `name: boolean` is short for `name: {type: boolean}`"),
            "money": ("ISO 4217 code", "one of three", "it is an amount in this currency"),
            "unit": ("{choices}", "required with `money`", "in which unit: dollars, cents, or thousandths"),
            "currency": (
                "a text field beside it",
                "none",
                (
                    "which field of the same record says an amount's currency: `currency: order.currency`. An amount "
                    "in another than `money` is unreadable, so that a rule that reads it fires as `facts_incomplete`"
                ),
            ),
            "timestamp": (
                "`iso`",
                "one of three",
                "it is a time such as `2026-01-31T09:30:00Z`; the offset is required",
            ),
        },
    ),
    "RULINGS": Reference(
        ("key of `missing`", "type", "default", "what it says"),
        {
            "forbid": ("reason", "one of three", "there is no such record, and that is a no"),
            "escalate": ("reason", "one of three", "a person looks into it"),
            "clarify": ("reason", "one of three", "the customer is asked"),
        },
    ),
    "RESULT": Reference(
        ("key", "type", "what it says"),
        {
            "fields": ("mapping", "what may be read of a result, as the fields of a [fact](#facts)"),
            "format": (
                "{choices}",
                (
                    "what a result is read as: JSON, which is the default, or also the YAML that a framework writes "
                    "of records. It is read strictly: block lists and mappings with plain or quoted values, as "
                    "serializers write them; any other text has no fields. Say it only of a tool whose whole result "
                    "is written so: where strangers' words stand in it unquoted, they could write fields"
                ),
            ),
            "keep": (
                "list of paths",
                "what survives: `status`, `customer.id`, `items[*].sku`; everything under a path that ends there",
            ),
            "drop": ("list of paths", "what does not survive"),
            "max_bytes": (
                "64 to 8388608",
                (
                    "the most bytes of text; the rest is cut, and the text says so. Images and files that are larger "
                    "go as a whole"
                ),
            ),
            "max_items": (
                "1 to 100000",
                "the most items of every list in it; a last item says how many more there were",
            ),
            "errors": ("`standard`, or a list of rules", "what is an error and does not say so becomes one"),
            "fresh_for": (
                "duration, at most `30d`, or `0`",
                "how long it holds; with `0` every old result is replaced when the user says something new",
            ),
        },
    ),
    "RESULT_ERROR": Reference(
        ("key", "type", "what it says"),
        {
            "match": ("RE2 pattern", "occurs anywhere in such a result"),
            "as": ("{choices}", "what kind of error it is"),
        },
    ),
}
