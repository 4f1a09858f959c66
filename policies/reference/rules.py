"""Rules, limits, fees, cells, and what is asked first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "RULE": Reference(
        ("key", "type", "what it says"),
        {
            "forbid": ("reason", "the answer is no"),
            "escalate": ("reason", "a person decides"),
            "clarify": ("reason", "the customer is asked"),
            "when": ("condition", "it fires where this holds"),
            "unless": ("condition", "it does not fire where this holds"),
        },
    ),
    "LIMIT": Reference(
        ("key", "type", "goes with", "what it says"),
        {
            "forbid": ("reason", "all", "past the limit the answer is no"),
            "escalate": ("reason", "all", "past the limit a person decides"),
            "sum": (
                "money or number",
                "`max`",
                (
                    "adds this up over all calls. A negative amount, or one finer than the currency, is "
                    "`facts_incomplete`"
                ),
            ),
            "count": ("`true`", "`max`", "counts the calls"),
            "value": ("money or number", "`max`", "a ceiling for this call alone; nothing is counted"),
            "once_per": (
                "one expression, or a list",
                "`within`",
                "calls of which all of these are equal are the same intent, and one of them is executed. One a tool",
            ),
            "per": (
                "one expression, or a list",
                "`sum`, `count`",
                "a count of its own for each; without it, one for the tool",
            ),
            "within": (
                "duration",
                "`sum`, `count`, `once_per`",
                "a window that rolls. It ends a `once_per` only for what was executed, from its execution on",
            ),
            "each": ("{choices}", "`sum`, `count`", "a window that begins on the calendar of `time_zone`"),
            "max": (
                "money or number",
                "`sum`, `count`, `value`",
                "required: up to this, included. From constants, facts and session; never from `args`",
            ),
            "fact_counts": (
                "money or number of a fact",
                "`sum`, `count` without a window",
                (
                    "how much the fact's source has counted already, such as `order.refunded`: nothing is counted "
                    "twice, and a source that lags frees nothing"
                ),
            ),
        },
    ),
    "LIMIT_RULINGS": Reference(
        ("outcome", "what it says"),
        {
            "forbid": ("the answer is no",),
            "escalate": ("a person decides",),
        },
    ),
    "FEE_SCHEDULE": Reference(
        ("key", "type", "what it says"),
        {
            "source": ("file next to the policy", "the text of the terms, in UTF-8"),
            "candidate": (
                "file next to the policy",
                "how the text is to be read; it calls the text by its file's name",
            ),
            "amount": ("argument of money, `args.NAME`", "what must be the refund"),
            "paid": ("money", "what was paid"),
            "price": ("money", "the price; there exactly where the schedule takes percentages of it"),
            "departure": (
                "date",
                "the date that days are counted back from, where the schedule counts from a departure",
            ),
            "arrival": ("date", "the same of an arrival"),
            "event": ("date", "the same of an event"),
            "cancelled_at": ("timestamp", "when it is cancelled: `now()`, or what a record says"),
            "zone": ("IANA time zone", "whose midnight begins a day; the policy's `time_zone` where it is left out"),
            "forbid": ("reason", "another amount is refused"),
            "escalate": ("reason", "another amount is for a person; one of `forbid` and `escalate` stands there"),
            "inject": (
                "`true`",
                (
                    "the right amount leaves in place of the model's, in the unit and form of the argument; the "
                    "provider finds its model's own in the history. `forbid` or `escalate` then answers where that "
                    "amount is one that the argument does not accept, such as zero"
                ),
            ),
        },
    ),
    "CASES": Reference(
        ("key", "type", "default", "what it says"),
        {
            "case": (
                "a field of `session`, or mapping",
                "required",
                "where the case comes from: the application signs it, or a tool that classifies has said it",
            ),
            "segment": (
                "a field of a fact or of `session`",
                "none",
                "what customers are told apart by; without it a cell is named by its case alone",
            ),
            "facts": (
                "mapping from fact to key",
                "none",
                "the facts that the segment, the limits and the rules of cells read; their keys never read `args`",
            ),
            "ceiling": ("mapping from tool to amount", "none", "what no cell may go above"),
            "owner_keeps": ("list of cases", "none", "cases that are for people"),
            "cells": ("mapping", "required", "by `case/segment`, the tools that may be called"),
        },
    ),
    "CASE_SOURCE": Reference(
        ("key of `case`", "type", "what it says"),
        {
            "tool": (
                "tool",
                (
                    "a read whose call says the case: the last one that was released in an earlier turn of this "
                    "request's conversation. A call in the same turn says nothing, and no text does"
                ),
            ),
            "argument": ("argument with `one_of`", "the argument that says it; its words are the closed set of cases"),
        },
    ),
    "ACTION": Reference(
        ("key of a tool in a cell", "type", "default", "what it says"),
        {
            "value": ("money or number", "none", "what is bounded; required where the tool has an argument of money"),
            "max": (
                "like `value`, without `args`",
                "`no_limit`",
                "the most; left out, each call of this tool in this cell is for a person, and the others are not",
            ),
            "rules": ("list", "none", "its [rules](#rules) in this cell"),
        },
    ),
    "CONFIDENCE": Reference(
        ("key of `confidence`", "type", "default", "what it says"),
        {
            "value": (
                "number of `args`",
                "required",
                "the confidence; `confidence: args.x` is short for `confidence: {value: args.x}`",
            ),
            "clarify_below": ("0 to 1", "`0.80`", "below it the customer is asked"),
            "escalate_below": ("0 to 1", "`0.60`", "below it a person decides"),
        },
    ),
    "CONFIRM": Reference(
        ("key of `confirm`", "type", "default", "what it says"),
        {
            "when": (
                "condition",
                "required",
                (
                    "of which calls the yes is needed: `confirm: {when: args.amount > constants.ask_above}`. Where "
                    "it cannot be told, it is needed. `confirm: user` asks about each call"
                ),
            ),
        },
    ),
}
