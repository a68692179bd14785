// Serial loops whose elements lie far apart from thread to thread and side by side from round to round: what each thread computes is what the
// host computes for it one round after the other, bit by bit, whatever the number of rounds, and whatever memory the pointers share.
// CPU-ONLY: host memory between pages that nobody may touch
// RUN: %regrain -O2 --offload-arch=cpu %s -o %t
// RUN: %t
// RUN: env REGRAIN_CPU_MODE=coroutine %t
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

// As the host computes: a product and a sum are rounded each.
#pragma clang fp contract(off)

#define BOTH __host__ __device__ static void

// The arrays of a kernel: thread i has the rows i of a, b and c, `pitch` elements long, and its element of y.
template <typename T> struct Arrays {
  T *a, *b, *c, *x, *y;
  int pitch, rounds;
};

struct Sum { // in a register
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 0;
    for (int k = 0; k < m.rounds; ++k)
      sum += m.a[i * m.pitch + k] * m.x[k];
    m.y[i] = sum;
  }
};

struct SumInMemory { // which may be what is read
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; k < m.rounds; ++k)
      m.y[i] += m.a[i * m.pitch + k] * m.x[k];
  }
};

struct TwoSums {
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; k < m.rounds; ++k) {
      m.y[i] += m.a[i * m.pitch + k] * m.x[k];
      m.c[i * m.pitch] += m.b[i * m.pitch + k];
    }
  }
};

struct Recurrence { // each round reads what the one before it wrote
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 1; k < m.rounds; ++k) {
      int at = i * m.pitch + k;
      m.c[at] = m.c[at] - m.c[at - 1] * m.a[at] / m.b[at - 1];
      m.b[at] = m.b[at] - m.a[at] * m.a[at] / m.b[at - 1];
    }
  }
};

struct Backwards {
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; k < m.rounds - 2; ++k) {
      int at = i * m.pitch + m.rounds - 2 - k;
      m.c[at] = (m.c[at] - m.c[at - 1] * m.a[at - 1]) / m.b[at - 1];
    }
  }
};

struct Ahead { // reads what later rounds write
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; k < m.rounds - 3; ++k) {
      int at = i * m.pitch + k;
      m.c[at + 1] = m.c[at + 3] + m.c[at] * m.a[at + 2] - m.a[at];
    }
  }
};

struct Prefix { // written only
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 0;
    for (int k = 0; k < m.rounds; ++k) {
      sum = sum * 2 + m.a[i * m.pitch + k];
      m.c[i * m.pitch + k] = sum;
    }
  }
};

struct Walk { // pointers that go on, and numbers without a sign
  template <typename T> BOTH of(Arrays<T> m, int i) {
    const T *p = m.a + static_cast<size_t>(i) * m.pitch, *q = m.x;
    T sum = m.y[i];
    for (unsigned k = 0; k < static_cast<unsigned>(m.rounds); ++k)
      sum = sum * *p++ + *q++;
    m.y[i] = sum;
  }
};

struct Sometimes { // with a mask around the loop, and conditions within it
  template <typename T> BOTH of(Arrays<T> m, int i) {
    if (i % 3 == 1 || m.y[i] < 0)
      return;
    T sum = 0;
    for (int k = 0; k < m.rounds; ++k) {
      T v = m.a[i * m.pitch + k];
      if (v > m.x[k])
        sum += v * m.b[i * m.pitch + k];
      m.c[i * m.pitch + k] = sum;
    }
    m.y[i] = sum;
  }
};

struct Own { // as many rounds as the thread has
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 0;
    for (int k = i % 7; k < m.rounds - i % 11; ++k)
      sum += m.a[i * m.pitch + k] * m.x[k];
    m.y[i] = sum;
  }
};

struct Lengths { // the first rounds all threads make
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 1;
    for (int k = 0; k < m.rounds - i % 11; ++k)
      sum = m.a[i * m.pitch + k] / (m.x[k] + 1) + sum / (m.a[i * m.pitch + k] + 2) + sum / 3;
    m.y[i] = sum;
  }
};

struct Some { // of the threads, and not all with the same
  template <typename T> BOTH of(Arrays<T> m, int i) {
    if (i % 3 == 1 || m.y[i] < 0)
      return;
    for (int k = 0; k < m.rounds; ++k) {
      T v = m.a[i * m.pitch + k] / (m.b[i * m.pitch + k] + 1);
      if (v > m.x[k])
        v = v / 2 + 3 / (v + 1);
      m.c[i * m.pitch + k + 1] = v / 3 + m.c[i * m.pitch + k] / (v + 2);
    }
  }
};

struct Triangle {
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 0;
    for (int k = 0; k < (i < m.rounds ? i : m.rounds); ++k)
      sum += m.a[i * m.pitch + k] * m.c[i * m.pitch + k];
    m.c[i * m.pitch] = sum;
  }
};

struct Steps {
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; k < m.rounds; k += 3)
      m.y[i] = m.y[i] * 3 + m.a[i * m.pitch + k / 3];
  }
};

template <int N> struct Known { // whose last rounds go by a tile that begins with rounds that have been made
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 1;
    for (int k = 0; k < N; ++k) {
      int at = i * m.pitch + k;
      sum = sum / 3 + m.a[at];
      m.b[at] = m.b[at] / 2 + sum;
      m.c[at] = sum;
    }
    m.y[i] = sum;
  }
};

template <int N> struct KnownPrefix {
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 1;
    for (int k = 0; k < N; ++k)
      m.c[i * m.pitch + k] = sum = sum / 3 + m.a[i * m.pitch + k];
    m.y[i] = sum;
  }
};

struct Pairs { // of which a round reads one
  template <typename T> BOTH of(Arrays<T> m, int i) {
    for (int k = 0; 2 * k + 1 < m.rounds; ++k)
      m.c[i * m.pitch + 2 * k] += m.a[i * m.pitch + 2 * k + 1] + m.a[i * m.pitch + k];
  }
};

struct Behind { // from where the thread is on
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = m.y[i];
    for (int k = i + 1; k < m.rounds; ++k)
      sum = sum * 3 + m.a[i * m.pitch + k] * m.x[k];
    m.y[i] = sum;
  }
};

struct Unsigned { // which do not wrap here
  template <typename T> BOTH of(Arrays<T> m, int i) {
    unsigned row = static_cast<unsigned>(i) * static_cast<unsigned>(m.pitch);
    for (int k = 0; k < m.rounds; ++k)
      m.y[i] = m.y[i] * 2 + m.a[row + static_cast<unsigned>(m.rounds - 1 - k)];
  }
};

struct Wrapping { // places that wrap as numbers of 32 bits do
  template <typename T> BOTH of(Arrays<T> m, int i) {
    T sum = 0;
    for (int k = 0; k < m.rounds; ++k) {
      unsigned place = static_cast<unsigned>(i * m.pitch + k) * 0x10000000u - 0x50000000u;
      unsigned char other = static_cast<unsigned char>(i * m.pitch + k);
      sum = sum * 2 + m.a[i * m.pitch + (place >> 28)] - m.b[other];
    }
    for (int k = 0; k < m.rounds; ++k) {
      unsigned short place = static_cast<unsigned short>(i * m.pitch + k + 0xffe0);
      sum = sum * 2 + m.a[place % 2048u] + m.c[static_cast<unsigned char>(place)];
    }
    m.y[i] = sum;
  }
};

template <typename K, typename T> __global__ void kernel(Arrays<T> m, int threads) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < threads)
    K::of(m, i);
}

// The arrays one behind the other, or with what is written a few elements behind what is read, or the same.
template <typename K, typename T>
static void run(int threads, int pitch, int rounds, int block, int distance = 0, bool alone = false) {
  size_t size = static_cast<size_t>(threads) * pitch + 64, total = 4 * size + pitch + threads + 64;
  T *memory = managed<T>(total);
  std::vector<T> want(total);
  for (size_t j = 0; j < total; ++j)
    memory[j] = want[j] = static_cast<T>(static_cast<int>(j * 37 % 101) + 7) / static_cast<T>(j % 13 + 3);
  auto of = [&](T *from) {
    T *b = distance ? from + distance : from + size, *c = distance ? from + 2 * distance : from + 2 * size;
    T *x = from + 4 * size, *y = alone ? from + 3 * distance : x + pitch;
    return Arrays<T>{from, b, c, x, y, pitch, rounds};
  };
  // Threads that share what they write would race: then there is one.
  int count = alone ? 1 : threads;
  kernel<K><<<(threads + block - 1) / block, block>>>(of(memory), count);
  finish_kernel();
  for (int i = 0; i < count; ++i)
    K::of(of(want.data()), i);
  for (size_t j = 0; j < total; ++j)
    if (std::memcmp(&memory[j], &want[j], sizeof(T)))
      EXPECT_AT(j, memory[j], want[j]);
  OK(cudaFree(memory));
}

template <typename K, typename T> static void all() {
  for (int rounds : {0, 1, 7, 16, 17, 33, 100})
    for (int pitch : {101, 128})
      run<K, T>(67, pitch, rounds, 32);
  run<K, T>(32, 1024, 1000, 32);
  run<K, T>(40, 1001, 1000, 16);
  for (int distance : {1, 2, 3, 17, 40, 200})
    run<K, T>(32, 128, 90, 32, distance, true);
  // Each thread's rows lie in one another.
  for (int distance : {1, 2, 5, 30})
    run<K, T>(64, 200, 90, 32, distance);
}

template <typename T> static void types() {
  all<Sum, T>();
  all<SumInMemory, T>();
  all<TwoSums, T>();
  all<Prefix, T>();
  all<Ahead, T>();
  all<Walk, T>();
  all<Sometimes, T>();
  all<Own, T>();
  all<Lengths, T>();
  all<Some, T>();
  all<Triangle, T>();
  all<Steps, T>();
  all<Known<9>, T>();
  all<KnownPrefix<13>, T>();
  all<Known<15>, T>();
  all<Known<31>, T>();
  all<Pairs, T>();
  all<Behind, T>();
  all<Unsigned, T>();
  all<Wrapping, T>();
}

// Rows between pages that cannot be read: nothing before the first round or behind the last one is.
template <typename K, typename T> static void within(int rounds) {
  size_t page = sysconf(_SC_PAGESIZE), size = 48 * rounds * sizeof(T), length = (size + page - 1) / page * page;
  char *memory = static_cast<char *>(
      mmap(nullptr, length + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  EXPECT(memory != MAP_FAILED);
  std::vector<T> want(48), other(48 * rounds);
  T *x = managed<T>(rounds), *y = managed<T>(48), *rows = managed<T>(48 * rounds);
  for (int k = 0; k < rounds; ++k)
    x[k] = static_cast<T>(k % 7);
  for (char *at : {memory + page, memory + page + length - size}) {
    T *a = reinterpret_cast<T *>(at);
    for (int j = 0; j < 48 * rounds; ++j)
      a[j] = static_cast<T>(j % 11), rows[j] = other[j] = static_cast<T>(j % 5);
    mprotect(memory, page, PROT_NONE);
    mprotect(memory + page + length, page, PROT_NONE);
    std::fill(want.begin(), want.end(), T(0));
    std::fill(y, y + 48, T(0));
    kernel<K><<<3, 16>>>(Arrays<T>{a, a, rows, x, y, rounds, rounds}, 48);
    finish_kernel();
    for (int i = 0; i < 48; ++i)
      K::of(Arrays<T>{a, a, other.data(), x, want.data(), rounds, rounds}, i);
    for (int i = 0; i < 48; ++i)
      EXPECT_AT(i, y[i], want[i]);
    mprotect(memory, length + 2 * page, PROT_READ | PROT_WRITE);
  }
  munmap(memory, length + 2 * page);
  OK(cudaFree(x));
  OK(cudaFree(y));
  OK(cudaFree(rows));
}

int main() {
  for (int rounds : {16, 17, 31, 64}) {
    within<Sum, float>(rounds);
    within<SumInMemory, double>(rounds);
    within<Walk, int>(rounds);
    within<Lengths, float>(rounds);
    within<Behind, float>(rounds);
    within<Prefix, short>(rounds);
  }
  within<KnownPrefix<15>, int>(15);
  types<float>();
  types<double>();
  types<int>();
  types<short>();
  all<Recurrence, float>();
  all<Recurrence, double>();
  all<Backwards, float>();
  all<Backwards, double>();
  return result();
}
