"""Recorded runs and ground truths as runs to replay."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import orjson

from benchmarks.replays.family import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.replays.tau.data import Data

DOMAINS: Final = ("airline", "retail")
RECORDED, TRUTH, CORRECTED = "recorded", "ground truth", "corrected ground truth"
_USER: Final = re.compile(r"[a-z]+_[a-z]+_[0-9]+")


def runs(data: Data) -> Iterator[Run]:
    """Every recorded run; then the right calls of every task, as it was when it was run and as it was corrected."""
    for domain in DOMAINS:
        rows = data.runs(domain)
        yield from (_recorded(row, data) for row in rows)
        yield from _truths(rows, domain, data)
        yield from (_corrected(task, domain, data) for task in data.tasks(domain))


def _recorded(row: Mapping[str, Any], data: Data) -> Run:
    bench, domain = row["bench"], row["domain"]
    labels = {
        "kind": RECORDED,
        "bench": bench,
        "domain": domain,
        "model": row["model"],
        "task": str(row["task_id"]),
        "reward": row["reward"],
        "customer": _customer(row, data.database(bench, domain)["users"]),
    }
    return Run(f"tau-{row['id']}", _pack(bench, domain), row["messages"], labels)


def _customer(row: Mapping[str, Any], users: Mapping[str, Any]) -> str | None:
    """Who the user says they are; of a user who never says it, whom the task names.

    The text of a task is not always that of the conversation: some files were joined with tasks of another order.
    """
    said = " ".join(str(one["content"] or "") for one in row["messages"] if one["role"] == "user")
    return _named(said, users) or row["task_user_id"] or _named(row["instruction"], users)


def _truths(rows: Sequence[Mapping[str, Any]], domain: str, data: Data) -> Iterator[Run]:
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        bench, actions = row["bench"], row["ground_truth_actions"]
        # Runs of a task were made at different times: each ground truth once.
        name = (bench, str(row["task_id"]), orjson.dumps(actions, option=orjson.OPT_SORT_KEYS).decode())
        if name not in seen:
            seen.add(name)
            number = sum(one[:2] == name[:2] for one in seen)
            id_ = f"tau-truth-{bench}-{domain}-{row['task_id']}-{number}"
            yield _truth(id_, TRUTH, bench, domain, str(row["task_id"]), row["instruction"], actions, data)


def _corrected(task: Mapping[str, Any], domain: str, data: Data) -> Run:
    text = orjson.dumps(task["user_scenario"]).decode()
    actions = task["evaluation_criteria"]["actions"] or []
    return _truth(
        f"tau-corrected-{domain}-{task['id']}", CORRECTED, "tau2", domain, str(task["id"]), text, actions, data
    )


def _truth(
    id_: str, kind: str, bench: str, domain: str, task: str, text: str, actions: Sequence[Mapping[str, Any]], data: Data
) -> Run:
    """The customer says what the task's customer knows, and the model makes the right calls, one after the other."""
    database = data.database(bench, domain)
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    for number, action in enumerate(one for one in actions if one.get("requestor", "assistant") == "assistant"):
        function = {"name": action["name"], "arguments": orjson.dumps(action["arguments"]).decode()}
        call = {"id": f"gt_{number}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"gt_{number}", "content": None})
    customer = _named(text, database["users"]) or _owner(actions, database)
    labels = {"kind": kind, "bench": bench, "domain": domain, "model": "", "task": task, "reward": None}
    return Run(id_, _pack(bench, domain), messages, {**labels, "customer": customer})


def _pack(bench: str, domain: str) -> str:
    return f"{domain}-{bench}"


def _named(text: str, users: Mapping[str, Any]) -> str | None:
    """The customer whom the task names."""
    return next((one for one in _USER.findall(text) if one in users), None)


def _owner(actions: Sequence[Mapping[str, Any]], database: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The customer of the first record that the right calls touch."""
    for action in actions:
        made = action["arguments"]
        if (user := made.get("user_id")) in database["users"]:
            return str(user)
        for table, key in (("orders", "order_id"), ("reservations", "reservation_id")):
            if (record := database.get(table, {}).get(made.get(key))) is not None:
                return str(record["user_id"])
    return None
