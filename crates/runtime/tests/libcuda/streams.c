// Streams and events.
#include "standin.h"

#include <stdlib.h>
#include <time.h>

EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  NEEDS_CONTEXT("cuStreamCreateWithPriority(%u, %d)", flags, priority);
  if (flags > 1) MISUSE(CUDA_ERROR_INVALID_VALUE, "flags");
  struct handle *made = make(STREAM);
  made->flags = flags;
  made->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *stream = (CUstream)made;
  DONE(0);
}
#define ALIVE_STREAM(stream, ...) NEEDS_CONTEXT(__VA_ARGS__); IS_STREAM(stream)
EXPORT CUresult cuStreamDestroy(CUstream stream) {
  NEEDS_CONTEXT("cuStreamDestroy(%s)", stream_name(stream)); IS(stream, STREAM);
  find(stream, STREAM)->alive = 0;
  DONE(0);
}
EXPORT CUresult cuStreamSynchronize(CUstream stream) {
  ALIVE_STREAM(stream, "cuStreamSynchronize(%s)", stream_name(stream)); DONE(0);
}
EXPORT CUresult cuStreamQuery(CUstream stream) {
  ALIVE_STREAM(stream, "cuStreamQuery(%s)", stream_name(stream)); DONE(0);
}
EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
  ALIVE_STREAM(stream, "cuStreamGetFlags(%s)", stream_name(stream));
  *flags = (uintptr_t)stream <= 2 ? 0 : find(stream, STREAM)->flags;
  DONE(0);
}
EXPORT CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  ALIVE_STREAM(stream, "cuStreamGetPriority(%s)", stream_name(stream));
  *priority = (uintptr_t)stream <= 2 ? 0 : find(stream, STREAM)->priority;
  DONE(0);
}
EXPORT CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  ALIVE_STREAM(stream, "cuStreamGetId(%s)", stream_name(stream)); *id = (uintptr_t)stream; DONE(0);
}
EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  ALIVE_STREAM(stream, "cuStreamGetCtx(%s)", stream_name(stream));
  *context = (CUcontext)((uintptr_t)stream <= 2 ? current : &contexts[find(stream, STREAM)->gpu]);
  DONE(0);
}
EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ALIVE_STREAM(stream, "cuStreamWaitEvent(%s, %u)", stream_name(stream), flags); IS(event, EVENT);
  DONE(0);
}
EXPORT CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, size_t length, unsigned flags) {
  ALIVE_STREAM(stream, "cuStreamAttachMemAsync(%s, %zu, %u)", stream_name(stream), length, flags);
  DONE(on_managed(pointer, length ? length : 1));
}
EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  ALIVE_STREAM(stream, "cuStreamIsCapturing(%s)", stream_name(stream)); *status = 0; DONE(0);
}
EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  static _Thread_local CUstreamCaptureMode kept;
  BARE("cuThreadExchangeStreamCaptureMode(%d)", *mode);
  CUstreamCaptureMode old = kept;
  kept = *mode;
  *mode = old;
  DONE(0);
}
EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  ALIVE_STREAM(stream, "cuLaunchHostFunc(%s)", stream_name(stream)); GIVEN(function);
  leave(0, call);
  function(data);
  return CUDA_SUCCESS;
}
EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags) {
  ALIVE_STREAM(stream, "cuStreamAddCallback(%s)", stream_name(stream)); GIVEN(callback);
  if (flags) MISUSE(CUDA_ERROR_INVALID_VALUE, "flags");
  leave(0, call);
  callback(stream, CUDA_SUCCESS, data);
  return CUDA_SUCCESS;
}

EXPORT CUresult cuEventCreate(CUevent *event, unsigned flags) {
  NEEDS_CONTEXT("cuEventCreate(%u)", flags);
  struct handle *made = make(EVENT);
  made->flags = flags;
  made->time = -1;
  *event = (CUevent)made;
  DONE(0);
}
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}
EXPORT CUresult cuEventRecord(CUevent event, CUstream stream) {
  ALIVE_STREAM(stream, "cuEventRecord(%s)", stream_name(stream)); IS(event, EVENT);
  find(event, EVENT)->time = now();
  DONE(0);
}
EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  ALIVE_STREAM(stream, "cuEventRecordWithFlags(%s, %u)", stream_name(stream), flags); IS(event, EVENT);
  find(event, EVENT)->time = now();
  DONE(0);
}
EXPORT CUresult cuEventQuery(CUevent event) { NEEDS_CONTEXT("cuEventQuery"); IS(event, EVENT); DONE(0); }
EXPORT CUresult cuEventSynchronize(CUevent event) { NEEDS_CONTEXT("cuEventSynchronize"); IS(event, EVENT); DONE(0); }
EXPORT CUresult cuEventDestroy(CUevent event) {
  NEEDS_CONTEXT("cuEventDestroy"); IS(event, EVENT); find(event, EVENT)->alive = 0; DONE(0);
}
EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  NEEDS_CONTEXT("cuEventElapsedTime"); IS(start, EVENT); IS(end, EVENT);
  struct handle *from = find(start, EVENT), *to = find(end, EVENT);
  if ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING || from->time < 0 || to->time < 0)
    DONE(CUDA_ERROR_INVALID_HANDLE);
  *milliseconds = (float)(to->time - from->time);
  DONE(0);
}
