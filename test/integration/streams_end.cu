// Work of streams that nobody waits for: it is done when the program ends, and before the process is copied; the copy works without threads that
// it has not. Where a function in a stream ends the program, what other streams have to do is done or not.
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: env REGRAIN_CPU_THREADS=2 %t | FileCheck %s
// RUN: env REGRAIN_CPU_STREAMS=synchronous %t | FileCheck %s
// RUN: env REGRAIN_CPU_THREADS=2 %t from-function | FileCheck %s --check-prefix=FUNCTION
// CHECK: the copy is right
// CHECK-NEXT: the program is right
// CHECK-NEXT: the last kernel: 400000
// FUNCTION: the program is right
// FUNCTION: the program ends in a function
// CPU-ONLY: a copy of a process cannot use a GPU.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void slow(volatile int *data, int v) {
  for (int i = 0; i < 200000; ++i)
    data[0] = data[0] + v;
}
__global__ void last(const int *data) { printf("the last kernel: %d\n", data[0]); }

static void end(void *) {
  std::printf("the program ends in a function\n");
  std::exit(0);
}

static void say(const char *who) {
  std::printf("%s is %s\n", who, failures ? "wrong" : "right");
  std::fflush(stdout);
}

int main(int argc, char **) {
  cudaStream_t one, other;
  int *data, *result;
  OK(cudaStreamCreate(&one));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  OK(cudaMalloc(&data, sizeof(int)));
  OK(cudaMemset(data, 0, sizeof(int)));
  OK(cudaMallocHost(&result, sizeof(int)));
  slow<<<1, 1, 0, one>>>(data, 1);
  OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, one));
  const pid_t copy = fork();
  // The copy has what was done before, and goes on alone.
  EXPECT(*result == 200000);
  slow<<<1, 1, 0, one>>>(data, 1);
  if (copy == 0) {
    OK(cudaMemcpyAsync(result, data, sizeof(int), cudaMemcpyDeviceToHost, one));
    OK(cudaDeviceSynchronize());
    EXPECT(*result == 400000);
    say("the copy");
    _exit(failures != 0);
  }
  int status = 1;
  waitpid(copy, &status, 0);
  EXPECT(status == 0);
  say("the program");
  last<<<1, 1, 0, one>>>(data);
  if (argc > 1) {
    OK(cudaLaunchHostFunc(other, end, nullptr));
    // The program ends before this does.
    OK(cudaStreamSynchronize(other));
    pause();
  }
  return failures != 0;
}
