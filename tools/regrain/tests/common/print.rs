//! Random kernels as CUDA C++: statements, and the bookkeeping that keeps them defined.
//!
//! Between two barriers an array that the block shares is either written, each thread its own slot, or read across
//! threads. The printer follows which of both may have happened (`Phase`), and puts a barrier where it must. Where
//! threads may have gone different ways (`Level`) there can be none, and the access is left out.

use super::ast::{Cond, Expr, Helper, Kernel, Stmt};
use super::tiles;
use super::values::Place;

/// Threads that go the same way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Block,
    Warp,
    Thread,
}

/// What may have happened to shared arrays since the last barrier, a bit for each array.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Phase {
    /// Written by the owner of the slot.
    own: u32,
    /// Read by others.
    other: u32,
}

impl Phase {
    pub fn join(self, with: Phase) -> Phase {
        Phase { own: self.own | with.own, other: self.other | with.other }
    }
}

/// Arrays of unsigned words: static, in a struct, dynamic, in global memory.
pub const SHARED_WORDS: usize = 4;
pub const SHARED_FLOAT: usize = 4;
const ATOMICS: usize = 5;
const MAILBOX: usize = 6;

pub struct Open {
    pub level: Level,
    /// `break` here would leave a switch.
    pub in_switch: u32,
}

pub struct Printer<'k> {
    pub out: String,
    indent: usize,
    pub phase: Phase,
    /// All that has happened since the outermost mark, barriers or not.
    pub touched: Phase,
    pub level: Level,
    pub wants_barrier: bool,
    /// Some threads may have returned.
    pub exited: bool,
    pub loops: Vec<Open>,
    pub counters: Vec<(String, bool)>,
    next: u32,
    /// The helpers that may be called, and their names' prefix.
    helpers: &'k [Helper],
    name: String,
    helper: bool,
    /// What threads agree on is the same in all blocks.
    pub alike: bool,
}

impl<'k> Printer<'k> {
    pub fn new(name: &str, helpers: &'k [Helper], helper: bool) -> Self {
        Printer {
            out: String::new(),
            indent: 1,
            phase: Phase::default(),
            touched: Phase::default(),
            level: if helper { Level::Thread } else { Level::Block },
            wants_barrier: false,
            exited: false,
            loops: Vec::new(),
            counters: Vec::new(),
            next: 0,
            helpers,
            name: name.to_owned(),
            helper,
            alike: false,
        }
    }

    pub fn in_helper(&self) -> bool {
        self.helper
    }

    pub fn counters(&self, uniform: bool) -> Vec<&String> {
        self.counters.iter().filter(|(_, agreed)| *agreed || !uniform).map(|(name, _)| name).collect()
    }

    pub fn callee(&self, f: u8) -> Option<String> {
        (!self.helpers.is_empty()).then(|| format!("{}_help{}", self.name, usize::from(f) % self.helpers.len()))
    }

    pub fn slot(&self, array: usize, index: &str) -> String {
        match array {
            0 => format!("plain[{index}]"),
            1 => format!("packed[{index}].v"),
            2 => format!("dynamic[{index}]"),
            3 => format!("global[{index}]"),
            _ => format!("reals[{index}]"),
        }
    }

    /// Whether another thread's slot may be read here.
    pub fn may_read(&mut self, array: usize, at: Place) -> bool {
        if self.helper || !at.memory {
            return false;
        }
        if self.phase.own & (1 << array) != 0 {
            self.wants_barrier |= self.level == Level::Block;
            return false;
        }
        self.phase.other |= 1 << array;
        self.touched.other |= 1 << array;
        true
    }

    /// Whether the thread may write its own slot, if need be behind a barrier.
    fn may_write(&mut self, array: usize) -> bool {
        if self.helper {
            return false;
        }
        if self.phase.other & (1 << array) != 0 {
            if self.level != Level::Block {
                return false;
            }
            self.barrier();
        }
        self.phase.own |= 1 << array;
        self.touched.own |= 1 << array;
        true
    }

    pub fn barrier(&mut self) {
        self.line("__syncthreads();");
        self.phase = Phase::default();
    }

    pub fn line(&mut self, text: &str) {
        self.out.push_str(&"  ".repeat(self.indent));
        self.out.push_str(text);
        self.out.push('\n');
    }

    pub fn fresh(&mut self, stem: &str) -> String {
        self.next += 1;
        format!("{stem}{}", self.next)
    }

    pub fn value(&mut self, e: &Expr) -> String {
        let at = self.anywhere();
        self.settled(|p| p.expr(e, at))
    }

    pub fn condition(&mut self, c: &Cond, agreed: bool) -> String {
        let at = if agreed { self.agreed() } else { self.anywhere() };
        self.settled(|p| p.cond(c, at))
    }

    pub fn block(&mut self, body: &[Stmt]) {
        self.indent += 1;
        for stmt in body {
            self.statement(stmt);
        }
        self.indent -= 1;
    }

    /// Writes `value` to the thread's own slot.
    fn store(&mut self, array: usize, value: &str) {
        if self.phase.other & (1 << array) == 0 {
            if self.may_write(array) {
                let slot = self.slot(array, "tid");
                self.line(&format!("{slot} = {value};"));
            }
            return;
        }
        let kept = self.fresh("t");
        self.line(&format!("const auto {kept} = {value};"));
        if self.may_write(array) {
            let slot = self.slot(array, "tid");
            self.line(&format!("{slot} = {kept};"));
        }
    }

    fn variable(&self, v: u8) -> String {
        format!("u{}", v % if self.helper { 2 } else { 3 })
    }

    pub fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(v, e) => {
                let e = self.value(e);
                let assign = ["=", "+=", "^="][usize::from(v / 3 % 3)];
                self.line(&format!("{} {assign} {e};", self.variable(*v)));
            }
            Stmt::SetLocal(index, e) => {
                let at = self.anywhere();
                let text = self.settled(|p| format!("la[{} & 3u] = {};", p.expr(index, at), p.expr(e, at)));
                self.line(&text);
            }
            Stmt::If(uniform, c, then, other) => self.conditional(*uniform, c, then, other),
            Stmt::Switch(uniform, e, cases) => self.switch(*uniform, e, cases),
            Stmt::Loop(l) => self.counted(l),
            Stmt::Leave(kind, uniform, c) => self.leave(*kind, *uniform, c),
            Stmt::CallPointer(f, v, e) => {
                let (e, v) = (self.value(e), self.variable(*v));
                match self.callee(*f) {
                    Some(name) => self.line(&format!("{name}_ref(&{v}, {e}, in);")),
                    None => self.line(&format!("{v} -= {e};")),
                }
            }
            Stmt::Pointer(c, v, e) => {
                let at = self.anywhere();
                let (one, two) = (self.variable(*v), self.variable(v.wrapping_add(1)));
                let text = self.settled(|p| format!("*({} ? &{one} : &{two}) += {};", p.cond(c, at), p.expr(e, at)));
                self.line(&text);
            }
            _ if self.helper => {}
            other => self.shared(other),
        }
    }

    /// What only a kernel has.
    fn shared(&mut self, stmt: &Stmt) {
        let at = self.anywhere();
        match stmt {
            Stmt::SetReal(v, r) => {
                let double = v % 3 == 2;
                let r = self.settled(|p| p.real(r, double, at));
                self.line(&format!("{} = {r};", ["f0", "f1", "d0"][usize::from(v % 3)]));
            }
            Stmt::SetUniform(v, e) if self.level == Level::Block => {
                let agreed = self.agreed();
                let e = self.settled(|p| p.expr(e, agreed));
                self.line(&format!("s{} = {e};", v % 2));
            }
            Stmt::SetUniform(v, e) => self.statement(&Stmt::Set(*v, e.clone())),
            Stmt::Out(k, e) => {
                let e = self.value(e);
                self.line(&format!("out[{}] = {e};", k % 4));
            }
            Stmt::Share(array, e) => {
                let e = self.value(e);
                self.store(usize::from(*array) % SHARED_WORDS, &e);
            }
            Stmt::ShareReal(r) => {
                let r = self.settled(|p| p.real(r, false, at));
                self.store(SHARED_FLOAT, &r);
            }
            Stmt::Fill(array, e) => self.fill(usize::from(*array) % SHARED_WORDS, e),
            Stmt::Barrier if self.level == Level::Block => self.barrier(),
            Stmt::WarpIf(k, body) => {
                let (level, phase) = (self.level, self.phase);
                let test = ["tid / 32u % 2u == 0u", "tid / 32u == 0u", "warp > 0u", "(warp + blockIdx.x) % 2u == 1u"];
                self.line(&format!("if ({}) {{", test[usize::from(k % 4)]));
                self.level = level.max(Level::Warp);
                self.block(body);
                self.line("}");
                (self.level, self.phase) = (level, self.phase.join(phase));
            }
            Stmt::AtomicGlobal(op, index, e) => {
                let name = ["Add", "Xor", "Max", "Min", "Or", "And"][usize::from(op % 6)];
                let ty = if op & 64 == 0 { "" } else { "wide + " };
                let text = self.settled(|p| {
                    let (index, e) = (p.expr(index, at), p.expr(e, at));
                    format!(
                        "atomic{name}({ty}{}({} + {index} % 8u), {e});",
                        if ty.is_empty() { "acc + " } else { "" },
                        op % 6 * 8
                    )
                });
                self.line(&text);
            }
            Stmt::AtomicShared(index, e) => {
                let text =
                    self.settled(|p| format!("atomicAdd(&sums[{} & 7u], {});", p.expr(index, at), p.expr(e, at)));
                let kept = self.phase;
                if self.phase.other & (1 << ATOMICS) == 0 || self.level == Level::Block {
                    let _ = self.may_write(ATOMICS);
                    // A barrier in between lets the operands read again what they read before it.
                    self.phase.other |= kept.other & !(1 << ATOMICS);
                    self.line(&text);
                }
            }
            Stmt::ReadAtomic(v, index) => {
                let v = self.variable(*v);
                let text = self.settled(|p| {
                    let index = p.expr(index, at);
                    if p.may_read(ATOMICS, at) {
                        format!("{v} ^= sums[{index} & 7u];")
                    } else {
                        format!("{v} ^= {index};")
                    }
                });
                self.line(&text);
            }
            _ => self.together(stmt),
        }
    }

    /// What warps and blocks do together.
    fn together(&mut self, stmt: &Stmt) {
        let at = self.anywhere();
        let warp = self.level <= Level::Warp && !self.exited;
        let block = self.level == Level::Block;
        match stmt {
            Stmt::Shuffle(kind, v, e, lane) if warp => {
                let text = self.settled(|p| {
                    let (e, lane) = (p.expr(e, at), p.expr(lane, at));
                    match kind % 6 {
                        0 => format!("__shfl_sync(~0u, {e}, {lane} % wn)"),
                        1 => format!("shuffle_xor({e}, {} , lane, wn)", 1 << (kind / 6 % 5)),
                        2 => format!("shuffle_down({e}, {lane} % 32u, lane, wn)"),
                        3 => format!("__shfl_up_sync(~0u, {e}, {lane} % 32u)"),
                        4 => format!("__shfl_up_sync(~0u, {e}, {}u, 8)", kind / 6 % 8),
                        _ => format!("__shfl_sync(~0u, {e}, {}u)", 0),
                    }
                });
                self.line(&format!("{} += {text};", self.variable(*v)));
            }
            Stmt::Vote(kind, v, c) if warp => {
                let c = self.condition(c, false);
                let vote = [
                    "__ballot_sync(~0u, {})",
                    "__any_sync(~0u, {})",
                    "__all_sync(full, {})",
                    "__popc(__ballot_sync(~0u, {}))",
                ];
                let text = vote[usize::from(kind % 4)].replace("{}", &c);
                self.line(&format!("{} ^= {text};", self.variable(*v)));
            }
            Stmt::FirstLanes(few, v, e, lane) if warp => {
                let few = ["1u", "4u", "16u", "17u", "31u", "(wn + 1u) / 2u"][usize::from(few % 6)];
                let text = self.settled(|p| format!("{}, {}", p.expr(e, at), p.expr(lane, at)));
                self.line(&format!("if (lane < {few}) {} ^= among_first({few}, {text}, wn);", self.variable(*v)));
            }
            Stmt::Shuffle(_, v, e, _) | Stmt::FirstLanes(_, v, e, _) => self.statement(&Stmt::Set(*v, e.clone())),
            Stmt::SyncWarp if warp => self.line("__syncwarp();"),
            Stmt::Count(kind, v, c) if block => {
                let c = self.condition(c, false);
                let name = ["count", "or", "and"][usize::from(kind % 3)];
                self.line(&format!("s{} = __syncthreads_{name}({c});", v % 2));
                self.phase = Phase::default();
            }
            Stmt::Broadcast(v, who, e) if block => {
                let uniform = self.agreed();
                let text =
                    self.settled(|p| format!("if (tid == {} % nt) sent = {};", p.expr(who, uniform), p.expr(e, at)));
                let kept = self.phase;
                let _ = self.may_write(MAILBOX);
                self.phase.other |= kept.other & !(1 << MAILBOX);
                self.line(&text);
                self.barrier();
                self.line(&format!("s{} = sent;", v % 2));
                self.phase.other |= 1 << MAILBOX;
                self.touched.other |= 1 << MAILBOX;
            }
            Stmt::Reduce(array, op) if block => self.reduce(usize::from(*array) % SHARED_WORDS, *op),
            Stmt::Rotate(array, v, e, by) if block => {
                let array = usize::from(*array) % SHARED_WORDS;
                let text = self.settled(|p| format!("{}, {} % nt", p.expr(e, at), p.expr(by, at)));
                let name = if array == 1 { "rotate_packed" } else { "rotate" };
                let base = ["plain", "packed", "dynamic", "global"][array];
                self.line(&format!("{} += {name}({base}, {text}, tid, nt);", self.variable(*v)));
                self.phase = Phase { own: 0, other: 1 << array };
                self.touched = self.touched.join(Phase { own: 1 << array, other: 1 << array });
            }
            _ => {}
        }
    }

    fn fill(&mut self, array: usize, e: &Expr) {
        // The value is computed in each round: it reads nothing that others write.
        if !self.may_write(array) {
            return;
        }
        let i = self.fresh("i");
        self.counters.push((i.clone(), false));
        let value = self.expr(e, Place { uniform: false, memory: false });
        self.counters.pop();
        let slot = self.slot(array, &i);
        self.line(&format!("for (unsigned {i} = tid; {i} < SLOTS; {i} += nt) {slot} = {value} + {i};"));
    }

    fn reduce(&mut self, array: usize, op: u8) {
        let (own, other) = (self.slot(array, "tid"), self.slot(array, "tid + half"));
        let op = ["+", "^", "|"][usize::from(op % 3)];
        self.barrier();
        let next = format!("if (tid < half && tid + half < nt) {own} = {own} {op} {other};");
        self.line("for (unsigned half = 64; half > 0; half >>= 1) {");
        self.line(&format!("  {next}"));
        self.line("  __syncthreads();");
        self.line("}");
        self.touched.own |= 1 << array;
    }
}

/// A device function, in two forms: one gives its result, one writes it through a pointer.
pub fn helper(kernel: &str, index: usize, all: &[Helper]) -> String {
    let this = &all[index];
    let mut p = Printer::new(kernel, &all[..index], true);
    p.block(&this.body);
    let result = p.value(&this.result);
    let inlining = ["", "__noinline__ ", "__forceinline__ ", "inline "][usize::from(this.inlining % 4)];
    let (body, name) = (p.out.replace("return;", "return u0 ^ u1;"), format!("{kernel}_help{index}"));
    format!(
        "static __device__ {inlining}unsigned {name}(unsigned a, unsigned b, const unsigned *in) {{
  unsigned u0 = a, u1 = b * 3u, la[4] = {{a, b, 5u, a + b}};\n{body}  return {result} + u0 + u1;\n}}
static __device__ {inlining}void {name}_ref(unsigned *to, unsigned b, const unsigned *in) {{
  if (b % 3u != 1u) *to += {name}(b, *to, in);\n}}\n"
    )
}

/// What the block shares: how it is named, declared, begun with and shown at the end.
const SHARED: [[&str; 4]; 7] = [
    ["plain", "__shared__ unsigned plain[SLOTS];", "plain[tid] = tid;", "out[4] ^= plain[next];"],
    ["packed", "__shared__ Packed packed[SLOTS];", "packed[tid].v = nt - tid;", "out[5] ^= packed[next].v;"],
    ["dynamic", "extern __shared__ unsigned dynamic[];", "dynamic[tid] = tid * 3u;", "out[6] ^= dynamic[next];"],
    ["global", "unsigned *global = all_global + SLOTS * bid;", "global[tid] = tid + 9u;", "out[7] ^= global[next];"],
    ["reals", "__shared__ float reals[SLOTS];", "reals[tid] = tid * 0.5f;", "out[4] += bits(reals[next]);"],
    [
        "sums",
        "__shared__ unsigned sums[8];",
        "for (unsigned i = tid; i < 8; i += nt) sums[i] = i;",
        "out[5] += sums[next % 8u];",
    ],
    ["sent", "__shared__ unsigned sent;", "if (tid == 0) sent = 5u;", "out[6] += sent;"],
];

/// The whole kernel with its device functions.
pub fn kernel(name: &str, k: &Kernel) -> String {
    if let Some(tile) = &k.tile {
        return tiles::kernel(name, k, tile);
    }
    let mut text = String::new();
    for index in 0..k.helpers.len() {
        text += &helper(name, index, &k.helpers);
    }
    let mut p = Printer::new(name, &k.helpers, false);
    p.alike = k.alike;
    p.phase.own = (1 << SHARED.len()) - 1;
    for stmt in &k.body {
        p.statement(stmt);
    }
    let bounds = if k.bounds { "__launch_bounds__(128) " } else { "" };
    let restrict = if k.restrict { "__restrict__ " } else { "" };
    text += &format!("__global__ void {bounds}{name}(PARAMETERS({restrict})) {{\n  INDICES\n");
    let used: Vec<_> = SHARED.into_iter().filter(|[name, ..]| p.out.contains(name)).collect();
    used.iter().for_each(|[_, declared, ..]| text += &format!("  {declared}\n"));
    used.iter().for_each(|[_, _, begun, _]| text += &format!("  {begun}\n"));
    if p.out.contains("sums") {
        text += "  __syncthreads();\n";
    }
    text += &format!("  VARIABLES\n{}", p.out);
    if !used.is_empty() {
        text += "  __syncthreads();\n  const unsigned next = (tid + 1u) % nt;\n";
    }
    used.iter().for_each(|[.., shown]| text += &format!("  {shown}\n"));
    text + "  RESULTS\n}\n"
}
