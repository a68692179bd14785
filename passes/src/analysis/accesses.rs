//! What the operations of a kernel do to memory, and whether two of them may meet there.
//!
//! ```mlir
//! llvm.store %v, %tile[%x]           // writes 4 bytes of %tile at 4 %x
//! %w = llvm.load %tile[%x + 1]       // reads 4 bytes of %tile at 4 %x + 4: of the same thread another place, of another the same
//! ```
//! Two threads of a block meet if for some of their numbers the offsets come within the sizes of the accesses. Values that are
//! the same in all threads all the time cancel out; others are anything in their range, independently for each access. An
//! operation that is not known to be harmless is [`Effects::unknown`].

use std::{cell::RefCell, collections::HashMap};

use mlir_bridge::ir::{Block, Op, Type, Value};

use crate::{
    analysis::addresses::{Address, Linear, Offsets, Symbol},
    analysis::facts::{Range, constant},
    analysis::uniformity::{Trust, UNCHANGING, Uniformity, computes},
    launch::launch_function::KERNEL_ARG,
    lower::split_barriers::{BARRIERS, STRUCTURES, is_struct_pointer, may_wait},
};

/// An access of memory by one thread.
#[derive(Clone)]
pub struct Access<'c> {
    pub op: Op<'c>,
    pub address: Address<'c>,
    /// In bytes; `None` if it is not known.
    pub size: Option<u64>,
    pub writes: bool,
}

/// What an operation, with all that is nested in it, may do to memory.
#[derive(Clone, Default)]
pub struct Effects<'c> {
    pub accesses: Vec<Access<'c>>,
    /// Something else too: it calls, exchanges with other threads, is volatile or atomic.
    pub unknown: bool,
}

impl<'c> Effects<'c> {
    pub fn join(&mut self, other: Effects<'c>) {
        self.accesses.extend(other.accesses);
        self.unknown |= other.unknown;
    }

    pub fn reads(&self) -> impl Iterator<Item = &Access<'c>> {
        self.accesses.iter().filter(|access| !access.writes)
    }

    pub fn writes(&self) -> impl Iterator<Item = &Access<'c>> {
        self.accesses.iter().filter(|access| access.writes)
    }
}

/// By whom the second of two accesses is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// The same thread; values that both addresses name have not changed in between.
    Same,
    /// Another thread of the block, at any time.
    Other,
}

/// What is known of the memory of a launch. No operation of it may be erased meanwhile.
pub struct Memory<'c> {
    block: Op<'c>,
    pub offsets: Offsets<'c>,
    uniform: Uniformity<'c>,
    /// Whether the address of an object gets where it is not followed.
    escapes: HashMap<Value<'c>, bool>,
    noalias: HashMap<Value<'c>, bool>,
    /// Bytes of types as found so far.
    sizes: RefCell<HashMap<Type<'c>, u64>>,
}

impl<'c> Memory<'c> {
    /// `block` is the loop over the threads of a block.
    pub fn new(block: Op<'c>) -> Self {
        let structures = block.find_all(|op| STRUCTURES.contains(&op.name())).into_iter().collect();
        let uniform = Uniformity::new(block.body(), &block.body().args(), structures, Trust::default());
        let mut made = Self {
            block,
            offsets: Offsets::default(),
            uniform,
            escapes: HashMap::new(),
            noalias: HashMap::new(),
            sizes: RefCell::default(),
        };
        made.find_objects();
        made
    }

    fn find_objects(&mut self) {
        let wrapper = self.block.parent_of_name("regrain.gpu_wrapper");
        let function = ["llvm.func", "func.func"].into_iter().find_map(|name| self.block.parent_of_name(name));
        let Some(function) = function else { return };
        let kind =
            |op: Op<'c>| object_kind(op).filter(|kind| matches!(kind, Kind::Shared | Kind::Dynamic | Kind::Local));
        let objects = wrapper.unwrap_or(function).find_all(|op| kind(op).is_some());
        let dynamic = objects.iter().any(|op| kind(*op) == Some(Kind::Dynamic) && escapes(op.result(0)));
        for op in objects {
            let together = dynamic && kind(op) == Some(Kind::Dynamic);
            self.escapes.insert(op.result(0), together || escapes(op.result(0)));
        }
        let kernel = || function.parent()?.lookup_symbol(wrapper?.attr("kernel")?.as_symbol()?);
        let attributes = kernel().and_then(|kernel| kernel.attr("arg_attrs")?.as_array()).unwrap_or_default();
        for op in function.body().ops().into_iter().filter(|op| op.num_results() == 1) {
            let number = op.attr(KERNEL_ARG).and_then(|number| usize::try_from(number.as_int()?).ok());
            let own = number.and_then(|number| attributes.get(number)?.get("llvm.noalias"));
            self.noalias.insert(op.result(0), own.is_some());
        }
    }

    /// What `op` does to memory. Barriers in it are left out: see `phases.rs`.
    pub fn effects(&self, op: Op<'c>) -> Effects<'c> {
        let mut found = Effects::default();
        self.collect(op, &mut found);
        found
    }

    fn size(&self, ty: Type<'c>) -> u64 {
        *self.sizes.borrow_mut().entry(ty).or_insert_with(|| ty.layout(self.block).0)
    }

    fn collect(&self, op: Op<'c>, found: &mut Effects<'c>) {
        let mut access = |pointer: Value<'c>, size, writes| {
            let address = self.offsets.address(pointer);
            found.accesses.push(Access { op, address, size, writes });
        };
        let plain = || !op.has_attr("volatile_") && op.attr("ordering").and_then(|o| o.as_int()).unwrap_or(0) == 0;
        let moves = || op.attr("isVolatile").and_then(|volatile| volatile.as_bool()) == Some(false);
        match op.name() {
            "llvm.load" if plain() => access(op.operand(0), Some(self.size(op.result(0).ty())), false),
            "llvm.store" if plain() => access(op.operand(1), Some(self.size(op.operand(0).ty())), true),
            "llvm.intr.memcpy" | "llvm.intr.memmove" if moves() => {
                let size = constant(op.operand(2)).and_then(|size| u64::try_from(size).ok());
                access(op.operand(0), size, true);
                access(op.operand(1), size, false);
            }
            "llvm.intr.memset" if moves() => {
                let size = constant(op.operand(2)).and_then(|size| u64::try_from(size).ok());
                access(op.operand(0), size, true);
            }
            "llvm.call" if computes(op) => {}
            name if BARRIERS.contains(&name) => {}
            "llvm.alloca" | "llvm.intr.assume" | "regrain.shared" | "regrain.dynamic_shared" => {}
            name if name.starts_with("llvm.intr.lifetime.") || name.starts_with("llvm.intr.dbg.") => {}
            name if STRUCTURES.contains(&name) => {
                found.unknown |= op.is("scf.while") && may_wait(op);
                for inner in op.regions().into_iter().flat_map(|region| region.blocks()).flat_map(Block::ops) {
                    self.collect(inner, found);
                }
            }
            _ => found.unknown |= !op.is_terminator() && !op.is_memory_effect_free(),
        }
    }

    /// Whether a value is the same in all threads of the block and all the time.
    pub fn is_fixed(&self, value: Value<'c>) -> bool {
        let Some(owner) = value.parent_block().and_then(Block::parent_op) else { return true };
        if !self.block.is_ancestor_of(owner) {
            return true;
        }
        let mut at = Some(owner);
        while let Some(op) = at.filter(|op| *op != self.block) {
            if !op.is("scf.if") {
                return false;
            }
            at = op.parent();
        }
        self.uniform.is_uniform(value)
    }

    /// Whether two accesses may touch the same byte. `a` is by some thread.
    pub fn may_meet(&self, a: &Access<'c>, b: &Access<'c>, who: Who) -> bool {
        if !self.may_alias(a.address.root, b.address.root, who) {
            return false;
        }
        if who == Who::Other && object_of(a.address.root) == Some(Kind::Local) && !self.escaped(a.address.root) {
            return false;
        }
        let same = same_object(a.address.root, b.address.root);
        let (Some(first), Some(second), true) = (&a.address.offset, &b.address.offset, same) else { return true };
        let (Some(left), Some(right)) = (a.size, b.size) else { return true };
        let fixed = who == Who::Same || self.is_fixed(a.address.root);
        !fixed || self.meeting(first, second, who).can_be_within(left.into(), right.into())
    }

    /// Two accesses that conflict if nothing stands between them: by different threads, one of them a write.
    pub fn conflict(&self, a: &Access<'c>, b: &Access<'c>) -> bool {
        (a.writes || b.writes) && self.may_meet(a, b, Who::Other)
    }

    /// Whether what a load reads stays the same while the kernel runs.
    pub fn is_unchanging(&self, load: Op<'c>) -> bool {
        if load.has_attr("invariant") || load.has_attr(UNCHANGING) {
            return true;
        }
        let root = self.offsets.address(load.operand(0)).root;
        match object_of(root) {
            Some(Kind::Struct) => root.defining_op().is_some_and(|op| only_read(op.result(0))),
            _ => root.defining_op().is_some_and(is_constant_global),
        }
    }

    /// Whether memory at a root is the thread's own, or the block's, and its address is followed everywhere.
    pub fn is_followed(&self, root: Value<'c>) -> bool {
        matches!(object_of(root), Some(Kind::Shared | Kind::Dynamic | Kind::Local)) && !self.escaped(root)
    }

    fn escaped(&self, root: Value<'c>) -> bool {
        self.escapes.get(&root).copied().unwrap_or(true)
    }

    fn may_alias(&self, a: Value<'c>, b: Value<'c>, who: Who) -> bool {
        if same_object(a, b) {
            return true;
        }
        match (object_of(a), object_of(b)) {
            (None, None) => true,
            (None, Some(kind)) => self.may_be_reached(kind, b),
            (Some(kind), None) => self.may_be_reached(kind, a),
            (Some(Kind::Argument), Some(Kind::Argument)) => {
                who == Who::Other || !(self.is_noalias(a) || self.is_noalias(b))
            }
            // The host may pass the address of a global.
            (Some(Kind::Argument), Some(Kind::Global)) | (Some(Kind::Global), Some(Kind::Argument)) => true,
            _ => false,
        }
    }

    fn is_noalias(&self, argument: Value<'c>) -> bool {
        self.noalias.get(&argument).copied().unwrap_or(false)
    }

    /// Whether a pointer of unknown origin may point into an object.
    fn may_be_reached(&self, kind: Kind, root: Value<'c>) -> bool {
        match kind {
            Kind::Shared | Kind::Dynamic | Kind::Local => self.escaped(root),
            Kind::Struct => !only_read(root),
            Kind::Argument | Kind::Global => true,
        }
    }

    /// The difference of two offsets, as digits.
    fn meeting(&self, a: &Linear<'c>, b: &Linear<'c>, who: Who) -> Meeting {
        let mut meeting =
            Meeting { constant: a.constant - b.constant, digits: Vec::new(), any_thread: who == Who::Same };
        if who == Who::Same {
            for term in a.plus(b, -1).terms {
                meeting.digit(term.factor, term.range, false);
            }
            return meeting;
        }
        let ivs = self.block.body().args();
        for (axis, iv) in ivs.iter().enumerate() {
            let symbol = Symbol::Value(*iv);
            let extent = crate::analysis::facts::range(*iv).map_or(i128::from(u32::MAX), |range| range.high);
            match (a.factor(symbol), b.factor(symbol)) {
                (0, 0) => meeting.any_thread |= constant(self.block.operand(ivs.len() + axis)) != Some(1),
                (left, right) if left == right => meeting.digit(left, Range { low: -extent, high: extent }, true),
                (left, right) => {
                    meeting.digit(left, Range { low: 0, high: extent }, false);
                    meeting.digit(-right, Range { low: 0, high: extent }, false);
                    meeting.any_thread = true;
                }
            }
        }
        let others = |linear: &Linear<'c>| {
            let terms = linear.terms.iter().copied();
            terms.filter(|term| !ivs.iter().any(|iv| term.symbol == Symbol::Value(*iv))).collect::<Vec<_>>()
        };
        for term in others(a) {
            if self.is_fixed(term.symbol.value()) {
                meeting.digit(term.factor - b.factor(term.symbol), term.range, false);
            } else {
                meeting.digit(term.factor, term.range, false);
            }
        }
        for term in others(b) {
            if !self.is_fixed(term.symbol.value()) || a.factor(term.symbol) == 0 {
                meeting.digit(-term.factor, term.range, false);
            }
        }
        meeting
    }
}

/// The difference of two offsets: a constant and multiples of numbers in ranges.
struct Meeting {
    constant: i128,
    digits: Vec<Digit>,
    /// Two threads may differ without that the digits do.
    any_thread: bool,
}

#[derive(Clone, Copy)]
struct Digit {
    factor: i128,
    range: Range,
    /// The difference of the threads' numbers in one dimension.
    thread: bool,
}

/// How many cases are looked at before two accesses are taken to meet.
const CASES: u32 = 4096;

impl Meeting {
    fn digit(&mut self, factor: i128, range: Range, thread: bool) {
        if factor != 0 {
            self.digits.push(Digit { factor, range, thread });
        }
    }

    /// Whether the difference can be less than `right`, and more than minus `left` bytes.
    fn can_be_within(mut self, left: i128, right: i128) -> bool {
        self.digits.sort_by_key(|digit| std::cmp::Reverse(digit.factor.abs()));
        let reach =
            |digit: &Digit| digit.factor.abs().saturating_mul(digit.range.low.abs().max(digit.range.high.abs()));
        let total = self.digits.iter().map(reach).fold(self.constant.abs(), i128::saturating_add);
        if total >= i128::from(i64::MAX) {
            return true;
        }
        let mut cases = CASES;
        self.search(0, self.constant, [-left, right], self.any_thread, &mut cases)
    }

    fn search(&self, at: usize, sum: i128, bounds: [i128; 2], differ: bool, cases: &mut u32) -> bool {
        if *cases == 0 {
            return true;
        }
        *cases -= 1;
        let Some(digit) = self.digits.get(at) else { return differ && bounds[0] < sum && sum < bounds[1] };
        let (mut least, mut most) = (0, 0);
        for rest in &self.digits[at + 1..] {
            let ends = [rest.factor * rest.range.low, rest.factor * rest.range.high];
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
        }
        // bounds[0] - most < sum + factor * number < bounds[1] - least
        let (low, high) = (bounds[0] - most - sum + 1, bounds[1] - least - sum - 1);
        let (first, last) = match digit.factor > 0 {
            true => (ceiling(low, digit.factor), high.div_euclid(digit.factor)),
            false => (ceiling(-high, -digit.factor), (-low).div_euclid(-digit.factor)),
        };
        let (first, last) = (first.max(digit.range.low), last.min(digit.range.high));
        if last - first >= i128::from(*cases) {
            return true;
        }
        (first..=last).any(|number| {
            let differ = differ || (digit.thread && number != 0);
            self.search(at + 1, sum + digit.factor * number, bounds, differ, cases)
        })
    }
}

fn ceiling(number: i128, divisor: i128) -> i128 {
    -(-number).div_euclid(divisor)
}

/// What a pointer that is followed no further points to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Shared,
    Dynamic,
    Local,
    /// A struct passed by value.
    Struct,
    /// A pointer that the host passed.
    Argument,
    Global,
}

fn object_of(root: Value<'_>) -> Option<Kind> {
    object_kind(root.defining_op()?)
}

fn object_kind(op: Op<'_>) -> Option<Kind> {
    match op.name() {
        "regrain.shared" => Some(Kind::Shared),
        "regrain.dynamic_shared" => Some(Kind::Dynamic),
        "llvm.alloca" => Some(Kind::Local),
        "llvm.mlir.addressof" => Some(Kind::Global),
        "llvm.load" if op.has_attr(KERNEL_ARG) && is_struct_pointer(op) => Some(Kind::Struct),
        "llvm.load" if op.has_attr(KERNEL_ARG) => Some(Kind::Argument),
        _ => None,
    }
}

/// Whether two pointers point to the beginning of one object.
pub fn same_object(a: Value<'_>, b: Value<'_>) -> bool {
    if a == b {
        return true;
    }
    let (Some(left), Some(right)) = (a.defining_op(), b.defining_op()) else { return false };
    match (object_kind(left), object_kind(right)) {
        (Some(Kind::Dynamic), Some(Kind::Dynamic)) => true,
        (Some(Kind::Global), Some(Kind::Global)) => left.attr("global_name") == right.attr("global_name"),
        _ => false,
    }
}

/// Whether an address gets where it is not followed.
fn escapes(pointer: Value<'_>) -> bool {
    !pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" | "llvm.bitcast" => !escapes(used.owner.result(0)),
        "llvm.icmp" => true,
        "llvm.load" | "llvm.atomicrmw" | "llvm.cmpxchg" | "llvm.intr.memset" => used.operand == 0,
        "llvm.store" => used.operand == 1,
        "llvm.intr.memcpy" | "llvm.intr.memmove" => used.operand <= 1,
        name => name.starts_with("llvm.intr.lifetime."),
    })
}

fn only_read(pointer: Value<'_>) -> bool {
    pointer.uses().into_iter().all(|used| match used.owner.name() {
        "llvm.getelementptr" | "llvm.addrspacecast" => only_read(used.owner.result(0)),
        "llvm.load" => true,
        "llvm.intr.memcpy" | "llvm.intr.memmove" => used.operand == 1,
        _ => false,
    })
}

fn is_constant_global(address: Op<'_>) -> bool {
    let global = || {
        let module = address.parent_of_name("builtin.module")?;
        module.lookup_symbol(address.attr("global_name")?.as_symbol()?)
    };
    address.is("llvm.mlir.addressof")
        && global().is_some_and(|global| {
            global.has_attr("constant") || crate::raise::kernel_checks::address_space(global) == 4
        })
}

/// Whether an operation reads a member of a struct passed by value that the kernel never writes.
pub fn is_read_only_struct(load: Op<'_>) -> bool {
    if !load.is("llvm.load") || load.has_attr("volatile_") {
        return false;
    }
    let mut at = load.operand(0);
    while let Some(op) = at.defining_op() {
        match op.name() {
            "llvm.getelementptr" if op.num_operands() == 1 => at = op.operand(0),
            _ => return object_kind(op) == Some(Kind::Struct) && only_read(at),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries every value of every digit.
    fn meets(meeting: &Meeting, at: usize, sum: i128, differ: bool, sizes: [i128; 2]) -> bool {
        let Some(digit) = meeting.digits.get(at) else { return differ && -sizes[0] < sum && sum < sizes[1] };
        (digit.range.low..=digit.range.high).any(|number| {
            meets(meeting, at + 1, sum + digit.factor * number, differ || (digit.thread && number != 0), sizes)
        })
    }

    #[test]
    fn the_search_finds_what_trying_everything_finds() {
        let mut state = 1u64;
        let mut random = |count: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            i128::from((state >> 33) % count)
        };
        let (mut some, mut none) = (0, 0);
        for _ in 0..20_000 {
            let mut meeting = Meeting { constant: random(81) - 40, digits: Vec::new(), any_thread: random(4) == 0 };
            for _ in 0..random(4) {
                let (low, extent) = (-random(4), random(8));
                let thread = random(2) == 0;
                let range =
                    if thread { Range { low: -extent, high: extent } } else { Range { low, high: low + extent } };
                meeting.digit(random(61) - 30, range, thread);
            }
            let sizes = [1 + random(8), 1 + random(8)];
            let expected = meets(&meeting, 0, meeting.constant, meeting.any_thread, sizes);
            if expected {
                some += 1
            } else {
                none += 1
            }
            let digits: Vec<_> = meeting.digits.iter().map(|digit| (digit.factor, digit.range, digit.thread)).collect();
            let found = meeting.can_be_within(sizes[0], sizes[1]);
            assert_eq!(found, expected, "{digits:?} and sizes {sizes:?}");
        }
        assert!(some > 1000 && none > 1000, "{some} meet and {none} do not");
    }
}
