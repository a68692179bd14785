// The edit distance of many pairs of short strings: a block of 128 threads for a pair, a thread for each row of the
// table, diagonal after diagonal; the last three lie in shared memory.
#include "idiom.h"
#include "twins.h"

constexpr int kLongest = 128;

// Strings are kLongest characters apart.
__global__ void edit_distance(const char *left, const char *right, const int *left_lengths,
                              const int *right_lengths, int *distances) {
  __shared__ char b[kLongest];
  __shared__ int diagonal[3][kLongest];

  const int pair = blockIdx.x, row = threadIdx.x;
  const int rows = left_lengths[pair], cols = right_lengths[pair];
  const char a = row < rows ? left[pair * kLongest + row] : '\0';
  if (row < cols)
    b[row] = right[pair * kLongest + row];
  __syncthreads();

  for (int step = 0; step < rows + cols - 1; ++step) {
    int *now = diagonal[step % 3];
    const int *last = diagonal[(step + 2) % 3], *before = diagonal[(step + 1) % 3];
    const int col = step - row;
    if (row < rows && col >= 0 && col < cols) {
      const int above = row > 0 ? last[row - 1] : col + 1;
      const int aside = col > 0 ? last[row] : row + 1;
      const int across = row == 0 ? col : col == 0 ? row : before[row - 1];
      now[row] = min(min(above, aside) + 1, across + (a == b[col] ? 0 : 1));
    }
    __syncthreads();
  }
  if (row == 0)
    distances[pair] = diagonal[(rows + cols - 2) % 3][rows - 1];
}

int main(int argc, char **argv) {
  int pairs = 101, shortest = 40;
  bench::IdiomOptions options("edit_distance", "edit distances along diagonals");
  options.add("pairs", &pairs, 1, 1000000, "pairs of strings of up to 128 characters");
  options.add("shortest", &shortest, 1, kLongest, "characters of a string at least");
  options.parse(argc, argv);

  const size_t characters = static_cast<size_t>(pairs) * kLongest;
  const std::vector<char> a = options.integers<char>(0, characters, 4);
  const std::vector<char> b = options.integers<char>(1, characters, 4);
  std::vector<int> a_lengths = options.integers(2, pairs, kLongest - shortest + 1);
  std::vector<int> b_lengths = options.integers(3, pairs, kLongest - shortest + 1);
  for (int pair = 0; pair < pairs; ++pair) {
    a_lengths[pair] += shortest;
    b_lengths[pair] += shortest;
  }

  const bench::DeviceArray<char> left(a), right(b);
  const bench::DeviceArray<int> left_lengths(a_lengths), right_lengths(b_lengths), distances(pairs);
  const auto kernels = [&] {
    edit_distance<<<pairs, kLongest>>>(left.get(), right.get(), left_lengths.get(), right_lengths.get(),
                                       distances.get());
    CHECK_LAUNCH();
  };
  std::vector<int> want(pairs);
  return bench::judge(options, distances, kernels, want, [&] {
    twin::edit_distance(a.data(), b.data(), a_lengths.data(), b_lengths.data(), want.data(), pairs, kLongest);
  });
}
