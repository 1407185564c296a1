"""What large jobs cost the operator, against a cluster that answers at once: the longest turn of its event loop in each
part of a job's life, its CPU and its memory.

While a turn lasts, nobody else is served: no other job, no probe, no renewal of the lease. The promise is 100 ms.
"""

from __future__ import annotations

import argparse
import asyncio

from tests.operator.large_life import LargeLife, live

SIZES = (100, 1_000, 5_000, 10_000)
NETWORKS = ("PodIP", "Service")
HEAD = f"{'pods':>6}  {'intranet':8}  {'part':10}  {'took':>8}  {'longest turn':>12}  {'of it CPU':>9}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, nargs="*", default=SIZES)
    parser.add_argument("--intranet", nargs="*", default=NETWORKS)
    given = parser.parse_args()
    print(HEAD)
    for pods in given.pods:
        for intranet in given.intranet:
            tell(pods, intranet, asyncio.run(live(pods, intranet)))


def tell(pods: int, intranet: str, life: LargeLife) -> None:
    for one in life.stretches:
        times = f"{one.seconds:6.1f} s  {one.longest_wall * 1000:9.0f} ms  {one.longest_cpu * 1000:6.0f} ms"
        print(f"{pods:6}  {intranet:8}  {one.name:10}  {times}")
    whole = f"CPU {life.cpu:.1f} s, longest collection {life.collection * 1000:.0f} ms, peak {life.peak_mib:.0f} MiB"
    print(f"{pods:6}  {intranet:8}  {'whole life':10}  {whole}", flush=True)


if __name__ == "__main__":
    main()
