"""``python -m tb_shapeplugin`` is ``tb-shapes``."""

import sys

from tb_shapeplugin.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
