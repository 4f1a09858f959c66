"""Readers of the sections of a policy: nodes in, values of `policies.model` out."""
