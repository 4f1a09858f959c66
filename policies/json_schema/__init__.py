"""The policy language as a JSON Schema, for editors: keys are completed, explained and checked while they are written.

It is made from the key lists of the readers. It is wider than they are: what an expression may say, which keys go
together and what must be declared is told by `callgate check`.
"""

from policies.json_schema.schema import json_schema

__all__ = ["json_schema"]
