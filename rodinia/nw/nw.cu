// Needleman-Wunsch: the score matrix of the best global alignment of two
// sequences. Tiles of 16x16 cells are filled along anti-diagonals, one launch for
// each: a first kernel while the anti-diagonals grow, a second while they shrink.
// A block of 16 threads walks its tile along anti-diagonals too, in shared memory.
#include "../common/device.h"
#include "../common/options.h"
#include "../common/random.h"
#include "../common/report.h"
#include "nw.h"

#include <string>
#include <vector>

__device__ static inline int best_of(int match, int gap_left, int gap_above) {
  const int gap = gap_left > gap_above ? gap_left : gap_above;
  return match > gap ? match : gap;
}

// One tile by one block of kTile threads; thread x owns column x of it.
__device__ static inline void fill_tile(const int *similarity, int *score, int size, int penalty,
                                        int tile_row, int tile_col) {
  // Row 0 and column 0 hold the neighbouring tiles' last cells.
  __shared__ int cells[kTile + 1][kTile + 1];
  __shared__ int pairs[kTile][kTile];

  const int tx = threadIdx.x;
  const int stride = size + 1;
  const size_t row = static_cast<size_t>(tile_row) * kTile;
  const size_t col = static_cast<size_t>(tile_col) * kTile;
  int *corner = score + row * stride + col;

  if (tx == 0)
    cells[0][0] = corner[0];
  for (int y = 0; y < kTile; ++y)
    pairs[y][tx] = similarity[(row + y) * size + col + tx];
  __syncthreads();

  cells[tx + 1][0] = corner[static_cast<size_t>(tx + 1) * stride];
  __syncthreads();

  cells[0][tx + 1] = corner[tx + 1];
  __syncthreads();

  // Anti-diagonals that grow to the tile's full side.
  for (int wave = 0; wave < kTile; ++wave) {
    if (tx <= wave) {
      const int x = tx + 1;
      const int y = wave - tx + 1;
      cells[y][x] = best_of(cells[y - 1][x - 1] + pairs[y - 1][x - 1], cells[y][x - 1] - penalty,
                            cells[y - 1][x] - penalty);
    }
    __syncthreads();
  }
  // And that shrink to its last cell.
  for (int wave = kTile - 2; wave >= 0; --wave) {
    if (tx <= wave) {
      const int x = tx + kTile - wave;
      const int y = kTile - tx;
      cells[y][x] = best_of(cells[y - 1][x - 1] + pairs[y - 1][x - 1], cells[y][x - 1] - penalty,
                            cells[y - 1][x] - penalty);
    }
    __syncthreads();
  }

  for (int y = 0; y < kTile; ++y)
    corner[static_cast<size_t>(y + 1) * stride + tx + 1] = cells[y + 1][tx + 1];
}

// Anti-diagonal `wave` of the upper left: wave + 1 tiles.
__global__ void fill_upper_left(const int *similarity, int *score, int size, int penalty,
                                int wave) {
  const int tile_col = blockIdx.x;
  fill_tile(similarity, score, size, penalty, wave - tile_col, tile_col);
}

// Anti-diagonal of the lower right with `wave` tiles, of `tiles` on a side.
__global__ void fill_lower_right(const int *similarity, int *score, int size, int penalty,
                                 int wave, int tiles) {
  const int tile_col = blockIdx.x + tiles - wave;
  const int tile_row = tiles - 1 - blockIdx.x;
  fill_tile(similarity, score, size, penalty, tile_row, tile_col);
}

namespace {

constexpr int kLetters = 24;

// The similarity of each pair of letters of two random sequences, after a random
// symmetric table like those used for proteins: high for equal letters.
std::vector<int> make_similarity(int size, const bench::CounterRandom &random) {
  int table[kLetters][kLetters];
  for (int a = 0; a < kLetters; ++a)
    for (int b = 0; b <= a; ++b) {
      const int draw = static_cast<int>(random.below(a * kLetters + b, 7));
      table[a][b] = table[b][a] = a == b ? 4 + draw : draw - 4;
    }
  const size_t sequences = kLetters * kLetters;
  std::vector<int> down(size), across(size);
  for (int i = 0; i < size; ++i) {
    down[i] = static_cast<int>(random.below(sequences + 2 * static_cast<size_t>(i), kLetters));
    across[i] =
        static_cast<int>(random.below(sequences + 2 * static_cast<size_t>(i) + 1, kLetters));
  }
  std::vector<int> similarity(static_cast<size_t>(size) * size);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      similarity[static_cast<size_t>(y) * size + x] = table[down[y]][across[x]];
  return similarity;
}

// Aligning with nothing: gaps only.
std::vector<int> make_borders(int size, int penalty) {
  const size_t stride = static_cast<size_t>(size) + 1;
  std::vector<int> score(stride * stride, 0);
  for (size_t i = 1; i < stride; ++i)
    score[i] = score[i * stride] = -static_cast<int>(i) * penalty;
  return score;
}

std::vector<int> align(const std::vector<int> &similarity, const std::vector<int> &borders,
                       int size, int penalty, bench::Report &report) {
  bench::Stopwatch total;
  bench::DeviceArray<int> pairs(similarity);
  bench::DeviceArray<int> score(borders);
  const int tiles = size / kTile;
  bench::DeviceTimer timer;
  for (int wave = 0; wave < tiles; ++wave) {
    fill_upper_left<<<wave + 1, kTile>>>(pairs.get(), score.get(), size, penalty, wave);
    CHECK_LAUNCH();
  }
  for (int wave = tiles - 1; wave >= 1; --wave) {
    fill_lower_right<<<wave, kTile>>>(pairs.get(), score.get(), size, penalty, wave, tiles);
    CHECK_LAUNCH();
  }
  report.kernel_ms = timer.stop();
  std::vector<int> result = score.download();
  report.total_ms = total.milliseconds();
  return result;
}

} // namespace

int main(int argc, char **argv) {
  int size = 512, penalty = 10;
  bench::Options options("nw", "Needleman-Wunsch alignment of two sequences");
  options.add("size", &size, kTile, 40000, "letters of each sequence, a multiple of 16");
  options.add("penalty", &penalty, 0, 1000, "cost of a gap");
  options.parse(argc, argv);
  if (size % kTile)
    options.reject("--size wants a multiple of 16, got '" + std::to_string(size) + "'");

  const std::vector<int> similarity = make_similarity(size, bench::CounterRandom(options.seed));
  const std::vector<int> borders = make_borders(size, penalty);

  bench::Report report(options);
  const std::vector<int> result = align(similarity, borders, size, penalty, report);
  report.result(result);
  if (!options.no_check) {
    std::vector<int> want = borders;
    bench::Stopwatch reference;
    nw_reference(similarity, want, size, penalty);
    report.reference_ms = reference.milliseconds();
    report.compare(result, want);
  }
  return report.finish();
}
