//! Loops by tiles of rounds.
//!
//! ```mlir
//! scf.for %k = %first to %n step %one { A }
//! ```
//! becomes, with tiles of 16 rounds,
//! ```mlir
//! %next = scf.if <a tile at least> and <what must not meet does not> {
//!   scf.for %k0 = %first to %whole step 16 {
//!     <read and transpose>
//!     scf.for %u = 0 to 16 step 1 { A of the round %k0 + %u, with the columns of the round }
//!     <transpose and write>
//!   }
//!   scf.yield %whole
//! } else { scf.yield %first }
//! scf.for %k = %next to %n step %one { A }
//! ```
//! Where the number of rounds is a constant, the ones behind the last whole tile may go by a tile, too: it begins earlier, with rounds that
//! have been made, and leaves them out. It reads and writes the same again for them.

use mlir_bridge::ir::{Op, Value};

use super::{
    blocks::{Columns, Places, alignment},
    control::terminator,
    emit::{Emitted, Emitter, Row},
    loops::copy_attrs,
    memory::Scalar,
    tile_groups::{Group, Role},
    tiles::Plan,
};
use crate::lower::LOOP_ANNOTATION;

/// Tiles, or rounds without tiles, from which on it pays to ask.
const LEAST_TILES: i64 = 2;
const LEAST_ROUNDS: i64 = 4;
/// Operations of all rounds of a tile up to which they are written out.
const LARGEST: usize = 640;

/// A group of the loop being made.
struct Early<'c, 'p> {
    group: &'p Group<'c>,
    /// Of a group that goes by tiles.
    columns: Option<Columns<'c>>,
    /// Of a group that is kept: its number, and the row of its address.
    kept: Option<(usize, Option<Row<'c>>)>,
}

impl<'c> Early<'c, '_> {
    /// The number of a value that is kept and changes.
    fn changing(&self) -> Option<usize> {
        self.kept.as_ref().map(|kept| kept.0).filter(|_| self.group.store().is_some())
    }
}

impl<'c> Emitter<'c, '_> {
    /// What a load finds that is not made where it stands.
    pub fn load_in_tile(&mut self, op: Op<'c>) -> Option<Row<'c>> {
        if let Some(pointer) = self.tile.columns.get(&op) {
            return Some(Row::Vectors(vec![self.load_column(*pointer, self.vector(op.result(0).ty()))]));
        }
        let number = self.tile.places.get(&op)?;
        Some(self.tile.kept[*number].clone())
    }

    /// Whether an access is one that is not made where it stands.
    pub fn is_in_tile(&self, op: Op<'c>) -> bool {
        self.tile.columns.contains_key(&op) || self.tile.places.contains_key(&op)
    }

    /// Whether a store is one that is not made where it stands; then it has been done.
    pub fn store_in_tile(&mut self, op: Op<'c>) -> bool {
        let column = self.tile.columns.get(&op).copied();
        let kept = self.tile.places.get(&op).copied();
        if column.is_none() && kept.is_none() {
            return false;
        }
        let vector = self.lane_vector(op.operand(0));
        if let Some(pointer) = column {
            self.store_column(vector, pointer);
        }
        if let Some(number) = kept {
            self.tile.kept[number] = Row::Vectors(vec![vector]);
        }
        true
    }

    /// The rounds of a loop that go by tiles; gives the number of the round that comes next, and what the loop carries to it.
    pub fn tiled_rounds(
        &mut self,
        op: Op<'c>,
        plan: &Plan<'c>,
        [low, high, step]: [Value<'c>; 3],
        inits: Vec<Value<'c>>,
    ) -> Emitted<(Value<'c>, Vec<Value<'c>>)> {
        let args = op.body().args();
        let b = self.b;
        let (whole, least) = self.whole_tiles(op, plan, [low, high, step]);
        let enough = b.cmpi("uge", whole, least);
        let mut may = enough;
        if plan.asks() {
            let asked = b.scf_if(enough, &[self.i1()], true);
            let mask = self.mask;
            self.within(asked.region(0).entry(), mask, |this| {
                this.set(args[0], Row::Scalar(low));
                this.bind(&args[1..], &inits);
                let rest = this.b.arith("muli", step, this.b.const_int(step.ty(), plan.rest.into()));
                let all = if plan.rest > 0 { this.b.arith("addi", whole, rest) } else { whole };
                let holds = this.asked(op, plan, [low, all, step])?;
                this.b.scf_yield(&[holds]);
                Ok(())
            })?;
            self.within(asked.region(1).entry(), mask, |this| {
                this.b.scf_yield(&[this.b.const_int(this.i1(), 0)]);
                Ok(())
            })?;
            may = asked.result(0);
        }
        let mut types = vec![low.ty()];
        types.extend(inits.iter().map(|init| init.ty()));
        let made = self.b.scf_if(may, &types, true);
        let mask = self.mask;
        self.within(made.region(0).entry(), mask, |this| {
            let end = this.b.arith("addi", low, whole);
            let mut values = vec![if plan.rest > 0 { high } else { end }];
            values.extend(this.tile_loop(op, plan, [low, end, step], &inits)?);
            this.b.scf_yield(&values);
            Ok(())
        })?;
        self.within(made.region(1).entry(), mask, |this| {
            this.b.scf_yield(&[vec![low], inits].concat());
            Ok(())
        })?;
        let results = made.results();
        Ok((results[0], results[1..].to_vec()))
    }

    /// Whether what is not known of the whole tiles holds, which the loop is at the beginning of.
    fn asked(&mut self, op: Op<'c>, plan: &Plan<'c>, [low, whole, step]: [Value<'c>; 3]) -> Emitted<Value<'c>> {
        let b = self.b;
        let i64 = b.ctx().int(64);
        let rounds = b.arith("divui", whole, step);
        let rounds = match rounds.ty() {
            ty if ty.is_index() => b.index_cast(rounds, i64),
            ty if ty == i64 => rounds,
            _ => b.value("arith.extui", &[rounds], i64),
        };
        let last = b.arith("addi", rounds, b.const_int(i64, -1));
        let apart = self.is_apart(plan, last)?;
        let end = b.arith("subi", b.arith("addi", low, whole), step);
        Ok(match self.is_exact(plan, op.body().arg(0), end, last)? {
            Some(exact) => b.arith("andi", apart, exact),
            None => apart,
        })
    }

    /// By how much the number of the loop grows in all whole tiles, and in the fewest for which tiles are made.
    fn whole_tiles(&self, op: Op<'c>, plan: &Plan<'c>, [low, high, step]: [Value<'c>; 3]) -> (Value<'c>, Value<'c>) {
        let b = self.b;
        let ty = low.ty();
        let by = crate::analysis::facts::constant(op.operand(2)).unwrap_or(1);
        let number = |number: i64| b.const_int(ty, number);
        let predicate = if op.has_attr("unsignedCmp") { "ult" } else { "slt" };
        let span = b.arith("subi", high, low);
        let rest = b.arith("remui", span, number(by * i64::from(plan.rounds)));
        let whole = b.arith("subi", span, rest);
        let inside = b.cmpi(predicate, low, high);
        let whole = b.value("arith.select", &[inside, whole, number(0)], step.ty());
        let least = match (plan.rounds, !plan.asks()) {
            (1, _) => LEAST_ROUNDS,
            (rounds, _) if plan.whole || plan.rest > 0 => rounds.into(),
            (rounds, true) => rounds.into(),
            (rounds, false) => LEAST_TILES * i64::from(rounds),
        };
        (whole, number(by * least))
    }

    /// The loop over the tiles; gives what stands for the carried values behind it.
    fn tile_loop(
        &mut self,
        op: Op<'c>,
        plan: &Plan<'c>,
        [low, end, step]: [Value<'c>; 3],
        inits: &[Value<'c>],
    ) -> Emitted<Vec<Value<'c>>> {
        let args = op.body().args();
        let outer = std::mem::take(&mut self.tile);
        self.set(args[0], Row::Scalar(low));
        self.bind(&args[1..], inits);
        let early = self.prepared(plan)?;
        let mut carried = inits.to_vec();
        carried.extend(self.changing(&early));
        let width = self.b.const_int(step.ty(), plan.rounds.into());
        let wide = self.b.arith("muli", step, width);
        let made = self.b.scf_for(low, end, wide, &carried);
        copy_attrs(op, made);
        let mask = self.mask;
        self.depth += 1;
        self.within(made.body(), mask, |this| {
            let rows = made.body().args();
            let values = match plan.rounds {
                1 => this.round(op, &early, rows[0], &rows[1..])?,
                _ => this.one_tile(op, plan, &early, step, &rows, 0)?,
            };
            this.b.scf_yield(&values);
            Ok(())
        })?;
        self.depth -= 1;
        let mut results = made.results();
        if plan.rest > 0 {
            results = self.last_tile(op, plan, &early, [end, step], &results)?;
        }
        self.tile = outer;
        self.written_back(&early, &results[inits.len()..])?;
        Ok(results[..inits.len()].to_vec())
    }

    /// What comes before the tiles: what is kept is read, and the columns before the first tile.
    fn prepared<'p>(&mut self, plan: &'p Plan<'c>) -> Emitted<Vec<Early<'c, 'p>>> {
        let mut made = Vec::new();
        for group in plan.groups.iter().filter(|group| group.role != Role::InPlace) {
            self.slice(group)?;
            let (mut columns, mut kept) = (None, None);
            if group.role == Role::Kept {
                let first = group.members[0];
                let row = if first.stores() {
                    Row::Vectors(vec![self.poison(self.vector(group.ty))])
                } else {
                    self.load(first.op)?;
                    let loaded = self.known.get(&first.op.result(0)).cloned();
                    loaded.ok_or("a load without a row")?
                };
                kept = Some((self.tile.kept.len(), self.known.get(&group.address).cloned()));
                self.tile.kept.push(row);
            } else {
                columns = Some(self.first_columns(plan, group));
            }
            made.push(Early { group, columns, kept });
        }
        for early in &made {
            if let Some((number, _)) = early.kept {
                let places = early.group.members.iter().map(|member| (member.op, number));
                self.tile.places.extend(places);
            }
        }
        Ok(made)
    }

    /// Memory for the columns of a group, with those that lie before its first tile.
    fn first_columns(&mut self, plan: &Plan<'c>, group: &Group<'c>) -> Columns<'c> {
        for member in &group.members {
            self.shapes.report.note_tile(member.op, plan.rounds);
        }
        let [first, last] = group.columns();
        let count = last - first + i64::from(plan.rounds);
        let memory = self.slots.apart(self.vector(group.ty), count + 1);
        let columns = Columns { memory, first, count };
        let Some(read) = group.first_read() else { return columns };
        for number in read..last {
            let Some(member) = group.loads().next() else { continue };
            let offset = number * group.advance;
            let scalar = Scalar { ty: group.ty, offset, alignment: alignment(member, group) };
            let vector = self.load_scalar(member.op, group.address, &scalar);
            self.store_column(vector, self.column(columns, group, number));
        }
        columns
    }

    /// The rows of what is kept and changes.
    fn changing(&self, early: &[Early<'c, '_>]) -> Vec<Value<'c>> {
        let numbers = early.iter().filter_map(Early::changing);
        numbers
            .flat_map(|number| match &self.tile.kept[number] {
                Row::Scalar(value) => vec![*value],
                Row::Vectors(vectors) => vectors.clone(),
            })
            .collect()
    }

    /// A round of the loop with this number, and with these rows of what is carried and of what is kept.
    fn round(
        &mut self,
        op: Op<'c>,
        early: &[Early<'c, '_>],
        number: Value<'c>,
        rows: &[Value<'c>],
    ) -> Emitted<Vec<Value<'c>>> {
        let args = op.body().args();
        self.set(args[0], Row::Scalar(number));
        let changing: Vec<_> = early.iter().filter_map(Early::changing).collect();
        let (carried, kept) = rows.split_at(rows.len() - changing.len());
        self.bind(&args[1..], carried);
        for (number, row) in changing.iter().zip(kept) {
            self.tile.kept[*number] = Row::Vectors(vec![*row]);
        }
        self.block(op.body())?;
        let mut values = self.all_as_rows(&terminator(op.body())?.operands(), &args[1..]);
        values.extend(self.changing(early));
        Ok(values)
    }

    /// The rounds behind the whole tiles, from `end` on, by a tile that begins with rounds that have been made.
    fn last_tile(
        &mut self,
        op: Op<'c>,
        plan: &Plan<'c>,
        early: &[Early<'c, '_>],
        [end, step]: [Value<'c>; 2],
        carried: &[Value<'c>],
    ) -> Emitted<Vec<Value<'c>>> {
        let made = i64::from(plan.rounds - plan.rest);
        for (group, columns) in early.iter().filter_map(|early| Some((early.group, early.columns?))) {
            // What is only written is what the tile before has left.
            let kept = if group.reads_ahead() { 0 } else { made };
            for number in columns.first..columns.first + kept {
                let from = self.column(columns, group, number + i64::from(plan.rest));
                let vector = self.load_column(from, self.vector(group.ty));
                self.store_column(vector, self.column(columns, group, number));
            }
        }
        let back = self.b.arith("muli", step, self.b.const_int(step.ty(), made));
        let rows = [&[self.b.arith("subi", end, back)], carried].concat();
        self.one_tile(op, plan, early, step, &rows, made)
    }

    /// The rounds of one tile, from the round `begin` of it on.
    fn one_tile(
        &mut self,
        op: Op<'c>,
        plan: &Plan<'c>,
        early: &[Early<'c, '_>],
        step: Value<'c>,
        rows: &[Value<'c>],
        begin: i64,
    ) -> Emitted<Vec<Value<'c>>> {
        let args = op.body().args();
        self.set(args[0], Row::Scalar(rows[0]));
        let changing = early.iter().filter_map(Early::changing).count();
        self.bind(&args[1..], &rows[1..rows.len() - changing]);
        let mut tiled = Vec::new();
        for (group, columns) in early.iter().filter_map(|early| Some((early.group, early.columns?))) {
            self.slice(group)?;
            let places = self.places(group);
            if group.reads_ahead() {
                self.read_block(group, &places, columns, group.columns()[1], plan.rounds);
            }
            tiled.push((group, columns, places));
        }
        let i64 = self.b.ctx().int(64);
        let [begin, one, count] = [begin, 1, plan.rounds.into()].map(|number| self.b.const_int(i64, number));
        let made = self.b.scf_for(begin, count, one, &rows[1..]);
        if plan.size * plan.rounds as usize <= LARGEST {
            let text = "#llvm.loop_annotation<unroll = <full = true>>";
            made.set_attr(LOOP_ANNOTATION, self.b.ctx().parse_attr(text).ok_or("no annotations of loops")?);
        }
        let mask = self.mask;
        self.depth += 1;
        self.within(made.body(), mask, |this| {
            let inner = made.body().args();
            for (group, columns, _) in &tiled {
                this.bind_columns(group, *columns, inner[0]);
            }
            let further = match step.ty() {
                ty if ty == i64 => inner[0],
                ty if ty.is_index() => this.b.index_cast(inner[0], ty),
                ty => this.b.value("arith.trunci", &[inner[0]], ty),
            };
            let number = this.b.arith("addi", rows[0], this.b.arith("muli", further, step));
            let values = this.round(op, early, number, &inner[1..])?;
            this.b.scf_yield(&values);
            Ok(())
        })?;
        self.depth -= 1;
        for (group, columns, places) in &tiled {
            self.finished(group, *columns, places, plan.rounds);
        }
        Ok(made.results())
    }

    /// Where the accesses of a group find their columns in the round `round` (i64) of a tile.
    fn bind_columns(&mut self, group: &Group<'c>, columns: Columns<'c>, round: Value<'c>) {
        let ty = self.vector(group.ty);
        let here = self.b.llvm_element_at(columns.memory, ty, round);
        for member in &group.members {
            let on = self.b.const_int(round.ty(), group.rounds_on(member) - columns.first);
            let pointer = self.b.llvm_element_at(here, ty, on);
            self.tile.columns.insert(member.op, pointer);
        }
    }

    /// Writes what a tile has written, and brings the columns on that the next one begins with.
    fn finished(&mut self, group: &Group<'c>, columns: Columns<'c>, places: &Places<'c>, rounds: u32) {
        if let Some(store) = group.store() {
            self.write_block(group, places, columns, group.rounds_on(store), rounds);
        }
        let [first, last] = group.columns();
        for number in first..last {
            let from = self.column(columns, group, number + i64::from(rounds));
            let vector = self.load_column(from, self.vector(group.ty));
            self.store_column(vector, self.column(columns, group, number));
        }
    }

    /// Writes what was kept.
    fn written_back(&mut self, early: &[Early<'c, '_>], values: &[Value<'c>]) -> Emitted<()> {
        let changed = early.iter().filter(|early| early.changing().is_some());
        for (early, value) in changed.zip(values) {
            let (group, address) = (early.group, early.kept.as_ref().and_then(|kept| kept.1.clone()));
            if let Some(row) = address {
                self.set(group.address, row);
            } else {
                self.known.remove(&group.address);
            }
            let store = group.store().ok_or("a group without its store")?;
            let scalars = self.scalars(store.op, group.ty)?;
            self.store_scalar(store.op, group.address, &scalars[0], *value);
        }
        Ok(())
    }
}
