//! Barriers and warp operations.
//!
//! ```text
//! shfl.sync.bfly.b32 $0|p, $1, 16, 31, -1;
//! ```
//! becomes a call of `@__regrain_ptx_shfl_sync_bfly`, whose result holds the value below and the predicate above.

use super::dispatch::Modifiers;
use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::parse::{Instruction, Operand};

impl Emitter<'_> {
    /// bar and barrier: sync, arrive, red of the block; the warp's barrier; a cluster is one block.
    pub(super) fn barrier(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let operands = instruction.operands.as_slice();
        if modifiers.has("warp") {
            let [mask] = operands else { return Err("a mask expected".into()) };
            let mask = self.read(mask, 32)?;
            return self.call("__regrain_llvm_nvvm_bar_warp_sync", &[("i32", mask)]).map(|_| ());
        }
        if modifiers.has("cluster") {
            let wait = if modifiers.has("wait") { "wait" } else { "arrive" };
            return self.call(&format!("__regrain_llvm_nvvm_barrier_cluster_{wait}"), &[]).map(|_| ());
        }
        if modifiers.has("red") {
            return self.reducing_barrier(instruction);
        }
        let mut arguments = Vec::new();
        for operand in operands {
            arguments.push(("i32", self.read(operand, 32)?));
        }
        let kind = if modifiers.has("arrive") { "arrive" } else { "sync" };
        let counted = match arguments.len() {
            1 if kind == "sync" => "all",
            2 => "count",
            _ => return Err("operands".into()),
        };
        self.call(&format!("__regrain_llvm_nvvm_barrier_cta_{kind}_{counted}"), &arguments).map(|_| ())
    }

    fn reducing_barrier(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let operation = ["popc", "and", "or"].into_iter().find(|m| modifiers.has(m)).ok_or("no operation")?;
        let [to, rest @ .., predicate] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let mut arguments = Vec::new();
        for operand in rest {
            arguments.push(("i32", self.read(operand, 32)?));
        }
        let counted = if arguments.len() == 2 { "count" } else { "all" };
        arguments.push(("i1", self.read(predicate, 1)?));
        let result = self.call(&format!("__regrain_llvm_nvvm_barrier_cta_red_{operation}_{counted}"), &arguments)?;
        self.write(to, &result, if operation == "popc" { 32 } else { 1 }, false)
    }

    /// shfl, match, elect: a value and perhaps a predicate.
    pub(super) fn exchange(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let [to, sources @ ..] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let name = match instruction.opcode[0].as_str() {
            "match" if instruction.opcode.get(1).map(String::as_str) == Some("any") => {
                return self.match_any(instruction);
            }
            "shfl" => instruction.opcode[..instruction.opcode.len() - 1].join("_"),
            _ => instruction.opcode.join("_"),
        };
        let symbol = format!("__regrain_ptx_{name}");
        let parameters = self.library.get(&symbol).ok_or(NOT_KNOWN)?.parameters.clone();
        if parameters.len() != sources.len() {
            return Err(format!("{} operands", sources.len()));
        }
        let mut arguments = Vec::new();
        for (source, ty) in sources.iter().zip(&parameters) {
            let width = if ty == "i64" { 64 } else { 32 };
            arguments.push((ty.as_str(), self.read(source, width)?));
        }
        let both = self.call(&symbol, &arguments)?;
        let value = self.resize(&both, 64, 32, false);
        let Operand::Both(to, predicate) = to else { return self.write(to, &value, 32, false) };
        let top = self.value(&format!("lshr i64 {both}, 32"));
        let top = self.resize(&top, 64, 1, false);
        self.write(to, &value, 32, false)?;
        self.write(predicate, &top, 1, false)
    }

    fn match_any(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let [to, value, mask] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let width = Modifiers::of(instruction).last_type()?.width();
        let int = if width == 64 { "i64" } else { "i32" };
        let (value, mask) = (self.read(value, width)?, self.read(mask, 32)?);
        let result = self.call(&format!("__regrain_llvm_nvvm_match_any_sync_{int}"), &[("i32", mask), (int, value)])?;
        self.write(to, &result, 32, false)
    }

    /// vote{.sync}.mode
    pub(super) fn vote(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let mode = ["all", "any", "uni", "ballot"].into_iter().find(|m| modifiers.has(m)).ok_or("no mode")?;
        let width = if mode == "ballot" { 32 } else { 1 };
        let result = match (modifiers.has("sync"), instruction.operands.as_slice()) {
            (true, [_, predicate, mask]) => {
                let (predicate, mask) = (self.read(predicate, 1)?, self.read(mask, 32)?);
                self.call(&format!("__regrain_llvm_nvvm_vote_{mode}_sync"), &[("i32", mask), ("i1", predicate)])?
            }
            (false, [_, predicate]) => {
                let predicate = self.read(predicate, 1)?;
                self.call(&format!("__regrain_llvm_nvvm_vote_{mode}"), &[("i1", predicate)])?
            }
            _ => return Err("operands".into()),
        };
        self.write(&instruction.operands[0], &result, width, false)
    }

    /// activemask, redux.sync, fns: 32-bit values.
    pub(super) fn warp_value(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let [to, sources @ ..] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let symbol = match instruction.opcode[0].as_str() {
            "redux" => {
                let operation = instruction.opcode.get(2).cloned().unwrap_or_default();
                let ty = instruction.opcode.last().map(String::as_str);
                let unsigned = matches!(operation.as_str(), "min" | "max") && ty == Some("u32");
                if ty == Some("f32") {
                    return Err("type .f32".into());
                }
                format!("redux_sync_{}{operation}", if unsigned { "u" } else { "" })
            }
            name => name.to_string(),
        };
        let mut arguments = Vec::new();
        for source in sources {
            arguments.push(("i32", self.read(source, 32)?));
        }
        let result = self.call(&format!("__regrain_llvm_nvvm_{symbol}"), &arguments)?;
        self.write(to, &result, 32, false)
    }
}
