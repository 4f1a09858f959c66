"""For agents whose base URL cannot be changed: their flows to a provider go into the gate, others by a list."""
