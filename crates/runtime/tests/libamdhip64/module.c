// Linked into each shared object of STANDIN_HIP_MODULES: one access by the initial-exec model puts all of the object's
// thread-local storage, where the CPU has shared memory, into the static block, so that addresses of 32 bits reach it.
static _Thread_local int anchor __attribute__((tls_model("initial-exec")));
__attribute__((visibility("hidden"))) int *module_anchor(void) { return &anchor; }
