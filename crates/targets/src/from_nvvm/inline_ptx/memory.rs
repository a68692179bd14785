//! Memory: ld, st, atom, red, isspacep, cp.async.
//!
//! ```text
//! ld.shared.v2.u32 {$0, $1}, [$2+8];
//! ```
//! becomes two loads from `@__regrain_shared_pointer(address)` + 8. What others may see meanwhile (`volatile`, `relaxed`, ...) is read and
//! written as a whole: scans hand a value and its state on in one vector.

use super::dispatch::{Modifiers, Type};
use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::parse::{Instruction, Operand};
use crate::nvvm::library::SHARED_POINTER;

/// Bits of the widest access that is made at once: an aligned vector register of any machine that this runs on. LLVM has no atomic
/// operations of this width for all of them.
const WIDEST: u32 = 128;

/// Modifiers of ld and st that change nothing here: caches, scopes, spaces that are flat memory.
fn is_harmless(modifier: &str) -> bool {
    const PLAIN: [&str; 28] = [
        "global", "const", "local", "param", "generic", "volatile", "relaxed", "acquire", "release", "weak", "mmio",
        "sys", "gpu", "cta", "cluster", "ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "unified", "v2", "v4", "v8",
        "acq_rel",
    ];
    PLAIN.contains(&modifier)
        || modifier.starts_with("shared")
        || ["L1::", "L2::", "param::"].iter().any(|prefix| modifier.starts_with(prefix))
}

impl Emitter<'_> {
    /// The flat pointer for an address operand.
    pub(super) fn pointer(&mut self, modifiers: &Modifiers<'_>, address: &Operand) -> Result<String, Reason> {
        let Operand::Address(base, offset) = address else { return Err("an address expected".into()) };
        let shared = modifiers.0.iter().any(|m| m.starts_with("shared"));
        let pointer = if shared {
            self.shared_pointer(base)?
        } else {
            let bits = self.read(base, 64)?;
            self.value(&format!("inttoptr i64 {bits} to ptr"))
        };
        if *offset == 0 {
            return Ok(pointer);
        }
        Ok(self.value(&format!("getelementptr i8, ptr {pointer}, i64 {offset}")))
    }

    /// The same where a pointer that is given stays what it is, so that passes see what it points to.
    pub(super) fn row_pointer(&mut self, modifiers: &Modifiers<'_>, address: &Operand) -> Result<String, Reason> {
        let Operand::Address(base, offset) = address else { return Err("an address expected".into()) };
        match self.given_pointer(base) {
            Some(pointer) if *offset == 0 => Ok(pointer),
            Some(pointer) => Ok(self.value(&format!("getelementptr i8, ptr {pointer}, i64 {offset}"))),
            None => self.pointer(modifiers, address),
        }
    }

    /// The flat pointer for a shared address: its low 32 bits say all.
    pub(super) fn shared_pointer(&mut self, address: &Operand) -> Result<String, Reason> {
        let bits = self.read(address, 32)?;
        self.call(SHARED_POINTER, &[("i32", bits)])
    }

    /// The order in which others see an access, in LLVM's word for it; none where it does not matter.
    fn order(&mut self, modifiers: &Modifiers<'_>, is_load: bool) -> Result<Option<&'static str>, Reason> {
        let strong = ["relaxed", "acquire", "release", "mmio"].iter().any(|m| modifiers.has(m));
        if !strong && !modifiers.has("volatile") && !modifiers.has("cv") {
            return Ok(None);
        }
        // Somebody may be waiting for this, or this for somebody.
        self.call("__regrain_spin_hint", &[])?;
        Ok(Some(match () {
            () if is_load && modifiers.has("acquire") => "acquire",
            () if !is_load && modifiers.has("release") => "release",
            () => "monotonic",
        }))
    }

    /// All elements at once, as hardware reads them: somebody else's vector is there as a whole or not at all.
    fn load_whole(&mut self, pointer: &str, bits: u32, order: &str) -> String {
        if bits < WIDEST {
            return self.value(&format!("load atomic volatile i{bits}, ptr {pointer} {order}, align {}", bits / 8));
        }
        let vector = self.value(&format!("load volatile <2 x i64>, ptr {pointer}, align {}", bits / 8));
        if order == "acquire" {
            self.line("fence acquire");
        }
        self.value(&format!("bitcast <2 x i64> {vector} to i{bits}"))
    }

    fn store_whole(&mut self, pointer: &str, value: &str, bits: u32, order: &str) {
        if bits < WIDEST {
            return self
                .line(&format!("store atomic volatile i{bits} {value}, ptr {pointer} {order}, align {}", bits / 8));
        }
        let vector = self.value(&format!("bitcast i{bits} {value} to <2 x i64>"));
        if order == "release" {
            self.line("fence release");
        }
        self.line(&format!("store volatile <2 x i64> {vector}, ptr {pointer}, align {}", bits / 8));
    }

    pub(super) fn load(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        self.check_access(&modifiers)?;
        let ty = modifiers.last_type()?;
        let [to, address, ..] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let pointer = self.pointer(&modifiers, address)?;
        let order = self.order(&modifiers, true)?;
        let targets: Vec<&Operand> = match to {
            Operand::Vector(elements) if is_vector(&modifiers) => elements.iter().collect(),
            one => vec![one],
        };
        let width = ty.width();
        let values: Vec<String> = match order {
            Some(order) if is_whole(width, targets.len()) => {
                let bits = width * targets.len() as u32;
                let whole = self.load_whole(&pointer, bits, order);
                (0..targets.len()).map(|index| self.part(&whole, bits, width, index)).collect()
            }
            _ => {
                let (before, after) = one_by_one(order, width)?;
                let mut load = |index| {
                    let place = self.element_pointer(&pointer, ty, index);
                    self.value(&format!("load {before}i{width}, ptr {place}{after}"))
                };
                (0..targets.len()).map(&mut load).collect()
            }
        };
        for (target, value) in targets.into_iter().zip(&values) {
            self.write(target, value, width, ty.is_signed())?;
        }
        Ok(())
    }

    pub(super) fn store(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        if modifiers.has("async") || modifiers.has("bulk") {
            return Err(NOT_KNOWN.into());
        }
        self.check_access(&modifiers)?;
        let ty = modifiers.last_type()?;
        let [address, from, ..] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let pointer = self.pointer(&modifiers, address)?;
        let order = self.order(&modifiers, false)?;
        let sources: Vec<&Operand> = match from {
            Operand::Vector(elements) if is_vector(&modifiers) => elements.iter().collect(),
            one => vec![one],
        };
        let width = ty.width();
        let values = sources.iter().map(|source| self.read(source, width)).collect::<Result<Vec<_>, Reason>>()?;
        if let Some(order) = order.filter(|_| is_whole(width, values.len())) {
            let bits = width * values.len() as u32;
            let whole = self.joined(&values, bits, width);
            self.store_whole(&pointer, &whole, bits, order);
            return Ok(());
        }
        let (before, after) = one_by_one(order, width)?;
        for (index, value) in values.iter().enumerate() {
            let place = self.element_pointer(&pointer, ty, index);
            self.line(&format!("store {before}i{width} {value}, ptr {place}{after}"));
        }
        Ok(())
    }

    /// The bits of one element of a vector that is held as one number.
    fn part(&mut self, whole: &str, bits: u32, width: u32, index: usize) -> String {
        let moved = self.value(&format!("lshr i{bits} {whole}, {}", width as usize * index));
        self.value(&format!("trunc i{bits} {moved} to i{width}"))
    }

    fn joined(&mut self, values: &[String], bits: u32, width: u32) -> String {
        let mut whole = "0".to_string();
        for (index, value) in values.iter().enumerate() {
            let wide = self.value(&format!("zext i{width} {value} to i{bits}"));
            let moved = self.value(&format!("shl i{bits} {wide}, {}", width as usize * index));
            whole = self.value(&format!("or i{bits} {whole}, {moved}"));
        }
        whole
    }

    fn check_access(&mut self, modifiers: &Modifiers<'_>) -> Result<(), Reason> {
        match modifiers.0.iter().find(|m| Type::parse(m).is_none() && !is_harmless(m)) {
            Some(modifier) => Err(format!("modifier '.{modifier}'")),
            None => Ok(()),
        }
    }

    fn element_pointer(&mut self, pointer: &str, ty: Type, index: usize) -> String {
        if index == 0 {
            return pointer.to_string();
        }
        self.value(&format!("getelementptr i{}, ptr {pointer}, i64 {index}", ty.width()))
    }

    /// atom and red go to the device library: `__regrain_atomic_<op>_<type>`.
    pub(super) fn atomic(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        const OPERATIONS: [&str; 11] = ["and", "or", "xor", "cas", "exch", "add", "inc", "dec", "min", "max", "sub"];
        let operation = modifiers.0.iter().find(|m| OPERATIONS.contains(&m.as_str())).ok_or("no operation")?.clone();
        let known = |m: &String| is_harmless(m) || *m == operation || m == "noftz" || Type::parse(m).is_some();
        if let Some(other) = modifiers.0.iter().find(|m| !known(m)) {
            return Err(format!("modifier '.{other}'"));
        }
        if is_vector(&modifiers) {
            return Err("a vector".into());
        }
        let (ty, has_result) = (modifiers.last_type()?, instruction.opcode[0] == "atom");
        let operands = &instruction.operands[usize::from(has_result)..];
        let [address, sources @ ..] = operands else { return Err("an address expected".into()) };
        let symbol = format!("__regrain_atomic_{operation}_{}", atomic_type(&operation, ty)?);
        let llvm_type = self.library.get(&symbol).ok_or("not known for this type")?.result.clone();
        let pointer = self.pointer(&modifiers, address)?;
        let mut arguments = vec![("ptr", pointer)];
        for source in sources {
            let bits = self.read(source, ty.width())?;
            arguments.push((&llvm_type, self.from_integer(&llvm_type, &bits, ty.width())));
        }
        let old = self.call(&symbol, &arguments)?;
        if !has_result {
            return Ok(());
        }
        let bits = self.as_integer(&llvm_type, &old, ty.width());
        self.write(&instruction.operands[0], &bits, ty.width(), ty.is_signed())
    }

    pub(super) fn isspacep(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let [to, from] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let space = instruction.opcode[1..].join("_").replace("::cta", "").replace("::", "_");
        let bits = self.read(from, 64)?;
        let pointer = self.value(&format!("inttoptr i64 {bits} to ptr"));
        let result = self.call(&format!("__regrain_llvm_nvvm_isspacep_{space}"), &[("ptr", pointer)])?;
        self.write(to, &result, 1, false)
    }

    /// cp.async: a copy, done at once; its groups have nothing to wait for.
    pub(super) fn cp(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        if instruction.opcode.get(1).map(String::as_str) != Some("async") || modifiers.has("bulk") {
            return Err(NOT_KNOWN.into());
        }
        if modifiers.has("mbarrier") {
            return self.arrive_after_copies(instruction);
        }
        if ["commit_group", "wait_group", "wait_all"].iter().any(|m| modifiers.has(m)) {
            return Ok(());
        }
        let [to, from, Operand::Integer(size), rest @ ..] = instruction.operands.as_slice() else {
            return Err("a constant size expected".into());
        };
        if ![4, 8, 16].contains(size) {
            return Err(format!("size {size}"));
        }
        let (to, from) = match (to, from) {
            (Operand::Address(to_base, to_offset), Operand::Address(from_base, from_offset)) => {
                let to = self.shared_pointer(to_base)?;
                let bits = self.read(from_base, 64)?;
                let from = self.value(&format!("inttoptr i64 {bits} to ptr"));
                (
                    self.value(&format!("getelementptr i8, ptr {to}, i64 {to_offset}")),
                    self.value(&format!("getelementptr i8, ptr {from}, i64 {from_offset}")),
                )
            }
            _ => return Err("addresses expected".into()),
        };
        // A cache policy is the last operand. Before it may stand the number of bytes to read, or a predicate that means none.
        let rest = match rest {
            [rest @ .., _] if modifiers.has("L2::cache_hint") => rest,
            rest => rest,
        };
        let taken = match rest {
            [] => size.to_string(),
            [operand] if self.is_predicate(operand) => {
                let ignore = self.read(operand, 1)?;
                self.value(&format!("select i1 {ignore}, i32 0, i32 {size}"))
            }
            [operand] => self.read(operand, 32)?,
            _ => return Err("operands".into()),
        };
        self.call(
            &format!("__regrain_llvm_nvvm_cp_async_ca_shared_global_{size}_s"),
            &[("ptr", to), ("ptr", from), ("i32", taken)],
        )
        .map(|_| ())
    }
}

fn is_vector(modifiers: &Modifiers<'_>) -> bool {
    ["v2", "v4", "v8"].iter().any(|m| modifiers.has(m))
}

/// Whether a vector of so many elements is read and written at once.
fn is_whole(width: u32, elements: usize) -> bool {
    elements > 1 && width * elements as u32 <= WIDEST
}

/// What stands before the type and after the address of an access of one element.
fn one_by_one(order: Option<&str>, width: u32) -> Result<(&'static str, String), Reason> {
    match order {
        None => Ok(("", format!(", align {}", width / 8))),
        Some(_) if width > 64 => Err("a strong access of that width".into()),
        Some(order) => Ok(("atomic volatile ", format!(" {order}, align {}", width / 8))),
    }
}

/// The library's name for the type of an atomic operation.
fn atomic_type(operation: &str, ty: Type) -> Result<String, Reason> {
    let width = ty.width();
    Ok(match (operation, ty) {
        (_, Type::F32) => "f32".into(),
        (_, Type::F64) => "f64".into(),
        (_, Type::F16) => "f16".into(),
        (_, Type::F16x2) => "f16x2".into(),
        (_, Type::Bf16) => "bf16".into(),
        (_, Type::Bf16x2) => "bf16x2".into(),
        ("and" | "or" | "xor" | "cas" | "exch", _) => format!("b{width}"),
        ("min" | "max", Type::Signed(_)) => format!("s{width}"),
        (_, Type::Unsigned(_) | Type::Signed(_) | Type::Bits(_)) => format!("u{width}"),
        _ => return Err(format!("type {ty:?}")),
    })
}
