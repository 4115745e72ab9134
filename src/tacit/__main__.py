"""``python -m tacit`` is the command line."""

import sys

from tacit.cli import main

sys.exit(main())
