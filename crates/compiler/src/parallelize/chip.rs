//! What threads of a block keep on the chip, as C: registers, and loops that go by pieces whose arrays are in shared memory.
//!
//! ```text
//!   __shared__ double T0[8][32];
//!   double r2 = 0; if (...) r2 = A2[...];
//!   for (long k0 = first; k0 <= last; k0 += 32) {
//!     ...T0[row][x] = A0[...];  __syncthreads();  ...r2 = fma(T0[..][..], .., r2);  __syncthreads();
//!   }
//!   if (...) A2[...] = r2;
//! ```

use mlir_bridge::isl::{Code, Term};
use regrain_passes::affine::accesses::Access;
use regrain_passes::affine::columns::ends_of_tile;
use regrain_passes::affine::host::{Launch, statement_of};
use regrain_passes::affine::poly::variable_name;
use regrain_passes::affine::sets::Range;
use regrain_passes::affine::statements::Statement;
use regrain_passes::affine::threads::{Phase, Pieces, Register, Tile, first_of_block, subscript_name, tiles_of};
use regrain_passes::affine::unguarded::{needed, needed_by_rounds};
use regrain_passes::affine::{Description, Reason};

use super::body::Body;
use super::places::{Element, Places, first_name, linear, sum, tile_name};
use super::sums;
use super::terms::{Lines, code, term};
use super::types::type_name;

/// The names of dimensions of a grid, neighbours last.
pub const DIMENSIONS: [&[&str]; 4] = [&[], &["x"], &["y", "x"], &["z", "y", "x"]];

/// Which portion of a statement with a loop is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Portion {
    All,
    /// What is before the loop, and what the loop starts with.
    Before,
    /// The loop's rounds of a piece.
    Rounds,
    /// What is behind.
    Behind,
}

/// A kernel whose threads keep something on the chip.
pub struct Writer<'w, 'c> {
    /// What the nest is.
    pub description: &'w Description<'c>,
    /// Whether the host rounds once where it may.
    pub fuses: bool,
    /// The launch.
    pub launch: &'w Launch,
    /// The arrays that are in constant memory.
    pub constants: &'w [usize],
}

impl<'c> Writer<'_, 'c> {
    /// What a thread does.
    ///
    /// # Errors
    /// An operation has no counterpart.
    pub fn write(&self, lines: &mut Lines) -> Result<(), Reason> {
        let what = &self.launch.on_chip;
        for (number, phase) in what.phases.iter().enumerate() {
            if let Phase::Pieces(pieces) = phase {
                for (at, tile) in pieces.tiles.iter().enumerate() {
                    self.declare(lines, &tile_name(number, at), tile)?;
                }
            }
        }
        if !self.launch.sums.is_empty() {
            sums::start(self.description, self.launch, lines)?;
            for Range { name, .. } in &self.launch.threads {
                let [low, high] = ends_of_tile(name);
                lines.open(&format!("for (long {name} = {low}; {name} <= {high}; {name}++)"));
            }
        }
        self.load(lines)?;
        let alone = [Phase::Alone(self.launch.code.clone())];
        let phases = if what.phases.is_empty() { &alone[..] } else { &what.phases };
        for (number, phase) in phases.iter().enumerate() {
            match phase {
                Phase::Alone(code) => self.code(lines, code, &self.linear(), Portion::All, None)?,
                Phase::Pieces(pieces) => self.pieces(lines, number, pieces)?,
            }
        }
        self.store(lines)?;
        if !self.launch.sums.is_empty() {
            self.launch.threads.iter().for_each(|_| lines.close());
        }
        Ok(())
    }

    /// What is in registers is loaded, where it is read before it is written.
    pub(super) fn load(&self, lines: &mut Lines) -> Result<(), Reason> {
        for register in &self.launch.on_chip.registers {
            let (name, ty) = (format!("r{}", register.array), self.element_type(register.array)?);
            lines.line(&format!("{ty} {name} = 0;"));
            if register.is_read {
                lines.line(&format!("if ({})", term(&register.exists)));
                lines.line(&format!("  {name} = {};", self.register(register)?));
            }
        }
        Ok(())
    }

    /// What is in registers is stored.
    pub(super) fn store(&self, lines: &mut Lines) -> Result<(), Reason> {
        for register in &self.launch.on_chip.registers {
            lines.line(&format!("if ({})", term(&register.exists)));
            lines.line(&format!("  {} = r{};", self.register(register)?, register.array));
        }
        Ok(())
    }

    /// Places by subscripts, which are of 64 bits: neighbours are a number apart then, whatever the program computes them of.
    pub(super) fn linear(&self) -> Places<'c> {
        let of = |access: &Access<'c>| {
            let array = &self.description.arrays[access.array];
            let value = if access.writes { access.op.operand(0) } else { access.op.result(0) };
            let subscripts = access.sums.iter().map(|poly| Some(format!("({})", sum(poly)?)));
            let subscripts: Option<Vec<String>> = subscripts.collect();
            let place = linear(self.description, access.array, &subscripts?)?;
            (value.ty() == array.element).then(|| (access.op, format!("A{}[{place}]", access.array)))
        };
        let registers = self.registers().registers;
        let is_elsewhere = |array| self.constants.contains(&array) || registers.contains(&array);
        let accesses = self.description.accesses.iter().filter(|access| !is_elsewhere(access.array));
        Places { linear: accesses.filter_map(of).collect(), ..Places::default() }
    }

    /// The arrays that are in registers.
    pub(super) fn registers(&self) -> Places<'c> {
        let registers = self.launch.on_chip.registers.iter().map(|register| register.array).collect();
        Places { registers, ..Places::default() }
    }

    pub(super) fn element_type(&self, array: usize) -> Result<&'static str, Reason> {
        type_name(self.description.arrays[array].element).ok_or(Reason::Element)
    }

    fn register(&self, register: &Register) -> Result<String, Reason> {
        let subscripts: Vec<String> = register.subscripts.iter().map(term).collect();
        let place = linear(self.description, register.array, &subscripts).ok_or(Reason::Shape)?;
        Ok(format!("A{}[{place}]", register.array))
    }

    fn declare(&self, lines: &mut Lines, name: &str, tile: &Tile) -> Result<(), Reason> {
        let last = tile.sizes.len() - 1;
        let size = |(at, size): (usize, &i64)| match at == last && tile.is_column {
            true => format!("[{size} + 1]"),
            false => format!("[{size}]"),
        };
        let sizes: String = tile.sizes.iter().enumerate().map(size).collect();
        lines.line(&format!("__shared__ {} {name}{sizes}; // of A{}", self.element_type(tile.array)?, tile.array));
        Ok(())
    }

    /// Writes code, with elements in other places.
    pub(super) fn code(
        &self,
        lines: &mut Lines,
        what: &Code,
        places: &Places<'c>,
        portion: Portion,
        pieces: Option<&Pieces>,
    ) -> Result<(), Reason> {
        let mut places = places.clone();
        places.registers = self.registers().registers;
        places.constants = self.constants.to_vec();
        let reordered = sums::steps(self.description, self.launch);
        code(lines, what, &mut |lines: &mut Lines, name: &str, place: &[Term]| {
            let number = statement_of(name).filter(|number| *number < self.description.statements.len());
            let statement = &self.description.statements[number.ok_or(Reason::Operation)?];
            lines.open("");
            for (variable, place) in statement.scope.variables.iter().zip(place) {
                let ty = self.description.numbers.variables[*variable].ty();
                // Where no number is cut off, what neighbours have is found beside one another, and what a thread had before in registers.
                let is_cut = places.linear.is_empty() && places.tiles.is_empty();
                let ty = if is_cut { type_name(ty).ok_or(Reason::Operation)? } else { "long" };
                lines.line(&format!("const {ty} {} = ({ty}){};", variable_name(*variable), term(place)));
            }
            let mut body = Body::of(self.description, self.fuses).with_places(places.clone());
            body = body.with_reordered(reordered.iter().copied());
            let written = match pieces.filter(|_| portion != Portion::All) {
                Some(pieces) => self.portion(lines, &mut body, statement, portion, pieces),
                None => body.operations(lines, &statement.ops, |_, _| Some(())),
            };
            lines.close();
            written.ok_or(Reason::Operation)
        })
    }

    /// A portion of a statement whose first loop goes by pieces; what the loop hands on is in variables of the thread.
    fn portion(
        &self,
        lines: &mut Lines,
        body: &mut Body<'_, 'c>,
        statement: &Statement<'c>,
        portion: Portion,
        pieces: &Pieces,
    ) -> Option<()> {
        let at = statement.ops.iter().position(|op| op.is("scf.for"))?;
        let op = statement.ops[at];
        let results: Vec<String> = (0..op.num_results()).map(|number| result_name(pieces, number)).collect();
        match portion {
            Portion::Before => body.operations(lines, &needed(&statement.ops[..at], &[op]), |body, lines| {
                for (name, start) in results.iter().zip(op.operands().split_off(3)) {
                    let start = body.value(lines, start)?;
                    lines.line(&format!("{name} = {start};"));
                }
                Some(())
            }),
            Portion::Rounds => body.operations(lines, &needed_by_rounds(&statement.ops[..at], op), |body, lines| {
                body.rounds_of_piece(lines, op, &pieces.rounds.name, pieces.piece, &results)
            }),
            Portion::Behind => {
                let behind = &statement.ops[at + 1..];
                let mut ops = needed(&statement.ops[..at], behind);
                ops.extend(behind);
                for (result, name) in op.results().into_iter().zip(results) {
                    body.name(result, name);
                }
                body.operations(lines, &ops, |_, _| Some(()))
            }
            Portion::All => None,
        }
    }

    fn pieces(&self, lines: &mut Lines, number: usize, pieces: &Pieces) -> Result<(), Reason> {
        let Range { name, first, last, exists } = &pieces.rounds;
        let far = self.linear();
        let mut places = far.clone();
        for (op, (at, _)) in tiles_of(pieces, self.description) {
            let access = self.description.accesses.iter().find(|access| access.op == op).ok_or(Reason::Operation)?;
            places.tiles.insert(op, Element { name: tile_name(number, at), sums: access.sums.clone() });
        }
        if let Some(inner) = &pieces.inner {
            let op =
                self.description.numbers.variables[inner.variable].block_arg().and_then(|(block, _)| block.parent_op());
            for (at, result) in op.ok_or(Reason::Operation)?.results().into_iter().enumerate() {
                let ty = type_name(result.ty()).ok_or(Reason::Operation)?;
                lines.line(&format!("{ty} {} = 0;", result_name(pieces, at)));
            }
            self.code(lines, &inner.code, &far, Portion::Before, Some(pieces))?;
        }
        lines.open(&format!("if ({})", term(exists)));
        lines.line(&format!("const long last_{name} = {};", term(last)));
        lines.open(&format!("for (long {name} = {}; {name} <= last_{name}; {name} += {}L)", term(first), pieces.piece));
        for (at, tile) in pieces.tiles.iter().enumerate() {
            self.copy(lines, &tile_name(number, at), tile, pieces.zeros)?;
        }
        lines.line("__syncthreads();");
        let portion = if pieces.inner.is_some() { Portion::Rounds } else { Portion::All };
        self.code(lines, &pieces.code, &places, portion, Some(pieces))?;
        lines.line("__syncthreads();");
        lines.close();
        lines.close();
        if let Some(inner) = &pieces.inner {
            self.code(lines, &inner.code, &far, Portion::Behind, Some(pieces))?;
        }
        Ok(())
    }

    /// The threads of a block copy a tile: neighbours along its rows. What is not read is left, or `zeros`.
    fn copy(&self, lines: &mut Lines, name: &str, tile: &Tile, zeros: bool) -> Result<(), Reason> {
        for (at, first) in tile.first.iter().enumerate() {
            lines.line(&format!("const long {} = {};", first_name(name, at), term(first)));
        }
        let block: Vec<i64> = self.launch.block.iter().map(|size| i64::from(*size)).collect();
        let width = block[block.len() - 1];
        let last = tile.sizes.len() - 1;
        let (row, before) = match block[..] {
            [_] => ("0".to_owned(), String::new()),
            [_, _] => ("threadIdx.y".into(), format!("threadIdx.y * {width} + ")),
            [_, y, _] => {
                let row = format!("(threadIdx.z * {y} + threadIdx.y)");
                (row.clone(), format!("{row} * {width} + "))
            }
            _ => return Err(Reason::Operation),
        };
        let together: i64 = block[..block.len() - 1].iter().product();
        let (rows, columns) = (tile.sizes[..last].iter().product::<i64>(), tile.sizes[last]);
        // A row of threads has several rows of a narrow tile.
        let (y, x) = if columns < width && width % columns == 0 && rows > together {
            let thread = |sign: &str| format!("(int)({before}threadIdx.x) {sign} {columns}");
            let y = over(lines, "y", &thread("/"), together * width / columns, rows);
            (y, over(lines, "x", &thread("%"), columns, columns))
        } else {
            (over(lines, "y", &row, together, rows), over(lines, "x", "threadIdx.x", width, columns))
        };
        // The row's number in each dimension.
        let mut places = vec![x.0.clone()];
        let mut rest = rows;
        for at in (0..last).rev() {
            rest /= tile.sizes[at];
            let below: i64 = tile.sizes[at + 1..last].iter().product();
            let place = if below == 1 { y.0.clone() } else { format!("{} / {below}", y.0) };
            places.push(if rest == 1 { place } else { format!("{place} % {}", tile.sizes[at]) });
        }
        places.reverse();
        for (at, place) in places.iter().enumerate() {
            lines.line(&format!("const long {} = {} + {place};", subscript_name(at), first_name(name, at)));
        }
        let subscripts: Vec<String> = (0..=last).map(subscript_name).collect();
        let from = linear(self.description, tile.array, &subscripts).ok_or(Reason::Shape)?;
        let to: String = places.iter().map(|place| format!("[{place}]")).collect();
        if zeros {
            lines.line(&format!("{name}{to} = {} ? A{}[{from}] : 0;", term(&tile.holds), tile.array));
        } else {
            lines.line(&format!("if ({})", term(&tile.holds)));
            lines.line(&format!("  {name}{to} = A{}[{from}];", tile.array));
        }
        for _ in 0..x.1 + y.1 {
            lines.close();
        }
        Ok(())
    }
}

/// A loop of the threads of a block over so many places; what a place is called, and how many blocks of C are open.
fn over(lines: &mut Lines, name: &str, thread: &str, threads: i64, places: i64) -> (String, usize) {
    if places > threads {
        lines.open(&format!("for (int {name} = {thread}; {name} < {places}; {name} += {threads})"));
        return (name.to_owned(), 1);
    }
    if places < threads {
        lines.open(&format!("if ({thread} < {places})"));
    } else {
        lines.open("");
    }
    (thread.to_owned(), 1)
}

/// What a loop that goes by pieces hands on.
fn result_name(pieces: &Pieces, number: usize) -> String {
    format!("s{}_{number}", pieces.rounds.name)
}

/// The coordinates of a thread, and of the first one of its block.
pub fn coordinates(launch: &Launch, lines: &mut Lines) {
    if launch.is_tiled {
        for Range { name, .. } in &launch.threads {
            let [low, high] = ends_of_tile(name);
            lines.line(&format!("const long {low} = first_{name} + (long)blockIdx.x * width;"));
            lines.line(&format!("const long {high} = least({low} + width - 1L, last_{name});"));
        }
        return;
    }
    let dimensions = launch.threads.len();
    let named = launch.on_chip.phases.iter().any(|phase| matches!(phase, Phase::Pieces(_)));
    for ((Range { name, .. }, at), size) in launch.threads.iter().zip(DIMENSIONS[dimensions]).zip(&launch.block) {
        if named {
            let first = first_of_block(name);
            lines.line(&format!("const long {first} = first_{name} + (long)blockIdx.{at} * {size};"));
            lines.line(&format!("const long {name} = {first} + threadIdx.{at};"));
        } else {
            lines.line(&format!(
                "const long {name} = first_{name} + (long)blockIdx.{at} * blockDim.{at} + threadIdx.{at};"
            ));
        }
    }
}
