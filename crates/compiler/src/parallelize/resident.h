// Arrays that stay on the device while a loop of the host goes on that calls nests and accesses no memory that these do. All ranges of the host's memory that
// nests access are known before any is copied, so that what overlaps is one range. It comes back where a nest has to run on the host, and behind the loop.

struct resident_range {
  char *host, *device; // on the device where that is not 0
  unsigned long bytes;
  bool is_written;
};

enum { RESIDENT_RANGES = 16, RESIDENT_NUMBER = 8 };

static thread_local struct {
  int loops, count;
  struct resident_range ranges[RESIDENT_RANGES];
} resident;

// Nothing is on the device any longer.
static void resident_leave() {
  for (int at = 0; at < resident.count; at++) {
    struct resident_range *range = &resident.ranges[at];
    if (range->device && range->is_written && cudaMemcpy(range->host, range->device, range->bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
      abort(); // What the program means is nowhere else.
    cudaFree(range->device);
    range->device = 0;
    range->is_written = false;
  }
}

// A nest is about to access so many bytes. Single numbers are not worth a range of their own.
static void resident_expect(char *host, unsigned long bytes) {
  char *first = host, *end = host + bytes;
  for (int at = 0; at < resident.count; at++) {
    const struct resident_range range = resident.ranges[at];
    if (range.host <= first && end <= range.host + range.bytes)
      return;
    if (range.host >= end || first >= range.host + range.bytes)
      continue;
    // One range in place of both, which may overlap others.
    resident_leave();
    first = range.host < first ? range.host : first;
    end = range.host + range.bytes > end ? range.host + range.bytes : end;
    resident.ranges[at] = resident.ranges[--resident.count];
    at = -1;
  }
  if (resident.loops > 0 && end - first > RESIDENT_NUMBER && resident.count < RESIDENT_RANGES)
    resident.ranges[resident.count++] = {first, 0, (unsigned long)(end - first), false};
}

// Where so many bytes are on the device; 0 where they are not to stay there.
static char *resident_at(char *host, unsigned long bytes, bool writes) {
  for (int at = 0; at < resident.count; at++) {
    struct resident_range *range = &resident.ranges[at];
    if (host < range->host || host + bytes > range->host + range->bytes)
      continue;
    void *memory = 0;
    if (!range->device) {
      if (cudaMalloc(&memory, range->bytes) != cudaSuccess || cudaMemcpy(memory, range->host, range->bytes, cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaGetLastError();
        cudaFree(memory);
        return 0;
      }
      range->device = (char *)memory;
    }
    range->is_written = range->is_written || writes;
    return range->device + (host - range->host);
  }
  return 0;
}
