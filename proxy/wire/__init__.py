"""The provider dialects: bytes to wire events and back. Sans-IO: nothing here knows sockets, clocks or policies."""
