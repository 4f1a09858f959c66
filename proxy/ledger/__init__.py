"""What the provider saw and the client did not: kept, and put back at the same place on every later request."""
