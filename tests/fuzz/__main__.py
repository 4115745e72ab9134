"""``python -m fuzz``: see :mod:`fuzz.run`."""

import sys

from fuzz.run import main

main(sys.argv[1:])
