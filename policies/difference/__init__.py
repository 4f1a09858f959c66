"""The difference of two policies in sentences: what the owner of the money reads before a change is signed."""

from policies.difference.policies import difference

__all__ = ["difference"]
