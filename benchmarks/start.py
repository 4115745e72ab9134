"""What importing costs, beyond a bare interpreter.

python benchmarks/start.py
"""

import subprocess
import sys
import time


def seconds(code):
    times = []
    for _ in range(7):
        begun = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        times.append(time.perf_counter() - begun)
    return sorted(times)[3]


if __name__ == "__main__":
    bare = seconds("pass")
    print(
        f"bare interpreter {bare:.3f} s, import tacit {seconds('import tacit') - bare:.3f} s more (target 0.3)"
    )
    print(f"first use, tacit.Datafly: {seconds('import tacit; tacit.Datafly') - bare:.3f} s more")
