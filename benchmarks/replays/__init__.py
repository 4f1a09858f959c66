"""Recorded agent runs, replayed through the running gate: what a policy would have done to real agents."""
