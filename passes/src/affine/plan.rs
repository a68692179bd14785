//! Which loops of a nest run in parallel: launches of kernels, and loops of the host around them.
//!
//! isl's schedule is a tree. Of a band with coincident dimensions, which carry no dependence, these become the threads of a kernel, up to three
//! of them, and what is below is done by each thread. The first dimension of any other band becomes a loop of the host; parts that come one after
//! the other become launches one after the other. So nothing has to wait within a kernel.

use std::time::Duration;

use mlir_bridge::isl::{Code, Context, Error, Node, Schedule, Step, Term, UnionMap, UnionSet, code_of};
use mlir_bridge::timing::{self, SCHEDULES, STEPS};
use serde::{Deserialize, Serialize};

use crate::affine::{
    Description, Reason,
    bands::{Band, Shares},
    beside::{beside, each, limited},
    fits,
    fusion::fused,
    host::{Host, Launch, Reduces, one_statement},
    lines::{Lines, has_threads_enough},
    neighbours,
    patience::Limits,
    problem::Problem,
    sets::{Footprint, Range, Sets, Weight, asked, hull, not_above, not_below, points_at, ranges},
    shape::Shape,
    staged::staged,
    sums::Sums,
    teams::Superposition,
    threads::{OnChip, first_of_block},
    waves::{Tiling, is_wave, waves},
    written::Written,
};

/// What becomes of a nest.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plan {
    /// isl's schedule, for people.
    pub tree: String,
    /// When it is right.
    pub holds: Term,
    /// What the host does.
    pub host: Host,
    /// Of each array, what is accessed.
    pub footprints: Vec<Footprint>,
    /// What is done, roughly.
    pub work: Vec<Weight>,
    /// How many launches there are, roughly.
    pub launches: Vec<Weight>,
    /// The threads of each launch, at most, and those of a block.
    pub grids: Vec<(Weight, Vec<u32>)>,
}

/// Nests of more statements than this are lines, or as they are written, where few threads are enough: isl's schedule takes longer than all else of
/// a compilation.
const FEW_STATEMENTS: usize = 8;
/// So many dimensions a grid has.
const MOST_DIMENSIONS: usize = 3;

impl From<Error> for Reason {
    fn from(_: Error) -> Self {
        Reason::Budget
    }
}

impl Plan {
    /// Exchanges what threads have together, of each launch that has several.
    fn exchange(&mut self, shares: &mut [Shares]) {
        let mut banded = Vec::new();
        self.host.banded(&mut banded);
        for ((launch, shares), grid) in banded.into_iter().zip(shares).zip(&mut self.grids) {
            std::mem::swap(&mut launch.on_chip, &mut shares.on_chip);
            std::mem::swap(&mut launch.team, &mut shares.team);
            std::mem::swap(&mut launch.transposed, &mut shares.transposed);
            std::mem::swap(&mut launch.block, &mut shares.block);
            grid.1.clone_from(&launch.block);
        }
    }
}

/// What plans are to be like.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'w> {
    /// Whether it is for processors, whose caches keep what is read again, and which need few threads.
    pub for_processors: bool,
    /// The tiles of waves.
    pub tiling: &'w Tiling,
    /// When a row of threads has a point together.
    pub superposition: Superposition,
}

/// Finds what may run in parallel.
///
/// # Errors
/// Nothing may, or it takes too long to find out.
pub fn plan(
    context: &Context,
    description: &Description<'_>,
    wishes: Wishes<'_>,
    limits: &Limits<'_>,
) -> Result<Plan, Reason> {
    let lines = Lines::of(description);
    let of = |origin: Origin<'_>| {
        let limit = if matches!(origin, Origin::Found { .. }) { limits.schedule } else { limits.simple };
        let (plan, taken) = limited(limit, || planned(context, description, origin, wishes, limits));
        limits.spend(taken);
        timing::add(STEPS, SCHEDULES, taken);
        plan
    };
    let simple = lines.as_ref().map_or(Origin::Written, Origin::Lines);
    if description.is_large() {
        return of(simple);
    }
    if wishes.for_processors
        && let Some(sums) = Sums::of(description)
        && let Ok(plan) = of(Origin::Sums(&sums))
    {
        return Ok(plan);
    }
    let is_long = wishes.for_processors && description.statements.len() > FEW_STATEMENTS;
    if is_long
        && lines.is_some()
        && let Some(plan) = of(simple).ok().filter(has_threads_enough)
    {
        return Ok(plan);
    }
    match of(Origin::Found { unless_written: is_long }) {
        Err(Reason::Budget) => of(simple).map_err(|_| Reason::Budget),
        plan => plan,
    }
}

/// Where the schedule of a nest is from.
#[derive(Clone, Copy)]
enum Origin<'l> {
    /// isl finds it, which finds most threads; or it is what is written, where that has threads as they should be.
    Found { unless_written: bool },
    /// Lines.
    Lines(&'l Lines),
    /// What is written.
    Written,
    /// The same, with a loop whose rounds add to arrays.
    Sums(&'l Sums),
}

/// A plan by some schedule.
fn planned(
    context: &Context,
    description: &Description<'_>,
    origin: Origin<'_>,
    wishes: Wishes<'_>,
    limits: &Limits<'_>,
) -> Result<Plan, Reason> {
    let sets = Sets::of(context, description)?;
    // Neither depends on the schedule.
    let totals = || Ok((sets.footprints(description, wishes.for_processors)?, sets.work(description)?));
    let schedule = || Scheduled::of(description, &sets, origin)?.planned(wishes, limits);
    let ((totals, _), plan) = beside(limits.way, totals, schedule);
    let (plan, (footprints, work)) = (plan?, totals?);
    checked(Plan { footprints, work, ..plan }, description)
}

/// A nest with isl's schedule of it.
struct Scheduled<'d, 'c> {
    description: &'d Description<'c>,
    sets: &'d Sets,
    /// What the schedule solves; none where isl was not asked.
    problem: Option<Problem>,
    schedule: Schedule,
    /// The instances of statements with reductions.
    reducible: Option<UnionSet>,
    /// The loop whose rounds add to arrays, if that is how it is planned.
    sums: Option<&'d Sums>,
}

impl<'d, 'c> Scheduled<'d, 'c> {
    fn of(description: &'d Description<'c>, sets: &'d Sets, origin: Origin<'d>) -> Result<Self, Reason> {
        let reducible = reducible(sets.domain.context(), description)?;
        let (problem, schedule) = match origin {
            Origin::Lines(lines) => (None, lines.schedule(description, sets)?),
            Origin::Written => (None, Written::of(description, sets)?.schedule(description, &sets.domain)?),
            Origin::Sums(sums) => {
                let written = Written::of(description, sets)?.with_sums(description, sums).ok_or(Reason::Sequential)?;
                (None, written.schedule(description, &sets.domain)?)
            }
            Origin::Found { unless_written } => {
                let written = if unless_written { Some(Written::of(description, sets)?) } else { None };
                if let Some(written) = written.filter(|written| written.has_threads(description)) {
                    (None, written.schedule(description, &sets.domain)?)
                } else {
                    let problem = Problem::of(description, sets)?;
                    let schedule = fused(description, sets, problem.schedule(description, false)?)?;
                    (Some(problem), schedule)
                }
            }
        };
        let sums = if let Origin::Sums(sums) = origin { Some(sums) } else { None };
        Ok(Self { description, sets, problem, schedule, reducible, sums })
    }

    /// A plan, with nothing of the nest as a whole yet.
    fn planned(&self, wishes: Wishes<'_>, limits: &Limits<'_>) -> Result<Plan, Reason> {
        let tiling = wishes.tiling;
        let root = self.schedule.root()?;
        if !self.is_worth(&root, &self.sets.domain)? {
            return Err(Reason::Sequential);
        }
        // Tiles take isl longer, and are left out where that is too long.
        if self.is_wave(&root, tiling)?
            && let (Ok(Some(plan)), _) = limited(limits.way, || self.tiled(tiling, limits))
        {
            return Ok(plan);
        }
        self.mapped(&root, wishes, limits)
    }

    /// Whether something in `domain` that reaches a node may be done by several threads.
    fn is_worth(&self, node: &Node, domain: &UnionSet) -> Result<bool, Error> {
        if is_parallel(node)? {
            return Ok(true);
        }
        self.reducible.as_ref().map_or(Ok(false), |some| some.intersect(domain)?.is_empty().map(|none| !none))
    }

    /// Whether waves of tiles may take the place of waves of iterations.
    fn is_wave(&self, root: &Node, tiling: &Tiling) -> Result<bool, Reason> {
        let top = root.child()?;
        let is_plain = top.step() != Step::Band || coincident(&top)? > 0;
        Ok(*tiling != Tiling::Never && !is_plain && is_wave(self.description, &top)?)
    }

    /// Waves of tiles in place of waves of iterations, if isl finds a band to tile.
    fn tiled(&self, tiling: &Tiling, limits: &Limits<'_>) -> Result<Option<Plan>, Reason> {
        let Self { description, sets, problem: Some(problem), .. } = self else { return Ok(None) };
        let schedule = problem.schedule(self.description, true)?;
        let node = schedule.root()?.child()?;
        let is_band = node.step() == Step::Band && node.members()? > 1;
        if !is_band || coincident(&node)? > 0 || !node.is_permutable()? {
            return Ok(None);
        }
        let is_together = *tiling == Tiling::Together;
        let mut waves = waves(sets, &node, is_together, limits.way)?;
        // What is in shared memory is left out where it takes isl too long, or where its numbers are too large.
        if is_together && let (Ok(made), _) = limited(limits.way, || staged(description, sets, &node)) {
            waves.staged = made;
        }
        let mut plan = self.plan(schedule.tree(), Host::Waves(Box::new(waves)));
        if !fits::plan(&plan, &description.numbers)
            && let Host::Waves(waves) = &mut plan.host
        {
            waves.staged.clear();
        }
        checked(plan, description).map(Some)
    }

    /// Threads and launches as the schedule has them.
    fn mapped(&self, root: &Node, wishes: Wishes<'_>, limits: &Limits<'_>) -> Result<Plan, Reason> {
        let mut mapping = Mapping { scheduled: self, bands: Vec::new(), launches: Vec::new(), grids: Vec::new() };
        let mut host = mapping.node(root, &self.sets.domain, &[])?;
        let Mapping { bands, launches, grids, .. } = mapping;
        let mut banded = Vec::new();
        host.banded(&mut banded);
        let (codes, shares) = self.parts(&banded, &bands, wishes, limits.way)?;
        banded.into_iter().zip(codes).for_each(|(launch, code)| launch.code = code);
        let mut plan = Plan { launches, grids, ..self.plan(self.schedule.tree(), host) };
        // What is kept on the chip is left out where its numbers are too large.
        if let Some(mut shares) = shares {
            plan.exchange(&mut shares);
            if !fits::plan(&plan, &self.description.numbers) {
                plan.exchange(&mut shares);
            }
        }
        if wishes.for_processors {
            self.tile(&mut plan, &bands)?;
        }
        checked(plan, self.description)
    }

    /// Lets threads that go down columns go along rows together, and those that add to arrays have some of their own.
    fn tile(&self, plan: &mut Plan, bands: &[Band]) -> Result<(), Reason> {
        let mut banded = Vec::new();
        plan.host.banded(&mut banded);
        for (launch, band) in banded.into_iter().zip(bands) {
            if let Some(sums) = self.sums.filter(|_| band.adds) {
                sums.add(self.description, self.sets, launch, band)?;
            } else if let Some(code) = band.along_rows(self.description, launch)? {
                (launch.code, launch.is_tiled) = (code, true);
                launch.on_chip.registers.clear();
            }
        }
        Ok(())
    }

    /// What a thread of each launch does, and what threads have together: none where that takes isl too long.
    fn parts(
        &self,
        launches: &[&mut Launch],
        bands: &[Band],
        wishes: Wishes<'_>,
        limit: Duration,
    ) -> Result<(Vec<Code>, Option<Vec<Shares>>), Reason> {
        // Where threads have a schedule of their own, what they have together depends on the code.
        let (count, is_apart) = (bands.len(), wishes.superposition == Superposition::Single);
        let of = |number: u16| {
            let number = usize::from(number);
            let Some(launch) = launches.get(number) else { return Ok((Some(bands[number - count].code()?), None)) };
            let code = if is_apart { None } else { Some(bands[number].code()?) };
            let shares = bands[number].shares(self.description, self.sets, launch, code.as_ref(), wishes)?;
            Ok((code, Some(shares)))
        };
        let all = u16::try_from(if is_apart { 2 * count } else { count }).map_err(|_| Reason::Budget)?;
        let (codes, mut shares): (Vec<Option<Code>>, Vec<Option<Shares>>) =
            each(limit, all, of).into_iter().map(Option::unwrap_or_default).unzip();
        shares.truncate(count);
        let codes = codes.into_iter().skip(if is_apart { count } else { 0 }).zip(bands);
        let codes = codes.map(|(code, band)| code.map_or_else(|| band.code(), Ok)).collect::<Result<_, _>>()?;
        Ok((codes, shares.into_iter().collect()))
    }

    /// A plan of nothing yet but this.
    fn plan(&self, tree: String, host: Host) -> Plan {
        let holds = self.sets.holds.clone();
        let (footprints, work, launches, grids) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Plan { tree, holds, host, footprints, work, launches, grids }
    }
}

/// A plan, if all of its numbers are in range.
fn checked(plan: Plan, description: &Description<'_>) -> Result<Plan, Reason> {
    if fits::plan(&plan, &description.numbers) { Ok(plan) } else { Err(Reason::Numbers) }
}

/// The instances of statements with reductions.
fn reducible(context: &Context, description: &Description<'_>) -> Result<Option<UnionSet>, Reason> {
    let numbers = (0..description.statements.len()).filter(|at| !description.statements[*at].reductions.is_empty());
    let all: Vec<String> = numbers.map(|number| description.instance(number)).collect();
    if all.is_empty() {
        return Ok(None);
    }
    Ok(Some(UnionSet::parse(context, &format!("{{ {} }}", all.join("; ")))?))
}

/// The leading dimensions of a band that carry nothing.
///
/// # Errors
/// isl fails.
pub fn coincident(node: &Node) -> Result<usize, Error> {
    let members = node.members()?;
    for member in 0..members {
        if !node.is_coincident(member)? {
            return Ok(member);
        }
    }
    Ok(members)
}

/// Whether a node or one below has a dimension that carries nothing.
fn is_parallel(node: &Node) -> Result<bool, Error> {
    if node.step() == Step::Band {
        for member in 0..node.members()? {
            if node.is_coincident(member)? {
                return Ok(true);
            }
        }
    }
    for child in node.children()? {
        if is_parallel(&child)? {
            return Ok(true);
        }
    }
    Ok(false)
}

struct Mapping<'s, 'd, 'c> {
    scheduled: &'s Scheduled<'d, 'c>,
    /// Of each launch of threads, in the order of the tree.
    bands: Vec<Band>,
    launches: Vec<Weight>,
    grids: Vec<(Weight, Vec<u32>)>,
}

/// Puts the dimension that neighbours are to differ in last; of equals the last, as it is.
fn last_is_best(threads: &mut Vec<Range>, scores: &[usize]) {
    let best = (0..threads.len()).max_by_key(|at| scores[*at]).unwrap_or(0);
    let best = threads.remove(best);
    threads.push(best);
}

/// A loop of the host that a node is in.
#[derive(Clone)]
struct Around {
    name: String,
    /// Its range for all values of those around it.
    hull: Vec<Range>,
}

impl Mapping<'_, '_, '_> {
    /// What the host does for the instances in `domain` that reach a node; variables of the host are parameters of it.
    fn node(&mut self, node: &Node, domain: &UnionSet, around: &[Around]) -> Result<Host, Reason> {
        if node.step() == Step::Domain {
            let parts: Result<Vec<Host>, Reason> =
                node.children()?.iter().map(|child| self.node(child, domain, around)).collect();
            return parts.map(Host::Sequence);
        }
        let domain = node.domain()?.intersect(domain)?;
        if domain.is_empty()? {
            return Ok(Host::Sequence(Vec::new()));
        }
        if !self.scheduled.is_worth(node, &domain)? {
            return self.launch(&node.times_below()?, &domain, None, around);
        }
        match node.step() {
            Step::Band => match coincident(node)?.min(MOST_DIMENSIONS) {
                0 => self.rounds(node, &domain, around),
                count => {
                    let band = if count < node.members()? { node.split(count)? } else { node.clone() };
                    let below = band.child()?;
                    let threads = (&band.band_times()?, &node.domain()?, &below);
                    self.launch(&below.times_below()?, &domain, Some(threads), around)
                }
            },
            Step::Filter | Step::Sequence | Step::Set => {
                let children = node.children()?;
                let parts: Result<Vec<Host>, Reason> =
                    children.iter().map(|child| self.node(child, &domain, around)).collect();
                parts.map(Host::Sequence)
            }
            Step::Leaf => self.launch(&node.times_below()?, &domain, None, around),
            Step::Domain | Step::Other => Err(Reason::Budget),
        }
    }

    /// A loop of the host over the first dimension of a band.
    fn rounds(&mut self, node: &Node, domain: &UnionSet, around: &[Around]) -> Result<Host, Reason> {
        let band = if node.members()? > 1 { node.split(1)? } else { node.clone() };
        let times = band.band_times()?;
        let name = format!("h{}", around.len());
        let range = ranges(&domain.apply(&times)?.to_set()?, &self.scheduled.sets.known, |_| name.clone())?;
        let all = node.domain()?.apply(&times)?.to_set()?;
        let all = hull(&all, &self.scheduled.sets.known, |_| name.clone())?;
        let domain = points_at(&times, std::slice::from_ref(&name), domain)?;
        let around = [around, &[Around { name, hull: all }]].concat();
        let child = band.child()?;
        let body = self.node(&child, &domain, &around)?;
        let range = range.into_iter().next().ok_or(Reason::Budget)?;
        Ok(Host::Loop(range, Box::new(body)))
    }

    /// A launch of which each thread does the instances in `domain` of one point of `times`, in the order that is given; the code of several is still
    /// to be made.
    fn launch(
        &mut self,
        order: &UnionMap,
        domain: &UnionSet,
        times: Option<(&UnionMap, &UnionSet, &Node)>,
        around: &[Around],
    ) -> Result<Host, Reason> {
        let Scheduled { sets, description, .. } = self.scheduled;
        let exists = asked(&domain.params()?, &sets.known)?;
        let (mut threads, mut block, mut code) = (Vec::new(), Vec::new(), Code::Block(Vec::new()));
        if let Some((times, everywhere, below)) = times {
            let name = |at: usize| format!("t{at}");
            // Threads beside the points do nothing.
            let points = domain.apply(times)?.to_set()?;
            threads = hull(&points, &sets.known, name)?;
            let mut known =
                sets.known.intersect(&not_below(&points, |at| vec![name(at), first_of_block(&name(at))])?)?;
            let adds = self.scheduled.sums.map_or(Ok(false), |sums| sums.is_around(description, domain))?;
            // No thread of a tile is behind the last one.
            if adds {
                known = known.intersect(&not_above(&points, |at| vec![name(at)])?)?;
            }
            let all = everywhere.apply(times)?.to_set()?;
            let mut all = hull(&all, &sets.known, name)?;
            let names: Vec<String> = (0..threads.len()).map(name).collect();
            let mine = points_at(times, &names, domain)?;
            block = Shape::usual(threads.len()).block;
            if threads.len() > 1 {
                let scores = neighbours::scores(description, sets, domain, times, threads.len())?;
                for list in [&mut threads, &mut all] {
                    last_is_best(list, &scores);
                }
            }
            self.grids.push((Weight { ranges: all, cost: 1 }, block.clone()));
            let (domain, times, below, order) = (domain.clone(), times.clone(), below.clone(), order.clone());
            self.bands.push(Band { domain, times, mine, below, order, known, adds });
        } else {
            code = code_of(&order.intersect_domain(domain)?, &sets.known)?;
        }
        let reduces = if times.is_none() { self.reduces(&code)? } else { None };
        // One for the parts and one for the whole of each loop, the last of which is the statement.
        let parts = reduces.as_ref().map_or(0, |some| description.statements[some.statement].reductions.len());
        let cost = (2 * parts as u64).max(1);
        self.launches.push(Weight { ranges: around.iter().flat_map(|one| one.hull.clone()).collect(), cost });
        let around = around.iter().map(|one| one.name.clone()).collect();
        let (on_chip, team, transposed) = (OnChip::default(), None, None);
        let (is_tiled, sums) = (false, Vec::new());
        let launch =
            Launch { threads, block, exists, around, code, on_chip, team, transposed, is_tiled, sums, reduces };
        Ok(Host::Launch(Box::new(launch)))
    }

    /// What several threads may have a part in of code that one thread does.
    fn reduces(&self, code: &Code) -> Result<Option<Reduces>, Reason> {
        let Some(statement) = one_statement(code) else { return Ok(None) };
        let Scheduled { sets, description, .. } = self.scheduled;
        if description.statements.get(statement).is_none_or(|statement| statement.reductions.is_empty()) {
            return Ok(None);
        }
        let rounds = sets.rounds(description, statement)?;
        Ok(Some(Reduces { statement, rounds }))
    }
}
