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
# Not to the end of the process, where gdb may meet a thread that has just gone.
print ((int (*)(void *))fflush)(0)
kill
