"""Interrupts the driver at work by each signal that ends it: its exit code, and what it leaves behind.

In the working directory are `a.cu`, `tmp` and `sleeps`, a clang that writes half of its output, its number to `pids`, and sleeps.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time

driver = sys.argv[1]
environment = {**os.environ, "TMPDIR": os.path.abspath("tmp")}


def start(clang, handler, options):
    """The driver, to which the signals are what `handler` says."""
    def prepare():
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, handler)

    extra = {"REGRAIN_CLANG": clang} if clang else {}
    return subprocess.Popen([driver, "a.cu", *options], env={**environment, **extra}, preexec_fn=prepare)


def is_running(number):
    try:
        return "State:\tZ" not in pathlib.Path(f"/proc/{number}/status").read_text()
    except FileNotFoundError:
        return False


for name in ["INT", "TERM", "HUP"]:
    pids = pathlib.Path("pids")
    pids.unlink(missing_ok=True)
    process = start(os.path.abspath("sleeps"), signal.SIG_DFL, ["--offload-arch=sm_80", "-o", "out"])
    while not pids.exists() or len(pids.read_text().split()) < 2:
        time.sleep(0.02)
    process.send_signal(getattr(signal, "SIG" + name))
    code = process.wait()
    running = [number for number in pids.read_text().split() if is_running(number)]
    print(f"{name}: {-code == getattr(signal, 'SIG' + name)}, {len(os.listdir('tmp'))} left, {len(running)} running")

process = start(None, signal.SIG_IGN, ["--offload-arch=cpu", "-c", "-o", "out.o"])
time.sleep(0.2)
process.send_signal(signal.SIGHUP)
print(f"ignored: {process.wait()}, {len(os.listdir('tmp'))} left")
