"""The commands of `callgate`, one module each. Only these speak to a terminal."""
