"""The public verbs; wires the rooms and holds no rule."""
