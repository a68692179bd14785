# What test/integration/debugger.cu does in a kernel.
set width 0
set breakpoint pending on
break debugger.cu:26 if $_block_is(1) && $_thread_is(3)
break twice if blockIdx.x == 1
run
info locals
print threadIdx
print blockIdx.x
print blockDim
print gridDim.x
print *(int (*)[4])&p[i]
print tile[35]
print ((int *) $_shared())[3]
print $_thread()
print $_block()
print factor
regrain info threads
regrain info blocks
delete 1
continue
print factor
backtrace 2
continue
