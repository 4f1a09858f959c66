"""Small wrong edits of a policy's document, each of which a suite must notice."""

from policies.mutants.edits import Edit, edited
from policies.mutants.walk import edits

__all__ = ["Edit", "edited", "edits"]
