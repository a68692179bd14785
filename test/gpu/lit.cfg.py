"""The programs of test/integration again, on the GPU of this machine: the same RUN lines with its architecture in place of `cpu`.

Where there is no GPU the suite is empty. A program that is about the CPU says so with a line `// CPU-ONLY: why`.
"""

import os

root = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
lit_config.load_config(config, os.path.join(root, "lit.cfg.py"))

config.name = "regrain-gpu"
config.test_source_root = os.path.join(root, "test", "integration")
config.test_exec_root = os.path.join(root, "build", "lit-gpu")


def is_cpu_only(name):
    path = os.path.join(config.test_source_root, name)
    if not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8") as source:
        return "CPU-ONLY:" in source.read()


if config.gpu_arch:
    config.excludes = {*config.excludes, *filter(is_cpu_only, os.listdir(config.test_source_root))}
    config.substitutions.append((r"--offload-arch=cpu[,\w]*", "--offload-arch=" + config.gpu_arch))
else:
    config.suffixes = []
