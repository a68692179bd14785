// A CUDA API for tests: streams with a time of their own, events that take it, and a device that is as far as the test says.
#pragma once
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

struct Site {
  const char *kernel, *hash, *target, *version;
  int count, reserved;
  const char *const *grains;
  void *state;
};
struct Token {
  alignas(8) char bytes[32];
};
extern "C" int __regrain_adapt_begin(Site *, int, int, int, int, int, int, uint64_t, void *, Token *);
extern "C" void __regrain_adapt_end(Site *, Token *, int);
extern "C" int __regrain_profile_begin(Site *, int, int, int, int, int, int, uint64_t, void *, Token *);
extern "C" void __regrain_profile_end(Site *, Token *, int);

struct FakeEvent {
  bool alive = true;
  double at = 0;
};

inline std::mutex guard;
inline std::map<void *, double> streams;    // milliseconds of work that each stream was given
inline std::map<void *, int> capturing;     // cudaStreamCaptureStatus
inline std::set<FakeEvent *> events;
inline std::atomic<bool> finished{true};    // whether the device has caught up
inline std::atomic<int> recordFails{0};
inline std::atomic<int> captureCalls{0};
inline int devices = 1, currentDevice = 0;
inline thread_local unsigned lastError = 0, captureMode = 0;

inline unsigned fail(unsigned error) { return lastError = error; }

extern "C" {
__attribute__((used)) inline unsigned cudaEventCreate(void **event) {
  std::lock_guard lock(guard);
  auto *made = new FakeEvent;
  events.insert(made);
  *event = made;
  return 0;
}
__attribute__((used)) inline unsigned cudaEventRecord(void *event, void *stream) {
  std::lock_guard lock(guard);
  auto *e = static_cast<FakeEvent *>(event);
  if (recordFails > 0) { --recordFails; return fail(400); }
  if (!events.count(e)) return fail(709);
  if (capturing[stream]) ++captureCalls;
  e->at = streams[stream];
  return 0;
}
__attribute__((used)) inline unsigned cudaEventQuery(void *event) {
  std::lock_guard lock(guard);
  if (captureMode != 2) ++captureCalls;
  if (!events.count(static_cast<FakeEvent *>(event))) return fail(709);
  return finished ? 0 : fail(600);
}
__attribute__((used)) inline unsigned cudaEventElapsedTime(float *milliseconds, void *start, void *end) {
  std::lock_guard lock(guard);
  *milliseconds = float(static_cast<FakeEvent *>(end)->at - static_cast<FakeEvent *>(start)->at);
  return 0;
}
__attribute__((used)) inline unsigned cudaGetDevice(int *device) { *device = currentDevice; return 0; }
__attribute__((used)) inline unsigned cudaGetDeviceCount(int *count) { *count = devices; return 0; }
__attribute__((used)) inline unsigned cudaGetLastError() { unsigned error = lastError; lastError = 0; return error; }
__attribute__((used)) inline unsigned cudaPeekAtLastError() { return lastError; }
__attribute__((used)) inline unsigned cudaStreamIsCapturing(void *stream, unsigned *status) {
  std::lock_guard lock(guard);
  if (capturing[stream] == 3) return fail(906);
  *status = capturing[stream];
  return 0;
}
__attribute__((used)) inline unsigned cudaThreadExchangeStreamCaptureMode(unsigned *mode) { std::swap(*mode, captureMode); return 0; }
// Out of line: the linker's --wrap is about references between files.
unsigned cudaDeviceReset();
}
