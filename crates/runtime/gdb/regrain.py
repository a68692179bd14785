"""gdb for kernels that run on the CPU, of programs made with `regrain --offload-arch=cpu -O0 -g`.

    gdb -x regrain.py ./program

In a kernel `threadIdx`, `blockIdx`, `blockDim` and `gridDim` are variables of each function; so are arguments and shared arrays. Beside that:

    break k.cu:12 if $_thread_is(3)              stops for thread (3,0,0) of each block
    break k.cu:12 if $_block_is(1, 2) && $_thread_is(3)
    print $_thread()                             (3,0,0): of the selected frame, or of the kernel below it
    print $_block()
    print ((int *) $_shared())[0]                the block's `extern __shared__` memory
    regrain info threads                         what the threads of this block wait at
    regrain info blocks                          which OS thread runs which block, and where
"""

import gdb

VARIABLES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
# Of `struct regrain_tls`, behind `threadIdx`.
DYNAMIC_SHARED = 64


def three(value):
    """The numbers of a `uint3`, or None."""
    if value.type.strip_typedefs().code != gdb.TYPE_CODE_STRUCT:
        return None
    if [field.name for field in value.type.strip_typedefs().fields()] != ["x", "y", "z"]:
        return None
    return tuple(int(value[name]) for name in "xyz")


def kernel_frame(frame):
    """The innermost frame from `frame` on that is a kernel's or of what it calls, with its numbers; or None."""
    while frame is not None and frame.is_valid():
        try:
            numbers = {name: three(frame.read_var(name)) for name in VARIABLES}
            if all(found is not None for found in numbers.values()):
                return frame, numbers
        except (ValueError, gdb.error):
            pass
        frame = frame.older()
    return None


def here():
    """The selected frame, or the kernel's below it, with its numbers."""
    try:
        found = kernel_frame(gdb.selected_frame())
    except gdb.error:
        found = None
    if found is None:
        raise gdb.GdbError("no kernel runs here, or it was not compiled with -O0 -g")
    return found


def running(name):
    """A variable of the running thread."""
    return here()[1][name]


def text(numbers):
    """As messages of the runtime have it."""
    return "(" + ",".join(str(number) for number in numbers) + ")"


class Shows(gdb.Function):
    """$_thread(), $_block(): the numbers of the running thread or block."""

    def __init__(self, name, variable):
        self.variable = variable
        super().__init__(name)

    def invoke(self):
        return text(running(self.variable))


class Is(gdb.Function):
    """$_thread_is(x, y, z), $_block_is(x, y, z): whether it is the running one; what is left out is 0."""

    def __init__(self, name, variable):
        self.variable = variable
        super().__init__(name)

    def invoke(self, x, y=0, z=0):
        return running(self.variable) == (int(x), int(y), int(z))


class Shared(gdb.Function):
    """$_shared(): where the dynamic shared memory of the running block is."""

    def __init__(self):
        super().__init__("_shared")

    def invoke(self):
        pointer = gdb.lookup_type("char").pointer()
        state = int(here()[0].read_var("threadIdx").address)
        return gdb.Value(state + DYNAMIC_SHARED).cast(pointer.pointer()).dereference()


class Threads(gdb.Command):
    """What the threads of the block wait at that the selected OS thread runs."""

    def __init__(self):
        super().__init__("regrain info threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        here()
        words = gdb.parse_and_eval("((char *(*)(void))__regrain_threads_in_words)()")
        gdb.write(words.string())


class Blocks(gdb.Command):
    """Which OS thread runs which block, and where."""

    def __init__(self):
        super().__init__("regrain info blocks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        before = gdb.selected_thread()
        if before is None:
            raise gdb.GdbError("the program is not being run")
        frame_before = gdb.selected_frame()
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
            thread.switch()
            found = kernel_frame(gdb.newest_frame())
            if found is None:
                continue
            frame, numbers = found
            mark = "*" if thread == before else " "
            place = frame.find_sal()
            file = place.symtab.filename if place.symtab else "?"
            block, of = text(numbers["blockIdx"]), text(numbers["threadIdx"])
            gdb.write(f"{mark} {thread.num:<3} block {block} thread {of} {frame.name()} at {file}:{place.line}\n")
        before.switch()
        frame_before.select()


gdb.Command("regrain", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)
gdb.Command("regrain info", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)
Shared()
Threads()
Blocks()
for function, variable in (("_thread", "threadIdx"), ("_block", "blockIdx")):
    Shows(function, variable)
    Is(function + "_is", variable)
