/* With `--wrap=cudaDeviceReset` the linker sends the program's calls here: events do not outlive the device's state, so what
 * they measured is collected first. An object file of its own: without the option nothing refers to it and it is not linked. */
extern int __real_cudaDeviceReset(void);
extern void __regrain_profile_reset(void);

int __wrap_cudaDeviceReset(void) {
  __regrain_profile_reset();
  return __real_cudaDeviceReset();
}
