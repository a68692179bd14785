// What a compiler makes of a program that chooses by itself, by hand, on the fake device.
#include "fake.h"
#include <unistd.h>

static const char *const grains[] = {"original", "b2x1x1", "b4x1x1"};
// The compiler takes the last for the best.
static Site site{"_Z1kPf", "hash-of-k", "sm_80", "1.0", 3, 2, grains, nullptr};
static Site cpuSite{"_Z1kPf", "hash-of-k", "cpu:test", "1.0", 3, 2, grains, nullptr};
static double cost[2][3] = {{3.0, 1.0, 2.0}, {1.0, 3.0, 2.0}};
static std::atomic<int> ran[3];

enum { NONE = -1, ALL = -2 };

// One launch of a kernel that exists in versions; version `broken` cannot be launched.
static int launch(Site &at, int grid, void *stream, int broken = NONE, unsigned error = 701) {
  Token token;
  int n = __regrain_adapt_begin(&at, grid, 1, 1, 64, 1, 1, 0, stream, &token);
  ++ran[n];
  unsigned result = n == broken || broken == ALL ? error : 0;
  if (!result && !strncmp(at.target, "cpu", 3)) {
    usleep(unsigned(cost[0][n] * 1000));
  } else if (!result) {
    std::lock_guard lock(guard);
    streams[stream] += cost[currentDevice][n] * grid;
  }
  __regrain_adapt_end(&at, &token, int(result));
  return n;
}

static void *stream(int n) { return reinterpret_cast<void *>(uintptr_t(n) * 16); }

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "one";
  int count = argc > 2 ? atoi(argv[2]) : 1;
  auto is = [&](const char *name) { return !strcmp(mode, name); };
  if (is("one")) {
    int grid = argc > 3 ? atoi(argv[3]) : 8;
    for (int i = 0; i < count; ++i) printf("%d", launch(site, grid, nullptr));
  } else if (is("cpu")) {
    for (int i = 0; i < count; ++i) printf("%d", launch(cpuSite, 8, nullptr));
  } else if (is("devices")) {
    // What is the fastest on one device is the slowest on the other.
    devices = 2;
    for (int i = 0; i < count; ++i) {
      currentDevice = i % 2;
      int n = launch(site, 8, stream(i % 2));
      if (i >= count - 2) printf("%d", n);
    }
  } else if (is("late")) {
    // The device falls behind: a first launch is on its way, and nobody waits for it.
    finished = false;
    for (int i = 0; i < count; ++i) printf("%d", launch(site, 8, stream(i % 2)));
    printf(" error %u ", cudaGetLastError());
    finished = true;
    for (int i = 0; i < count; ++i) printf("%d", launch(site, 8, nullptr));
  } else if (is("capture")) {
    for (int status : {1, 2, 3}) {
      capturing[stream(1)] = status;
      for (int i = 0; i < 5; ++i) printf("%d", launch(site, 8, stream(1)));
    }
    printf(" error %u ", cudaGetLastError());
    for (int i = 0; i < 100; ++i) launch(site, 8, stream(2));
    // What is settled runs in a graph too.
    capturing[stream(1)] = 1;
    printf("%d disturbed %d mode %u", launch(site, 8, stream(1)), captureCalls.load(), captureMode);
  } else if (is("broken")) {
    for (int i = 0; i < 100; ++i) launch(site, 8, nullptr, 1);
    printf("%d then %d", ran[1].load(), launch(site, 8, nullptr));
    printf(" then %d", launch(site, 8, nullptr, 2));
    printf(" then %d", launch(site, 8, nullptr));
  } else if (is("sick")) {
    // The device has failed before: no version is to blame.
    for (int i = 0; i < 9; ++i) launch(site, 8, nullptr, ALL, 719);
    cost[0][1] = 0.5;
    for (int i = 0; i < 100; ++i) launch(site, 8, nullptr);
    printf("%d", launch(site, 8, nullptr));
  } else if (is("no-events")) {
    recordFails = 1000000;
    for (int i = 0; i < 1100; ++i) launch(site, 8, nullptr);
    printf("%d error %u", launch(site, 8, nullptr), cudaGetLastError());
  } else if (is("reset")) {
    finished = false;
    for (int i = 0; i < 5; ++i) launch(site, 8, nullptr);
    std::thread device([] { usleep(20000); finished = true; });
    cudaDeviceReset();
    device.join();
    for (int i = 0; i < 100; ++i) launch(site, 8, nullptr);
    printf("%d", launch(site, 8, nullptr));
  } else if (is("threads")) {
    // No thread is more than a launch ahead: all trials would be over before one that was held up has its time.
    static std::atomic<int> begun;
    std::vector<std::thread> all;
    for (int t = 0; t < 8; ++t)
      all.emplace_back([=] {
        for (int i = 0; i < count; ++i) {
          for (++begun; begun < 8 * (i + 1);) std::this_thread::yield();
          launch(site, 8, stream(t));
        }
      });
    for (auto &thread : all) thread.join();
    printf("%d", launch(site, 8, nullptr));
  }
  const char *loading = getenv("CUDA_MODULE_LOADING");
  printf("%s\n", loading ? " loads otherwise" : "");
  return 0;
}
