"""One Record to one event: into the user's own writer, or into an event file of our own."""
