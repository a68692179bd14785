# What test/integration/debugger.cu does on the host.
set width 0
break main
run
next
next
next
tbreak 73
continue
print n
next
next
next
continue
