EQUIVALENTS: dict[tuple[str, str, str], str] = {}
