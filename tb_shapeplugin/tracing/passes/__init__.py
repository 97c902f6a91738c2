"""One question a file, asked of the twin in a cheap re-run."""
