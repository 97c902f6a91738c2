"""Where a wrong number comes from and what would have fitted; blame.py is the door."""
