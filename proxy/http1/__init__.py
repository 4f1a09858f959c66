"""HTTP/1.1 as the gate speaks it: llhttp (`httptools`) reads, and nothing is rewritten on the way.

`serving` is the side of the agent, `client` the side of the provider. A message's head is read strictly and handed over
with the bytes of its fields; its body is an `Incoming`.
"""
