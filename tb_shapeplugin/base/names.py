"""The shared words: plugin name, tag prefix, versions. Read by both ends of the event file."""

PLUGIN_NAME = "shapes"
TAB_NAME = "Shapes"
VERSION = "0.1.0"

# Counts up with every change of the record's format until the first release; old drafts may be refused by name.
RECORD_DRAFT = 5

# A prefix of our own: a tag that another plugin wrote first would hide our data in that run.
GRAPH_TAG_PREFIX = "__shapes__/graph/"

# TensorBoard keeps this many records of one tag; content-addressed tags rarely hold more than one.
SAMPLES_PER_TAG = 100


def graph_tag(name: str, digest: str) -> str:
    """The content-addressed tag of a model's record.

    Example:
        >>> graph_tag("model", "0123456789abcdef")
        '__shapes__/graph/model@01234567'
    """
    return f"{GRAPH_TAG_PREFIX}{name}@{digest[:8]}"


def model_of_tag(tag: str) -> str:
    """The model's name in a graph tag; the tag itself when it has another form.

    Example:
        >>> model_of_tag("__shapes__/graph/model@01234567")
        'model'
    """
    if not tag.startswith(GRAPH_TAG_PREFIX):
        return tag
    return tag.removeprefix(GRAPH_TAG_PREFIX).rpartition("@")[0] or tag
