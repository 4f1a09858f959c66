"""The decision: pure functions of a proposed call, its context and its facts. No network, file, clock, environment."""
