"""The whole zoo: every model that the tests run, by name."""

from tests.zoo.classics import CLASSICS
from tests.zoo.data import DATA
from tests.zoo.entry import Entry
from tests.zoo.failing import FAILING
from tests.zoo.meddlers import MEDDLERS
from tests.zoo.sequences import SEQUENCES
from tests.zoo.structure import STRUCTURE

COMPLETING: dict[str, Entry] = {**CLASSICS, **SEQUENCES, **STRUCTURE, **DATA, **MEDDLERS}
ZOO: dict[str, Entry] = {**COMPLETING, **FAILING}

assert len(ZOO) == sum(map(len, (CLASSICS, SEQUENCES, STRUCTURE, DATA, MEDDLERS, FAILING))), "two entries have the same name"
