//! What is on the chip while the threads of a launch work: elements that one thread alone accesses, in registers, and what the threads of a
//! block read several times, in its shared memory.
//!
//! ```text
//!   for k: C[t0][t1] += A[t0][k] * B[k][t1]     r = C[t0][t1];
//!                                               for 32 values of k at a time:
//!                                                 T0 = A[b_t0 ..][k0 ..]; T1 = B[k0 ..][b_t1 ..]; barrier;
//!                                                 for k: r += T0[..][..] * T1[..][..];
//!                                                 barrier;
//!                                               C[t0][t1] = r;
//! ```
//!
//! An array that is written is kept in a register where each thread accesses one element of it, surely: an element that is written belongs to one
//! thread, as the dimensions of threads carry no dependence. A loop of all threads goes by pieces where arrays that the launch does not write are read
//! again: for each piece isl has a box of a fixed size around what a block reads of them. The bounds of the loop are those for all threads of a
//! block, so that all come to its barriers. Only what some thread reads is copied.

use std::collections::HashMap;

use mlir_bridge::isl::{Code, Node, Set, Step, Term, UnionMap, UnionSet, term};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    accesses::Access,
    host::one_statement,
    poly::{Poly, variable_name},
    sets::{Range, Sets, asked},
    shape::Shape,
    transactions::names,
    unguarded::{Firsts, Order},
    windows::Window,
};

/// The bytes that tiles of a block take together, so that several blocks have room beside one another.
const MOST_SHARED: i64 = 32 << 10;
/// A condition of more words than this is not asked for each element.
const MOST_WORDS: usize = 60;

/// What threads keep on the chip.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct OnChip {
    /// Elements that a thread has to itself.
    pub registers: Vec<Register>,
    /// What a thread does, one after the other, where it shares what it reads; none where it shares nothing.
    pub phases: Vec<Phase>,
}

/// The only element of an array that a thread accesses.
#[derive(Debug, Serialize, Deserialize)]
pub struct Register {
    /// The array.
    pub array: usize,
    /// When there is one.
    pub exists: Term,
    /// Which.
    pub subscripts: Vec<Term>,
    /// Whether a thread reads what was there before.
    pub is_read: bool,
}

/// A part of what a thread does.
#[derive(Debug, Serialize, Deserialize)]
pub enum Phase {
    /// It has nothing to do with other threads.
    Alone(Code),
    /// A loop that goes by pieces.
    Pieces(Box<Pieces>),
}

impl Phase {
    /// What is read from shared memory.
    pub fn tiles(&self) -> &[Tile] {
        match self {
            Phase::Alone(_) => &[],
            Phase::Pieces(pieces) => &pieces.tiles,
        }
    }
}

/// A loop whose rounds all threads of a block do by pieces.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pieces {
    /// How many rounds a piece has.
    pub piece: i64,
    /// The first round of a piece, from the first round of any thread to the last.
    pub rounds: Range,
    /// What is read from shared memory in a piece.
    pub tiles: Vec<Tile>,
    /// What a thread does in a piece. Where the loop is one of a statement, the statement, of which the rounds are done.
    pub code: Code,
    /// Whether threads without a point take part, who compute with zeros.
    pub zeros: bool,
    /// The statement whose first loop goes by pieces.
    pub inner: Option<Inner>,
}

/// A statement whose first loop goes by pieces.
#[derive(Debug, Serialize, Deserialize)]
pub struct Inner {
    /// Which.
    pub statement: usize,
    /// The variable of the loop.
    pub variable: usize,
    /// The statement as it is, of which the rest is done.
    pub code: Code,
}

/// A box of an array in shared memory.
#[derive(Debug, Serialize, Deserialize)]
pub struct Tile {
    /// The array.
    pub array: usize,
    /// The accesses that are to the box.
    pub accesses: Vec<usize>,
    /// Its first element.
    pub first: Vec<Term>,
    /// How many elements it has in each dimension.
    pub sizes: Vec<i64>,
    /// Whether the rows get an element more, so that a column is in all banks.
    pub is_column: bool,
    /// Which elements are read, by their subscripts `e0`, `e1`, ..
    pub holds: Term,
}

/// What a coordinate of the first thread of a block is called.
pub fn first_of_block(thread: &str) -> String {
    format!("b_{thread}")
}

/// What a subscript of an element of a tile is called.
pub fn subscript_name(at: usize) -> String {
    format!("e{at}")
}

/// A launch that may keep something on the chip.
pub struct Threads<'t, 'c> {
    /// All sets.
    pub sets: &'t Sets,
    /// What they are of.
    pub description: &'t Description<'c>,
    /// The instances.
    pub domain: &'t UnionSet,
    /// Their threads.
    pub times: &'t UnionMap,
    /// The dimensions of those, neighbours last.
    pub threads: &'t [Range],
    /// The instances of one thread.
    pub mine: &'t UnionSet,
    /// What is below the threads' band.
    pub below: &'t Node,
    /// The shape of blocks.
    pub shape: &'t Shape,
}

/// A phase in the making.
struct Made {
    order: Order,
    /// A loop by pieces, still without code.
    pieces: Option<Pieces>,
}

/// A box in the making, with its first element and how often each is read.
struct Boxed {
    tile: Tile,
    offset: Set,
    reuse: i64,
}

impl Threads<'_, '_> {
    /// What the threads keep on the chip.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn on_chip(&self) -> Result<OnChip, Reason> {
        let registers = if self.has_rounds()? { self.registers()? } else { Vec::new() };
        let mut made = Vec::new();
        self.phases(self.below, self.mine, &mut made)?;
        self.limit(&mut made);
        let mut phases = Vec::new();
        if made.iter().any(|made| made.pieces.as_ref().is_some_and(|pieces| !pieces.tiles.is_empty())) {
            phases = made.into_iter().map(|made| self.phase(made, &registers)).collect::<Result<_, _>>()?;
        }
        Ok(OnChip { registers, phases })
    }

    /// A phase with its code.
    fn phase(&self, made: Made, registers: &[Register]) -> Result<Phase, Reason> {
        let Made { order, pieces } = made;
        let Some(mut pieces) = pieces else { return Ok(Phase::Alone(order.code()?)) };
        match self.without_guards(&pieces, &order, registers)? {
            Some(code) => (pieces.code, pieces.zeros) = (code, true),
            None => pieces.code = pieces.inner.as_ref().map_or_else(|| order.code(), |inner| Ok(inner.code.clone()))?,
        }
        Ok(Phase::Pieces(Box::new(pieces)))
    }

    /// The accesses of instances in the domain, with the statements that they are of.
    fn accesses(&self) -> Result<Vec<(usize, usize)>, Reason> {
        let mut all = Vec::new();
        for number in 0..self.description.statements.len() {
            if !self.instances(number, self.domain)?.is_empty()? {
                all.extend(self.description.statements[number].accesses.clone().map(|access| (number, access)));
            }
        }
        Ok(all)
    }

    fn access(&self, number: usize) -> &Access<'_> {
        &self.description.accesses[number]
    }

    /// The instances of a statement in a set.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn instances(&self, statement: usize, of: &UnionSet) -> Result<UnionSet, Reason> {
        let all = UnionSet::parse(of.context(), &format!("{{ {} }}", self.description.instance(statement)))?;
        Ok(of.intersect(&all)?)
    }

    /// Whether a thread has several instances of a statement.
    ///
    /// # Errors
    /// isl's budget is spent.
    pub fn has_rounds(&self) -> Result<bool, Reason> {
        self.is_repeated(0..self.description.statements.len())
    }

    /// The same of some statements.
    fn is_repeated(&self, statements: impl IntoIterator<Item = usize>) -> Result<bool, Reason> {
        for statement in statements {
            let instances = self.instances(statement, self.domain)?;
            if !self.times.intersect_domain(&instances)?.reverse()?.is_single_valued()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A set or a relation in the parameters of the description, and others.
    pub(super) fn with_params(&self, text: &str, further: &[String]) -> String {
        let params = (0..self.description.numbers.params.len()).map(crate::affine::poly::param_name);
        let params: Vec<String> = params.chain(further.iter().cloned()).collect();
        format!("[{}] -> {text}", params.join(", "))
    }

    /// Arrays of which each thread writes and reads one element alone.
    fn registers(&self) -> Result<Vec<Register>, Reason> {
        let all = self.accesses()?;
        let mut registers = Vec::new();
        for (array, what) in self.description.arrays.iter().enumerate() {
            let mine: Vec<(usize, usize)> =
                all.iter().copied().filter(|(_, access)| self.access(*access).array == array).collect();
            let is_plain = |(_, access): &(usize, usize)| {
                let access = self.access(*access);
                access.is_certain && value_type(access) == what.element
            };
            let is_written = mine.iter().any(|(_, access)| self.access(*access).writes);
            if mine.len() < 2 || !is_written || !mine.iter().all(is_plain) {
                continue;
            }
            let mut all = mine.iter().map(|(_, access)| &self.sets.accesses[*access]);
            let first = all.next().ok_or(Reason::Budget)?.clone();
            let elements = all.try_fold(first, |elements, more| elements.union(more))?;
            let of_thread = self.times.intersect_domain(self.domain)?.reverse()?.apply_range(&elements)?;
            if !of_thread.is_single_valued()? {
                continue;
            }
            let element = self.mine.apply(&elements)?.to_set()?.coalesce()?;
            let exists = asked(&element.params()?, &self.sets.known)?;
            let subscripts = (0..what.strides.len())
                .map(|at| term(&element, at, false, &self.sets.known))
                .collect::<Result<Vec<Term>, _>>()?;
            let is_read = self.is_read(&mine)?;
            registers.push(Register { array, exists, subscripts, is_read });
        }
        Ok(registers)
    }

    /// Whether a thread may read what was in the only element of these accesses before it writes it.
    fn is_read(&self, accesses: &[(usize, usize)]) -> Result<bool, Reason> {
        let instances = |writes: bool| {
            let mut all = self.domain.context().no_instances()?;
            for (statement, _) in accesses.iter().filter(|(_, access)| self.access(*access).writes == writes) {
                all = all.union(&self.instances(*statement, self.mine)?)?;
            }
            Ok::<_, Reason>(all)
        };
        let (reads, writes, times) = (instances(false)?, instances(true)?, self.below.times_below()?);
        let behind = times.intersect_domain(&writes)?.earlier_than(&times.intersect_domain(&reads)?)?.range()?;
        Ok(!reads.subtract(&behind)?.is_empty()?)
    }

    /// What a thread does at a node, for the instances in `mine`.
    fn phases(&self, node: &Node, mine: &UnionSet, phases: &mut Vec<Made>) -> Result<(), Reason> {
        let mine = node.domain()?.intersect(mine)?;
        if mine.is_empty()? {
            return Ok(());
        }
        match node.step() {
            Step::Sequence | Step::Set => {
                for child in node.children()? {
                    self.phases(&child, &mine, phases)?;
                }
                return Ok(());
            }
            Step::Filter => {
                let child = node.child()?;
                return self.phases(&child, &mine, phases);
            }
            _ => {}
        }
        let number = phases.len();
        let found = match node.step() {
            Step::Band => self.band(node, &mine, number)?,
            _ => self.statement(node, &mine, number)?,
        };
        let alone = || Ok(Made { order: Order::new(node, &mine, &self.sets.known)?, pieces: None });
        phases.push(found.map_or_else(alone, Ok::<_, Reason>)?);
        Ok(())
    }

    /// A band whose first dimension goes by pieces.
    fn band(&self, node: &Node, mine: &UnionSet, number: usize) -> Result<Option<Made>, Reason> {
        let band = if node.members()? > 1 { node.split(1)? } else { node.clone() };
        let rounds = band.band_times()?.intersect_domain(&node.domain()?)?;
        let domain = node.domain()?.intersect(self.domain)?;
        let Some(window) = self.window(&rounds, &domain, number)? else { return Ok(None) };
        let instances = window.instances.apply(&rounds.reverse()?)?;
        let mut groups = Groups::new();
        for statement in 0..self.description.statements.len() {
            if !self.instances(statement, &domain)?.is_empty()? {
                for access in self.description.statements[statement].accesses.clone() {
                    groups.add(statement, access, self.access(access));
                }
            }
        }
        let block = self.block(&domain)?.intersect(&instances)?;
        let (tiles, firsts) = self.tiles(&groups, &block, "", &window)?;
        if tiles.is_empty() {
            return Ok(None);
        }
        let order = Order { firsts, ..Order::new(node, &mine.intersect(&instances)?, &window.known)? };
        Ok(Some(self.made(order, window.range, tiles, None)))
    }

    fn made(&self, order: Order, rounds: Range, tiles: Vec<Tile>, inner: Option<Inner>) -> Made {
        let (piece, code) = (self.shape.piece, Code::Block(Vec::new()));
        Made { order, pieces: Some(Pieces { piece, rounds, tiles, code, zeros: false, inner }) }
    }

    /// A statement whose first loop goes by pieces.
    fn statement(&self, node: &Node, mine: &UnionSet, number: usize) -> Result<Option<Made>, Reason> {
        let order = Order::new(node, mine, &self.sets.known)?;
        let code = order.code()?;
        let Some(statement) = one_statement(&code) else { return Ok(None) };
        let what = &self.description.statements[statement];
        let first = what.ops.iter().find(|op| op.num_regions() > 0 || op.is("llvm.store"));
        let is_plain = |op: &&mlir_bridge::ir::Op<'_>| {
            op.is("scf.for") && op.num_results() > 0 && op.find_named("llvm.store").is_empty()
        };
        let Some(variable) = first.filter(is_plain).and_then(|op| self.description.numbers.variable(op.body().arg(0)))
        else {
            return Ok(None);
        };
        let around = what.scope.variables.len();
        let all = what.accesses.clone();
        let inner: Vec<usize> =
            all.filter(|number| self.access(*number).scope.variables.get(around) == Some(&variable)).collect();
        let Some(scope) = inner.first().map(|number| &self.access(*number).scope) else { return Ok(None) };
        // That of the loop alone, and of what is around it. A step is one more.
        let bounds = &scope.constraints[..=what.scope.constraints.len()];
        let name = variable_name(variable);
        if scope.constraints.get(bounds.len()).is_some_and(|next| next.contains(" mod ")) {
            return Ok(None);
        }
        let domain = self.instances(statement, self.domain)?;
        let text = format!(
            "{{ {} -> [o] : exists {name} : o = {name} and {} }}",
            self.description.instance(statement),
            bounds.join(" and ")
        );
        let rounds = UnionMap::parse(domain.context(), &self.with_params(&text, &[]))?;
        let Some(window) = self.window(&rounds, &domain, number)? else { return Ok(None) };
        let mut groups = Groups::new();
        for access in inner {
            groups.add(statement, access, self.access(access));
        }
        let within = format!(" and {0} <= {name} < {0} + {1}", window.range.name, self.shape.piece);
        let (tiles, firsts) = self.tiles(&groups, &self.block(&domain)?.intersect(&domain)?, &within, &window)?;
        if tiles.is_empty() {
            return Ok(None);
        }
        let order = Order { known: window.known, within, firsts, ..order };
        Ok(Some(self.made(order, window.range, tiles, Some(Inner { statement, variable, code }))))
    }

    /// Boxes of arrays that are read again, for instances of a block where `within` holds too; and where each begins, by its first access.
    fn tiles(
        &self,
        groups: &Groups,
        block: &UnionSet,
        within: &str,
        window: &Window,
    ) -> Result<(Vec<Tile>, Firsts), Reason> {
        let mut made: Vec<Boxed> = Vec::new();
        let written = self.accesses()?;
        for group in groups.0.values() {
            let array = self.access(group[0].1).array;
            let is_read = |(_, access): &(usize, usize)| {
                let access = self.access(*access);
                let is_one = self.description.accesses.iter().filter(|other| other.op == access.op).count() == 1;
                let is_plain = value_type(access) == self.description.arrays[array].element;
                access.is_certain && !access.writes && is_plain && is_one
            };
            let is_written =
                written.iter().any(|(_, access)| self.access(*access).array == array && self.access(*access).writes);
            if is_written || !group.iter().all(is_read) {
                continue;
            }
            let Some(mut boxed) = self.boxed(array, group, block, within, window)? else { continue };
            let same = |other: &Boxed| -> Result<bool, Reason> {
                let is = other.tile.array == array && other.tile.sizes == boxed.tile.sizes;
                Ok(is && other.tile.holds == boxed.tile.holds && other.offset.is_equal(&boxed.offset)?)
            };
            let mut found = None;
            for (at, other) in made.iter().enumerate() {
                if same(other)? {
                    found = Some(at);
                }
            }
            match found {
                Some(at) => {
                    made[at].tile.accesses.append(&mut boxed.tile.accesses);
                    made[at].tile.is_column |= boxed.tile.is_column;
                }
                None => made.push(boxed),
            }
        }
        made.sort_by_key(|boxed| (std::cmp::Reverse(boxed.reuse), boxed.tile.accesses[0]));
        let firsts = made.iter().map(|boxed| (boxed.tile.accesses[0], boxed.offset.clone())).collect();
        Ok((made.into_iter().map(|boxed| boxed.tile).collect(), firsts))
    }

    fn boxed(
        &self,
        array: usize,
        group: &[(usize, usize)],
        block: &UnionSet,
        within: &str,
        window: &Window,
    ) -> Result<Option<Boxed>, Reason> {
        let mut elements: Option<UnionSet> = None;
        for (statement, access) in group {
            let some = if within.is_empty() {
                block.apply(&self.sets.accesses[*access])?
            } else {
                let (instance, element) =
                    (self.description.instance(*statement), self.description.element(*statement, self.access(*access)));
                let further = [window.range.name.clone()];
                let map = self.with_params(&format!("{{ {instance} -> {element}{within} }}"), &further);
                block.apply(&UnionMap::parse(block.context(), &map)?)?
            };
            elements = Some(match elements {
                Some(others) => others.union(&some)?,
                None => some,
            });
        }
        let Some(elements) = elements else { return Ok(None) };
        if elements.is_empty()? {
            return Ok(None);
        }
        let elements = elements.to_set()?.coalesce()?;
        let Some((offset, sizes)) = elements.fixed_box()? else { return Ok(None) };
        let volume = sizes.iter().try_fold(1i64, |all, one| all.checked_mul(*one)).filter(|all| *all <= MOST_SHARED);
        let Some(volume) = volume else { return Ok(None) };
        let read = |times: i64| times * i64::try_from(group.len()).unwrap_or(1) / volume.max(1);
        let mut reuse = read(self.shape.rounds());
        // What a thread does once reads nothing in most rounds.
        let once = read(self.shape.threads());
        if within.is_empty()
            && once < self.shape.least_reuse
            && !self.is_repeated(group.iter().map(|(statement, _)| *statement))?
        {
            reuse = once;
        }
        let first: Vec<Term> =
            (0..sizes.len()).map(|at| term(&offset, at, false, &self.sets.known)).collect::<Result<_, _>>()?;
        let moves =
            self.threads.iter().any(|thread| first.iter().any(|term| names(term, &first_of_block(&thread.name))));
        let last = self.threads.last().map(|thread| first_of_block(&thread.name)).unwrap_or_default();
        let is_column = sizes.len() > 1
            && !first.last().is_some_and(|term| names(term, &last))
            && first[..first.len() - 1].iter().any(|term| names(term, &last));
        let is_worth = reuse >= self.shape.least_reuse || (self.shape.transposes && is_column && reuse == 1);
        if !is_worth || !moves {
            return Ok(None);
        }
        let Some(holds) = self.holds(array, &elements, &offset, &sizes, &window.known)? else { return Ok(None) };
        let accesses = group.iter().map(|(_, access)| *access).collect();

        Ok(Some(Boxed { tile: Tile { array, accesses, first, sizes, is_column, holds }, offset, reuse }))
    }

    /// Which elements of a box are in a set. `None` where that is long to say.
    fn holds(
        &self,
        array: usize,
        elements: &Set,
        offset: &Set,
        sizes: &[i64],
        known: &Set,
    ) -> Result<Option<Term>, Reason> {
        let context = elements.context();
        let names: Vec<String> = (0..sizes.len()).map(subscript_name).collect();
        let all = names.join(", ");
        let point = UnionSet::parse(context, &format!("[{all}] -> {{ A{array}[{all}] }}"))?;
        let around = boxed(array, offset, sizes)?.intersect(&point)?.params()?;
        let inside = elements.to_union()?.intersect(&point)?.params()?;
        let holds = asked(&inside, &known.intersect(&around)?)?;
        Ok((words(&holds) <= MOST_WORDS).then_some(holds))
    }

    /// Leaves out tiles that are more than a block has room for.
    fn limit(&self, phases: &mut [Made]) {
        let mut room = MOST_SHARED;
        for phase in phases {
            let Some(pieces) = &mut phase.pieces else { continue };
            pieces.tiles.retain(|tile| {
                let rows: i64 = tile.sizes[..tile.sizes.len() - 1].iter().product();
                let row = tile.sizes[tile.sizes.len() - 1] + i64::from(tile.is_column);
                let bytes = rows * row * self.description.arrays[tile.array].size;
                let fits = bytes <= room;
                room -= if fits { bytes } else { 0 };
                fits
            });
        }
    }
}

/// The elements of an array that are in a box, from its first one on.
///
/// # Errors
/// isl's budget is spent.
pub(super) fn boxed(array: usize, first: &Set, sizes: &[i64]) -> Result<UnionSet, Reason> {
    let names = |name: fn(usize) -> String| (0..sizes.len()).map(name).collect::<Vec<_>>().join(", ");
    let bounds =
        sizes.iter().enumerate().map(|(at, size)| format!("o{at} <= {e} < o{at} + {size}", e = subscript_name(at)));
    let bounds: Vec<String> = bounds.collect();
    let (from, all) = (names(|at| format!("o{at}")), names(subscript_name));
    let around = format!("{{ A{array}[{from}] -> A{array}[{all}] : {} }}", bounds.join(" and "));
    Ok(first.to_union()?.apply(&UnionMap::parse(first.context(), &around)?)?)
}

/// Accesses that differ by constants alone.
struct Groups(std::collections::BTreeMap<(usize, String), Vec<(usize, usize)>>);

impl Groups {
    fn new() -> Self {
        Self(std::collections::BTreeMap::new())
    }

    fn add(&mut self, statement: usize, number: usize, access: &Access<'_>) {
        let without = |sum: &Poly| {
            let terms = sum.terms().filter(|(product, _)| **product != crate::affine::poly::Product::default());
            terms.map(|(product, factor)| format!("{factor}*{product:?}")).collect::<Vec<_>>().join("+")
        };
        let key = access.sums.iter().map(without).collect::<Vec<_>>().join(", ");
        self.0.entry((access.array, format!("S{statement} {key}"))).or_default().push((statement, number));
    }
}

/// What an access loads or stores.
pub fn value_type<'c>(access: &Access<'c>) -> mlir_bridge::ir::Type<'c> {
    if access.writes { access.op.operand(0).ty() } else { access.op.result(0).ty() }
}

/// How long a number is to say.
pub fn words(term: &Term) -> usize {
    match term {
        Term::Of(_, parts) => 1 + parts.iter().map(words).sum::<usize>(),
        _ => 1,
    }
}

/// The tiles of accesses, by their operations.
pub fn tiles_of<'t, 'c>(
    pieces: &'t Pieces,
    description: &Description<'c>,
) -> HashMap<mlir_bridge::ir::Op<'c>, (usize, &'t Tile)> {
    let of = |(number, tile): (usize, &'t Tile)| {
        tile.accesses.iter().map(move |access| (*access, (number, tile))).collect::<Vec<_>>()
    };
    let all = pieces.tiles.iter().enumerate().flat_map(of);
    all.map(|(access, tile)| (description.accesses[access].op, tile)).collect()
}
