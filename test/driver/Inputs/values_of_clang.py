"""Which options of clang's take the next word as their value, by clang's own table, and `regrain` does not know it.

values_of_clang.py REGRAIN OPTIONS_INC. Options for other systems and languages are left out.
"""

import re
import subprocess
import sys

known = {}
for line in subprocess.run([sys.argv[1], "--completions=zsh"], capture_output=True, text=True, check=True).stdout.splitlines():
    found = re.match(r"  '(-[^\[]*?)([-+=]?)\[.*\](:value)?", line)
    if found:
        name = found[1].replace("\\:", ":")
        known[name] = {"+": "JoinedOrSeparate", "-": "Joined", "=": "Separate"}.get(found[2], "Separate" if found[3] else "Flag")

text = open(sys.argv[2], encoding="utf-8").read()
row = re.compile(r"^OPTION\(\d+, \d+ /\* (\S+) \*/, \w+, (Separate|JoinedOrSeparate), (\w+), \w+, .*?, ([^,]*), ([^,]*), \d+,", re.M)
missing, wrong, count = [], [], 0
for name, kind, group, flags, visibility in row.findall(text):
    if "DefaultVis" not in visibility and "ClangOption" not in visibility:
        continue
    if "DarwinOnly" in flags or not name.startswith("-") or re.search(r"hlsl|dxc|gfortran|class|encoding|extdirs|microsoft|bootclasspath", name + group, re.I):
        continue
    count += 1
    if name not in known:
        missing.append(name)
    elif known[name] != kind:
        wrong.append(f"{name} {kind} {known[name]}")
print(f"{count} options; not known: {sorted(missing)}; known as others: {sorted(wrong)}")
