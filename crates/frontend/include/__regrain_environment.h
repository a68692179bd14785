// Named at the end of what `regrain -E` gives of a CUDA source, included by nothing. Compiler caches that look into included files
// find __TIME__ here and ask the compiler itself each time, whose answer tells what the code depends on beside the source: without
// that, a variable of the environment would change the code and not what they look at.
