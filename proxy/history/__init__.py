"""The history that goes up: true, lean and whole. What is edited is decided once and remembered (DESIGN 6)."""
