"""Rules as data: the YAML's models, its loader, the expression language, and what people read of it."""

from policies.compile import PolicyError
from policies.files import Snapshot, Stamp, read_snapshot, stamp
from policies.loader import load_policy, load_policy_text, load_snapshot
from policies.model import Policy
from policies.problems import Problem

__all__ = [
    "Policy",
    "PolicyError",
    "Problem",
    "Snapshot",
    "Stamp",
    "load_policy",
    "load_policy_text",
    "load_snapshot",
    "read_snapshot",
    "stamp",
]
