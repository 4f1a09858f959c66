"""Suites beside a policy: cases that say what is decided, which rules they reach, and which mutants they kill.

They run the pipeline of the gate itself, on facts, histories and clocks that the cases bring along.
"""
