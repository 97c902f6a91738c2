"""The kinds of mismatches, one file each; registered.py holds their order."""
