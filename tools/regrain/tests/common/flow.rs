//! Control flow of random kernels as CUDA C++.

use super::ast::{Cond, Expr, Leave, Loop, Shape, Stmt};
use super::print::{Level, Open, Phase, Printer};
use super::values::Place;

impl Printer<'_> {
    /// The level inside of control flow that this level's threads agree on or not.
    fn inner(&self, uniform: bool) -> Level {
        if uniform { self.level } else { Level::Thread }
    }

    /// What may have happened where another branch begins: where threads differ, the first branch runs at the same time.
    fn beside(&self, before: Phase) -> Phase {
        if self.level == Level::Block { before } else { self.phase.join(before) }
    }

    pub fn conditional(&mut self, uniform: bool, c: &Cond, then: &[Stmt], other: &[Stmt]) {
        let c = self.condition(c, uniform);
        let (outer, before) = (self.level, self.phase);
        self.level = self.inner(uniform);
        self.line(&format!("if ({c}) {{"));
        self.block(then);
        let after = self.phase;
        self.phase = self.beside(before);
        if !other.is_empty() {
            self.line("} else {");
            self.block(other);
        }
        self.line("}");
        self.phase = self.phase.join(after);
        self.level = outer;
    }

    pub fn switch(&mut self, uniform: bool, e: &Expr, cases: &[(Vec<Stmt>, bool)]) {
        let at = if uniform { self.agreed() } else { self.anywhere() };
        let e = self.settled(|p| p.expr(e, at));
        let (outer, before) = (self.level, self.phase);
        self.level = self.inner(uniform);
        self.line(&format!("switch ({e} % {}u) {{", cases.len() + 1));
        if let Some(open) = self.loops.last_mut() {
            open.in_switch += 1;
        }
        let mut all = before;
        for (number, (body, falls)) in cases.iter().enumerate() {
            let label =
                if number + 1 == cases.len() && !falls { "default:".to_owned() } else { format!("case {number}:") };
            self.line(&format!("{label} {{"));
            self.block(body);
            all = all.join(self.phase);
            self.line(if *falls { "}" } else { "} break;" });
            // Who falls through comes with what the case did.
            self.phase = if *falls { self.phase.join(before) } else { self.beside(before) };
        }
        self.line("}");
        if let Some(open) = self.loops.last_mut() {
            open.in_switch -= 1;
        }
        self.phase = all;
        self.level = outer;
    }

    pub fn counted(&mut self, l: &Loop) {
        let outer = self.level;
        let exited = self.exited;
        let level = self.inner(l.uniform);
        let steady = Place { uniform: level != Level::Thread, memory: false };
        let bound = self.expr(&l.bound, steady);
        let cond = self.cond(&l.cond, steady);
        let i = self.fresh("i");
        let (head, first, tail) = heads(l.shape, &i, &bound, &cond);
        self.exited |= returns(&l.body);
        self.level = level;
        self.loops.push(Open { level, in_switch: 0 });
        self.counters.push((i, level == Level::Block));
        // What a round may leave is what the next one may find.
        let (mut start, size, touched) = (self.phase, self.out.len(), self.touched);
        loop {
            self.out.truncate(size);
            (self.phase, self.touched) = (start, Phase::default());
            let pragma = ["#pragma unroll", "#pragma unroll 2", "#pragma unroll 1"];
            if let Some(pragma) = pragma.get(usize::from(l.unroll % 6)).filter(|_| head.starts_with("for")) {
                self.line(pragma);
            }
            for line in head.lines() {
                self.line(line);
            }
            first.iter().for_each(|line| self.line(line));
            self.block(&l.body);
            self.line(&tail);
            let end = start.join(if leaves(&l.body) { self.touched.join(self.phase) } else { self.phase });
            if end == start {
                break;
            }
            start = end;
        }
        self.phase = start;
        self.touched = touched.join(self.touched);
        self.counters.pop();
        self.loops.pop();
        self.level = outer;
        self.exited |= exited;
    }

    pub fn leave(&mut self, kind: Leave, uniform: bool, c: &Cond) {
        let place = self.loops.last().map(|open| (open.level, open.in_switch));
        match (kind, place) {
            (Leave::Return, _) => {
                // A block that agrees leaves as one; else warp operations must not count on all lanes from here on.
                let c = self.condition(c, uniform);
                self.exited |= !(uniform && self.level == Level::Block);
                self.line(&format!("if ({c}) return;"));
            }
            (_, Some((level, switches)))
                if level == self.level && (switches == 0 || matches!(kind, Leave::Continue)) =>
            {
                let c = self.condition(c, true);
                self.line(&format!("if ({c}) {};", if matches!(kind, Leave::Break) { "break" } else { "continue" }));
            }
            _ => {}
        }
    }
}

/// Opening lines, a first statement of the body, and the closing line.
fn heads(shape: Shape, i: &str, bound: &str, cond: &str) -> (String, Option<String>, String) {
    let few = format!("({bound}) % 5u");
    let up = |ty: &str, from: &str, test: &str, step: &str| {
        (format!("for ({ty} {i} = {from}; {test}; {step}) {{"), None, "}".to_owned())
    };
    match shape {
        Shape::Up(step) => up("unsigned", "0", &format!("{i} < {few}"), &format!("{i} += {step}")),
        Shape::UpSigned(step) => up("int", "0", &format!("{i} < (int)({few})"), &format!("{i} += {step}")),
        Shape::Between(step) => {
            up("int", &format!("(int)({few}) - 2"), &format!("{i} <= 4 - (int)({few})"), &format!("{i} += {step}"))
        }
        Shape::Down(step) => up("int", &format!("(int)({few})"), &format!("{i} >= 0"), &format!("{i} -= {step}")),
        Shape::Halve => up("unsigned", &format!("({bound}) % 32u"), &format!("{i} > 0"), &format!("{i} >>= 1")),
        Shape::NotEqual => {
            let end = format!("const unsigned {i}_end = {few};\n");
            let (head, first, tail) = up("unsigned", "0", &format!("{i} != {i}_end"), &format!("++{i}"));
            (end + &head, first, tail)
        }
        Shape::Forever => {
            let (head, _, tail) = up("unsigned", "0", "", &format!("++{i}"));
            (head, Some(format!("  if ({i} >= {few}) break;")), tail)
        }
        Shape::While => {
            (format!("unsigned {i} = 0;\nwhile ({i} < 4u && {cond}) {{"), Some(format!("  ++{i};")), "}".to_owned())
        }
        Shape::Do => (format!("unsigned {i} = 0;\ndo {{"), None, format!("}} while (++{i} < {few});")),
        Shape::DoWhile => (format!("unsigned {i} = 0;\ndo {{"), None, format!("}} while (++{i} < 4u && {cond});")),
    }
}

fn any(body: &[Stmt], test: &dyn Fn(&Stmt) -> bool) -> bool {
    body.iter().any(|stmt| {
        test(stmt)
            || match stmt {
                Stmt::If(_, _, a, b) => any(a, test) || any(b, test),
                Stmt::WarpIf(_, body) => any(body, test),
                Stmt::Switch(_, _, cases) => cases.iter().any(|(body, _)| any(body, test)),
                Stmt::Loop(l) => any(&l.body, test),
                _ => false,
            }
    })
}

fn returns(body: &[Stmt]) -> bool {
    any(body, &|stmt| matches!(stmt, Stmt::Leave(Leave::Return, ..)))
}

fn leaves(body: &[Stmt]) -> bool {
    any(body, &|stmt| matches!(stmt, Stmt::Leave(..)))
}
