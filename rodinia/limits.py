"""The least time that the programs of this folder and of idioms/ can take on a machine. Used by `bench.py cpu` and `idioms`.

A launch reads what it needs and writes its results once, however it is compiled; and it does its arithmetic. So no
program with these launches is faster than its bytes at the bandwidth that streams over as much memory reach, nor than its
operations at the peak of fused multiplications and additions. Both are measured (probe.cpp). What the bound leaves out:
shared memory, gathers, divisions (counted as one operation), the dependences of nw's anti-diagonals, bfs' scans of the frontier, and
that not every operation has one to be fused with.
"""
import subprocess
from math import log2

# Of string_match.
PATTERNS = 8


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


# Operations that exponentials, logarithms and the like are taken for: the multiplications and additions of a polynomial of their accuracy.
FUNCTION = 10


def idiom_work(program, size):
    """The same of a program of idioms/, for all its runs; what is not given has the program's default."""
    value = {"repeat": 1, "degree": 6, "threshold": 600, "shortest": 40, "length": 6}
    value |= {key.lstrip("-"): int(number) for key, number in zip(size[::2], size[1::2])}
    moved, touched, operations = IDIOMS[program](*(value[name] for name in arguments(IDIOMS[program])))
    return value["repeat"] * moved, touched, value["repeat"] * operations


def arguments(function):
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def stream(count, element, operations):
    """All elements once."""
    return count * element, count * element, count * operations


def steps(cells, element, number, operations, width=4):
    """Steps over all cells, after the copy of the initial ones (`width` bytes each)."""
    return cells * (number * element + 2 * width), cells * element, cells * number * operations


def sparse(rows, entries, x=4, start=4):
    """Columns and values, the vectors, where rows start."""
    return rows * (8 * entries + 4 + x + start), rows * (8 * entries + 4 + x + start), 2 * rows * entries


def product(m, n, k):
    return 4 * (m * k + k * n + m * n), 4 * (m * k + k * n + m * n), 2 * m * n * k


# Bytes from and to memory, bytes touched at a time, operations of one run: those of doubles count twice, of bytes a quarter.
IDIOMS = {
    "attention": lambda heads, length: (512 * heads * length, 512 * heads * length, heads * length * (length + 1) // 2 * (128 + FUNCTION)),
    "bfs_queue": lambda nodes, degree: (nodes * (8 + 2 * (1 + degree)), nodes * (8 + 2 * (1 + degree)), nodes * (1 + degree) // 2),
    "blackscholes": lambda count: stream(count, 20, 22 + 4 * FUNCTION),
    "bounds_atomic": lambda count: stream(count, 8, 12),
    "compact_ballot": lambda count, threshold: stream(count, 4 + 4 * (999 - threshold) / 1000, 2),
    "conv2d": lambda rows, cols, images: stream(images * rows * cols, 8, 98),
    "dot_shuffle": lambda count: stream(count, 8, 2),
    "edit_distance": lambda pairs, shortest: stream(pairs, shortest + 128, 5 * ((shortest + 128) / 2) ** 2),
    "gelu": lambda rows, quads: stream(4 * rows * quads, 8, 9 + FUNCTION),
    "gemv_half": lambda rows, pairs: stream(2 * rows * pairs, 2, 2),
    "heat3d": lambda nx, ny, nz, sweeps: steps(nx * ny * nz, 16, 2 * sweeps, 18, width=8),
    "histogram": lambda count: stream(count, 4, 8),
    "jacobi2d": lambda rows, cols, sweeps: steps(rows * cols, 8, 2 * sweeps, 4),
    "layernorm": lambda rows, cols: stream(rows * cols, 8, 8),
    "matmul_blocked": product,
    "matmul_tiled": product,
    "montecarlo": lambda paths, steps: (paths / 64, paths / 64, paths * steps * (27 + 3 * FUNCTION)),
    "nbody": lambda count, sweeps: (2 * sweeps * 48 * count, 48 * count, 2 * sweeps * 20 * count**2),
    "particles_aos": lambda count, steps: (64 * count * (steps + 1), 64 * count, 30 * count * steps),
    "reduce_tree": lambda count: stream(count, 4, 1),
    "relax_cooperative": lambda rows, cols, sweeps: steps(rows * cols, 8, 2 * sweeps, 2),
    "scan_sweep": lambda count: stream(count, 8, 1),
    "smooth2d": lambda rows, cols, sweeps: steps(rows * cols, 8, 2 * sweeps, 11),
    "softmax": lambda rows, cols: stream(rows * cols, 8, 4 + FUNCTION),
    "sort_bitonic": lambda count: stream(count, 8, log2(count)),
    "sort_radix": lambda count: stream(count, 8, 8),
    "spmv_ell": lambda rows, width: sparse(rows, width, start=0),
    "spmv_scalar": lambda rows, most: sparse(rows, (1 + most) / 2),
    "spmv_vector": lambda rows, most: sparse(rows, (20 + most) / 2),
    "string_match": lambda count: stream(count, 1, PATTERNS / 3),
    "transpose": lambda rows, cols: stream(rows * cols, 8, 0),
    "wave25d": lambda nx, ny, nz, sweeps: steps(nx * ny * nz, 12, 2 * sweeps, 33, width=8),
}


class Machine:
    """What a machine reaches, by the probe at this path."""

    def __init__(self, probe):
        self.probe = probe
        self.flops = 0.0
        self.bandwidths = {}

    def measure(self, *arguments):
        done = subprocess.run([str(self.probe), *map(str, arguments)], capture_output=True, text=True, check=True)
        return float(done.stdout) * 1e9

    def survey(self, all_work):
        """Measures what bounds such work (`work`, `idiom_work`). Of several times the best holds: other load only takes from it."""
        self.flops = max(self.flops, self.measure())
        for touched in sorted({int(touched) for _, touched, _ in all_work}):
            self.bandwidths[touched] = max(self.bandwidths.get(touched, 0.0), self.measure(touched))

    def bandwidth(self, touched):
        """Over so many bytes. What is reached over more is reached over fewer as well."""
        return max(rate for size, rate in self.bandwidths.items() if size >= int(touched))

    def least(self, one_work):
        """Milliseconds that work takes at least, and what it is bound by."""
        moved, touched, operations = one_work
        bandwidth = self.bandwidth(touched)
        by = {f"{bandwidth / 1e9:.0f} GB/s": moved / bandwidth, f"{self.flops / 1e9:.0f} Gflop/s": operations / self.flops}
        bound = max(by, key=by.get)
        return 1e3 * by[bound], bound
