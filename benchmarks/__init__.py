"""What the gate costs: CPU, first byte and memory beside a plain pass-through, measured in one run. `make bench`."""
