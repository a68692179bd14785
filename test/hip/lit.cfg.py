"""The programs of test/integration again, as programs for an AMD GPU: the same RUN lines, where `%regrain` makes a program for that
chip alone, and running it runs it through HIP: a stand-in for AMD's library loads the code object and launches its kernels in the
form that `-fregrain-emulate` makes of what is shipped (Inputs/program.sh).

REGRAIN_LIT_HIP names the chip (gfx90a by default). A program that is about the CPU says so with a line `// CPU-ONLY: why`, one that
an AMD GPU cannot run with a line `// NOT-HIP: why`. The suite is empty where programs for AMD's GPUs cannot be made.
"""

import os

root = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
here = os.path.realpath(os.path.dirname(__file__))
lit_config.load_config(config, os.path.join(root, "lit.cfg.py"))

config.name = "regrain-hip"
config.suffixes = [".cu"]
config.test_source_root = os.path.join(root, "test", "integration")
config.test_exec_root = os.path.join(root, "build", "lit-hip")


def runs_elsewhere(name):
    path = os.path.join(config.test_source_root, name)
    if not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8") as source:
        text = source.read()
    return "CPU-ONLY:" in text or "NOT-HIP:" in text


if config.runs_hip:
    chip = os.environ.get("REGRAIN_LIT_HIP", "gfx90a")
    substitutions = dict(config.substitutions)
    build = substitutions["%make-libamdhip64"]
    script = f"bash {here}/Inputs/program.sh {chip} {config.test_exec_root}/stand-in '{build}' {substitutions['%regrain']}"
    config.excludes = {*config.excludes, *filter(runs_elsewhere, os.listdir(config.test_source_root))}
    config.substitutions.insert(0, (r"%regrain (?=-)", script + " "))
else:
    config.suffixes = []
