"""The least time that the programs of this folder can take on a machine. Used by `bench.py cpu`.

A launch reads what it needs and writes its results once, however it is compiled; and it does its arithmetic. So no
program with these launches is faster than its bytes at the bandwidth that streams over as much memory reach, nor than its
operations at the peak of multiplications and additions. Both are measured (probe.cpp). What the bound leaves out:
shared memory, gathers, divisions (counted as one operation), the dependences of nw's anti-diagonals, bfs' scans of the frontier.
"""
import subprocess


def work(program, size):
    """Bytes moved to and from global memory, bytes that one launch touches, operations."""
    value = {key.lstrip("-"): int(number) for key, number in zip(size[::2], size[1::2])}
    if program == "hotspot":
        # Two steps to a launch: power and temperature in, temperature out.
        cells, steps = value["rows"] * value["cols"], value["steps"]
        return 12 * cells * (steps // 2), 12 * cells, 15 * cells * steps
    if program == "lud":
        # The part that is left is read and written once for each 16 pivots.
        n = value["size"]
        return sum(8 * (n - done) ** 2 for done in range(0, n, 16)), 4 * n * n, 2 * n**3 // 3
    if program == "pathfinder":
        rows, cols = value["rows"], value["cols"]
        return 4 * rows * cols + 8 * cols * (rows // 20), 4 * rows * cols, 3 * rows * cols
    if program == "nw":
        n = value["size"]
        return 8 * n * n, 8 * n * n, 5 * n * n
    if program == "bfs":
        # Nodes (8 B), six edges each, levels; one byte for each of three flags.
        n = value["nodes"]
        return n * (8 + 6 * 4 + 4 + 3), n * (8 + 6 * 4 + 4 + 3), 6 * n
    if program == "backprop":
        # Two epochs; weights of 17 floats for each input are read twice and written, their changes read and written.
        n, epochs = value["inputs"], 2
        return epochs * n * (5 * 17 * 4 + 2 * 4), 2 * 17 * 4 * n, epochs * n * 16 * 7
    if program == "srad":
        # In: pixels; out: four differences and a coefficient; then all of these in, pixels out.
        cells, steps = value["rows"] * value["cols"], value["steps"]
        return steps * cells * (24 + 28), 24 * cells, steps * cells * 40
    raise ValueError(program)


class Machine:
    """What a machine reaches, by the probe at this path."""

    def __init__(self, probe):
        self.probe = probe
        self.flops = self.measure()

    def measure(self, *arguments):
        done = subprocess.run([str(self.probe), *map(str, arguments)], capture_output=True, text=True, check=True)
        return float(done.stdout) * 1e9

    def least(self, program, size):
        """Milliseconds, and what they are bound by."""
        moved, touched, operations = work(program, size)
        bandwidth = self.measure(touched)
        by = {f"{bandwidth / 1e9:.0f} GB/s": moved / bandwidth, f"{self.flops / 1e9:.0f} Gflop/s": operations / self.flops}
        bound = max(by, key=by.get)
        return 1e3 * by[bound], bound
