// Occurrences of patterns: pieces of the text in parallel. Within a piece, each letter of a pattern strikes places out
// in vectors, until none is left.
#include "twins.h"

#include <algorithm>

void twin::string_match(const char *text, int count, const char *patterns, int number, int stride, int length,
                        int *counts) {
  constexpr int kPiece = 512;
  const int places = std::max(count - length + 1, 0);
  for (int p = 0; p < number; ++p)
    counts[p] = 0;
#pragma omp parallel for schedule(static) reduction(+ : counts[ : number])
  for (int first = 0; first < places; first += kPiece) {
    const int size = std::min(kPiece, places - first);
    for (int p = 0; p < number; ++p) {
      const char *pattern = patterns + p * stride;
      unsigned char left[kPiece];
      std::fill(left, left + size, 1);
      int matches = size;
      for (int k = 0; k < length && matches > 0; ++k) {
        const char *here = text + first + k;
        const char letter = pattern[k];
        matches = 0;
#pragma omp simd reduction(+ : matches)
        for (int i = 0; i < size; ++i) {
          left[i] &= here[i] == letter;
          matches += left[i];
        }
      }
      counts[p] += matches;
    }
  }
}
