"""A customer who asks for a person is answered by code, in every dialect: a case first, and no model."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Text, Turn, by_text
from proxy.store import open_reader
from tests.e2e.harness import OTHER_CUSTOMER, desk, session_header
from tests.e2e.mouths import MOUTHS
from tests.e2e.responding import agent
from tests.e2e.worlds import world
from tests.proxy.store.samples import Faults

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk
    from tests.e2e.mouths import Answer, Entry, Mouth

KEYS = {"authorization": "Bearer sk-test", "x-api-key": "sk-test", "x-goog-api-key": "sk-test"} | {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
}
REPLY = "A colleague calls you."
POLICY = f"""
language: 1
policy: handing-off
session: {{customer_id: {{jwt: sub}}}}
reasons: {{handoff: {{reply: {{en: "{REPLY}", de: "Jemand ruft Sie an."}}}}}}
facts:
  account:
    key: {{pattern: '[a-z_]+'}}
    http: "${{FACTS_URL}}/accounts/{{key}}"
    timeout: 2s
    fields: {{tier: string, open_orders: number}}
handoff:
  facts: {{account: session.customer_id}}
  escalation: {{gather: [account], recommended_action: "Call back at once."}}
tools:
  read_allowed: {{effect: read}}
"""
ASKS = "I want to talk to a human"
SAID = Turn((Text("The model says."),))
STEPS: dict[str, tuple[Turn, ...]] = {
    "Hello": (SAID,),
    "Thanks": (SAID,),
    ASKS: (Turn((Text("What is it about?"),)),),
}
every_dialect = pytest.mark.parametrize("name", MOUTHS)
ways = pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])


class Talk:
    """One conversation, as its client keeps it."""

    def __init__(self, gate: Desk, mouth: Mouth, streamed: bool, *, customer: str | None = "cus_ada") -> None:
        self.gate, self.mouth, self.streamed = gate, mouth, streamed
        self.headers = {**KEYS, **(session_header(customer) if customer else {})}
        self.history: list[Entry] = []

    async def post(self) -> tuple[int, bytes]:
        path = self.mouth.path(self.streamed)
        body = self.mouth.body(self.history, self.streamed)
        async with self.gate.session.post(self.gate.url + path, json=body, headers=self.headers) as got:
            return got.status, await got.read()

    async def say(self, words: str) -> Answer:
        self.history.append(self.mouth.words(words))
        status, data = await self.post()
        assert status == 200, data
        answer = self.mouth.read(data, self.streamed)
        self.history += answer.entries
        return answer


async def cases(gate: Desk) -> list[Any]:
    return list(await gate.store.read(lambda reader: reader.escalations()))


async def kinds(gate: Desk, kind: str) -> list[dict[str, Any]]:
    return [each for each in await gate.records() if each["kind"] == kind]


@every_dialect
@ways
async def test_the_answer_is_codes_and_the_history_stays_valid(tmp_path: Path, name: str, streamed: bool) -> None:
    """The reply comes in the dialect's own form, with the word for an end; nothing goes up; a case with what was read
    is open. The next request brings the exchange as plain text, which the strict provider takes."""
    mouth = MOUTHS[name]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        gate.facts.orders["cus_ada"] = {"tier": "gold", "open_orders": 3}
        talk = Talk(gate, mouth, streamed)
        assert (await talk.say("Hello")).text == "The model says."
        answer = await talk.say(ASKS)
        assert (answer.text, answer.calls, answer.stop) == (REPLY, (), mouth.stops[0])
        assert len(double.bodies()) == 1, "the model was not asked"
        assert (await talk.say("Thanks")).text == "The model says."
        assert REPLY in orjson.dumps(double.bodies()[-1]).decode()
        assert ASKS in orjson.dumps(double.bodies()[-1]).decode()
        assert double.refused() == []
        (case,) = await cases(gate)
        assert case.summary == {
            "reason": "handoff",
            "language": "en",
            "who": "customer_id: cus_ada",
            "root_cause": "The customer asked for a person.",
            "recommended_action": "Call back at once.",
            "account.tier": "gold",
            "account.open_orders": "3",
        }
        (record,) = await kinds(gate, "handed_off")
        assert (record["escalation"], record["result"], record["language"]) == (case.id, REPLY, "en")
        assert case.receipt == record["receipt"]


def body_of(mouth: Mouth, *entries: Entry) -> Entry:
    return mouth.body(list(entries), False)


@every_dialect
async def test_no_result_and_no_word_of_others_asks_for_a_person(tmp_path: Path, name: str) -> None:
    """A result that says the words, a turn that holds a result beside them, quoted and tagged text, words that were
    answered before, words of the assistant's: each goes up to the model as it is."""
    mouth = MOUTHS[name]
    turns = {"Hello": (Turn((Call("read_allowed", '{"n": 1}'),)), SAID), "Thanks": (SAID,)}
    script = by_text({**turns, f"> {ASKS}": (SAID,), f"<document>{ASKS}</document> Thanks": (SAID,), ASKS: (SAID,)})
    async with mouth.double(script) as double, desk(tmp_path, script, POLICY, upstream=double.app) as gate:
        talk = Talk(gate, mouth, False)
        answer = await talk.say("Hello")
        talk.history += mouth.results(answer.calls, ASKS)
        status, data = await talk.post()
        assert (status, mouth.read(data, False).text) == (200, "The model says.")
        if name in ("anthropic-messages", "openai-chat", "openai-responses"):  # others take no second message there
            talk.history.append(mouth.words(ASKS))
            status, _ = await talk.post()
            assert status == 200, "the words stand beside a result"
        for words in (f"> {ASKS}", f"<document>{ASKS}</document> Thanks"):
            assert (await Talk(gate, mouth, False).say(words)).text == "The model says."
        assert await cases(gate) == []
        assert await kinds(gate, "handed_off") == []


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "openai-responses", "ollama-chat"])
@ways
async def test_the_same_request_is_answered_with_the_same_bytes(tmp_path: Path, name: str, streamed: bool) -> None:
    """Again at once, and after a restart; one case is open, and each answer has its receipt. Asking again later in the
    conversation joins that case; once it is closed, words at a new place open another."""
    mouth = MOUTHS[name]
    async with mouth.double(by_text(STEPS)) as double:
        async with desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate:
            talk = Talk(gate, mouth, streamed)
            talk.history.append(mouth.words(ASKS))
            first = await talk.post()
            assert await talk.post() == first
        async with desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate:
            talk.gate = gate
            assert await talk.post() == first
            talk.history += mouth.read(first[1], streamed).entries
            assert (await talk.say("A human, please!")).text == REPLY
            (case,) = await cases(gate)
            records = await kinds(gate, "handed_off")
            assert [each["is_repeated"] for each in records] == [False, True, True, False]
            assert {each["escalation"] for each in records} == {case.id}
            closed = await people(gate, case.id, "close")
            assert (closed[0], closed[1]["status"]) == (200, "closed")
            assert (await talk.say("I want a real human now")).text == REPLY
            assert [each.status.value for each in await cases(gate)] == ["open", "closed"]
        assert double.bodies() == []


async def people(gate: Desk, case: str, word: str) -> tuple[int, Any]:
    """What a person says of a case through the admin listener."""
    token = await asyncio.to_thread((gate.state / "admin.token").read_text)
    headers = {"authorization": f"Bearer {token.strip()}"}
    url = f"{gate.admin}/escalations/{case}/{word}"
    async with gate.session.post(url, json={"reason": "called back"}, headers=headers) as got:
        return got.status, await got.json()


async def test_a_case_without_a_call_is_closed_and_nothing_else(tmp_path: Path) -> None:
    """Approving and rejecting are errors that say what to do; closing is recorded."""
    mouth = MOUTHS["anthropic-messages"]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        await Talk(gate, mouth, False).say(ASKS)
        (case,) = await cases(gate)
        for word in ("approve", "reject"):
            status, answer = await people(gate, case.id, word)
            assert (status, answer["error"]["code"]) == (409, "no_call")
            assert "close the case" in answer["error"]["message"]
        status, answer = await people(gate, case.id, "close")
        assert (status, answer["kind"], answer["tool"], answer["note"]) == (200, "handoff", "", "closed by owner")
        assert (await people(gate, case.id, "close"))[0] == 409
        (said,) = await kinds(gate, "answered")
        assert (said["escalation"], said["approves"], said["reason"]) == (case.id, False, "called back")
        assert (await gate.store.read(lambda reader: reader.verify())).findings == ()


async def test_who_asks_apart_is_answered_apart(tmp_path: Path) -> None:
    """Another customer with the same words has a case of their own; without a signed subject the same words at once are
    the same request."""
    mouth = MOUTHS["openai-chat"]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        for customer in ("cus_ada", OTHER_CUSTOMER, None, None):
            await Talk(gate, mouth, False, customer=customer).say(ASKS)
        found = await cases(gate)
        assert len({each.subject for each in found}) == len(found) == 3


async def test_the_store_that_fails_lets_nothing_leave(tmp_path: Path) -> None:
    """At each of its operations: the answer is the reply with its record, or an error that may be tried again."""
    mouth, faults = MOUTHS["anthropic-messages"], Faults()
    hits = 0
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(
            tmp_path, by_text(STEPS), POLICY, connect=faults.connect, busy_timeout_ms=100, upstream=double.app
        ) as gate,
    ):
        for number in range(1, 60):
            talk = Talk(gate, mouth, False, customer=f"cus_{'abcdefghijklmnopqrstuvwxyz'[number % 26]}{'x' * number}")
            talk.history.append(mouth.words(ASKS))
            before = len(await kinds(gate, "handed_off"))
            faults.count, faults.fail_at, faults.hit = 0, number, ""
            status, data = await talk.post()
            was_hit, faults.fail_at, faults.hit = faults.hit != "", 0, ""
            hits += was_hit
            assert status in (200, 503), data
            assert (status == 200) is (len(await kinds(gate, "handed_off")) == before + 1)
            assert (status == 200) is (REPLY in data.decode())
            assert (await talk.post())[0] == 200, "and then again"
            if not was_hit:
                break
        assert hits > 3
        assert double.bodies() == []
        assert (await gate.store.read(lambda reader: reader.verify())).findings == ()


async def test_facts_that_cannot_be_read_hold_nothing_up(tmp_path: Path) -> None:
    """The source fails: the case says so, and is open."""
    mouth = MOUTHS["anthropic-messages"]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        assert (await Talk(gate, mouth, False).say(ASKS)).text == REPLY  # there is no such account
        (case,) = await cases(gate)
        assert case.summary["account"] == "not available"


async def test_people_who_can_take_no_other_case(tmp_path: Path) -> None:
    """With `open_max` reached the customer reads that, the record names no case, and no model is asked."""
    mouth = MOUTHS["anthropic-messages"]
    policy = POLICY + "approvals: {open_max: 1}\n"
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), policy, upstream=double.app) as gate,
    ):
        await Talk(gate, mouth, False).say(ASKS)
        answer = await Talk(gate, mouth, False, customer=OTHER_CUSTOMER).say(ASKS)
        assert answer.text.startswith("All our colleagues are busy")
        assert len(await cases(gate)) == 1
        assert [bool(each["escalation"]) for each in await kinds(gate, "handed_off")] == [True, False]
        assert double.bodies() == []


async def test_halted_and_autonomous(tmp_path: Path) -> None:
    """A halt stops writes, and a customer still gets a person; an agent that nobody reads along with asks for none."""
    mouth = MOUTHS["anthropic-messages"]
    policy = POLICY + "mode: halt\nidentities: {bot: {token: sk-bot, autonomous: true}, desk: {token: sk-desk}}\n"
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), policy, key="sk-up", upstream=double.app) as gate,
    ):
        for key, text in (("sk-bot", "What is it about?"), ("sk-desk", REPLY)):
            talk = Talk(gate, mouth, False)
            talk.headers = {**session_header(), "x-api-key": key, "anthropic-version": "2023-06-01"}
            assert (await talk.say(ASKS)).text == text


async def test_an_answer_that_the_client_begins_is_no_way_round(tmp_path: Path) -> None:
    """A prefill stands behind the customer's words."""
    mouth = MOUTHS["anthropic-messages"]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        talk = Talk(gate, mouth, False)
        talk.history = [mouth.words(ASKS), {"role": "assistant", "content": "{"}]
        status, data = await talk.post()
        assert (status, mouth.read(data, False).text) == (200, REPLY)


async def test_two_gates_open_one_case(tmp_path: Path) -> None:
    """Of the same request at two processes' gates at once, one opens the case, and both answer alike."""
    mouth = MOUTHS["openai-chat"]
    body, headers = body_of(mouth, mouth.words(ASKS)), {**KEYS, **session_header()}
    http = '    http: "${FACTS_URL}/accounts/{key}"\n    timeout: 2s\n'
    policy = POLICY.replace(http, "    file: accounts.json\n")
    async with world(tmp_path, by_text(STEPS), policy) as two:

        async def post(number: int) -> bytes:
            url = two.gates[number % 2].url + mouth.path(False)
            async with two.session.post(url, json=body, headers=headers) as got:
                assert got.status == 200, await got.read()
                return await got.read()

        answers = await asyncio.gather(*map(post, range(8)))
        assert len(set(answers)) == 1
        state = tmp_path / "state"

        def read() -> tuple[Any, Any]:
            with open_reader(state) as reader:
                return reader.escalations(), reader.verify()

        found, report = await asyncio.to_thread(read)
        assert len(found) == 1
        assert report.findings == ()


@pytest.mark.parametrize(
    ("history", "streamed"),
    [(one, two) for one in ("by_id", "conversation") for two in (True, False)]
    + [("replay", False), ("stateless", True), ("by_reference", False)],
)
async def test_a_response_of_ours_is_named_and_gone_on_with(tmp_path: Path, streamed: bool, history: str) -> None:
    """However the client keeps its history: the provider gets the whole exchange where it did not see it, and takes it,
    after the first words and after later ones; twice in a row, too."""
    async with agent(tmp_path, streamed, history, SAID, SAID, SAID, policy=POLICY) as one:
        assert await one.say(ASKS) == REPLY
        assert await one.say("Hello") == "The model says."
        assert await one.say("A human please") == REPLY
        assert await one.say("I want a real person!") == REPLY
        assert await one.say("Thanks") == "The model says."
        assert await one.say("And now?") == "The model says."
        assert one.provider.refused == []
        assert len(one.provider.received) == 3
        seen = orjson.dumps(one.provider.contexts[-1]).decode()
        assert [seen.count(words) for words in (ASKS, "A human please", "I want a real person!", REPLY)] == [1, 1, 1, 3]
        places = [
            seen.index(words) for words in (ASKS, "Hello", "A human please", "I want a real", "Thanks", "And now?")
        ]
        assert places == sorted(places)
