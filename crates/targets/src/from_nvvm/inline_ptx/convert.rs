//! `cvt` and `cvta`: conversions between all types, with rounding and saturation.
//!
//! ```text
//! cvt.rzi.u8.f16 $0, $1;       ->   to float, f2ui_rz, clamp to 255
//! cvt.rn.bf16x2.f32 $0, $1, $2;   ->   two roundings, the first source above
//! ```

use super::dispatch::{Modifiers, Type};
use super::emit::{Emitter, Reason};
use super::float::llvm_name;
use super::parse::{Instruction, Operand};

const KNOWN: [&str; 14] =
    ["rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "ftz", "sat", "satfinite", "relu", "rs"];

impl Emitter<'_> {
    pub(super) fn cvt(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        if modifiers.has("pack") {
            return self.cvt_pack(instruction);
        }
        modifiers.only(&KNOWN)?;
        if modifiers.has("rs") {
            return Err("stochastic rounding".into());
        }
        let types = modifiers.types();
        let [to_type, from_type] = types.as_slice() else { return Err("two types expected".into()) };
        match (instruction.operands.as_slice(), to_type) {
            ([to, high, low], Type::F16x2 | Type::Bf16x2) => {
                let element = super::integer::element_type(*to_type);
                let high = self.converted(&modifiers, element, *from_type, high)?;
                let low = self.converted(&modifiers, element, *from_type, low)?;
                let whole = self.join(*to_type, &[low, high]);
                self.write(to, &whole, 32, false)
            }
            ([to, from], _) => {
                let result = self.converted(&modifiers, *to_type, *from_type, from)?;
                self.write(to, &result, to_type.width(), to_type.is_signed())
            }
            _ => Err("unexpected operands".into()),
        }
    }

    /// The bits of `operand`, of type `from`, converted to `to`.
    fn converted(
        &mut self,
        modifiers: &Modifiers<'_>,
        to: Type,
        from: Type,
        operand: &Operand,
    ) -> Result<String, Reason> {
        let mut bits = self.read(operand, from.width())?;
        if modifiers.has("ftz") {
            bits = self.flush(from, &bits)?;
        }
        match (from.is_float(), to.is_float()) {
            (false, false) => Ok(self.int_to_int(modifiers, to, from, bits)),
            (false, true) => self.int_to_float(modifiers, to, from, &bits),
            (true, false) => self.float_to_int(modifiers, to, from, &bits),
            (true, true) => self.float_to_float(modifiers, to, from, &bits),
        }
    }

    fn int_to_int(&mut self, modifiers: &Modifiers<'_>, to: Type, from: Type, bits: String) -> String {
        let (from_width, to_width) = (from.width(), to.width());
        if !modifiers.has("sat") {
            return self.resize(&bits, from_width, to_width, from.is_signed());
        }
        // Everything fits into 65 bits with a sign.
        let wide = self.resize(&bits, from_width, 65, from.is_signed());
        let clamped = self.clamp(&wide, 65, to);
        self.resize(&clamped, 65, to_width, false)
    }

    /// A signed integer of `width` bits within the limits of `to`.
    fn clamp(&mut self, value: &str, width: u32, to: Type) -> String {
        let bits = to.width();
        let (low, high): (i128, i128) =
            if to.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let int = format!("i{width}");
        let value = self.intrinsic(&format!("llvm.smax.{int}"), &int, &[value, &low.to_string()]);
        self.intrinsic(&format!("llvm.smin.{int}"), &int, &[&value, &high.to_string()])
    }

    fn int_to_float(&mut self, modifiers: &Modifiers<'_>, to: Type, from: Type, bits: &str) -> Result<String, Reason> {
        let mode = rounding(modifiers);
        let wide = self.resize(bits, from.width(), 64, from.is_signed());
        let sign = if from.is_signed() { 's' } else { 'u' };
        let result = match to {
            Type::F16 => return self.call(&format!("__regrain_{sign}64_to_f16_{mode}"), &[("i64", wide)]),
            Type::Bf16 => return self.call(&format!("__regrain_{sign}64_to_bf16_{mode}"), &[("i64", wide)]),
            Type::F32 | Type::F64 => {
                let (name, float) = (if from.is_signed() { "ll" } else { "ull" }, llvm_name(to));
                let letter = if to == Type::F64 { 'd' } else { 'f' };
                let value = if mode == "rn" {
                    let operation = if from.is_signed() { "sitofp" } else { "uitofp" };
                    self.value(&format!("{operation} i{} {bits} to {float}", from.width()))
                } else {
                    self.call(&format!("__regrain_llvm_nvvm_{name}2{letter}_{mode}"), &[("i64", wide)])?
                };
                if modifiers.has("sat") {
                    let suffix = if to == Type::F64 { "f64" } else { "f32" };
                    self.call(&format!("__regrain_sat_{suffix}"), &[(float, value)])?
                } else {
                    value
                }
            }
            other => return Err(format!("to {other:?}")),
        };
        Ok(self.as_integer(llvm_name(to), &result, to.width()))
    }

    fn float_to_int(&mut self, modifiers: &Modifiers<'_>, to: Type, from: Type, bits: &str) -> Result<String, Reason> {
        let mode = rounding(modifiers);
        let value = self.decode_float(from, bits)?;
        let (letter, float) = if from == Type::F64 { ('d', "double") } else { ('f', "float") };
        let width = to.width();
        let through = match (to.is_signed(), width) {
            (true, 64) => "ll",
            (false, 64) => "ull",
            (true, _) => "i",
            (false, _) => "ui",
        };
        let own = if width == 64 { 64 } else { 32 };
        let result = self.call(&format!("__regrain_llvm_nvvm_{letter}2{through}_{mode}"), &[(float, value)])?;
        if width >= 32 {
            return Ok(result);
        }
        let wide = self.resize(&result, own, 64, to.is_signed());
        let clamped = self.clamp(&wide, 64, to);
        Ok(self.resize(&clamped, 64, width, false))
    }

    fn float_to_float(
        &mut self,
        modifiers: &Modifiers<'_>,
        to: Type,
        from: Type,
        bits: &str,
    ) -> Result<String, Reason> {
        let mut mode = rounding(modifiers);
        let mut value = self.decode_float(from, bits)?;
        let mut wide = from == Type::F64;
        if modifiers.0.iter().any(|m| ["rni", "rzi", "rmi", "rpi"].contains(&m.as_str())) {
            value = self.round_to_integral(mode, wide, &value);
            if from == to {
                // The type has the integer.
                mode = "rn";
            }
        }
        let finite = modifiers.has("satfinite");
        let mut result = match to {
            Type::Tf32 => {
                let mode = if modifiers.has("rna") { "rna" } else { mode };
                let relu = if modifiers.has("relu") { "_relu" } else { "" };
                let satfinite = if finite { "_satfinite" } else { "" };
                return self.call(&format!("__regrain_llvm_nvvm_f2tf32_{mode}{relu}{satfinite}"), &[("float", value)]);
            }
            Type::F32 | Type::F64 => {
                if wide && to == Type::F32 {
                    value = self.call(&format!("__regrain_llvm_nvvm_d2f_{mode}"), &[("double", value)])?;
                } else if !wide && to == Type::F64 {
                    value = self.value(&format!("fpext float {value} to double"));
                }
                wide = to == Type::F64;
                if modifiers.has("sat") {
                    let suffix = if wide { "f64" } else { "f32" };
                    value = self.call(&format!("__regrain_sat_{suffix}"), &[(llvm_name(to), value)])?;
                }
                let bits = self.as_integer(llvm_name(to), &value, to.width());
                return if modifiers.has("ftz") { self.flush(to, &bits) } else { Ok(bits) };
            }
            Type::F16 | Type::Bf16 => {
                let (source, float) = if wide { ("f64", "double") } else { ("f32", "float") };
                self.call(&format!("__regrain_{source}_to_{}_{mode}", short(to)), &[(float, value)])?
            }
            other => return Err(format!("to {other:?}")),
        };
        for (wanted, function) in
            [(modifiers.has("sat"), "sat"), (modifiers.has("relu"), "relu"), (finite, "satfinite")]
        {
            if wanted {
                result = self.call(&format!("__regrain_{function}_{}", short(to)), &[("i16", result)])?;
            }
        }
        Ok(result)
    }

    fn round_to_integral(&mut self, mode: &str, wide: bool, value: &str) -> String {
        let (suffix, float) = if wide { ("f64", "double") } else { ("f32", "float") };
        let name = match mode {
            "rz" => "trunc",
            "rm" => "floor",
            "rp" => "ceil",
            _ => "rint",
        };
        self.intrinsic(&format!("llvm.{name}.{suffix}"), float, &[value])
    }

    /// cvt.pack.sat.u8.s32.b32 d, a, b, c: two clamped values above the low half of c; without c, 16 bits each.
    fn cvt_pack(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let types = Modifiers::of(instruction).types();
        let (Some(to), Some(Type::Signed(32))) = (types.first().copied(), types.get(1).copied()) else {
            return Err("types".into());
        };
        let [result, a, b, rest @ ..] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let width = to.width();
        let mut whole = "0".to_string();
        for (index, operand) in [b, a].into_iter().enumerate() {
            let value = self.read(operand, 32)?;
            let wide = self.resize(&value, 32, 64, true);
            let clamped = self.clamp(&wide, 64, to);
            let part = self.value(&format!("and i64 {clamped}, {}", (1u64 << width) - 1));
            let placed = self.value(&format!("shl i64 {part}, {}", u64::from(width) * index as u64));
            whole = self.value(&format!("or i64 {whole}, {placed}"));
        }
        let mut packed = self.resize(&whole, 64, 32, false);
        if let Some(c) = rest.first() {
            let c = self.read(c, 32)?;
            let above = self.value(&format!("shl i32 {c}, {}", 2 * width));
            packed = self.value(&format!("or i32 {packed}, {above}"));
        }
        self.write(result, &packed, 32, false)
    }

    /// Generic and specific addresses are the same but for 32-bit shared ones.
    pub(super) fn cvta(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let width = modifiers.last_type()?.width();
        let [to, from] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let shared = modifiers.0.iter().any(|m| m.starts_with("shared"));
        let value = if shared && !modifiers.has("to") {
            let pointer = self.shared_pointer(from)?;
            let bits = self.value(&format!("ptrtoint ptr {pointer} to i64"));
            self.resize(&bits, 64, width, false)
        } else {
            self.read(from, width)?
        };
        self.write(to, &value, width, false)
    }
}

/// The rounding of a conversion; conversions to integers write it with an `i`.
fn rounding(modifiers: &Modifiers<'_>) -> &'static str {
    for (name, mode) in [("rz", "rz"), ("rm", "rm"), ("rp", "rp"), ("rzi", "rz"), ("rmi", "rm"), ("rpi", "rp")] {
        if modifiers.has(name) {
            return mode;
        }
    }
    "rn"
}

fn short(ty: Type) -> &'static str {
    if ty == Type::F16 { "f16" } else { "bf16" }
}
