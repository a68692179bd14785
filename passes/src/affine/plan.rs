//! Which loops of a nest run in parallel: launches of kernels, and loops of the host around them.
//!
//! isl's schedule is a tree. Of a band with coincident dimensions, which carry no dependence, these become the threads of a kernel, up to three
//! of them, and what is below is done by each thread. The first dimension of any other band becomes a loop of the host; parts that come one after
//! the other become launches one after the other. So nothing has to wait within a kernel.

use mlir_bridge::isl::{
    self, Code, Context, Dependences, Error, Node, Schedule, Set, Step, Term, UnionMap, UnionSet, code_of, condition,
    term,
};

use crate::affine::{Description, Reason};

/// What the host does.
#[derive(Debug)]
pub enum Host {
    /// One after the other.
    Sequence(Vec<Host>),
    /// For each value of a variable.
    Loop(Range, Box<Host>),
    /// A launch.
    Launch(Launch),
}

/// The values of a variable, if there are any.
#[derive(Clone, Debug)]
pub struct Range {
    /// The variable.
    pub name: String,
    /// Its first value.
    pub first: Term,
    /// Its last value.
    pub last: Term,
    /// When there are any.
    pub exists: Term,
}

/// A launch of a kernel: a thread for each point of a box.
#[derive(Debug)]
pub struct Launch {
    /// The coordinates of a thread, those of neighbours last; none for a single thread.
    pub threads: Vec<Range>,
    /// When there is anything to do.
    pub exists: Term,
    /// The variables of the host that it is for.
    pub around: Vec<String>,
    /// What a thread does.
    pub code: Code,
}

/// The elements of an array that are accessed.
#[derive(Debug)]
pub struct Footprint {
    /// When there are any.
    pub exists: Term,
    /// The subscripts of the first.
    pub first: Vec<Term>,
    /// The subscripts of the last.
    pub last: Vec<Term>,
    /// Whether it is stored to.
    pub writes: bool,
    /// Whether the program accesses all that is counted in: else the first and the last may not be there at all.
    pub is_certain: bool,
}

/// So many instances, at most, each of so many operations.
#[derive(Debug)]
pub struct Weight {
    /// The ranges that they are counted by.
    pub ranges: Vec<Range>,
    /// The operations of one.
    pub cost: u64,
}

/// What becomes of a nest.
#[derive(Debug)]
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
    /// The threads of each launch, at most.
    pub grids: Vec<Weight>,
}

/// The seconds that isl may take for a nest, which take as long as thousands of its usual ones.
const LONGEST: u64 = 2;

/// So many dimensions a grid has.
const MOST_DIMENSIONS: usize = 3;

impl From<Error> for Reason {
    fn from(_: Error) -> Self {
        Reason::Budget
    }
}

/// Finds what may run in parallel.
///
/// # Errors
/// Nothing may, or it takes too long to find out.
pub fn plan(context: &Context, description: &Description<'_>) -> Result<Plan, Reason> {
    if !isl::ends(LONGEST, || drop(planned(context, description))) {
        return Err(Reason::Budget);
    }
    planned(context, description)
}

fn planned(context: &Context, description: &Description<'_>) -> Result<Plan, Reason> {
    let sets = Sets::of(context, description)?;
    let Sets { known, domain, reads, writes, times, .. } = &sets;
    let dependences = Dependences::between(reads, writes, times)?;
    let schedule = Schedule::compute(domain, &dependences.all, &dependences.all, &dependences.flow)?;
    let root = schedule.root()?;
    if !is_parallel(&root)? {
        return Err(Reason::Sequential);
    }
    let tree = schedule.tree();
    if has_large_numbers(&tree) {
        return Err(Reason::Budget);
    }
    let mut mapping = Mapping { known, launches: Vec::new(), grids: Vec::new() };
    let host = mapping.node(&root, domain, &[])?;
    let Mapping { launches, grids, .. } = mapping;
    let footprints = sets.footprints(description)?;
    let work = sets.work(description)?;
    Ok(Plan { tree, holds: sets.holds.clone(), host, footprints, work, launches, grids })
}

/// A description as isl has it.
struct Sets {
    /// What is known of the parameters where the plan is right.
    known: Set,
    /// When it is.
    holds: Term,
    domain: UnionSet,
    reads: UnionMap,
    writes: UnionMap,
    times: UnionMap,
}

impl Sets {
    fn of(context: &Context, description: &Description<'_>) -> Result<Self, Reason> {
        let params = description.params();
        let ranges = Set::parse(context, &format!("{params}{{ : {} }}", description.numbers.ranges()))?;
        let right = right(context, description)?.coalesce()?;
        let known = ranges.intersect(&right)?.coalesce()?;
        if known.is_empty()? {
            return Err(Reason::Never);
        }
        let types = Set::parse(context, &format!("{params}{{ : {} }}", description.numbers.types()))?;
        let holds = condition(&known.gist(&types)?.coalesce()?, &types)?;
        let (mut domain, mut reads, mut writes, mut times) = (vec![], vec![], vec![], vec![]);
        let longest = description.statements.iter().map(|statement| statement.times.len()).max().unwrap_or(0);
        for (number, statement) in description.statements.iter().enumerate() {
            let instance = description.instance(number);
            domain.push(format!("{instance} : {}", statement.scope.text()));
            let mut time = statement.times.clone();
            time.resize(longest, "0".into());
            times.push(format!("{instance} -> [{}]", time.join(", ")));
            for access in &description.accesses[statement.accesses.clone()] {
                let list = if access.writes { &mut writes } else { &mut reads };
                list.push(format!("{instance} -> {}", description.element(number, access)));
            }
        }
        let text = |list: Vec<String>| format!("{params}{{ {} }}", list.join("; "));
        // Without the ranges of types: isl would take their ends for coefficients of schedules.
        let domain = UnionSet::parse(context, &text(domain))?.intersect_params(&right)?;
        let within = |list: Vec<String>| UnionMap::parse(context, &text(list))?.intersect_domain(&domain);
        let (reads, writes, times) = (within(reads)?, within(writes)?, within(times)?);
        Ok(Self { known, holds, reads, writes, times, domain })
    }

    /// The elements of each array.
    fn footprints(&self, description: &Description<'_>) -> Result<Vec<Footprint>, Reason> {
        let context = self.domain.context();
        let elements = self.reads.range()?.union(&self.writes.range()?)?;
        let of = |(number, array): (usize, &super::Array<'_>)| {
            let names: Vec<String> = (0..array.strides.len()).map(|at| format!("o{at}")).collect();
            let all = UnionSet::parse(context, &format!("{{ A{number}[{}] }}", names.join(", ")))?;
            let mine = elements.intersect(&all)?;
            let accesses = || description.accesses.iter().filter(move |access| access.array == number);
            let (writes, is_certain) =
                (accesses().any(|access| access.writes), accesses().all(|access| access.is_certain));
            if mine.is_empty()? {
                let exists = Term::Number(0);
                return Ok(Footprint { exists, first: vec![], last: vec![], writes, is_certain });
            }
            let mine = mine.to_set()?.coalesce()?;
            let exists = asked(&mine.params()?, &self.known)?;
            let ends = |set: Set, greatest| {
                names.iter().enumerate().map(|(at, _)| term(&set, at, greatest, &self.known)).collect::<Result<_, _>>()
            };
            Ok(Footprint {
                exists,
                first: ends(mine.first()?, false)?,
                last: ends(mine.last()?, true)?,
                writes,
                is_certain,
            })
        };
        description.arrays.iter().enumerate().map(of).collect()
    }

    /// What the statements do.
    fn work(&self, description: &Description<'_>) -> Result<Vec<Weight>, Reason> {
        let context = self.domain.context();
        let mut work = Vec::new();
        for (number, statement) in description.statements.iter().enumerate() {
            let all = UnionSet::parse(context, &format!("{{ {} }}", description.instance(number)))?;
            let instances = self.domain.intersect(&all)?;
            if instances.is_empty()? {
                continue;
            }
            let ranges = ranges(&instances.to_set()?, &self.known, |at| format!("w{at}"))?;
            work.push(Weight { ranges, cost: statement.cost.max(1) });
        }
        Ok(work)
    }
}

/// Whether a schedule has numbers of which sums and products may leave 64 bits.
fn has_large_numbers(tree: &str) -> bool {
    let bands = tree.lines().filter(|line| line.contains("schedule:"));
    let numbers = bands.flat_map(|band| band.split(|letter: char| !letter.is_ascii_digit()));
    numbers.filter_map(|number| number.parse::<i128>().ok()).any(|number| number > 1 << 20)
}

/// The parameters for which all that is assumed holds.
fn right(context: &Context, description: &Description<'_>) -> Result<Set, Reason> {
    let params = description.params();
    let mut right = Set::parse(context, &format!("{params}{{ : }}"))?;
    for assumption in &description.numbers.assumptions {
        let names = assumption.scope.variables.iter().copied().map(super::poly::variable_name);
        let names: Vec<String> = names.collect();
        let scope = assumption.scope.text();
        let wrong = format!("{params}{{ [{}] : {scope} and not ({}) }}", names.join(", "), assumption.holds);
        right = right.subtract(&Set::parse(context, &wrong)?.params()?)?;
    }
    Ok(right)
}

/// When parameters that are known to be in `known` are in `set`.
fn asked(set: &Set, known: &Set) -> Result<Term, Error> {
    condition(&set.gist(known)?.coalesce()?, known)
}

/// The range of each dimension of a set, over all of its points.
fn ranges(set: &Set, known: &Set, name: impl Fn(usize) -> String) -> Result<Vec<Range>, Reason> {
    let exists = asked(&set.params()?, known)?;
    let of = |at| {
        let (first, last) = (term(set, at, false, known)?, term(set, at, true, known)?);
        Ok(Range { name: name(at), first, last, exists: exists.clone() })
    };
    (0..set.dimensions()?).map(of).collect()
}

/// The leading dimensions of a band that carry nothing.
fn coincident(node: &Node) -> Result<usize, Error> {
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

struct Mapping<'s> {
    known: &'s Set,
    launches: Vec<Weight>,
    grids: Vec<Weight>,
}

/// A loop of the host that a node is in.
#[derive(Clone)]
struct Around {
    name: String,
    /// Its range for all values of those around it.
    hull: Vec<Range>,
}

impl Mapping<'_> {
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
        if !is_parallel(node)? {
            return self.launch(&node.times_below()?, &domain, None, around);
        }
        match node.step() {
            Step::Band => match coincident(node)?.min(MOST_DIMENSIONS) {
                0 => self.rounds(node, &domain, around),
                count => {
                    let band = if count < node.members()? { node.split(count)? } else { node.clone() };
                    let below = band.children()?.first().ok_or(Reason::Budget)?.times_below()?;
                    self.launch(&below, &domain, Some((&band.band_times()?, &node.domain()?)), around)
                }
            },
            Step::Filter | Step::Sequence | Step::Set => {
                let children = node.children()?;
                let parts: Result<Vec<Host>, Reason> =
                    children.iter().map(|child| self.node(child, &domain, around)).collect();
                parts.map(Host::Sequence)
            }
            Step::Domain | Step::Leaf | Step::Other => Err(Reason::Budget),
        }
    }

    /// A loop of the host over the first dimension of a band.
    fn rounds(&mut self, node: &Node, domain: &UnionSet, around: &[Around]) -> Result<Host, Reason> {
        let band = if node.members()? > 1 { node.split(1)? } else { node.clone() };
        let times = band.band_times()?;
        let name = format!("h{}", around.len());
        let range = ranges(&domain.apply(&times)?.to_set()?, self.known, |_| name.clone())?;
        let hull = node.domain()?.apply(&times)?.to_set()?;
        let hull = ranges(&hull, self.known, |_| name.clone())?;
        let now = UnionSet::parse(domain.context(), &format!("[{name}] -> {{ [{name}] }}"))?;
        let domain = now.apply(&times.reverse()?)?.intersect(domain)?;
        let around = [around, &[Around { name, hull }]].concat();
        let child = band.children()?.into_iter().next().ok_or(Reason::Budget)?;
        let body = self.node(&child, &domain, &around)?;
        let range = range.into_iter().next().ok_or(Reason::Budget)?;
        Ok(Host::Loop(range, Box::new(body)))
    }

    /// A launch of which each thread does the instances in `domain` of one point of `times`, in the order of `below`.
    fn launch(
        &mut self,
        below: &UnionMap,
        domain: &UnionSet,
        times: Option<(&UnionMap, &UnionSet)>,
        around: &[Around],
    ) -> Result<Host, Reason> {
        let exists = asked(&domain.params()?, self.known)?;
        let (mut threads, mut mine) = (Vec::new(), domain.clone());
        if let Some((times, everywhere)) = times {
            let name = |at: usize| format!("t{at}");
            threads = ranges(&domain.apply(times)?.to_set()?, self.known, name)?;
            let all = everywhere.apply(times)?.to_set()?;
            self.grids.push(Weight { ranges: ranges(&all, self.known, name)?, cost: 1 });
            let names: Vec<String> = (0..threads.len()).map(name).collect();
            let names = names.join(", ");
            let thread = UnionSet::parse(domain.context(), &format!("[{names}] -> {{ [{names}] }}"))?;
            mine = thread.apply(&times.reverse()?)?.intersect(domain)?;
        }
        let code = code_of(&below.intersect_domain(&mine)?, self.known)?;
        self.launches.push(Weight { ranges: around.iter().flat_map(|one| one.hull.clone()).collect(), cost: 1 });
        let around = around.iter().map(|one| one.name.clone()).collect();
        Ok(Host::Launch(Launch { threads, exists, around, code }))
    }
}
