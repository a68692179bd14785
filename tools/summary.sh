#!/usr/bin/env bash
# One closing line for both test runners, from the logs of `make check`.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 - <<'EOF'
import re
cargo = open("target/check/cargo.log").read()
lit = open("target/check/lit.log").read()
passed = failed = 0
for ok, bad in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", cargo):
    passed += int(ok)
    failed += int(bad)
def lit_count(*names):
    return sum(int(n) for name in names for n in re.findall(rf"^\s*{name}\s*:\s*(\d+)", lit, re.M))
passed += lit_count("Passed")
failed += lit_count("Failed", "Unresolved", "Timed Out", "Unexpectedly Passed", "Excluded")
# What needs something that no package of the bootstrap's is: HIP's library, a GPU.
absent = lit_count("Unsupported")
print(f"{passed} passed, {failed} failed" + (f", {absent} not run" if absent else ""))
EOF
