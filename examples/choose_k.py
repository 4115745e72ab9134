"""Risk and utility of a hospital file over k: where are the steps?

    python examples/choose_k.py [RECORDS]

Protects the generated hospital data with Datafly for several k and prints what each costs.
"""

import sys

import tacit


def main(records=25_000):
    hospital = tacit.examples.hospital(records)
    systems = {f"k = {k}": tacit.Datafly(k=k, max_drop=0.02) for k in (2, 3, 5, 10, 20, 50)}
    found = tacit.compare(hospital, systems, measures=[tacit.LDiversity(l=2)], seed=1)
    print(found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
