"""`python -m gateway.cli` is `isthmus`."""

from __future__ import annotations

from gateway.cli import main

main()
