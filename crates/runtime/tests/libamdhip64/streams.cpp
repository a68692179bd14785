// Streams and events: the CPU runtime's.
#include "standin.h"

// The legacy default stream has this handle from ROCm 6.2 on alone.
#define STREAM(...) \
  ON_GPU(__VA_ARGS__); \
  if (stream == cudaStreamLegacy) MISUSE(INVALID_HANDLE, "a handle that not all versions have")

EXPORT Code hipStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  ON_GPU("hipStreamCreateWithPriority(%u, %d)", flags, priority);
  if (flags > 1) MISUSE(INVALID_VALUE, "flags");
  Code code = cudaStreamCreateWithPriority(stream, flags, priority);
  if (!code) note_owner(*stream);
  DONE(code);
}
EXPORT Code hipStreamDestroy(cudaStream_t stream) { STREAM("hipStreamDestroy"); DONE(cudaStreamDestroy(stream)); }
EXPORT Code hipStreamSynchronize(cudaStream_t stream) {
  STREAM("hipStreamSynchronize(%s)", stream_name(stream).c_str()); DONE(cudaStreamSynchronize(stream));
}
EXPORT Code hipStreamQuery(cudaStream_t stream) {
  STREAM("hipStreamQuery(%s)", stream_name(stream).c_str()); DONE(cudaStreamQuery(stream));
}
EXPORT Code hipStreamGetFlags(cudaStream_t stream, unsigned *flags) {
  STREAM("hipStreamGetFlags(%s)", stream_name(stream).c_str()); DONE(cudaStreamGetFlags(stream, flags));
}
EXPORT Code hipStreamGetPriority(cudaStream_t stream, int *priority) {
  STREAM("hipStreamGetPriority(%s)", stream_name(stream).c_str()); DONE(cudaStreamGetPriority(stream, priority));
}
EXPORT Code hipStreamGetDevice(cudaStream_t stream, int *gpu) {
  STREAM("hipStreamGetDevice(%s)", stream_name(stream).c_str()); *gpu = owner(stream); DONE(0);
}
EXPORT Code hipStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  STREAM("hipStreamWaitEvent(%s, %u)", stream_name(stream).c_str(), flags);
  DONE(cudaStreamWaitEvent(stream, event, flags));
}
EXPORT Code hipStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t length, unsigned flags) {
  STREAM("hipStreamAttachMemAsync(%s, %zu, %u)", stream_name(stream).c_str(), length, flags);
  DONE(cudaStreamAttachMemAsync(stream, pointer, length, flags));
}
EXPORT Code hipStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status) {
  STREAM("hipStreamIsCapturing(%s)", stream_name(stream).c_str()); DONE(cudaStreamIsCapturing(stream, status));
}
EXPORT Code hipThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  BARE("hipThreadExchangeStreamCaptureMode(%d)", *mode);
  static thread_local cudaStreamCaptureMode kept;
  std::swap(kept, *mode);
  DONE(0);
}
EXPORT Code hipLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data) {
  STREAM("hipLaunchHostFunc(%s)", stream_name(stream).c_str()); GIVEN(function);
  DONE(cudaLaunchHostFunc(stream, function, data));
}
EXPORT Code hipStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags) {
  STREAM("hipStreamAddCallback(%s)", stream_name(stream).c_str()); GIVEN(callback);
  if (flags) MISUSE(INVALID_VALUE, "flags");
  DONE(cudaStreamAddCallback(stream, callback, data, flags));
}

EXPORT Code hipEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  ON_GPU("hipEventCreateWithFlags(%u)", flags); DONE(cudaEventCreateWithFlags(event, flags));
}
EXPORT Code hipEventRecord(cudaEvent_t event, cudaStream_t stream) {
  STREAM("hipEventRecord(%s)", stream_name(stream).c_str()); DONE(cudaEventRecord(event, stream));
}
EXPORT Code hipEventQuery(cudaEvent_t event) { ON_GPU("hipEventQuery"); DONE(cudaEventQuery(event)); }
EXPORT Code hipEventSynchronize(cudaEvent_t event) { ON_GPU("hipEventSynchronize"); DONE(cudaEventSynchronize(event)); }
EXPORT Code hipEventDestroy(cudaEvent_t event) { ON_GPU("hipEventDestroy"); DONE(cudaEventDestroy(event)); }
EXPORT Code hipEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
  ON_GPU("hipEventElapsedTime"); DONE(cudaEventElapsedTime(milliseconds, start, end));
}
