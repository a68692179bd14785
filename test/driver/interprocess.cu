// Memory and events of one process in another one that it starts.
// REQUIRES: cuda-toolkit
// RUN: %regrain -O2 --offload-arch=cpu -w -I %root/test/integration %s -o %t && %t
// RUN: env REGRAIN_CPU_STREAMS=synchronous %t
// RUN: %regrain -O2 --offload-arch=cpu -w -fregrain-check=memory -DCHECKED -I %root/test/integration %s -o %t.checked && %t.checked
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

constexpr int LARGE = 3 << 20, MIDDLE = 400 << 10, SMALL = 300;

__global__ void put(int *data, int n, int v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = v + i;
}
__global__ void add(int *data, int n, int v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] += v;
}

struct Message {
  cudaIpcMemHandle_t memory[3], again;
  cudaIpcEventHandle_t ready, done;
};
constexpr int SIZES[] = {LARGE, MIDDLE, SMALL};

static bool holds(const int *data, int n, int v) {
  std::vector<int> host(n);
  OK(cudaMemcpy(host.data(), data, n * sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i)
    if (host[i] != v + i) return printf("at %d: %d\n", i, host[i]), false;
  return true;
}

static int child(int in, int out) {
  Message message;
  EXPECT(read(in, &message, sizeof message) == sizeof message);
  cudaEvent_t ready, done;
  OK(cudaIpcOpenEventHandle(&ready, message.ready));
  OK(cudaIpcOpenEventHandle(&done, message.done));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamWaitEvent(stream, ready, 0));
  int *data[3], *same;
  for (int i = 0; i < 3; ++i) {
    OK(cudaIpcOpenMemHandle((void **)&data[i], message.memory[i], cudaIpcMemLazyEnablePeerAccess));
    EXPECT(holds(data[i], SIZES[i], 10 * i));
    add<<<16, 256, 0, stream>>>(data[i], SIZES[i], 5);
  }
  // Opened once more it is at the same place, and goes with the last one.
  OK(cudaIpcOpenMemHandle((void **)&same, message.memory[2], cudaIpcMemLazyEnablePeerAccess));
  EXPECT(same == data[2]);
  OK(cudaIpcCloseMemHandle(same));
  OK(cudaEventRecord(done, stream));
  EXPECT(write(out, "d", 1) == 1);
  char go;
  EXPECT(read(in, &go, 1) == 1);
  OK(cudaEventSynchronize(done));
  OK(cudaEventQuery(done));
  float time;
  EXPECT_ERROR(cudaEventElapsedTime(&time, done, done), cudaErrorInvalidResourceHandle);
  // What the other process does is seen here.
  EXPECT(holds(data[2], SMALL, 100));
  EXPECT_ERROR(cudaFree(data[0]), cudaErrorInvalidValue);
  for (int *memory : data) OK(cudaIpcCloseMemHandle(memory));
  EXPECT_ERROR(cudaIpcCloseMemHandle(data[0]), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaMemset(data[0], 0, 4), cudaErrorInvalidValue);
  message.memory[0].reserved[16] ^= 1;
  EXPECT_ERROR(cudaIpcOpenMemHandle((void **)&same, message.memory[0], cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidResourceHandle);
  return result();
}

static int parent(const char *program) {
  int *data[3], *other, host[4];
  Message message;
  // Beside the small memory lies more that is not shared, and keeps what it has.
  OK(cudaMalloc(&other, SMALL * sizeof(int)));
  put<<<1, 256>>>(other, SMALL, 77);
  for (int i = 0; i < 3; ++i) {
    OK(cudaMalloc(&data[i], SIZES[i] * sizeof(int)));
    put<<<16, 256>>>(data[i], SIZES[i], 10 * i);
    OK(cudaIpcGetMemHandle(&message.memory[i], data[i]));
    EXPECT(holds(data[i], SIZES[i], 10 * i));
  }
  OK(cudaIpcGetMemHandle(&message.again, data[0]));
  EXPECT(!memcmp(&message.again, &message.memory[0], sizeof message.again));
  EXPECT_ERROR(cudaIpcGetMemHandle(&message.again, data[0] + 1), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaIpcGetMemHandle(&message.again, host), cudaErrorInvalidValue);
  EXPECT_ERROR(cudaIpcOpenMemHandle((void **)&other, message.memory[0], cudaIpcMemLazyEnablePeerAccess), cudaErrorDeviceUninitialized);
  EXPECT_ERROR(cudaIpcOpenMemHandle((void **)&other, message.memory[0], 0), cudaErrorInvalidValue);
  cudaEvent_t ready, done, plain;
  EXPECT_ERROR(cudaEventCreateWithFlags(&plain, cudaEventInterprocess), cudaErrorInvalidValue);
  OK(cudaEventCreate(&plain));
  EXPECT_ERROR(cudaIpcGetEventHandle(&message.ready, plain), cudaErrorInvalidResourceHandle);
  OK(cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&done, cudaEventInterprocess | cudaEventDisableTiming));
  OK(cudaIpcGetEventHandle(&message.ready, ready));
  OK(cudaIpcGetEventHandle(&message.done, done));
  OK(cudaEventRecord(ready));

  int to[2], from[2];
  EXPECT(pipe(to) == 0 && pipe(from) == 0);
  pid_t process = fork();
  if (process == 0) {
    dup2(to[0], 0), dup2(from[1], 9);
    execl(program, program, "child", (char *)nullptr);
    _exit(99);
  }
  EXPECT(write(to[1], &message, sizeof message) == sizeof message);
  char said;
  EXPECT(read(from[0], &said, 1) == 1);
  OK(cudaStreamWaitEvent(0, done, 0));
  for (int i = 0; i < 3; ++i) EXPECT(holds(data[i], SIZES[i], 10 * i + 5));
  put<<<1, 256>>>(data[2], SMALL, 100);
  OK(cudaDeviceSynchronize());
  EXPECT(write(to[1], "g", 1) == 1);
  int status = -1;
  EXPECT(waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT(holds(other, SMALL, 77));
  for (int *memory : data) OK(cudaFree(memory));
  OK(cudaMalloc(&data[0], LARGE * sizeof(int)));
  put<<<16, 256>>>(data[0], LARGE, 1);
  EXPECT(holds(data[0], LARGE, 1));
  return result();
}

#ifdef CHECKED
int main() {
  cudaIpcMemHandle_t handle;
  int *data;
  OK(cudaMalloc(&data, 4));
  EXPECT_ERROR(cudaIpcGetMemHandle(&handle, data), cudaErrorNotSupported);
  return result();
}
#else
int main(int argc, char **argv) { return argc > 1 ? child(0, 9) : parent("/proc/self/exe"); }
#endif
