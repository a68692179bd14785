//! Waves of tiles as CUDA C++: a kernel whose threads each go through a tile by pieces, and the loop of the host over the waves.
//!
//! ```text
//!   static __global__ void f_kernel0(..., long wave, long first_strip, long size0, long size1, long piece) {
//!     const long b0 = strip * size0, e0 = ..., low1 = (wave - strip) * size1, ...;
//!     for (long b1 = low1; b1 <= high1; b1 += piece) { const long e1 = ...; what is in the box }
//!   }
//!   host: const struct tile_sizes tile = tile_chosen(&band, &machine, &choices);
//!         for (long wave = ...) f_kernel0<<<strips that have a tile in it, 1>>>(..., wave, first, tile.first, tile.second, tile.piece);
//! ```
//!
//! Where the threads of a block have a tile together, the kernel's loop is over the waves of points of a tile ([`super::block_tiles`]).
//!
//! The sizes of a problem are known when the program runs, so that is when the sizes of tiles are chosen: by the model of `tiles.h`, with what things
//! take on the machine (`tuning::calibration`) and what the nest does ([`super::points`]). They are arguments of the kernel, which costs nothing: its
//! loops have bounds that are computed anyway.

use mlir_bridge::isl::Term;
use regrain_passes::affine::Reason;
use regrain_passes::affine::poly::param_name;
use regrain_passes::affine::sets::{Range, Weight};
use regrain_passes::affine::transactions::names;
use regrain_passes::affine::waves::{Waves, ends_of, point_of};
use regrain_tuning::calibration::{Calibration, Level, Table};

use super::block_tiles::boxes_of;
use super::chip::{Portion, Writer};
use super::nest::{Nest, product, sum};
use super::points::{Accesses, MOST_DIMENSIONS, Points, dimension};
use super::terms::{Lines, term};

/// The model and the search, as text of the program that is made.
pub const MODEL: &str = include_str!("tiles.h");
/// Sizes that are tried beside those of the model.
pub const TRIALS: &str = include_str!("trials.h");
/// In front of it where the runtime has the search: that is long and takes clang longer than all else of a host's function.
pub const LINKED: &str = "#define TILE_LINKED\n";
/// What the text of a nest has of the model, and of trials.
pub const SEARCH: &str = "struct tile_sizes";
pub const CLOCK: &str = "tile_clock()";

impl<'c> Nest<'_, 'c> {
    /// The kernels of a tile, and the functions of both sides that they take.
    pub(super) fn wave_kernels(&self, waves: &Waves) -> Result<String, Reason> {
        let mut lines = Lines::default();
        self.strip(waves, &mut lines);
        if waves.together {
            self.inner(waves, &mut lines);
            self.boxes(waves, &mut lines);
        }
        self.wave_kernel(waves, false, &mut lines)?;
        if !waves.staged.is_empty() {
            self.wave_kernel(waves, true, &mut lines)?;
        }
        Ok(lines.text)
    }

    fn wave_kernel(&self, waves: &Waves, staged: bool, lines: &mut Lines) -> Result<(), Reason> {
        let mut parameters: Vec<String> =
            self.parameters("A")?.into_iter().map(|(ty, name)| format!("{ty} {name}")).collect();
        parameters.extend(self.further(waves, staged).into_iter().map(|(name, _)| format!("long {name}")));
        lines.open(&format!("static __global__ void {}({})", self.wave_name(staged), parameters.join(", ")));
        let [steps, _] = &waves.band;
        lines.line("const long strip = first_strip + (long)blockIdx.x;");
        lines.line(&format!(
            "const long b0 = most(strip * size0, {}), e0 = least(strip * size0 + size0 - 1L, {});",
            term(&steps.first),
            term(&steps.last)
        ));
        lines.line(&format!("const long numbers[] = {{{}}};", self.list_of_numbers()));
        lines.line("long low1, high1;");
        lines.line(&format!("if (!{}_strip(numbers, b0, e0, &low1, &high1))", self.name));
        lines.line("  return;");
        lines.line("low1 = most(low1, (wave - strip) * size1);");
        lines.line("high1 = least(high1, (wave - strip) * size1 + size1 - 1L);");
        match waves.together {
            true => self.block_tile(waves, staged, lines)?,
            false => self.thread_tile(waves, lines)?,
        }
        lines.close();
        lines.text.push('\n');
        Ok(())
    }

    /// What a kernel is called.
    pub(super) fn wave_name(&self, staged: bool) -> String {
        format!("{}_kernel0{}", self.name, if staged { "_staged" } else { "" })
    }

    /// What a thread does that has a tile alone.
    fn thread_tile(&self, waves: &Waves, lines: &mut Lines) -> Result<(), Reason> {
        for Range { first, last, exists, .. } in &waves.inner {
            lines.line("const long b1 = low1, e1 = high1;");
            lines.line(&format!("if (b1 > e1 || !{})", term(exists)));
            lines.line("  return;");
            lines.line(&format!("const long low2 = {}, high2 = {};", term(first), term(last)));
        }
        let last = waves.last();
        self.pieces(lines, last, &format!("low{last}"), &format!("high{last}"));
        let writer = Writer { description: self.description, fuses: self.fuses, launch: &waves.launch, constants: &[] };
        writer.code(lines, &waves.launch.code, &writer.linear(), Portion::All, None)?;
        lines.close();
        Ok(())
    }

    /// Opens the loop over the pieces of a dimension.
    pub(super) fn pieces(&self, lines: &mut Lines, dimension: usize, low: &str, high: &str) {
        let [first, last] = ends_of(dimension);
        lines.open(&format!("for (long {first} = {low}; {first} <= {high}; {first} += piece)"));
        lines.line(&format!("const long {last} = least({first} + piece - 1L, {high});"));
    }

    /// The further parameters of a kernel, and what the host has for them.
    fn further(&self, waves: &Waves, staged: bool) -> Vec<(String, String)> {
        let same = |name: String| (name.clone(), name);
        let mut further: Vec<_> = (0..self.description.numbers.params.len()).map(param_name).map(same).collect();
        let tile = [("wave", "wave"), ("first_strip", "first"), ("size0", "tile.first"), ("size1", "tile.second")];
        further.extend(tile.map(|(name, of)| (name.to_owned(), of.to_owned())));
        if !waves.together || (staged && !waves.inner.is_empty()) {
            further.push(("piece".into(), "tile.piece".into()));
        }
        if staged {
            further.extend(boxes_of(waves));
        }
        further
    }

    /// The parameters in a list, which is not empty.
    pub(super) fn list_of_numbers(&self) -> String {
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
        self.take_numbers(lines, &[first, last, exists]);
        lines.line(&format!("if (!{})", term(exists)));
        lines.line("  return 0;");
        lines.line(&format!("*first = {};", term(first)));
        lines.line(&format!("*last = {};", term(last)));
        lines.line("return 1;");
        lines.close();
        lines.text.push('\n');
    }

    /// The parameters that are wanted out of their list.
    pub(super) fn take_numbers(&self, lines: &mut Lines, wanted: &[&Term]) {
        for number in 0..self.description.numbers.params.len() {
            let name = param_name(number);
            if wanted.iter().any(|term| names(term, &name)) {
                lines.line(&format!("const long {name} = numbers[{number}];"));
            }
        }
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
        // What is behind the dimensions of the band is done at a point.
        let of_band = |weight: &Weight| weight.ranges.iter().take(waves.dimensions).cloned().collect();
        let once = |weight: &Weight| product(&Weight { ranges: of_band(weight), cost: 1 });
        let most = self.plan.work.iter().map(once).reduce(|most, other| format!("tile_larger({most}, {other})"));
        lines.line(&format!("const double points = {};", most.unwrap_or_else(|| "0.0".into())));
        self.band(waves, lines);
        match self.tiles {
            stated if waves.together => self.block_sizes(waves, stated, lines),
            Some(([first, second], piece)) => {
                let [least, most] = piece.map_or(["TILE_LEAST".into(), "TILE_MOST".into()], |piece| {
                    [format!("{piece}L"), format!("{piece}L")]
                });
                lines.line(&format!(
                    "const struct tile_sizes tile = tile_pieces(&band, &machine, {first}L, {second}L, {least}, {most});"
                ));
            }
            None if !self.tries_sizes(waves) => {
                lines.line("const struct tile_sizes tile = tile_search(&band, &machine);");
            }
            None => {
                lines.line("static __thread struct tile_choices choices;");
                lines.line("const struct tile_sizes tile = tile_chosen(&band, &machine, &choices);");
                lines.line("const double began = tile_clock();");
            }
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

    /// Whether sizes are tried while the program runs.
    fn tries_sizes(&self, waves: &Waves) -> bool {
        !waves.together && self.tiles.is_none() && self.least_work.is_none()
    }

    /// Where sizes are tried, what the run took.
    pub(super) fn tiles_took(&self, waves: &Waves, lines: &mut Lines) {
        if self.tries_sizes(waves) {
            lines.line("tile_took(&choices, tile_clock() - began);");
        }
    }

    /// The band, as `tiles.h` has it.
    fn band(&self, waves: &Waves, lines: &mut Lines) {
        let [steps, _] = &waves.band;
        let dimensions = waves.dimensions.min(MOST_DIMENSIONS);
        let points = self.points(waves);
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
        let wait = points.wait(&self.calibration.waits);
        lines.line(&format!(
            "const struct tile_band band = {{{}, {}, {}_strip, numbers, points, operations, bytes, {:?}, {}, {:?}, {dimensions}, {}, accesses, workers, {}}};",
            term(&steps.first),
            term(&steps.last),
            self.name,
            wait.time,
            wait.operations,
            wait.through,
            groups.len(),
            i32::from(self.plan.work.iter().any(|weight| weight.ranges.len() > waves.dimensions)),
        ));
    }

    /// The points of the band.
    pub(super) fn points(&self, waves: &Waves) -> Points<'_, 'c> {
        let last = waves.last();
        let name = |number| match waves.together && (number < 2 || number == last) {
            true => point_of(number),
            false => dimension(number),
        };
        let names: Vec<String> = (0..waves.dimensions.min(MOST_DIMENSIONS)).map(name).collect();
        Points::of(self.description, &waves.launch.code, &names)
    }

    /// The parameters of the machine, as `tiles.h` has them.
    fn machine(&self) -> String {
        let machine = &self.calibration;
        let list = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:?}")).collect::<Vec<_>>().join(", ");
        let levels = |of: fn(&Level) -> f64| {
            let known = (0..4).filter_map(|at| machine.levels.get(at).or(machine.levels.last()));
            list(&known.map(of).collect::<Vec<f64>>())
        };
        let &Calibration { start, launch, block, row, operation, window, .. } = machine;
        let together =
            list(&[machine.device.step, machine.device.point, machine.chip.step, machine.chip.point, machine.copied]);
        let times = list(&[start, launch, block, row, operation, window]);
        let (bytes, stream) = (levels(|level| level.bytes), levels(|level| level.stream));
        let tables = |tables: &[Table; 2]| {
            format!("{{{}}}, {{{}}}", list(&tables.map(|table| table.pages)), list(&tables.map(|table| table.missed)))
        };
        let (pages, followed) = (tables(&machine.pages), tables(&machine.followed));
        format!("{{{times}, {{{bytes}}}, {{{stream}}}, {pages}, {followed}, {together}}}")
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
        let launched = |staged: bool, block: &str| {
            let mut arguments: Vec<String> = self.parameters("A")?.into_iter().map(|(_, name)| name).collect();
            arguments.extend(self.further(waves, staged).into_iter().map(|(_, of)| of));
            let name = self.wave_name(staged);
            Ok::<_, Reason>(format!("{name}<<<(unsigned)(last - first + 1), {block}>>>({});", arguments.join(", ")))
        };
        let block = "dim3(tile_row_threads(&band, &tile), tile_block_rows(&band, &tile))";
        if !waves.staged.is_empty() {
            lines.line("if (tile.room > 0)");
            lines.line(&format!("  {}", launched(true, &format!("{block}, tile.room"))?));
            lines.line("else");
        }
        let indent = if waves.staged.is_empty() { "" } else { "  " };
        lines.line(&format!("{indent}{}", launched(false, if waves.together { block } else { "1" })?));
        lines.line("fine = cudaGetLastError() == cudaSuccess;");
        lines.line("started = started || fine;");
        lines.close();
        Ok(())
    }
}
