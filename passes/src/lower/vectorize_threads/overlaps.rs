//! Whether what groups of accesses reach in the rounds of a loop is apart, asked before the loop.
//!
//! ```mlir
//! %end_a = %a0 + 15 * 16384 + 4 * (%rounds - 1) + 4       // from the first lane's first place to the last lane's last
//! %apart = %end_a <= %c0 || %end_c <= %a0
//! ```

use mlir_bridge::ir::{Op, Value};

use super::{
    emit::{Emitted, Emitter, Row},
    tile_groups::Group,
    tiles::Plan,
};

impl<'c> Emitter<'c, '_> {
    /// Whether the groups that must not meet do not, from where the loop begins until so many rounds (i64) later.
    pub fn is_apart(&mut self, plan: &Plan<'c>, last: Value<'c>) -> Emitted<Value<'c>> {
        let mut reached = Vec::new();
        for (number, group) in plan.groups.iter().enumerate() {
            let asked = plan.apart.iter().any(|pair| pair.contains(&number));
            reached.push(if asked { Some(self.reached(group, last)?) } else { None });
        }
        let b = self.b;
        let mut all = b.const_int(self.i1(), 1);
        for [first, second] in &plan.apart {
            if let (Some([low, end]), Some([other_low, other_end])) = (reached[*first], reached[*second]) {
                let either = b.arith("ori", b.cmpi("ule", end, other_low), b.cmpi("ule", other_end, low));
                all = b.arith("andi", all, either);
            }
        }
        Ok(all)
    }

    /// Whether no narrow number that an address is made of wraps between the round that the loop's number is bound to and the one in which
    /// it is `end`, so many rounds (i64) later.
    pub fn is_exact(
        &mut self,
        plan: &Plan<'c>,
        number: Value<'c>,
        end: Value<'c>,
        rounds: Value<'c>,
    ) -> Emitted<Option<Value<'c>>> {
        let mut all: Option<Value<'c>> = None;
        for group in plan.groups.iter().filter(|group| !group.exact.is_empty()) {
            self.slice(group)?;
            let first: Vec<_> = group.exact.iter().map(|(value, _)| self.wide(*value)).collect();
            let begin = self.known.insert(number, Row::Scalar(end));
            self.slice(group)?;
            let last: Vec<_> = group.exact.iter().map(|(value, _)| self.wide(*value)).collect();
            self.known.extend(begin.map(|row| (number, row)));
            for (((_, growth), first), last) in group.exact.iter().zip(first).zip(last) {
                let way = self.b.arith("muli", rounds, self.b.const_int(rounds.ty(), *growth));
                let same = self.compare("eq", self.b.arith("subi", last, first), self.splat(way));
                all = Some(all.map_or(same, |all| self.b.arith("andi", all, same)));
            }
        }
        let Some(all) = all else { return Ok(None) };
        let taken = self.mask.map_or(all, |mask| self.select(mask, all, self.splat_int(self.i1(), 1)));
        Ok(Some(self.all(taken)))
    }

    /// A number of 64 bits in all lanes.
    fn wide(&self, value: Value<'c>) -> Value<'c> {
        let i64 = self.b.ctx().int(64);
        let vector = self.lane_vector(value);
        if value.ty() == i64 { vector } else { self.lanewise("arith.index_cast", &[vector], i64) }
    }

    /// The operations that make the address of a group, for what the loop's numbers are bound to.
    pub fn slice(&mut self, group: &Group<'c>) -> Emitted<()> {
        group.slice.iter().try_for_each(|op: &Op<'c>| self.op(*op))
    }

    /// From where to where a group reaches in all lanes, until so many rounds (i64) later.
    fn reached(&mut self, group: &Group<'c>, rounds: Value<'c>) -> Emitted<[Value<'c>; 2]> {
        self.slice(group)?;
        let b = self.b;
        let i64 = b.ctx().int(64);
        let number = |number: i64| b.const_int(i64, number);
        let [low, high] = match self.even(group.address).filter(|_| self.mask.is_none()) {
            Some(stride) => {
                let first = b.value("llvm.ptrtoint", &[self.scalar(group.address)], i64);
                let last = b.arith("addi", first, number(stride.wrapping_mul(i64::from(self.lanes - 1))));
                if stride < 0 { [last, first] } else { [first, last] }
            }
            None => {
                let all = self.lanewise("llvm.ptrtoint", &[self.lane_vector(group.address)], i64);
                let taken = |none: i64| match self.mask {
                    Some(mask) => self.select(mask, all, self.splat_int(i64, none)),
                    None => all,
                };
                [("umin", -1), ("umax", 0)]
                    .map(|(name, none)| b.value(&format!("llvm.intr.vector.reduce.{name}"), &[taken(none)], i64))
            }
        };
        let way = b.arith("muli", rounds, number(group.advance));
        let [low, high] = match group.advance < 0 {
            true => [b.arith("addi", low, way), high],
            false => [low, b.arith("addi", high, way)],
        };
        let offsets = || group.members.iter().map(|member| member.offset);
        let (least, most) = (offsets().min().unwrap_or(0), offsets().max().unwrap_or(0));
        Ok([b.arith("addi", low, number(least)), b.arith("addi", high, number(most + group.size))])
    }
}
