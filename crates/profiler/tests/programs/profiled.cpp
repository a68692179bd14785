// What a compiler makes of a program that is built for profiling, by hand, on the fake device.
#include "fake.h"
#include <unistd.h>
#include <sys/wait.h>

// What is built to measure says so.
extern "C" const char __regrain_profiled;
const char __regrain_profiled = 1;

static const char *const grains[] = {"original", "b2x1x1", "b4x1x1"};
static Site site{"_Z1kPf", "hash-of-k", "sm_80", "1.0", 3, 0, grains, nullptr};
static Site cpuSite{"_Z1kPf", "hash-of-k", "cpu:test", "1.0", 3, 0, grains, nullptr};
static const double cost[] = {3.0, 1.0, 2.0};
static std::atomic<int> ran[3];

enum { NONE = -1, ALL = -2 };

// One launch of a profiled kernel; candidate `broken` cannot be launched.
static int launch(Site &at, int grid, void *stream, int broken = NONE, unsigned error = 701) {
  Token token;
  int n = __regrain_profile_begin(&at, grid, 1, 1, 64, 1, 1, 0, stream, &token);
  ++ran[n];
  unsigned result = n == broken || broken == ALL ? error : 0;
  if (!result && at.target && !strncmp(at.target, "cpu", 3)) {
    usleep(unsigned(cost[n] * 1000));
  } else if (!result) {
    std::lock_guard lock(guard);
    streams[stream] += cost[n] * grid;
  }
  __regrain_profile_end(&at, &token, int(result));
  return n;
}

static void *stream(int n) { return reinterpret_cast<void *>(uintptr_t(n) * 16); }

static void from(int threads, int launches, Site &at) {
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([=, &at] { for (int i = 0; i < launches; ++i) launch(at, 1 + i % 4, stream(t)); });
  for (auto &thread : all) thread.join();
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "one";
  int count = argc > 2 ? atoi(argv[2]) : 1;
  auto is = [&](const char *name) { return !strcmp(mode, name); };
  if (is("one")) {
    int grid = argc > 3 ? atoi(argv[3]) : 8;
    for (int i = 0; i < count; ++i) printf("%d", launch(site, grid, nullptr));
  } else if (is("cpu")) {
    for (int i = 0; i < count; ++i) printf("%d", launch(cpuSite, 8, nullptr));
  } else if (is("threads")) {
    from(8, count, site);
  } else if (is("cpu-threads")) {
    from(4, count, cpuSite);
  } else if (is("late")) {
    // The device falls behind: no sample is known before it has caught up.
    finished = false;
    for (int i = 0; i < 40; ++i) launch(site, 8, stream(i % 2));
    printf("%d ", ran[0].load());
    printf("error %u ", cudaGetLastError());
    finished = true;
    printf("%d", launch(site, 8, nullptr));
    printf("%d", launch(site, 8, nullptr));
  } else if (is("capture")) {
    for (int status : {1, 2, 3}) {
      capturing[stream(1)] = status;
      for (int i = 0; i < 5; ++i) printf("%d", launch(site, 8, stream(1)));
    }
    printf(" error %u", cudaGetLastError());
    for (int i = 0; i < 20; ++i) launch(site, 8, stream(2));
    printf(" disturbed %d mode %u", captureCalls.load(), captureMode);
  } else if (is("broken")) {
    for (int i = 0; i < 40; ++i) launch(site, 8, nullptr, 1);
    printf("%d %s", ran[1].load(), ran[2] > 20 ? "third" : "first");
  } else if (is("sick")) {
    // The device has failed before: no candidate is to blame.
    for (int i = 0; i < 9; ++i) launch(site, 8, nullptr, ALL, 719);
  } else if (is("no-events")) {
    recordFails = 1000;
    for (int i = 0; i < 5; ++i) printf("%d", launch(site, 8, nullptr));
    printf(" error %u", cudaGetLastError());
  } else if (is("reset")) {
    finished = false;
    for (int i = 0; i < 3; ++i) launch(site, 8, nullptr);
    std::thread device([] { usleep(20000); finished = true; });
    cudaDeviceReset();
    device.join();
    for (int i = 0; i < 3; ++i) launch(site, 8, nullptr);
    cudaDeviceReset();
  } else if (is("fork")) {
    launch(site, 8, nullptr);
    if (fork() == 0) { launch(site, 8, nullptr); exit(0); }
    int status;
    wait(&status);
    launch(site, 8, nullptr);
  } else if (is("grids")) {
    // More launch shapes than are measured.
    for (int i = 1; i <= 3000; ++i) launch(site, i, nullptr);
    printf("%s", getenv("CUDA_MODULE_LOADING"));
  } else if (is("odd")) {
    static const char *const odd[] = {"original", "nonsense"};
    Site strange{"_Z1kPf", "h", "sm_80", "1.0", 2, 0, odd, nullptr}, single{"_Z1kPf", "h", "sm_80", "1.0", 1, 0, grains, nullptr};
    Site empty{nullptr, nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr};
    printf("%d%d%d", launch(strange, 8, nullptr), launch(single, 8, nullptr), launch(empty, 8, nullptr));
  }
  printf("\n");
  return 0;
}
