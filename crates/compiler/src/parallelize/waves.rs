//! Waves of tiles as CUDA C++: a kernel whose threads each go through a tile by pieces, and the loop of the host over the waves.
//!
//! ```text
//!   static __global__ void f_kernel0(..., long wave, long first_strip, long size0, long size1, long piece) {
//!     const long b0 = strip * size0, e0 = ..., low1 = (wave - strip) * size1, ...;
//!     for (long b1 = low1; b1 <= high1; b1 += piece) { const long e1 = ...; what is in the box }
//!   }
//!   host: const struct tile_sizes tile = tile_search(&band, &machine);
//!         for (long wave = ...) f_kernel0<<<strips that have a tile in it, 1>>>(..., wave, first, tile.first, tile.second, tile.piece);
//! ```
//!
//! Where the threads of a block have a tile together, the kernel's loop is over the waves of points of a tile:
//!
//! ```text
//!     for (long now = low0 + low1; now <= high0 + high1; now++) { a thread for each p0: p1 = now - p0, what is there; __syncthreads(); }
//! ```
//!
//! The sizes of a problem are known when the program runs, so that is when the sizes of tiles are chosen: by the model of `tiles.h`, with what things
//! take on the machine (`tuning::calibration`) and what the nest does ([`super::points`]). They are arguments of the kernel, which costs nothing: its
//! loops have bounds that are computed anyway.

use regrain_passes::affine::Reason;
use regrain_passes::affine::poly::param_name;
use regrain_passes::affine::sets::{Range, Weight};
use regrain_passes::affine::waves::{Waves, ends_of, point_of};
use regrain_tuning::calibration::{Calibration, Level};

use super::chip::{DIMENSIONS, Portion, Writer};
use super::nest::{Nest, product, sum};
use super::points::{Accesses, MOST_DIMENSIONS, Points};
use super::terms::{Lines, term};

/// The model and the search, as text of the program that is made.
pub const MODEL: &str = include_str!("tiles.h");
/// What the text of a nest calls of it.
pub const SEARCH: &str = "struct tile_sizes";

impl Nest<'_, '_> {
    /// The kernel of a tile, and the function that says where tiles of a strip are.
    pub(super) fn wave_kernel(&self, waves: &Waves) -> Result<String, Reason> {
        let mut lines = Lines::default();
        self.strip(waves, &mut lines);
        let mut further = self.further();
        if !waves.together {
            further.push("piece".into());
        }
        let mut parameters: Vec<String> =
            self.parameters("A")?.into_iter().map(|(ty, name)| format!("{ty} {name}")).collect();
        parameters.extend(further.into_iter().map(|name| format!("long {name}")));
        lines.open(&format!("static __global__ void {}_kernel0({})", self.name, parameters.join(", ")));
        lines.line("const long strip = first_strip + (long)blockIdx.x;");
        lines.line("const long b0 = strip * size0, e0 = b0 + size0 - 1L;");
        lines.line("long low1 = (wave - strip) * size1, high1 = low1 + size1 - 1L;");
        lines.line(&format!("const long numbers[] = {{{}}};", self.list_of_numbers()));
        lines.line("long first1, last1;");
        lines.line(&format!("if (!{}_strip(numbers, b0, e0, &first1, &last1))", self.name));
        lines.line("  return;");
        lines.line("low1 = most(low1, first1);");
        lines.line("high1 = least(high1, last1);");
        let dimensions = match &waves.last {
            None => 1,
            Some(Range { first, last, exists, .. }) => {
                lines.line("const long b1 = low1, e1 = high1;");
                lines.line(&format!("if (b1 > e1 || !{})", term(exists)));
                lines.line("  return;");
                lines.line(&format!("const long low2 = {}, high2 = {};", term(first), term(last)));
                2
            }
        };
        let depth = lines.depth;
        if waves.together {
            self.points(&mut lines, waves, dimensions);
        } else {
            self.pieces(&mut lines, dimensions, &format!("low{dimensions}"), &format!("high{dimensions}"));
        }
        let writer = Writer { description: self.description, fuses: self.fuses, launch: &waves.launch, constants: &[] };
        writer.code(&mut lines, &waves.launch.code, &writer.linear(), Portion::All, None)?;
        while lines.depth > depth + 1 {
            lines.close();
        }
        if waves.together {
            lines.line("__syncthreads();");
        }
        lines.close();
        lines.close();
        Ok(lines.text + "\n")
    }

    /// Opens the loop over the waves of a tile, and those over the points of a wave that a thread is at.
    fn points(&self, lines: &mut Lines, waves: &Waves, last: usize) {
        let [Range { first, last: end, .. }, _] = &waves.band;
        lines.line(&format!("const long low0 = most(b0, {}), high0 = least(e0, {});", term(first), term(end)));
        let sum = |end: &str| (0..=last).map(|at| format!("{end}{at}")).collect::<Vec<_>>().join(" + ");
        lines.open(&format!("for (long now = {}; now <= {}; now++)", sum("low"), sum("high")));
        let mut place = "now".to_owned();
        for (at, dimension) in DIMENSIONS[last].iter().enumerate() {
            let point = point_of(at);
            lines.open(&format!(
                "for (long {point} = low{at} + threadIdx.{dimension}; {point} <= high{at}; {point} += blockDim.{dimension})"
            ));
            place += &format!(" - {point}");
        }
        let point = point_of(last);
        lines.line(&format!("const long {point} = {place};"));
        lines.open(&format!("if (low{last} <= {point} && {point} <= high{last})"));
    }

    /// Opens the loop over the pieces of a dimension.
    fn pieces(&self, lines: &mut Lines, dimension: usize, low: &str, high: &str) {
        let [first, last] = ends_of(dimension);
        lines.open(&format!("for (long {first} = {low}; {first} <= {high}; {first} += piece)"));
        lines.line(&format!("const long {last} = least({first} + piece - 1L, {high});"));
    }

    /// The further arguments of the kernel.
    fn further(&self) -> Vec<String> {
        let params = (0..self.description.numbers.params.len()).map(param_name);
        params.chain(["wave", "first_strip", "size0", "size1"].map(str::to_owned)).collect()
    }

    /// The parameters in a list, which is not empty.
    fn list_of_numbers(&self) -> String {
        let numbers: Vec<String> = (0..self.description.numbers.params.len()).map(param_name).collect();
        if numbers.is_empty() { "0L".into() } else { numbers.join(", ") }
    }

    /// A function of the host and of the device: the second dimension of the band in a strip of the first, and whether there is any.
    fn strip(&self, waves: &Waves, lines: &mut Lines) {
        let Range { first, last, exists, .. } = &waves.strip;
        lines.open(&format!(
            "static __host__ __device__ int {}_strip(const long *numbers, long b0, long e0, long *first, long *last)",
            self.name
        ));
        for number in 0..self.description.numbers.params.len() {
            lines.line(&format!("const long {} = numbers[{number}];", param_name(number)));
        }
        lines.line(&format!("if (!{})", term(exists)));
        lines.line("  return 0;");
        lines.line(&format!("*first = {};", term(first)));
        lines.line(&format!("*last = {};", term(last)));
        lines.line("return 1;");
        lines.close();
        lines.text.push('\n');
    }

    /// Leaves the function of the host where there is nothing to do, or less than one launch takes.
    pub(super) fn waves_worthwhile(&self, waves: &Waves, lines: &mut Lines) {
        lines.line(&format!("if (!{})", term(&waves.launch.exists)));
        lines.line("  return 0;");
        lines.line(&format!("const double operations = {};", sum(&self.plan.work)));
        let least = self.least_work.unwrap_or_else(|| self.calibration.least_work());
        lines.line(&format!("if (operations < {least}.0)"));
        lines.line("  return 0;");
    }

    /// Chooses the sizes of tiles, and leaves the function of the host where the nest alone takes no longer.
    pub(super) fn tile_sizes(&self, waves: &Waves, lines: &mut Lines) {
        lines.line("int workers = 1;");
        lines.line("if (cudaDeviceGetAttribute(&workers, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)");
        lines.line("  return 0;");
        lines.line(&format!("const struct tile_machine machine = {};", self.machine()));
        lines.line(&format!("const long numbers[] = {{{}}};", self.list_of_numbers()));
        let bytes: Vec<String> = (0..self.description.arrays.len())
            .map(|at| format!("(double)(end_A{at} - first_A{at}) * sizeof *host_A{at}"))
            .collect();
        lines.line(&format!("const double bytes = {};", bytes.join(" + ")));
        let once = |weight: &Weight| product(&Weight { ranges: weight.ranges.clone(), cost: 1 });
        let most = self.plan.work.iter().map(once).reduce(|most, other| format!("tile_larger({most}, {other})"));
        lines.line(&format!("const double points = {};", most.unwrap_or_else(|| "0.0".into())));
        if waves.together {
            lines.line("int threads = 1;");
            lines.line(
                "if (cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) != cudaSuccess)",
            );
            lines.line("  return 0;");
            lines.line("workers *= most(threads / TILE_THREADS, 1L);");
        }
        self.band(waves, lines);
        match self.tiles {
            Some(([first, second], _)) if waves.together => lines
                .line(&format!("const struct tile_sizes tile = tile_together(&band, &machine, {first}L, {second}L);")),
            None if waves.together => {
                lines.line("const struct tile_sizes tile = tile_search_together(&band, &machine);");
            }
            Some(([first, second], piece)) => {
                let [least, most] = piece.map_or(["TILE_LEAST".into(), "TILE_MOST".into()], |piece| {
                    [format!("{piece}L"), format!("{piece}L")]
                });
                lines.line(&format!(
                    "const struct tile_sizes tile = tile_pieces(&band, &machine, {first}L, {second}L, {least}, {most});"
                ));
            }
            None => lines.line("const struct tile_sizes tile = tile_search(&band, &machine);"),
        }
        match self.least_work {
            Some(least) => {
                lines.line(&format!("if (operations < {least}.0 * tile_count(&band, tile.first, tile.second).waves)"))
            }
            None => lines.line("if (!tile_pays(&band, &machine, &tile))"),
        }
        lines.line("  return 0;");
        lines.line("const long first_strip = quotient_below(band.first, tile.first), last_strip = quotient_below(band.last, tile.first);");
        lines.line("if (last_strip - first_strip >= 2147483647L)");
        lines.line("  return 0;");
    }

    /// The band, as `tiles.h` has it.
    fn band(&self, waves: &Waves, lines: &mut Lines) {
        let [steps, _] = &waves.band;
        let dimensions = waves.dimensions.min(MOST_DIMENSIONS);
        let points = Points::of(self.description, &waves.launch.code, dimensions);
        let list = |numbers: &[i64]| {
            let numbers: Vec<String> = numbers.iter().map(|number| format!("{number}.0")).collect();
            format!("{{{}}}", numbers.join(", "))
        };
        let accesses = |Accesses { bytes, growth, apart }: Accesses| {
            let grows: Vec<String> = growth.iter().map(|growth| list(growth)).collect();
            format!("{{{bytes}.0, {}, {{{}}}, {}}}", growth.len(), grows.join(", "), list(&apart))
        };
        let groups: Vec<String> = points.accesses().into_iter().map(accesses).collect();
        let shown = if groups.is_empty() { "{}".to_owned() } else { groups.join(", ") };
        lines.line(&format!("const struct tile_accesses accesses[] = {{{shown}}};"));
        lines.line(&format!(
            "const struct tile_band band = {{{}, {}, {}_strip, numbers, points, operations, bytes, {:?}, {dimensions}, {}, accesses, workers}};",
            term(&steps.first),
            term(&steps.last),
            self.name,
            points.wait(&self.calibration.waits),
            groups.len(),
        ));
    }

    /// The parameters of the machine, as `tiles.h` has them.
    fn machine(&self) -> String {
        let machine = &self.calibration;
        let list = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
        let levels = |of: fn(&Level) -> f64| {
            let known = (0..4).filter_map(|at| machine.levels.get(at).or(machine.levels.last()));
            list(&known.map(of).collect::<Vec<f64>>())
        };
        let &Calibration { start, launch, block, row, operation, window, step, point, .. } = machine;
        let times = list(&[start, launch, block, row, operation, window]);
        let (bytes, line, stream) =
            (levels(|level| level.bytes), levels(|level| level.line), levels(|level| level.stream));
        let followed = list(&[machine.followed.pages, machine.followed.missed]);
        let (pages, page) =
            (list(&machine.pages.map(|table| table.pages)), list(&machine.pages.map(|table| table.missed)));
        format!(
            "{{{times}, {{{bytes}}}, {{{line}}}, {{{stream}}}, {{{pages}}}, {{{page}}}, {followed}, {step:?}, {point:?}}}"
        )
    }

    /// The loop over the waves.
    pub(super) fn wave_launches(&self, waves: &Waves, lines: &mut Lines) -> Result<(), Reason> {
        let [_, second] = &waves.band;
        let bound = |bound| format!("quotient_below({}, tile.second)", term(bound));
        lines.line(&format!("const long first_column = {};", bound(&second.first)));
        lines.line(&format!("const long last_column = {};", bound(&second.last)));
        lines.line("const long last_wave = last_strip + last_column;");
        lines.open("for (long wave = first_strip + first_column; fine && wave <= last_wave; wave++)");
        lines
            .line("long first = most(first_strip, wave - last_column), last = least(last_strip, wave - first_column);");
        lines.line("long from, to;");
        for (at, step) in [("first", "first++"), ("last", "last--")] {
            lines.line(&format!(
                "while (first <= last && !(tile_strip(&band, {at}, tile.first, tile.second, &from, &to) && from <= wave && wave <= to))"
            ));
            lines.line(&format!("  {step};"));
        }
        lines.line("if (first > last)");
        lines.line("  continue;");
        let mut arguments: Vec<String> = self.parameters("A")?.into_iter().map(|(_, name)| name).collect();
        arguments.extend((0..self.description.numbers.params.len()).map(param_name));
        arguments.extend(["wave", "first", "tile.first", "tile.second"].map(str::to_owned));
        let block = if waves.together {
            "dim3(tile_row_threads(&band, &tile), tile_block_rows(&band, &tile))"
        } else {
            arguments.push("tile.piece".into());
            "1"
        };
        let arguments = arguments.join(", ");
        lines.line(&format!("{}_kernel0<<<(unsigned)(last - first + 1), {block}>>>({arguments});", self.name));
        lines.line("fine = cudaGetLastError() == cudaSuccess;");
        lines.line("started = started || fine;");
        lines.close();
        Ok(())
    }
}
