//! Memory barrier objects: `mbarrier.*`, by functions of the device library.

use super::dispatch::Modifiers;
use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::parse::{Instruction, Operand};

impl Emitter<'_> {
    /// mbarrier, without transactions and other blocks' objects, which are of `sm_90`. A wait that may take a time takes none.
    pub(super) fn mbarrier(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        if ["expect_tx", "complete_tx", "shared::cluster"].iter().any(|m| modifiers.has(m)) {
            return Err("transactions and clusters are not known".into());
        }
        let verb = instruction.opcode.get(1).map_or("", String::as_str);
        match (verb, instruction.operands.as_slice()) {
            ("init", [object, count]) => {
                let arguments = [self.object(&modifiers, object)?, ("i32", self.read(count, 32)?)];
                self.call("__regrain_mbarrier_init", &arguments).map(|_| ())
            }
            ("inval", [_]) => Ok(()),
            ("arrive" | "arrive_drop", [state, object, count @ ..]) if count.len() < 2 => {
                let count = count.first().map_or(Ok("1".to_owned()), |count| self.read(count, 32))?;
                let dropped = if verb == "arrive_drop" { count.clone() } else { "0".into() };
                let arguments = [self.object(&modifiers, object)?, ("i32", count), ("i32", dropped)];
                let old = self.call("__regrain_mbarrier_arrive", &arguments)?;
                self.write(state, &old, 64, false)
            }
            ("test_wait" | "try_wait", [done, object, phase, ..]) => {
                let parity = modifiers.has("parity");
                let (suffix, width, ty) = if parity { ("_parity", 32, "i32") } else { ("", 64, "i64") };
                let arguments = [self.object(&modifiers, object)?, (ty, self.read(phase, width)?)];
                let over = self.call(&format!("__regrain_mbarrier_test_wait{suffix}"), &arguments)?;
                self.write(done, &over, 1, false)
            }
            ("pending_count", [count, state]) => {
                let state = self.read(state, 64)?;
                let pending = self.call("__regrain_mbarrier_pending_count", &[("i64", state)])?;
                self.write(count, &pending, 32, false)
            }
            _ => Err(NOT_KNOWN.into()),
        }
    }

    /// cp.async.mbarrier.arrive: the copies are done, so this arrives at once; unless it first adds the arrival that it makes.
    pub(super) fn arrive_after_copies(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let [object] = instruction.operands.as_slice() else { return Err("one operand expected".into()) };
        if !modifiers.has("noinc") {
            return Ok(());
        }
        let arguments = [self.object(&modifiers, object)?, ("i32", "1".into()), ("i32", "0".into())];
        self.call("__regrain_mbarrier_arrive", &arguments).map(|_| ())
    }

    fn object(&mut self, modifiers: &Modifiers<'_>, address: &Operand) -> Result<(&'static str, String), Reason> {
        Ok(("ptr", self.pointer(modifiers, address)?))
    }
}
