//! Tiles that the threads of a block go through together, as CUDA C++.
//!
//! ```text
//!   for (long now = b0 + b1 + b2; now <= e0 + e1 + e2; now++) { a thread for each p0 and p1: p2 = now - p0 - p1, what is there; __syncthreads(); }
//! ```
//!
//! Where what a piece accesses fits into shared memory there is a second kernel:
//!
//! ```text
//!   for (long b2 = lows[0]; b2 <= highs[0]; b2 += piece) {
//!     ...T0[..] = A0[..];  __syncthreads();  the waves of points, in T0;  ...if (stored) A0[..] = T0[..];  __syncthreads();
//!   }
//!   host: const long sizes[] = {..}; bytes = f_boxes(numbers, sizes, count);
//! ```
//!
//! The boxes of arrays ([`regrain_passes::affine::staged`]) have extents that the host computes of the sizes of a tile and a piece: it looks for sizes whose boxes
//! have room, and hands their extents to the kernel. Rows of a box get an element more where neighbouring threads would be in one bank.

use mlir_bridge::isl::{Kind, Term};
use regrain_passes::affine::Reason;
use regrain_passes::affine::sets::Range;
use regrain_passes::affine::staged::{Staged, place_name, size_name};
use regrain_passes::affine::transactions::names;
use regrain_passes::affine::waves::{Waves, ends_of, point_of};

use super::chip::{Portion, Writer};
use super::nest::Nest;
use super::places::{Places, linear, sum, tile_name};
use super::terms::{Lines, term};

/// A thread among those of the block.
const MINE: &str = "threadIdx.y * blockDim.x + threadIdx.x";
const ALL: &str = "blockDim.x * blockDim.y";

/// The boxes of a kernel, each with the number of its first subscript among all of them.
fn numbered(waves: &Waves) -> impl Iterator<Item = (&Staged, usize)> {
    waves.staged.iter().scan(0, |next, staged| {
        let first = *next;
        *next += staged.first.len();
        Some((staged, first))
    })
}

/// What a kernel is told of the boxes: their extents, and which elements of arrays there are; and what the host has for it.
pub(super) fn boxes_of(waves: &Waves) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (Staged { array, first, .. }, number) in numbered(waves) {
        all.extend((number..number + first.len()).map(|at| (count_name(at), format!("count[{at}]"))));
        all.extend([format!("first_A{array}"), format!("end_A{array}")].map(|name| (name.clone(), name)));
    }
    all
}

fn count_name(at: usize) -> String {
    format!("count{at}")
}

fn start_name(at: usize) -> String {
    format!("start{at}")
}

impl<'c> Nest<'_, 'c> {
    /// A function of the host and of the device: the further dimensions of a box where the first two are, and whether there is anything.
    pub(super) fn inner(&self, waves: &Waves, lines: &mut Lines) {
        if waves.inner.is_empty() {
            return;
        }
        lines.open(&format!(
            "static __host__ __device__ int {}_inner(const long *numbers, long b0, long e0, long b1, long e1, long *lows, long *highs)",
            self.name
        ));
        let all: Vec<&Term> =
            waves.inner.iter().flat_map(|Range { first, last, exists, .. }| [first, last, exists]).collect();
        self.take_numbers(lines, &all);
        let exists: Vec<String> = waves.inner.iter().map(|range| term(&range.exists)).collect();
        lines.line(&format!("if (!({}))", exists.join(" && ")));
        lines.line("  return 0;");
        for (at, Range { first, last, .. }) in waves.inner.iter().enumerate() {
            lines.line(&format!("lows[{at}] = {};", term(first)));
            lines.line(&format!("highs[{at}] = {};", term(last)));
        }
        lines.line("return 1;");
        lines.close();
        lines.text.push('\n');
    }

    /// A function of the host: the extents of the boxes of arrays, for pieces of so many iterations, and the bytes that they take together.
    pub(super) fn boxes(&self, waves: &Waves, lines: &mut Lines) {
        if waves.staged.is_empty() {
            return;
        }
        lines.open(&format!("static long {}_boxes(const long *numbers, const long *sizes, long *count)", self.name));
        let all: Vec<&Term> = waves.staged.iter().flat_map(|staged| &staged.extents).collect();
        self.take_numbers(lines, &all);
        for (at, name) in (0..waves.dimensions).map(size_name).enumerate() {
            if all.iter().any(|term| names(term, &name)) {
                lines.line(&format!("const long {name} = sizes[{at}];"));
            }
        }
        lines.line("long bytes, all = 0L;");
        // Neighbours are in a wave of points, which the first dimension or the second runs along.
        let (points, along) = (self.points(waves), usize::from(waves.last() > 1));
        for (Staged { array, extents, .. }, number) in numbered(waves) {
            let last = number + extents.len() - 1;
            lines.line(&format!("bytes = {}L; // of A{array}", self.description.arrays[*array].size));
            for (at, extent) in (number..).zip(extents) {
                lines.line(&format!("count[{at}] = most({}, 1L);", term(extent)));
            }
            // Neighbours are in other banks where the distance between them is odd.
            if let Some((column, [first, further @ ..])) =
                points.across(*array, along).as_deref().and_then(<[i64]>::split_last)
            {
                let rows = (number + 1..)
                    .zip(further)
                    .fold(format!("({first}L)"), |rows, (at, row)| format!("({rows} * count[{at}] + ({row}L))"));
                lines.line(&format!(
                    "count[{last}] += {rows} % 2L != 0L && ({rows} * count[{last}] + ({column}L)) % 2L == 0L; // banks"
                ));
            }
            for at in number..=last {
                lines.line(&format!("bytes = least(bytes * least(count[{at}], 1048576L), 1073741824L);"));
            }
            lines.line("all += (bytes + 15L) / 16L * 16L;");
        }
        lines.line("return all;");
        lines.close();
        lines.text.push('\n');
    }

    /// What the threads of a block do together.
    pub(super) fn block_tile(&self, waves: &Waves, staged: bool, lines: &mut Lines) -> Result<(), Reason> {
        let count = waves.inner.len();
        lines.line("const long b1 = low1, e1 = high1;");
        lines.line("if (b0 > e0 || b1 > e1)");
        lines.line("  return;");
        if count > 0 {
            lines.line(&format!("long lows[{count}], highs[{count}];"));
            lines.line(&format!("if (!{}_inner(numbers, b0, e0, b1, e1, lows, highs))", self.name));
            lines.line("  return;");
        }
        let (depth, last) = (lines.depth, waves.last());
        for at in 2..=last {
            let [low, high] = ["lows", "highs"].map(|ends| format!("{ends}[{}]", at - 2));
            if staged {
                self.pieces(lines, at, &low, &high);
            } else {
                lines.line(&format!("const long b{at} = {low}, e{at} = {high};"));
            }
        }
        let writer = Writer { description: self.description, fuses: self.fuses, launch: &waves.launch, constants: &[] };
        let plain = writer.linear();
        if staged {
            let places = self.declare(waves, lines, &writer, &plain)?;
            self.copies(waves, lines, false)?;
            self.waves_of_points(waves, lines, &writer, &places)?;
            self.copies(waves, lines, true)?;
        } else {
            self.waves_of_points(waves, lines, &writer, &plain)?;
        }
        while lines.depth > depth {
            lines.close();
        }
        Ok(())
    }

    /// Names the boxes and their first elements. Where elements are then.
    fn declare(
        &self,
        waves: &Waves,
        lines: &mut Lines,
        writer: &Writer<'_, 'c>,
        plain: &Places<'c>,
    ) -> Result<Places<'c>, Reason> {
        let mut places = plain.clone();
        lines.line("extern __shared__ __attribute__((aligned(16))) char tile_memory[];");
        let mut before = "tile_memory".to_owned();
        for (box_number, (Staged { array, first, .. }, number)) in numbered(waves).enumerate() {
            let (name, ty) = (tile_name(0, box_number), writer.element_type(*array)?);
            lines.line(&format!("{ty} *const {name} = ({ty} *)({before}); // of A{array}"));
            let counts: Vec<String> = (number..number + first.len()).map(count_name).collect();
            before += &format!(" + (int)((sizeof({ty}) * {} + 15L) / 16L * 16L)", counts.join(" * "));
            for (at, first) in (number..).zip(first) {
                lines.line(&format!("const long {} = {};", start_name(at), term(first)));
            }
            for access in self.description.accesses.iter().filter(|access| access.array == *array) {
                let mut place = String::new();
                for (at, subscript) in (number..).zip(&access.sums) {
                    let subscript = sum(subscript).ok_or(Reason::Shape)?;
                    let inside = format!("(int)({subscript} - {})", start_name(at));
                    place = match place.is_empty() {
                        true => inside,
                        false => format!("({place}) * (int){} + {inside}", count_name(at)),
                    };
                }
                places.linear.insert(access.op, format!("{name}[{place}]"));
            }
        }
        Ok(places)
    }

    /// Copies boxes in, or back what the piece may store: along rows of memory.
    fn copies(&self, waves: &Waves, lines: &mut Lines, back: bool) -> Result<(), Reason> {
        for (box_number, (Staged { array, first, stored, .. }, number)) in numbered(waves).enumerate() {
            if back && stored.is_none() {
                continue;
            }
            let (name, depth, last) = (tile_name(0, box_number), lines.depth, first.len() - 1);
            let places: Vec<String> = (0..=last).map(place_name).collect();
            // What is asked for each element, and what before.
            let asked = stored.iter().filter(|_| back).flat_map(conditions);
            let (of_element, asked): (Vec<&Term>, Vec<&Term>) = asked.partition(|asked| names(asked, &places[last]));
            let (of_row, of_box): (Vec<&Term>, Vec<&Term>) =
                asked.into_iter().partition(|asked| places.iter().any(|place| names(asked, place)));
            open_if(lines, &of_box);
            let column = number + last;
            let mut place = "column".to_owned();
            if last == 0 {
                lines.open(&format!("for (int column = {MINE}; column < {}; column += {ALL})", count_name(column)));
            } else {
                let rows: Vec<String> = (number..column).map(count_name).collect();
                lines.open(&format!("for (int row = threadIdx.y; row < {}; row += blockDim.y)", rows.join(" * ")));
                let mut rest = "row".to_owned();
                for at in (0..last).rev() {
                    let count = count_name(number + at);
                    let value = if at == 0 { rest.clone() } else { format!("{rest} % (int){count}") };
                    lines.line(&format!("const long {} = {} + {value};", places[at], start_name(number + at)));
                    rest = format!("({rest} / (int){count})");
                }
                open_if(lines, &of_row);
                let count = count_name(column);
                lines.open(&format!("for (int column = threadIdx.x; column < {count}; column += blockDim.x)"));
                place = format!("row * (int){count} + column");
            }
            lines.line(&format!("const long {} = {} + column;", places[last], start_name(column)));
            let at = linear(self.description, *array, &places).ok_or(Reason::Shape)?;
            lines.line(&format!("const long at = {at};"));
            if back {
                open_if(lines, &of_element);
                lines.line(&format!("A{array}[at] = {name}[{place}];"));
            } else {
                lines.line(&format!("if (first_A{array} <= at && at < end_A{array})"));
                lines.line(&format!("  {name}[{place}] = A{array}[at];"));
            }
            while lines.depth > depth {
                lines.close();
            }
        }
        lines.line("__syncthreads();");
        Ok(())
    }

    /// The waves of points of a piece, and what is done at a point.
    fn waves_of_points(
        &self,
        waves: &Waves,
        lines: &mut Lines,
        writer: &Writer<'_, 'c>,
        places: &Places<'c>,
    ) -> Result<(), Reason> {
        let (last, depth) = (waves.last(), lines.depth);
        // Dimensions in between are a thread's.
        let moving: Vec<usize> = [0, 1].into_iter().chain((last > 1).then_some(last)).collect();
        let [begin, end] =
            [0, 1].map(|end| moving.iter().map(|at| ends_of(*at)[end].clone()).collect::<Vec<_>>().join(" + "));
        lines.open(&format!("for (long now = {begin}; now <= {end}; now++)"));
        let threads: &[[&str; 2]] =
            if last > 1 { &[["threadIdx.y", "blockDim.y"], ["threadIdx.x", "blockDim.x"]] } else { &[[MINE, ALL]] };
        let mut place = "now".to_owned();
        for (at, [mine, all]) in threads.iter().enumerate() {
            let (point, [low, high]) = (point_of(at), ends_of(at));
            lines.open(&format!("for (long {point} = {low} + {mine}; {point} <= {high}; {point} += {all})"));
            place += &format!(" - {point}");
        }
        let (point, [low, high]) = (point_of(last), ends_of(last));
        lines.line(&format!("const long {point} = {place};"));
        lines.open(&format!("if ({low} <= {point} && {point} <= {high})"));
        writer.code(lines, &waves.launch.code, places, Portion::All, None)?;
        while lines.depth > depth + 1 {
            lines.close();
        }
        lines.line("__syncthreads();");
        lines.close();
        Ok(())
    }

    /// Chooses the sizes of tiles and blocks.
    pub(super) fn block_sizes(&self, waves: &Waves, stated: Option<([i64; 2], Option<i64>)>, lines: &mut Lines) {
        let staged = !waves.staged.is_empty();
        lines.line("int blocks = 0, staged_blocks = 0, shared = 0, most_shared = 0;");
        let mut asked = vec![
            self.resident("blocks", false),
            "cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) != cudaSuccess"
                .into(),
            "cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlock, device) != cudaSuccess".into(),
        ];
        asked.extend(staged.then(|| self.resident("staged_blocks", true)));
        lines.line(&format!("if ({})", asked.join(" || ")));
        lines.line("  return 0;");
        let boxes = if staged { format!("{}_boxes", self.name) } else { "0".into() };
        lines.line(&format!(
            "const struct tile_chip chip = {{blocks * TILE_THREADS, staged_blocks * TILE_THREADS, shared, most_shared, {boxes}}};"
        ));
        match stated {
            Some(([first, second], piece)) => lines.line(&format!(
                "const struct tile_sizes tile = tile_together(&band, &machine, &chip, {first}L, {second}L, {}L);",
                piece.unwrap_or(0)
            )),
            None => {
                lines.line("static __thread struct tile_choices choices;");
                lines.line("const struct tile_sizes tile = tile_chosen_together(&band, &machine, &chip, &choices);");
            }
        }
        if staged {
            let count: usize = waves.staged.iter().map(|staged| staged.first.len()).sum();
            lines.line(&format!("long count[{count}];"));
            lines.line("tile_room(&band, &chip, &tile, count);");
        }
    }

    /// That it cannot be told how many blocks a multiprocessor has at a time, by registers and threads.
    fn resident(&self, name: &str, staged: bool) -> String {
        let kernel = self.wave_name(staged);
        format!(
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor(&{name}, (const void *){kernel}, TILE_THREADS, 0) != cudaSuccess"
        )
    }
}

/// The conditions that one is made of.
fn conditions(of: &Term) -> Vec<&Term> {
    match of {
        Term::Of(Kind::And, parts) => parts.iter().flat_map(conditions).collect(),
        _ => vec![of],
    }
}

fn open_if(lines: &mut Lines, conditions: &[&Term]) {
    if !conditions.is_empty() {
        let all: Vec<String> = conditions.iter().copied().map(term).collect();
        lines.open(&format!("if ({})", all.join(" && ")));
    }
}
