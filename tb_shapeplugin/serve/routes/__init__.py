"""One handler a file; ``http_api.md`` says what they answer."""
