"""Draws charts on request: the program of the process in which they are drawn (see :mod:`tacit.plot.drawing`).

It loads nothing of tacit, so that it starts at once. A request and an answer are one line of JSON each.
"""

import base64
import json
import sys
from typing import Any


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return what the library draws: text, or bytes as base64."""
    import vl_convert

    made = getattr(vl_convert, request["verb"])(*request["given"], **request["named"])
    if isinstance(made, bytes):
        return {"bytes": base64.b64encode(made).decode("ascii")}
    return {"text": made}


def main() -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        try:
            made = answer(json.loads(line))
        except Exception:  # noqa: BLE001 - the message may quote what is drawn
            made = {"failed": True}
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
