//! Integer arithmetic, logic, and comparisons of all types.
//!
//! ```text
//! mad.wide.u32 $0, $1, $2, $3;   ->   zext, zext, mul i64, add i64
//! add.cc.u32 a, b, c;            ->   add i33, its top bit to the carry flag
//! ```

use super::dispatch::{Modifiers, Type};
use super::emit::{Emitter, Reason};
use super::parse::{Instruction, Operand};

impl Emitter<'_> {
    /// add, sub, with carry in (`addc`) and out (`.cc`), saturation, and pairs of 16 bits.
    pub(super) fn add_sub(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        modifiers.only(&["cc", "sat", "u16x2", "s16x2"])?;
        let [to, a, b] = instruction.operands.as_slice() else { return Err("three operands expected".into()) };
        let name = instruction.opcode[0].as_str();
        let operation = if name.starts_with("add") { "add" } else { "sub" };
        if modifiers.has("u16x2") || modifiers.has("s16x2") {
            let (a, b) = (self.read(a, 32)?, self.read(b, 32)?);
            let (a, b) = (
                self.value(&format!("bitcast i32 {a} to <2 x i16>")),
                self.value(&format!("bitcast i32 {b} to <2 x i16>")),
            );
            let sum = self.value(&format!("{operation} <2 x i16> {a}, {b}"));
            let bits = self.value(&format!("bitcast <2 x i16> {sum} to i32"));
            return self.write(to, &bits, 32, false);
        }
        let ty = modifiers.last_type()?;
        let width = ty.width();
        let (a, b) = (self.read(a, width)?, self.read(b, width)?);
        let result = if modifiers.has("sat") {
            self.intrinsic(&format!("llvm.s{operation}.sat.i{width}"), &format!("i{width}"), &[&a, &b])
        } else if name.ends_with('c') || modifiers.has("cc") {
            self.with_carry(operation, width, &a, &b, name.ends_with('c'), modifiers.has("cc"))
        } else {
            self.value(&format!("{operation} i{width} {a}, {b}"))
        };
        self.write(to, &result, width, ty.is_signed())
    }

    /// a +/- b +/- carry; the borrow of a subtraction is its carry.
    fn with_carry(&mut self, operation: &str, width: u32, a: &str, b: &str, carry_in: bool, carry_out: bool) -> String {
        let wide = width + 1;
        let (a, b) = (self.resize(a, width, wide, false), self.resize(b, width, wide, false));
        let mut result = self.value(&format!("{operation} i{wide} {a}, {b}"));
        if carry_in {
            let carry = self.value("load i1, ptr %\"cc\"");
            let carry = self.resize(&carry, 1, wide, false);
            result = self.value(&format!("{operation} i{wide} {result}, {carry}"));
        }
        if carry_out {
            let top = self.value(&format!("lshr i{wide} {result}, {width}"));
            let top = self.resize(&top, wide, 1, false);
            self.line(&format!("store i1 {top}, ptr %\"cc\""));
        }
        self.resize(&result, wide, width, false)
    }

    /// mul and mad with .lo, .hi, .wide, of 24 bits, and with carries.
    pub(super) fn mul_mad(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        modifiers.only(&["lo", "hi", "wide", "cc"])?;
        let name = instruction.opcode[0].as_str();
        let ty = modifiers.last_type()?;
        let width = ty.width();
        let signed = ty.is_signed();
        let (a, b) = match instruction.operands.as_slice() {
            [_, a, b, ..] => (self.read(a, width)?, self.read(b, width)?),
            _ => return Err("three operands expected".into()),
        };
        let (a, b) = if name.ends_with("24") { (self.low_24(&a, signed), self.low_24(&b, signed)) } else { (a, b) };
        let shift = match () {
            () if name.ends_with("24") && modifiers.has("hi") => 16,
            () if modifiers.has("hi") => width,
            () => 0,
        };
        let double = 2 * width;
        let (wide_a, wide_b) = (self.resize(&a, width, double, signed), self.resize(&b, width, double, signed));
        let product = self.value(&format!("mul i{double} {wide_a}, {wide_b}"));
        let (mut result, result_width) = if modifiers.has("wide") {
            (product, double)
        } else {
            let moved = self.value(&format!("lshr i{double} {product}, {shift}"));
            (self.resize(&moved, double, width, false), width)
        };
        if name.starts_with("mad") {
            let [_, _, _, c] = instruction.operands.as_slice() else { return Err("four operands expected".into()) };
            let c = self.read(c, result_width)?;
            result = self.with_carry("add", result_width, &result, &c, name == "madc", modifiers.has("cc"));
        }
        self.write(&instruction.operands[0], &result, result_width, signed)
    }

    fn low_24(&mut self, value: &str, signed: bool) -> String {
        let up = self.value(&format!("shl i32 {value}, 8"));
        self.value(&format!("{} i32 {up}, 8", if signed { "ashr" } else { "lshr" }))
    }

    pub(super) fn integer_unary_or_choice(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        modifiers.only(&["relu"])?;
        let ty = modifiers.last_type()?;
        let width = ty.width();
        let int = format!("i{width}");
        let a = self.read(instruction.operands.get(1).ok_or("an operand is missing")?, width)?;
        let mut result = match (instruction.opcode[0].as_str(), instruction.operands.get(2)) {
            ("neg", None) => self.value(&format!("sub {int} 0, {a}")),
            ("abs", None) => {
                let negated = self.value(&format!("sub {int} 0, {a}"));
                self.intrinsic(&format!("llvm.smax.{int}"), &int, &[&a, &negated])
            }
            (name, Some(b)) => {
                let b = self.read(b, width)?;
                let sign = if ty.is_signed() { 's' } else { 'u' };
                self.intrinsic(&format!("llvm.{sign}{name}.{int}"), &int, &[&a, &b])
            }
            _ => return Err("an operand is missing".into()),
        };
        if modifiers.has("relu") {
            result = self.intrinsic(&format!("llvm.smax.{int}"), &int, &[&result, "0"]);
        }
        self.write(&instruction.operands[0], &result, width, ty.is_signed())
    }

    pub(super) fn logic(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let width = Modifiers::of(instruction).last_type()?.width();
        let result = match (instruction.opcode[0].as_str(), instruction.operands.as_slice()) {
            ("not", [_, a]) => {
                let a = self.read(a, width)?;
                self.value(&format!("xor i{width} {a}, -1"))
            }
            ("cnot", [_, a]) => {
                let a = self.read(a, width)?;
                let zero = self.value(&format!("icmp eq i{width} {a}, 0"));
                self.resize(&zero, 1, width, false)
            }
            (name, [_, a, b]) => {
                let (a, b) = (self.read(a, width)?, self.read(b, width)?);
                self.value(&format!("{name} i{width} {a}, {b}"))
            }
            _ => return Err("unexpected operands".into()),
        };
        self.write(&instruction.operands[0], &result, width, false)
    }

    pub(super) fn sad(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let (suffix, int) = match Modifiers::of(instruction).last_type()? {
            Type::Unsigned(16) => ("us", "i16"),
            Type::Signed(16) => ("s", "i16"),
            Type::Unsigned(32) => ("ui", "i32"),
            Type::Signed(32) => ("i", "i32"),
            Type::Unsigned(64) => ("ull", "i64"),
            Type::Signed(64) => ("ll", "i64"),
            other => return Err(format!("type {other:?}")),
        };
        let [to, a, b, c] = instruction.operands.as_slice() else { return Err("four operands expected".into()) };
        let width = int[1..].parse().unwrap_or(32);
        let arguments = [(int, self.read(a, width)?), (int, self.read(b, width)?), (int, self.read(c, width)?)];
        let result = self.call(&format!("__regrain_llvm_nvvm_sad_{suffix}"), &arguments)?;
        self.write(to, &result, width, suffix.len() == 1 || suffix == "ll")
    }

    /// `cmp` of two operands as an i1.
    fn compare(&mut self, cmp: &str, ty: Type, a: &str, b: &str) -> Result<String, Reason> {
        if ty.is_float() {
            let predicate = match cmp {
                "eq" => "oeq",
                "ne" => "one",
                "lt" => "olt",
                "le" => "ole",
                "gt" => "ogt",
                "ge" => "oge",
                "equ" => "ueq",
                "neu" => "une",
                "ltu" => "ult",
                "leu" => "ule",
                "gtu" => "ugt",
                "geu" => "uge",
                "num" => "ord",
                "nan" => "uno",
                _ => return Err(format!("comparison '.{cmp}'")),
            };
            let (a, b) = (self.float_of(ty, a)?, self.float_of(ty, b)?);
            let float = if ty == Type::F64 { "double" } else { "float" };
            return Ok(self.value(&format!("fcmp {predicate} {float} {a}, {b}")));
        }
        let predicate = match (cmp, ty.is_signed()) {
            ("eq" | "ne", _) => cmp.to_string(),
            ("lo", _) => "ult".into(),
            ("ls", _) => "ule".into(),
            ("hi", _) => "ugt".into(),
            ("hs", _) => "uge".into(),
            ("lt" | "le" | "gt" | "ge", true) => format!("s{cmp}"),
            ("lt" | "le" | "gt" | "ge", false) => format!("u{cmp}"),
            _ => return Err(format!("comparison '.{cmp}'")),
        };
        Ok(self.value(&format!("icmp {predicate} i{} {a}, {b}", ty.width())))
    }

    /// The comparison of setp and set, once per element: the modifiers are `.cmp[.boolop]...type`.
    fn comparisons(&mut self, instruction: &Instruction, ty: Type) -> Result<Vec<String>, Reason> {
        let modifiers = Modifiers::of(instruction);
        let cmp = instruction.opcode.get(1).cloned().unwrap_or_default();
        modifiers.only(&[&cmp, "and", "or", "xor", "ftz"])?;
        let [_, a, b, rest @ ..] = instruction.operands.as_slice() else {
            return Err("three operands expected".into());
        };
        let (a, b) = (self.read(a, ty.width())?, self.read(b, ty.width())?);
        let element = element_type(ty);
        let (a, b) = (self.elements(ty, &a), self.elements(ty, &b));
        let mut results = Vec::new();
        for (a, b) in a.iter().zip(&b) {
            let (mut a, mut b) = (a.clone(), b.clone());
            if modifiers.has("ftz") {
                (a, b) = (self.flush(element, &a)?, self.flush(element, &b)?);
            }
            let mut result = self.compare(&cmp, element, &a, &b)?;
            if let Some(operation) = modifiers.0.iter().skip(1).find(|m| ["and", "or", "xor"].contains(&m.as_str())) {
                let c = self.read(rest.first().ok_or("the predicate operand is missing")?, 1)?;
                result = self.value(&format!("{operation} i1 {result}, {c}"));
            }
            results.push(result);
        }
        Ok(results)
    }

    pub(super) fn setp(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let ty = Modifiers::of(instruction).last_type()?;
        let results = self.comparisons(instruction, ty)?;
        let to = instruction.operands[0].clone();
        match (&to, results.as_slice()) {
            (Operand::Both(p, q), [low, high]) => {
                self.write(p, low, 1, false)?;
                self.write(q, high, 1, false)
            }
            (Operand::Both(p, q), [one]) => {
                // The second result is the complement, before it is combined; combined forms are not used.
                if instruction.operands.len() > 3 {
                    return Err("two results combined with a predicate".into());
                }
                let other = self.value(&format!("xor i1 {one}, true"));
                self.write(p, one, 1, false)?;
                self.write(q, &other, 1, false)
            }
            (_, [one]) => self.write(&to, one, 1, false),
            _ => Err("two results expected".into()),
        }
    }

    pub(super) fn set(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let types = Modifiers::of(instruction).types();
        let [to_type, from_type] = types.as_slice() else { return Err("two types expected".into()) };
        let results = self.comparisons(instruction, *from_type)?;
        let true_value: u64 = match element_type(*to_type) {
            Type::F16 => 0x3c00,
            Type::Bf16 => 0x3f80,
            Type::F32 => 0x3f80_0000,
            _ if results.len() == 2 => 0xffff,
            _ => u64::from(u32::MAX),
        };
        let width = to_type.width();
        let mut whole = "0".to_string();
        for (index, result) in results.iter().enumerate() {
            let mask = self.resize(result, 1, width, true);
            let value = super::emit::constant(true_value << (16 * index), width);
            let part = self.value(&format!("and i{width} {mask}, {value}"));
            whole = self.value(&format!("or i{width} {whole}, {part}"));
        }
        self.write(&instruction.operands[0], &whole, width, false)
    }

    pub(super) fn selp(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let width = Modifiers::of(instruction).last_type()?.width();
        let [to, a, b, p] = instruction.operands.as_slice() else { return Err("four operands expected".into()) };
        let (a, b, p) = (self.read(a, width)?, self.read(b, width)?, self.read(p, 1)?);
        let result = self.value(&format!("select i1 {p}, i{width} {a}, i{width} {b}"));
        self.write(to, &result, width, false)
    }

    /// slct: a if c >= 0, else b.
    pub(super) fn slct(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let types = Modifiers::of(instruction).types();
        let [ty, chooser] = types.as_slice() else { return Err("two types expected".into()) };
        let [to, a, b, c] = instruction.operands.as_slice() else { return Err("four operands expected".into()) };
        let (a, b, c) = (self.read(a, ty.width())?, self.read(b, ty.width())?, self.read(c, chooser.width())?);
        let zero = "0".to_string();
        let p = self.compare("ge", *chooser, &c, &zero)?;
        let result = self.value(&format!("select i1 {p}, i{0} {a}, i{0} {b}", ty.width()));
        self.write(to, &result, ty.width(), false)
    }
}

/// The element of a packed type, or the type itself.
pub(super) fn element_type(ty: Type) -> Type {
    match ty {
        Type::F16x2 => Type::F16,
        Type::Bf16x2 => Type::Bf16,
        other => other,
    }
}
