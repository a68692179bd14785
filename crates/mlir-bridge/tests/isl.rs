//! isl through the bridge: schedules and code.

use mlir_bridge::isl::{Code, Context, Error, Kind, Node, Schedule, Set, Step, Term, UnionMap, UnionSet};
use mlir_bridge::isl::{code_of, condition, term};

fn map(context: &Context, text: &str) -> UnionMap {
    UnionMap::parse(context, text).expect("a relation")
}

fn set(context: &Context, text: &str) -> Set {
    Set::parse(context, text).expect("a set")
}

/// What must stay in order: all of it, and from writes to reads.
struct Dependences {
    all: UnionMap,
    flow: UnionMap,
}

impl Dependences {
    fn between(reads: &UnionMap, writes: &UnionMap, times: &UnionMap) -> Result<Self, Error> {
        let earlier = times.earlier_than(times)?;
        let pairs = |from: &UnionMap, to: &UnionMap| from.apply_range(&to.reverse()?)?.intersect(&earlier);
        let flow = pairs(writes, reads)?;
        let all = flow.union(&pairs(reads, writes)?)?.union(&pairs(writes, writes)?)?;
        Ok(Self { all, flow })
    }
}

const PRODUCT: &str = "[n] -> { S[i, j, k] : 0 <= i, j, k < n }";

fn product(context: &Context) -> (UnionSet, Dependences) {
    let domain = UnionSet::parse(context, PRODUCT).expect("a set");
    let within = |text: &str| map(context, text).intersect_domain(&domain).expect("a relation");
    let reads = within("{ S[i, j, k] -> C[i, j]; S[i, j, k] -> A[i, k]; S[i, j, k] -> B[k, j] }");
    let writes = within("{ S[i, j, k] -> C[i, j] }");
    let times = within("{ S[i, j, k] -> [i, j, k] }");
    let dependences = Dependences::between(&reads, &writes, &times).expect("dependences");
    (domain, dependences)
}

fn scheduled(domain: &UnionSet, dependences: &Dependences) -> Node {
    let Dependences { flow, all } = dependences;
    let schedule = Schedule::compute(domain, all, all, flow).expect("a schedule");
    let root = schedule.root().expect("a root");
    assert_eq!(root.step(), Step::Domain);
    root.children().expect("children").remove(0)
}

#[test]
fn a_product_depends_along_its_sum_alone() {
    let context = Context::new(0);
    let (domain, dependences) = product(&context);
    let along = map(&context, "{ S[i, j, k] -> S[i, j, l] : l > k }");
    assert!(dependences.all.is_subset(&along).expect("an answer"));
    let band = scheduled(&domain, &dependences);
    assert_eq!((band.step(), band.members()), (Step::Band, Ok(3)));
    let coincident: Vec<_> = (0..3).map(|member| band.is_coincident(member)).collect();
    assert_eq!(coincident, [Ok(true), Ok(true), Ok(false)]);
    assert_eq!(band.is_permutable(), Ok(true));
}

#[test]
fn sweeps_of_a_stencil_follow_one_another() {
    let context = Context::new(0);
    let domain = UnionSet::parse(
        &context,
        "[n, t] -> { S[s, i] : 0 <= s < t and 0 < i < n; T[s, i] : 0 <= s < t and 0 < i < n }",
    )
    .expect("a set");
    let within = |text: &str| map(&context, text).intersect_domain(&domain).expect("a relation");
    let reads = within("{ S[s, i] -> A[j] : i - 1 <= j <= i + 1; T[s, i] -> B[i] }");
    let writes = within("{ S[s, i] -> B[i]; T[s, i] -> A[i] }");
    let times = within("{ S[s, i] -> [s, 0, i]; T[s, i] -> [s, 1, i] }");
    let dependences = Dependences::between(&reads, &writes, &times).expect("dependences");
    let outer = scheduled(&domain, &dependences);
    // One dimension that carries all of them, and loops without any below.
    assert_eq!((outer.step(), outer.members(), outer.is_coincident(0)), (Step::Band, Ok(1), Ok(false)));
    let tree = outer.tree();
    assert!(tree.contains("coincident: [ 1 ]"), "{tree}");
}

#[test]
fn a_thread_goes_along_the_sum() {
    let context = Context::new(0);
    let (domain, dependences) = product(&context);
    let band = scheduled(&domain, &dependences).split(2).expect("two bands");
    let of_thread = band.band_times().expect("times").reverse().expect("places");
    let thread = UnionSet::parse(&context, "[x, y] -> { [x, y] }").expect("a set");
    let mine = thread.apply(&of_thread).expect("instances").intersect(&band.domain().expect("a domain"));
    let below = band.children().expect("children").remove(0).times_below().expect("times");
    let times = below.intersect_domain(&mine.expect("instances")).expect("times");
    let code = code_of(&times, &set(&context, "[n] -> { : n > 0 }")).expect("code");
    let Code::If { then, .. } = &code else { panic!("expected a guard, got {code:?}") };
    let Code::For { iterator, body, first, .. } = &**then else { panic!("expected a loop, got {then:?}") };
    assert_eq!(*first, Term::Number(0));
    let name = |name: &str| Term::Name(name.into());
    assert_eq!(**body, Code::Statement("S".into(), vec![name("x"), name("y"), name(iterator)]));
}

#[test]
fn ends_and_conditions_are_terms() {
    let context = Context::new(0);
    let known = set(&context, "[n] -> { : n >= 0 }");
    let range = set(&context, "[n] -> { [i] : 2 <= i < n }");
    assert_eq!(term(&range, 0, false, &known), Ok(Term::Number(2)));
    let last = Term::Of(Kind::Sub, vec![Term::Name("n".into()), Term::Number(1)]);
    let greatest = term(&range, 0, true, &known).expect("a term");
    assert!(greatest == last || greatest == Term::Of(Kind::Add, vec![Term::Number(-1), Term::Name("n".into())]));
    let holds = condition(&range.params().expect("parameters"), &known).expect("a term");
    assert_eq!(holds, Term::Of(Kind::Ge, vec![Term::Name("n".into()), Term::Number(3)]));
    assert_eq!(range.dimensions(), Ok(1));
}

#[test]
fn what_is_wrong_is_an_error() {
    let context = Context::new(0);
    assert!(matches!(Set::parse(&context, "{ ["), Err(Error::Failed(_))));
    assert!(matches!(Set::parse(&context, "a\0b"), Err(Error::Failed(_))));
    assert_eq!(set(&context, "{ [i] : 0 < i < 1 }").is_empty(), Ok(true));
}

#[test]
fn a_spent_budget_is_an_error() {
    let context = Context::new(3000);
    let made = UnionSet::parse(&context, PRODUCT).and_then(|domain| {
        let all = UnionMap::parse(&context, "{ S[i, j, k] -> S[i, j, k + 1] }")?;
        Schedule::compute(&domain, &all, &all, &all)
    });
    assert_eq!(made.map(|_| ()), Err(Error::Budget));
}
