"""Results of Converse take other texts, as JSON where they were; seals of edits lie inside those of hidden turns."""

from __future__ import annotations

import json

from proxy.wire import bedrock_results
from proxy.wire.bedrock_transcript import ConverseTranscript
from proxy.wire.seal import both_marks
from proxy.wire.transcript import Content

RESULT = b'{"toolResult":{"toolUseId":"t1","content":[{"json":{"a":1,"b":2}},{"image":{}}],"status":"success"}}'
MESSAGE = b'{"role":"user","content":[' + RESULT + b',{"text":"and?"}]}'


def test_a_result_takes_another_text() -> None:
    """JSON stays JSON, its call and its image stay, an error says so; None leaves the bytes."""
    read = ConverseTranscript(b'{"messages":[' + MESSAGE + b"]}")
    (content,) = read.contents(read.messages)
    assert content == Content(('{"a":1,"b":2}',), False, len(b'{"image":{}}'))
    assert read.with_contents(read.messages, [None]) == [MESSAGE]
    (pruned,) = read.with_contents(read.messages, [Content(('{"a":1}',))])
    assert pruned == MESSAGE.replace(b',"b":2', b"")
    (failed,) = read.with_contents(read.messages, [Content(("gone",), is_error=True, keeps_other=False)])
    result = json.loads(failed)["content"][0]["toolResult"]
    assert result == {"toolUseId": "t1", "content": [{"text": "gone"}], "status": "error"}
    assert json.loads(read.without_results(read.messages, [True])[0])["content"] == [{"text": "and?"}]
    assert bedrock_results.result_of(b'{"text":"x"}') is None


def test_reasoning_that_depends_on_edits_is_opened_by_their_mark_alone() -> None:
    """Sealed by both marks, it opens from outside in; under another mark it is taken out."""
    thought = b'{"reasoningContent":{"reasoningText":{"text":"hm","signature":"c2ln"}}}'
    said = b'{"role":"assistant","content":[' + thought + b',{"text":"x"}]}'
    read = ConverseTranscript(b'{"messages":[]}')
    held = read.bound(said, both_marks("hg1", "e22"))
    inner, removed = read.unsealed(held, "hg1")
    assert (removed, read.opened(inner, "e22")) == (0, (said, 0))
    assert read.opened(inner, "e33")[1] == 1
    assert read.unsealed(held, "hg2")[1] == 1
    assert b"reasoningContent" not in read.opened(inner, "")[0]
