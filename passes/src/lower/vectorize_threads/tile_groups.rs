//! The accesses of a serial loop in groups that differ by constants, and how each group may be made: see `tiles.rs`.

use mlir_bridge::ir::{Op, Type, Value};

use super::{
    classify::lane_types,
    combs::LEAST,
    memory::{MOST_APART, lies_as_array},
    shapes::Shapes,
};
use crate::analysis::{
    addresses::{Address, Linear, Offsets, Symbol},
    counted_loop::is_outside,
    facts::width,
    objects::{Kind as Object, escapes, object_of},
};

/// The fewest rounds of a tile.
const FEWEST: u32 = 4;
/// The most rounds between two accesses of a group.
const WIDEST: i64 = 8;
/// The most groups of a loop, and pairs of them that are asked about.
const MOST_GROUPS: usize = 12;
const MOST_PAIRS: usize = 16;
/// The largest step from round to round, in bytes.
const LARGEST: i128 = 1 << 24;

/// How a group of accesses is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// By tiles of rounds.
    Tiled,
    /// Once before the loop and once behind it.
    Kept,
    /// Where it stands.
    InPlace,
}

/// An access of a group.
#[derive(Clone, Copy)]
pub struct Member<'c> {
    pub op: Op<'c>,
    /// From the address of the group, in bytes.
    pub offset: i64,
}

impl Member<'_> {
    pub fn stores(&self) -> bool {
        self.op.is("llvm.store")
    }
}

/// Accesses that differ by constants.
pub struct Group<'c> {
    pub role: Role,
    /// The address of one of them.
    pub address: Value<'c>,
    /// The operations of the loop that make it, in order.
    pub slice: Vec<Op<'c>>,
    /// Bytes from round to round.
    pub advance: i64,
    /// Wide numbers of the slice, of narrow ones that may wrap, and by how much they grow from round to round if they do not.
    pub exact: Vec<(Value<'c>, i64)>,
    pub ty: Type<'c>,
    pub size: i64,
    pub members: Vec<Member<'c>>,
    place: Address<'c>,
}

impl<'c> Group<'c> {
    pub fn store(&self) -> Option<&Member<'c>> {
        self.members.iter().find(|member| member.stores())
    }

    pub fn loads(&self) -> impl Iterator<Item = &Member<'c>> {
        self.members.iter().filter(|member| !member.stores())
    }

    /// How many rounds further on a member of a tiled group reads or writes.
    pub fn rounds_on(&self, member: &Member<'c>) -> i64 {
        member.offset / self.advance
    }

    /// The first and the last column that the first round of a tile accesses.
    pub fn columns(&self) -> [i64; 2] {
        let all = || self.members.iter().map(|member| self.rounds_on(member));
        [all().min().unwrap_or(0), all().max().unwrap_or(0)]
    }

    /// The first column that is read.
    pub fn first_read(&self) -> Option<i64> {
        self.loads().map(|member| self.rounds_on(member)).min()
    }

    /// Whether the last columns are read from memory, and not only written in the rounds before.
    pub fn reads_ahead(&self) -> bool {
        let [_, last] = self.columns();
        // The members are in the order of the loop.
        self.members.iter().find(|member| self.rounds_on(member) == last).is_some_and(|first| !first.stores())
    }

    fn is_on_stack(&self) -> bool {
        object_of(self.place.root) == Some(Object::Local)
    }

    /// Whether a lane's accesses of two groups never meet, whatever the rounds.
    fn never_meets(&self, other: &Self) -> bool {
        if self.place.root != other.place.root {
            let local = |group: &Self| group.is_on_stack() && !escapes(group.place.root);
            let both_local = self.is_on_stack() && other.is_on_stack();
            return both_local || local(self) || local(other);
        }
        let distance = match (&self.place.offset, &other.place.offset) {
            (Some(own), Some(others)) => others.distance(own),
            _ => None,
        };
        let Some(distance) = distance else { return false };
        let pairs = self.members.iter().flat_map(|a| other.members.iter().map(move |b| b.offset - a.offset));
        pairs.into_iter().all(|apart| {
            let apart = distance + i128::from(apart);
            match i128::from(self.advance.abs()) {
                0 => apart >= self.size.into() || apart <= -i128::from(other.size),
                period => (i128::from(self.size)..=period - i128::from(other.size)).contains(&apart.rem_euclid(period)),
            }
        })
    }
}

/// The accesses of a loop.
pub struct Found<'c, 's> {
    op: Op<'c>,
    shapes: &'s Shapes<'c>,
    offsets: Offsets<'c>,
    step: i64,
    groups: Vec<Group<'c>>,
    /// What is nested, of several scalars, or at places that do not differ evenly from round to round: where it points to.
    unknown: Vec<(Op<'c>, Value<'c>)>,
}

impl<'c, 's> Found<'c, 's> {
    /// Nothing yet, of a loop that counts in such steps.
    pub fn new(op: Op<'c>, shapes: &'s Shapes<'c>, step: i64) -> Self {
        Self { op, shapes, offsets: Offsets::default(), step, groups: Vec::new(), unknown: Vec::new() }
    }

    /// Whether something is accessed at places that do not differ evenly from round to round.
    pub fn is_uneven(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// Takes an access into its group.
    pub fn add(&mut self, access: Op<'c>) {
        let (address, ty) = match access.is("llvm.store") {
            true => (access.operand(1), access.operand(0).ty()),
            false => (access.operand(0), access.result(0).ty()),
        };
        let place = self.offsets.address(address);
        let slice = self.slice(address).filter(|_| access.parent() == Some(self.op));
        let regular = slice.and_then(|slice| {
            let (advance, wraps) = self.advance(&place)?;
            let exact = if wraps { self.exact(&slice)? } else { Vec::new() };
            Some((advance, exact, slice))
        });
        let Some((advance, exact, slice)) = regular else {
            self.unknown.push((access, place.root));
            return;
        };
        let same = self.groups.iter_mut().find_map(|group| {
            let distance = match (&place.offset, &group.place.offset) {
                (Some(own), Some(others)) => own.distance(others)?,
                _ => return None,
            };
            let offset = i64::try_from(distance).ok().filter(|offset| offset.abs() < 1 << 30)?;
            let fits = exact.is_empty() == group.exact.is_empty()
                && group.ty == ty
                && group.place.root == place.root
                && group.advance == advance;
            let joins = if advance == 0 { offset == 0 } else { offset % advance == 0 };
            (fits && joins).then_some((group, offset))
        });
        if let Some((group, offset)) = same {
            group.members.push(Member { op: access, offset });
            return;
        }
        let size = ty.layout(access).0.cast_signed();
        let members = vec![Member { op: access, offset: 0 }];
        self.groups.push(Group { role: Role::InPlace, address, slice, advance, exact, ty, size, members, place });
    }

    /// How many bytes an address goes on by from round to round, and whether that is so only if narrow numbers do not wrap.
    fn advance(&self, place: &Address<'c>) -> Option<(i64, bool)> {
        let moved = if is_outside(place.root, self.op) { 0 } else { self.carried(place.root)? };
        let (advance, wraps) = self.growth(place.offset.as_ref()?)?;
        let advance = i64::try_from(moved + advance).ok().filter(|advance| i128::from(advance.abs()) <= LARGEST)?;
        Some((advance, wraps))
    }

    /// By how much a sum grows in each round, and whether that is so only if narrow numbers do not wrap.
    fn growth(&self, sum: &Linear<'c>) -> Option<(i128, bool)> {
        let (mut growth, mut wraps) = (0i128, false);
        for (unknown, factor) in sum.terms() {
            if self.is_invariant(unknown.symbol.value(), 8) {
                continue;
            }
            match unknown.symbol {
                Symbol::Value(value) if value == self.op.body().arg(0) => {
                    growth += factor.checked_mul(self.step.into())?;
                    // Symbols are numbers with a sign.
                    wraps |= self.op.has_attr("unsignedCmp") && width(value.ty()) != Some(64);
                }
                Symbol::Value(value) => growth += factor.checked_mul(self.carried(value)?)?,
                Symbol::Wrap(_) => wraps = true,
            }
        }
        Some((growth, wraps))
    }

    /// What makes wide numbers of narrow ones that change from round to round. If the last round has of each what the first has and
    /// all steps between them, no round wraps: a number that wraps comes back to none that it passes. `None` if it cannot be asked.
    fn exact(&self, slice: &[Op<'c>]) -> Option<Vec<(Value<'c>, i64)>> {
        let mut made = Vec::new();
        for op in slice {
            let changes = |value: &Value<'c>| !self.is_invariant(*value, 8);
            let narrow = |value: &Value<'c>| width(value.ty()).is_some_and(|bits| bits < 64);
            if op.is("llvm.getelementptr") && op.operands()[1..].iter().any(|index| narrow(index) && changes(index)) {
                return None;
            }
            // What the loop carries beside its number is not known of the last round.
            if op
                .operands()
                .into_iter()
                .any(|value| value.block_arg().is_some_and(|(block, number)| block == self.op.body() && number > 0))
            {
                return None;
            }
            let Some(first) = op.operands().first().copied().filter(|value| narrow(value) && changes(value)) else {
                continue;
            };
            let result = op.result(0);
            match width(result.ty()) {
                Some(64) => {
                    let (growth, _) = self.growth(&self.offsets.linear(result))?;
                    made.push((
                        result,
                        i64::try_from(growth).ok().filter(|growth| i128::from(growth.abs()) < 1 << 31)?,
                    ));
                }
                Some(bits) if Some(bits) == width(first.ty()) => (),
                _ => return None,
            }
        }
        Some(made)
    }

    /// By how much what the loop carries grows in each round, if that is a constant.
    fn carried(&self, value: Value<'c>) -> Option<i128> {
        let number = value.block_arg().filter(|(block, _)| *block == self.op.body())?.1;
        let next = self.op.body().terminator()?.operand(number.checked_sub(1)?);
        let zero = self.offsets.linear(value);
        if value.ty().ptr_space().is_some() {
            let place = self.offsets.address(next);
            let none: Linear<'c> = zero.plus(&zero, -1);
            return place.offset.filter(|_| place.root == value)?.distance(&none);
        }
        self.offsets.linear(next).distance(&zero)
    }

    fn is_invariant(&self, value: Value<'c>, depth: u32) -> bool {
        if is_outside(value, self.op) {
            return true;
        }
        let pure = |op: &Op<'c>| depth > 0 && op.num_regions() == 0 && op.is_pure();
        let op = value.defining_op().filter(pure);
        op.is_some_and(|op| op.operands().into_iter().all(|operand| self.is_invariant(operand, depth - 1)))
    }

    /// The operations of the loop that make a value, in order, if they only compute with what each round begins with.
    fn slice(&self, value: Value<'c>) -> Option<Vec<Op<'c>>> {
        let mut wanted = vec![value];
        let mut made: Vec<Op<'c>> = Vec::new();
        while let Some(value) = wanted.pop() {
            let Some(op) = value.defining_op().filter(|_| !is_outside(value, self.op)) else { continue };
            if made.contains(&op) {
                continue;
            }
            if op.parent() != Some(self.op) || op.num_regions() > 0 || !op.is_pure() || made.len() > 32 {
                return None;
            }
            made.push(op);
            wanted.extend(op.operands());
        }
        Some(self.op.body().ops().into_iter().filter(|op| made.contains(op)).collect())
    }

    /// Whether a group can go by tiles: its lanes lie apart, its rounds side by side. Lanes that lie near are read by what lies between them,
    /// unless `all` rounds together access that.
    fn can_tile(&self, group: &Group<'c>, all: Option<i64>) -> bool {
        let [first, last] =
            [group.members.iter().map(|m| m.offset).min(), group.members.iter().map(|m| m.offset).max()];
        let far = match self.shapes.stride(group.address) {
            Some(stride) => {
                let touch = all.is_some_and(|all| {
                    all >= FEWEST.into() && stride.abs() == all * group.size && stride.abs() >= LEAST
                });
                stride.abs() > MOST_APART * group.size || touch
            }
            None => true,
        };
        let written: Vec<_> = group.members.iter().filter(|member| member.stores()).collect();
        let one_place = written.iter().all(|member| member.offset == written[0].offset);
        let narrow = last.zip(first).is_some_and(|(last, first)| last - first <= WIDEST * group.size);
        let aligned = group.advance.abs() == group.size && group.address.ty().ptr_space() == Some(0);
        aligned && far && one_place && narrow && lies_as_array(group.ty) && is_single(group.ty)
    }

    /// Whether a group is of one place for each lane, which LLVM does not see by itself.
    fn can_keep(&self, group: &Group<'c>) -> bool {
        let writes = group.store().is_some();
        let own = !writes || self.shapes.stride(group.address) != Some(0);
        group.advance == 0 && own && !group.is_on_stack() && lies_as_array(group.ty) && is_single(group.ty)
    }

    /// The rounds of a tile, the groups with their roles, and which of them must not meet.
    pub fn decide(mut self, register_bits: u32, all: Option<i64>) -> Option<(u32, Vec<Group<'c>>, Vec<[usize; 2]>)> {
        if self.groups.len() > MOST_GROUPS {
            return None;
        }
        for number in 0..self.groups.len() {
            let group = &self.groups[number];
            let early = if self.can_tile(group, all) {
                Role::Tiled
            } else if self.can_keep(group) {
                Role::Kept
            } else {
                Role::InPlace
            };
            self.groups[number].role = early;
        }
        let rounds = self.rounds(register_bits, all);
        for number in 0..self.groups.len() {
            let group = &self.groups[number];
            let lost = group.role == Role::Tiled && rounds == 1
                || group.store().is_some() && self.unknown.iter().any(|unknown| self.may_meet(group, unknown));
            if lost {
                self.groups[number].role = Role::InPlace;
            }
        }
        let early = |group: &&Group<'c>| group.role != Role::InPlace;
        let stored = self.groups.iter().filter(|group| group.store().is_some()).count();
        // LLVM itself carries on what a single store of side by side lanes has written.
        let worth = |group: &Group<'c>| {
            let apart = self.shapes.stride(group.address).is_none_or(|stride| stride.abs() != group.size);
            group.role == Role::Tiled || group.role == Role::Kept && group.store().is_some() && (apart || stored > 1)
        };
        let written = self.unknown.iter().filter(|(op, _)| op.is("llvm.store"));
        let meets_unknown = written
            .into_iter()
            .any(|unknown| self.groups.iter().filter(early).any(|group| self.may_meet(group, unknown)));
        if meets_unknown || !self.groups.iter().any(worth) {
            return None;
        }
        let tiled = self.groups.iter().any(|group| group.role == Role::Tiled);
        let apart = self.pairs()?;
        for (number, group) in self.groups.iter_mut().enumerate() {
            if group.role == Role::InPlace && !apart.iter().any(|pair| pair.contains(&number)) {
                group.exact.clear();
            }
        }
        Some((if tiled { rounds } else { 1 }, self.groups, apart))
    }

    fn may_meet(&self, group: &Group<'c>, unknown: &(Op<'c>, Value<'c>)) -> bool {
        let root = unknown.1;
        let local = |root: Value<'c>| object_of(root) == Some(Object::Local);
        let hidden = |root: Value<'c>| local(root) && !escapes(root);
        let differ = group.place.root != root;
        !(differ && (hidden(root) || hidden(group.place.root) || local(root) && group.is_on_stack()))
    }

    /// As many rounds as a register has elements of the largest type of tiles, if the loop has them; one if there are no tiles.
    fn rounds(&self, register_bits: u32, all: Option<i64>) -> u32 {
        let tiled = self.groups.iter().filter(|group| group.role == Role::Tiled);
        let Some(largest) = tiled.map(|group| group.size).max() else { return 1 };
        let mut rounds = u32::try_from(i64::from(register_bits) / (8 * largest)).unwrap_or(1).clamp(1, 16);
        while all.is_some_and(|all| i64::from(rounds) > all) {
            rounds /= 2;
        }
        if rounds < FEWEST { 1 } else { rounds }
    }

    /// The pairs of groups that must not meet: `None` if they do, or are too many.
    fn pairs(&self) -> Option<Vec<[usize; 2]>> {
        let mut pairs = Vec::new();
        for (second, b) in self.groups.iter().enumerate() {
            for (first, a) in self.groups.iter().enumerate().take(second) {
                let early = a.role != Role::InPlace || b.role != Role::InPlace;
                let writes = a.store().is_some() || b.store().is_some();
                if !early || !writes || a.never_meets(b) {
                    continue;
                }
                // Memory of the stack that is compared with something becomes no register.
                if a.place.root == b.place.root && a.is_on_stack() {
                    return None;
                }
                pairs.push([first, second]);
            }
        }
        (pairs.len() <= MOST_PAIRS).then_some(pairs)
    }
}

/// Whether a type is one scalar.
fn is_single(ty: Type<'_>) -> bool {
    lane_types(ty).is_some_and(|parts| parts.len() == 1 && parts[0] == ty)
}
