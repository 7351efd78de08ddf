"""`make bench [ONLY=name]`: runs every BENCHES list of tests/bench/bench_*.py, prints a table, writes build/bench.json."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from tests.bench.harness import Bench, Result, run, write

OUTPUT = Path("build/bench.json")


def benches() -> list[Bench]:
    modules = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    return [bench for module in modules for bench in import_module(f"tests.bench.{module}").BENCHES]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench")
    parser.add_argument("--only", help="the name of one bench, or the beginning of several names")
    only = parser.parse_args().only
    chosen = [bench for bench in benches() if only is None or bench.name.startswith(only)]
    if not chosen:
        print(
            f"no bench is called {only!r}; there are: {', '.join(bench.name for bench in benches())}", file=sys.stderr
        )
        return 2
    meanings = {bench.name: bench.ceiling_is for bench in chosen}
    print(f"{'bench':<34} {'value':>12} {'ceiling':>12} {'ratio':>6}  unit          ceiling is")
    results: list[Result] = []
    for result in run(chosen):
        results.append(result)
        row = f"{result.name:<34} {result.value:>12,.0f} {result.ceiling:>12,.0f} {result.ratio:>6.2f}"
        print(f"{row}  {result.unit:<13} {meanings[result.name]}", flush=True)
    write(results, OUTPUT)
    print(f"written to {OUTPUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
