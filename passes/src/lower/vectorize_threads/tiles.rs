//! Serial loops whose accesses lie far apart from thread to thread, but side by side from round to round.
//!
//! ```mlir
//! scf.for %k = %first to %n step %one {
//!   %v = llvm.load %a[%i * 4096 + %k]        // %i is the thread: 16384 bytes from thread to thread, 4 from round to round
//! ```
//! A gather of all lanes touches a cache line for each, and comes back to the same lines in the next round. A plan says that so many rounds
//! go together, as a *tile*: each lane's consecutive elements are read at once and transposed (`blocks.rs`). What all rounds of a lane
//! read and write at one place ([`Role::Kept`]) stays in a register. Each lane does what it did in the order in which it did it.
//!
//! Reading early and writing late is right where nothing else that the loop accesses meets it: by what is known of addresses here, else
//! by what the loop asks before it begins (`overlaps.rs`). What other threads do to the same places would be a race: no barrier, no
//! atomic and no volatile access is in the loop. No place is read that no round reads.

use mlir_bridge::ir::{Op, Value};
use regrain_dialects::ops::WarpBarrier;

use super::{
    classify::{Kind, is_ordinary, kind},
    machine::{GATHERED, SCATTERED},
    shapes::{Shape, Shapes},
    tile_groups::{Found, Group, Member, Role},
};
use crate::analysis::{facts::constant, loops::Counting};

/// The most accesses and operations of a loop that is made twice.
const MOST_ACCESSES: usize = 64;
const LARGEST_BODY: usize = 300;

/// How a serial loop is made.
pub struct Plan<'c> {
    /// Rounds of a tile; one where accesses are only kept.
    pub rounds: u32,
    /// Whether the loop is known to be of whole tiles.
    pub whole: bool,
    /// The rounds behind the whole tiles, if they go by one more tile, which begins with rounds that have been made; else zero.
    pub rest: u32,
    pub groups: Vec<Group<'c>>,
    /// Pairs of groups that must not meet.
    pub apart: Vec<[usize; 2]>,
    /// The loop's operations.
    pub size: usize,
    /// Something is accessed at places that do not differ evenly from round to round.
    uneven: bool,
    lanes: u32,
    register_bits: u32,
}

impl<'c> Plan<'c> {
    /// Whether something is asked before the loop.
    pub fn asks(&self) -> bool {
        !self.apart.is_empty() || self.groups.iter().any(|group| !group.exact.is_empty())
    }

    /// The plan for the rounds of a loop that all lanes make; `None` where it is better made round by round.
    pub fn of(shapes: &Shapes<'c>, op: Op<'c>, lanes: u32, register_bits: u32, masked: bool) -> Option<Self> {
        let step = constant(op.operand(2)).filter(|step| (1..1 << 10).contains(step))?;
        if shapes.of(op.body().arg(0)) == Shape::Varying || !is_plain(op) {
            return None;
        }
        let mut found = Found::new(op, shapes, step);
        let accesses = op.find_all(|inner| matches!(kind(inner), Kind::Load | Kind::Store));
        let size = op.find_all(|_| true).len();
        if accesses.len() > MOST_ACCESSES || size > LARGEST_BODY {
            return None;
        }
        accesses.into_iter().for_each(|access| found.add(access));
        let all_rounds = Counting::of(op)?.rounds();
        let uneven = found.is_uneven();
        let (rounds, groups, apart) = found.decide(register_bits, all_rounds)?;
        let whole = rounds > 1 && all_rounds.is_some_and(|all| all > 0 && all % i64::from(rounds) == 0);
        let mut plan = Self { rounds, whole, rest: 0, groups, apart, size, uneven, lanes, register_bits };
        if shapes.all_uniform(&op.operands()[..3]) {
            plan.rest = plan.rest_by_tile(op, all_rounds);
        }
        (rounds > 1 || !masked).then_some(plan)
    }

    /// How many of `all` rounds go by a last tile: the ones that whole tiles leave, where a tile is cheaper than each lane on its own.
    fn rest_by_tile(&self, op: Op<'c>, all: Option<i64>) -> u32 {
        let all = all.and_then(|all| u32::try_from(all).ok()).filter(|all| *all > self.rounds && self.rounds > 1);
        let Some(rest) = all.map(|all| all % self.rounds) else { return 0 };
        let tiled = || self.groups.iter().filter(|group| group.role == Role::Tiled);
        // What the tile finds of the rounds before is in its own columns, at addresses that the number of a round gives alone.
        let carries = |value: &Value<'c>| value.block_arg().is_some_and(|(block, n)| block == op.body() && n > 0);
        let again = tiled().all(|group| {
            let [first, last] = group.columns();
            let reads = |op: &Op<'c>| op.operands().iter().any(carries);
            first == last && !carries(&group.address) && !group.slice.iter().any(reads)
        });
        let members = || tiled().flat_map(|group| group.members.iter().enumerate().map(move |member| (group, member)));
        let by_tile: u64 = members().map(|(group, (number, member))| self.cost(group, member, number)).sum();
        let alone = |member: &Member<'c>| if member.stores() { SCATTERED } else { GATHERED };
        let by_lane = u64::from(self.lanes) * members().map(|(_, (_, member))| alone(member)).sum::<u64>();
        if again && by_tile * u64::from(self.rounds) < by_lane * u64::from(rest) { rest } else { 0 }
    }

    /// What an access costs in each round, in slots, if it is not made where it stands.
    pub fn costs(&self) -> Vec<(Op<'c>, u64)> {
        let early = self.groups.iter().filter(|group| group.role != Role::InPlace);
        early
            .flat_map(|group| {
                group.members.iter().enumerate().map(|(number, member)| (member.op, self.cost(group, member, number)))
            })
            .collect()
    }

    fn cost(&self, group: &Group<'c>, member: &Member<'c>, number: usize) -> u64 {
        if group.role == Role::Kept {
            return 0;
        }
        let bits = 8 * group.size.cast_unsigned();
        let parts = (bits * u64::from(self.lanes)).div_ceil(self.register_bits.into());
        let vector = 4 * parts;
        // Each lane's elements are read or written at once; each step of a transposition is one permutation for each vector.
        let lanes = 4 * u64::from(self.lanes.div_ceil(self.rounds));
        let block = lanes + vector + 4 * parts * u64::from(self.rounds.ilog2());
        if member.stores() || (number == 0 && group.reads_ahead()) { vector + block } else { vector }
    }

    /// Whether a compiler of single threads would make vectors of a thread's rounds: each does its own, nothing is carried.
    pub fn goes_along(&self, op: Op<'c>) -> bool {
        let own = |group: &Group<'c>| {
            let writes = group.store().is_some();
            let even = group.advance == 0 || group.advance.abs() == group.size;
            let one_place = group.members.iter().all(|member| member.offset == group.members[0].offset);
            even && !(writes && (group.advance == 0 || !one_place))
        };
        op.num_results() == 0 && !self.uneven && self.groups.iter().all(own)
    }
}

/// Whether a loop holds no other loop, and nothing that other threads could take part in.
fn is_plain(op: Op<'_>) -> bool {
    !op.contains(|inner| {
        inner != op
            && match kind(inner) {
                Kind::Structure => matches!(inner.name(), "scf.for" | "scf.while"),
                Kind::Load | Kind::Store => !is_ordinary(inner) || inner.has_attr("volatile_"),
                Kind::Nothing => inner.is(WarpBarrier::NAME),
                Kind::Constant | Kind::Elementwise | Kind::Math | Kind::Aggregate => false,
                _ => !inner.is_terminator() && !inner.is_pure(),
            }
    })
}
