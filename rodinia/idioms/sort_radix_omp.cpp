// Radix sort of keys with their indices, eight bits a pass: each thread counts the digits of its share and scatters it.
#include "twins.h"

#include <omp.h>
#include <utility>
#include <vector>

void twin::sort_radix(const unsigned *keys, int *order, int count) {
  struct Pair {
    unsigned key;
    int index;
  };
  constexpr int kDigits = 256;
  std::vector<Pair> first(count), second(count);
  std::vector<int> places(static_cast<std::size_t>(omp_get_max_threads()) * kDigits);
#pragma omp parallel
  {
    const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    const int begin = static_cast<long long>(count) * thread / threads;
    const int end = static_cast<long long>(count) * (thread + 1) / threads;
    Pair *from = first.data(), *to = second.data();
    for (int i = begin; i < end; ++i)
      from[i] = {keys[i], i};
    for (int shift = 0; shift < 32; shift += 8) {
      int own[kDigits] = {};
      for (int i = begin; i < end; ++i)
        ++own[(from[i].key >> shift) % kDigits];
      for (int digit = 0; digit < kDigits; ++digit)
        places[thread * kDigits + digit] = own[digit];
#pragma omp barrier
#pragma omp single
      {
        int before = 0;
        for (int digit = 0; digit < kDigits; ++digit)
          for (int t = 0; t < threads; ++t) {
            const int here = places[t * kDigits + digit];
            places[t * kDigits + digit] = before;
            before += here;
          }
      }
      int *place = &places[thread * kDigits];
      for (int i = begin; i < end; ++i)
        to[place[(from[i].key >> shift) % kDigits]++] = from[i];
      std::swap(from, to);
#pragma omp barrier
    }
    for (int i = begin; i < end; ++i)
      order[i] = from[i].index;
  }
}
