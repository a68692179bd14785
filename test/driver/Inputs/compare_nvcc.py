"""Compares regrain-nvcc with nvcc: for each line of options on standard input, exit code (0 or not) and the files that are made.

compare_nvcc.py REGRAIN_NVCC NVCC SOURCE...
Sources are copied to a folder of their own for each run. A line that begins with `+ ` is one that we take and nvcc does not, one with
`- ` the opposite; the files are not compared then. Prints what differs from that, and how many lines were compared.
"""

import concurrent.futures
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

ours, theirs, *sources = sys.argv[1:]


def run(driver, options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for source in sources:
            shutil.copy(source, folder)
        before = {path.name for path in folder.iterdir()}
        made = subprocess.run([driver, *options], cwd=folder, capture_output=True, text=True, check=False)
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - before
        return made.returncode == 0, sorted(files), made.stderr.strip().splitlines()[:2]


def compare(line):
    expected = {"+ ": (True, False), "- ": (False, True)}.get(line[:2])
    options = shlex.split(line[2:] if expected else line)
    mine, other = run(ours, options), run(theirs, options)
    if expected:
        return None if (mine[0], other[0]) == expected else f"{line}: ours {mine}, nvcc {other}"
    if mine[0] != other[0] or (mine[0] and mine[1] != other[1]):
        return f"{line}: ours {mine}, nvcc {other}"
    return None


lines = [line.strip() for line in sys.stdin if line.strip() and not line.startswith("#")]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    differences = [found for found in pool.map(compare, lines) if found]
print("\n".join(differences + [f"{len(lines)} compared, {len(differences)} differ"]))
