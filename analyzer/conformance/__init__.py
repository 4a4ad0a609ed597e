"""How much of what an engine can print the grammars read: its messages, taken from its source, rendered and read again."""
