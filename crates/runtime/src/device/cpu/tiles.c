/* The model of waves of tiles that generated launches ask for sizes (`compiler::parallelize::waves`): compiled once, and not in each program. */
#include "tiles.h"
#include "trials.h"

struct tile_waves __regrain_tile_count(const struct tile_band *band, long first_size, long second_size) {
  return tile_count(band, first_size, second_size);
}
struct tile_sizes __regrain_tile_pieces(const struct tile_band *band, const struct tile_machine *machine, long first,
                                        long second, long least, long most) {
  return tile_pieces(band, machine, first, second, least, most);
}
int __regrain_tile_pays(const struct tile_band *band, const struct tile_machine *machine,
                        const struct tile_sizes *tile) {
  return tile_pays(band, machine, tile);
}
struct tile_sizes __regrain_tile_search(const struct tile_band *band, const struct tile_machine *machine) {
  return tile_search(band, machine);
}
struct tile_sizes __regrain_tile_chosen(const struct tile_band *band, const struct tile_machine *machine,
                                        struct tile_choices *choices) {
  return tile_chosen(band, machine, choices);
}
double __regrain_tile_clock(void) { return tile_clock(); }
void __regrain_tile_took(struct tile_choices *choices, double time) { tile_took(choices, time); }
