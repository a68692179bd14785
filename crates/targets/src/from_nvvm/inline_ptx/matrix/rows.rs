//! Rows of 16 bytes between memory and registers: ldmatrix, stmatrix.
//!
//! Lane 8 m + r has the address of row r of matrix m. Each lane loads its own row, and then they exchange words:
//! ```text
//! %w0 = load i32, ptr %row ; ... ; %d = call { i32, i32, i32, i32 } @__regrain_warp.rows_4(i32 %w0, i32 %w1, i32 %w2, i32 %w3)
//! ```
//! so no lane accesses what it has no address of, and for stores it is the other way round. Of one or two matrices the lanes behind take no part.

use crate::from_nvvm::inline_ptx::dispatch::Modifiers;
use crate::from_nvvm::inline_ptx::emit::{Emitter, NOT_KNOWN, Reason};
use crate::from_nvvm::inline_ptx::parse::Instruction;

/// Words of a row.
const ROW: usize = 4;

/// How many matrices, and whether they are transposed.
fn count(instruction: &Instruction) -> Result<(usize, bool), Reason> {
    let modifiers = Modifiers::of(instruction);
    let known = ["sync", "aligned", "m8n8", "x1", "x2", "x4", "trans", "shared", "shared::cta"];
    modifiers.only(&known).map_err(|_| NOT_KNOWN)?;
    let plain = modifiers.has("m8n8") && modifiers.has("b16");
    let count = [("x1", 1), ("x2", 2), ("x4", 4)].into_iter().find(|(name, _)| modifiers.has(name));
    match count.filter(|_| plain) {
        Some((_, count)) => Ok((count, modifiers.has("trans"))),
        None => Err(NOT_KNOWN.into()),
    }
}

impl Emitter<'_> {
    pub(in super::super) fn load_matrix(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let (count, transposed) = count(instruction)?;
        let [to, address] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let row = self.row_pointer(&Modifiers::of(instruction), address)?;
        self.meet();
        let words = self.own_row(&row, count);
        let made = self.exchanged(&words, count, transposed)?;
        self.write_registers(to, &made, 32)
    }

    pub(in super::super) fn store_matrix(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let (count, transposed) = count(instruction)?;
        let [address, from] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let row = self.row_pointer(&Modifiers::of(instruction), address)?;
        let given = self.registers(from, count, 32)?;
        let kind = if transposed { "to_columns" } else { "to_rows" };
        let words = self.together(&format!("{kind}_{count}"), 32, &given, ROW)?;
        self.of_first(count, |this| {
            for (number, word) in words.iter().enumerate() {
                let place = this.word_at(&row, number);
                this.line(&format!("store i32 {word}, ptr {place}, align 4"));
            }
        });
        self.meet();
        Ok(())
    }

    /// The words that each lane gets of rows that each has one of.
    pub(super) fn exchanged(
        &mut self,
        words: &[String],
        count: usize,
        transposed: bool,
    ) -> Result<Vec<String>, Reason> {
        let kind = if transposed { "columns" } else { "rows" };
        self.together(&format!("{kind}_{count}"), 32, words, count)
    }

    pub(super) fn word_at(&mut self, row: &str, number: usize) -> String {
        self.value(&format!("getelementptr i8, ptr {row}, i64 {}", 4 * number))
    }

    /// The words of the lane's own row, if it has one of `count` matrices.
    fn own_row(&mut self, row: &str, count: usize) -> Vec<String> {
        let slots: Vec<String> = (0..ROW).map(|_| self.fresh_label("word")).collect();
        for slot in &slots {
            self.alloca(slot, 32);
            self.line(&format!("store i32 0, ptr %\"{slot}\""));
        }
        self.of_first(count, |this| {
            for (number, slot) in slots.iter().enumerate() {
                let place = this.word_at(row, number);
                let word = this.value(&format!("load i32, ptr {place}, align 4"));
                this.line(&format!("store i32 {word}, ptr %\"{slot}\""));
            }
        });
        slots.iter().map(|slot| self.value(&format!("load i32, ptr %\"{slot}\""))).collect()
    }

    /// What only the lanes do that have rows of `count` matrices.
    fn of_first(&mut self, count: usize, act: impl FnOnce(&mut Self)) {
        if count == 4 {
            return act(self);
        }
        let lane = self.lane();
        let takes = self.value(&format!("icmp ult i32 {lane}, {}", 8 * count));
        let (run, rest) = (self.fresh_label("run"), self.fresh_label("rest"));
        self.end_block(&format!("br i1 {takes}, label %\"{run}\", label %\"{rest}\""));
        self.start_block(&run);
        act(self);
        self.start_block(&rest);
    }
}
