"""Recorded runs of tau-bench and tau2-bench: customer service of a shop and of an airline."""
