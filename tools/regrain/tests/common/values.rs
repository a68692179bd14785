//! Expressions of a random kernel as CUDA C++.
//!
//! The same tree is printed for the place where it stands: where all threads of the block must agree, leaves are values
//! that they agree on; where a slot of another thread may not be read, something else is.

use super::ast::{Cond, Expr, Real};
use super::print::{Level, Printer, SHARED_FLOAT, SHARED_WORDS};

/// Where a value stands.
#[derive(Clone, Copy)]
pub struct Place {
    /// All threads of the block compute the same.
    pub uniform: bool,
    /// It may read what the block shares.
    pub memory: bool,
}

const UNIFORM: [&str; 9] =
    ["blockIdx.x", "blockIdx.y", "gridDim.x", "blockDim.x", "(unsigned)n", "p.a[1]", "(unsigned)p.s", "s0", "s1"];
const ALIKE: [&str; 5] = ["gridDim.x", "blockDim.x", "(unsigned)n", "p.a[1]", "(unsigned)p.s"];
const DIVERGENT: [&str; 12] = [
    "tid",
    "threadIdx.x",
    "u0",
    "u1",
    "u2",
    "lane",
    "threadIdx.y",
    "threadIdx.z",
    "(unsigned)n",
    "blockIdx.x",
    "p.a[2]",
    "s0",
];
const HELPER: [&str; 4] = ["a", "b", "u0", "u1"];
const COMPARE: [&str; 6] = ["<", "==", ">", "!=", "<=", ">="];

impl Printer<'_> {
    pub fn expr(&mut self, e: &Expr, at: Place) -> String {
        match e {
            Expr::Const(c) => format!("{c}u"),
            Expr::Leaf(n) => self.leaf(*n, at),
            Expr::Unary(op, a) => unary(*op, &self.expr(a, at)),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expr(a, at), self.expr(b, at));
                binary(*op, &a, &b)
            }
            Expr::Select(c, a, b) => {
                let (c, a, b) = (self.cond(c, at), self.expr(a, at), self.expr(b, at));
                format!("({c} ? {a} : {b})")
            }
            Expr::Input(a) if at.uniform && self.alike => self.expr(a, at),
            Expr::Input(a) => format!("in[{} & 255u]", self.expr(a, at)),
            Expr::Local(a) if at.uniform => self.expr(a, at),
            Expr::Local(a) => format!("la[{} & 3u]", self.expr(a, at)),
            Expr::Own(n) if at.uniform || !at.memory || self.in_helper() => self.leaf(*n, at),
            Expr::Own(n) => self.slot(usize::from(*n) % SHARED_WORDS, "tid"),
            Expr::Other(_, index) if at.uniform && self.alike => self.expr(index, at),
            Expr::Other(n, index) => {
                let index = self.expr(index, at);
                let array = usize::from(*n) % SHARED_WORDS;
                if self.may_read(array, at) { self.slot(array, &format!("{index} % nt")) } else { index }
            }
            Expr::FromReal(r) => {
                let value = self.real(r, false, at);
                format!("from_float({value})")
            }
            Expr::Call(f, a, b) => {
                let (a, b) = (self.expr(a, at), self.expr(b, at));
                match self.callee(*f).filter(|_| !(at.uniform && self.alike)) {
                    Some(name) => format!("{name}({a}, {b}, in)"),
                    None => format!("({a} - {b})"),
                }
            }
        }
    }

    fn leaf(&self, n: u8, at: Place) -> String {
        let n = usize::from(n);
        let fixed: &[&str] = match (self.in_helper(), at.uniform) {
            (true, _) => &HELPER,
            (false, true) if self.alike => &ALIKE,
            (false, true) => &UNIFORM,
            (false, false) => &DIVERGENT,
        };
        let counters: Vec<&String> = self.counters(at.uniform);
        let at = n % (fixed.len() + 2 * counters.len());
        match at.checked_sub(fixed.len()) {
            Some(counter) => format!("(unsigned){}", counters[counter / 2]),
            None => fixed[at].to_owned(),
        }
    }

    /// A value of type `double` or `float`.
    pub fn real(&mut self, r: &Real, double: bool, at: Place) -> String {
        let ty = if double { "double" } else { "float" };
        match r {
            Real::Const(c) => format!("({ty}){:?}", f32::from(*c) * 0.25),
            Real::Leaf(n) => {
                let uniform: [&str; 3] = ["p.f", "p.d", "n"];
                let all: [&str; 6] = ["f0", "d0", "f1", "p.f", "p.d", "tid"];
                let names: &[&str] = match (self.in_helper(), at.uniform) {
                    (true, _) => &["a"],
                    (false, true) => &uniform,
                    (false, false) => &all,
                };
                format!("({ty}){}", names[usize::from(*n) % names.len()])
            }
            Real::Binary(op, a, b) => {
                let (a, b) = (self.real(a, double, at), self.real(b, double, at));
                match op % 5 {
                    0 => format!("({a} + {b})"),
                    1 => format!("({a} - {b})"),
                    2 => format!("({a} * {b})"),
                    3 => format!("({a} / ({b} * {b} + ({ty})1))"),
                    _ => format!("({a} < {b} ? {a} : {b})"),
                }
            }
            Real::Unary(op, a) => {
                let a = self.real(a, double, at);
                let f = if double { "" } else { "f" };
                match op % 4 {
                    0 => format!("(-{a})"),
                    1 => format!("fabs{f}({a})"),
                    2 => format!("sqrt{f}(fabs{f}({a}))"),
                    _ => format!("floor{f}({a})"),
                }
            }
            Real::FromInt(signed, e) => {
                let e = self.expr(e, at);
                if *signed { format!("({ty})(int){e}") } else { format!("({ty}){e}") }
            }
            Real::Cast(r) => format!("({ty}){}", self.real(r, !double, at)),
            Real::Other(index) => {
                let index = self.expr(index, at);
                if !(at.uniform && self.alike) && self.may_read(SHARED_FLOAT, at) {
                    format!("({ty}){}", self.slot(SHARED_FLOAT, &format!("{index} % nt")))
                } else {
                    format!("({ty}){index}")
                }
            }
        }
    }

    pub fn cond(&mut self, c: &Cond, at: Place) -> String {
        match c {
            Cond::Thread(n) => {
                let of = self.leaf(n >> 4, at);
                format!("({of} % 64u < {}u)", n % 70)
            }
            Cond::Compare(op, a, b) => {
                let (a, b) = (self.expr(a, at), self.expr(b, at));
                let compare = COMPARE[usize::from(op % 6)];
                // Often enough both ways.
                if op & 64 == 0 {
                    format!("({a} % 8u {compare} {b} % 8u)")
                } else {
                    format!("((int){a} {compare} (int){b})")
                }
            }
            Cond::CompareReal(op, a, b) => {
                let double = op & 64 == 0;
                let (a, b) = (self.real(a, double, at), self.real(b, double, at));
                format!("({a} {} {b})", COMPARE[usize::from(op % 6)])
            }
            Cond::Not(c) => format!("!{}", self.cond(c, at)),
            Cond::Both(a, b) => format!("({} && {})", self.cond(a, at), self.cond(b, at)),
            Cond::Either(a, b) => format!("({} || {})", self.cond(a, at), self.cond(b, at)),
        }
    }

    /// Renders with `render`; where it reads what may just have been written by another thread, behind a barrier.
    pub fn settled(&mut self, render: impl Fn(&mut Self) -> String) -> String {
        let before = self.phase;
        let text = render(self);
        if !std::mem::take(&mut self.wants_barrier) {
            return text;
        }
        self.phase = before;
        self.barrier();
        render(self)
    }

    /// Where threads may differ.
    pub fn anywhere(&self) -> Place {
        Place { uniform: false, memory: true }
    }

    /// Where the threads that come here together must agree.
    pub fn agreed(&self) -> Place {
        Place { uniform: self.level != Level::Thread, memory: true }
    }
}

fn unary(op: u8, a: &str) -> String {
    match op % 9 {
        0 => format!("(~{a})"),
        1 => format!("(0u - {a})"),
        2 => format!("(unsigned)(unsigned char){a}"),
        3 => format!("(unsigned)(short){a}"),
        4 => format!("(unsigned)__popc({a})"),
        5 => format!("(unsigned)__clz({a})"),
        6 => format!("(unsigned)__brev({a})"),
        7 => format!("(unsigned)__ffs({a})"),
        _ => format!("(unsigned)(!{a})"),
    }
}

fn binary(op: u8, a: &str, b: &str) -> String {
    match op % 18 {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 | 4 => format!("({a} * {b})"),
        5 => format!("({a} ^ {b})"),
        6 => format!("({a} & {b})"),
        7 => format!("({a} | {b})"),
        8 => format!("({a} << ({b} & 31u))"),
        9 => format!("({a} >> ({b} & 31u))"),
        10 => format!("({a} / ({b} | 1u))"),
        11 => format!("({a} % ({b} | 1u))"),
        12 => format!("(unsigned)((int){a} / (int)(({b} & 255u) + 1u))"),
        13 => format!("(unsigned)((int){a} % (int)(({b} & 255u) + 1u))"),
        14 => format!("(unsigned)((int){a} >> ({b} & 31u))"),
        15 => format!("__umulhi({a}, {b})"),
        16 => format!("(unsigned)(((unsigned long long){a} * {b} + 12345u) >> 7)"),
        _ => format!("min({a}, {b})"),
    }
}
