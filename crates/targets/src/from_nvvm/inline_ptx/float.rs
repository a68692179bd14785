//! Floating-point arithmetic of all types.
//!
//! ```text
//! add.rn.f16x2 $0, $1, $2;     ->   per element: fpext to float, fadd, fptrunc to half
//! fma.rz.ftz.f32 $0, $1, $2, $3;   ->   call @__regrain_llvm_nvvm_fma_rz_ftz_f
//! ```
//! One operation on float and rounding once to half or bfloat16 is exact rounding: 24 bits are more than twice 11 and
//! two more. A fused operation is not, and goes to the device library.

use super::dispatch::{Modifiers, Type};
use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::integer::element_type;
use super::parse::Instruction;

const KNOWN: [&str; 17] = [
    "rn", "rz", "rm", "rp", "ftz", "sat", "relu", "NaN", "xorsign", "abs", "approx", "full", "noftz", "lo", "hi",
    "rna", "oob",
];

/// How one operation is to be done.
struct Style {
    mode: &'static str,
    ftz: bool,
    sat: bool,
    relu: bool,
    nan: bool,
    xorsign: bool,
    approx: bool,
    full: bool,
}

impl Style {
    fn of(modifiers: &Modifiers<'_>) -> Self {
        let mode = ["rz", "rm", "rp"].into_iter().find(|m| modifiers.has(m)).unwrap_or("rn");
        let has = |name| modifiers.has(name);
        Self {
            mode,
            ftz: has("ftz"),
            sat: has("sat"),
            relu: has("relu"),
            nan: has("NaN"),
            xorsign: has("xorsign"),
            approx: has("approx"),
            full: has("full"),
        }
    }

    fn ftz(&self) -> &'static str {
        if self.ftz { "_ftz" } else { "" }
    }
}

impl Emitter<'_> {
    pub(super) fn float(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        modifiers.only(&KNOWN)?;
        let (ty, name) = (modifiers.last_type()?, instruction.opcode[0].as_str());
        let style = Style::of(&modifiers);
        let [to, sources @ ..] = instruction.operands.as_slice() else { return Err("no operands".into()) };
        if modifiers.types().iter().any(|other| *other != ty) {
            return Err("operands of different types".into());
        }
        let mut elements: Vec<Vec<String>> = Vec::new();
        for source in sources {
            let value = self.read(source, ty.width())?;
            elements.push(self.elements(ty, &value));
        }
        let count = elements.first().map_or(0, Vec::len);
        let mut results = Vec::new();
        for index in 0..count {
            let arguments: Vec<&str> = elements.iter().map(|source| source[index].as_str()).collect();
            results.push(self.float_element(name, element_type(ty), &style, &arguments)?);
        }
        let whole = self.join(ty, &results);
        self.write(to, &whole, ty.width(), false)
    }

    /// One operation on bit patterns of a scalar type.
    fn float_element(&mut self, name: &str, ty: Type, style: &Style, arguments: &[&str]) -> Result<String, Reason> {
        match (name, ty) {
            ("neg" | "abs" | "copysign", _) => self.sign_operation(name, ty, style, arguments),
            (_, Type::F16 | Type::Bf16) => self.short_float(name, ty, style, arguments),
            (_, Type::F32 | Type::F64) => {
                let mut values = Vec::new();
                for argument in arguments {
                    values.push(self.decode_float(ty, argument)?);
                }
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                let result = self.arithmetic(name, ty, style, &values)?;
                Ok(self.as_integer(llvm_name(ty), &result, ty.width()))
            }
            _ => Err(format!("type {ty:?}")),
        }
    }

    fn sign_operation(&mut self, name: &str, ty: Type, style: &Style, arguments: &[&str]) -> Result<String, Reason> {
        let width = ty.width();
        let sign = super::emit::constant(1 << (width - 1), width);
        let rest = super::emit::constant((1 << (width - 1)) - 1, width);
        let mut a = arguments.first().ok_or("an operand is missing")?.to_string();
        if style.ftz {
            a = self.flush(ty, &a)?;
        }
        match (name, arguments) {
            ("neg", [_]) => Ok(self.value(&format!("xor i{width} {a}, {sign}"))),
            ("abs", [_]) => Ok(self.value(&format!("and i{width} {a}, {rest}"))),
            // copysign d, a, b: the sign of a on the magnitude of b
            ("copysign", [_, b]) => {
                let magnitude = self.value(&format!("and i{width} {b}, {rest}"));
                let sign = self.value(&format!("and i{width} {a}, {sign}"));
                Ok(self.value(&format!("or i{width} {magnitude}, {sign}")))
            }
            _ => Err("unexpected operands".into()),
        }
    }

    /// half and bfloat16: through float, but fused operations and minima, which the library has.
    fn short_float(&mut self, name: &str, ty: Type, style: &Style, arguments: &[&str]) -> Result<String, Reason> {
        let short = if ty == Type::F16 { "f16" } else { "bf16" };
        if style.mode != "rn" {
            return Err(format!("rounding '.{}'", style.mode));
        }
        let mut values: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
        if style.ftz {
            for value in &mut values {
                *value = self.flush(ty, value)?;
            }
        }
        let passed = |values: &[String]| values.iter().map(|v| ("i16", v.clone())).collect::<Vec<_>>();
        let mut result = match name {
            "fma" => self.call(&format!("__regrain_fma_{short}"), &passed(&values))?,
            "min" | "max" => {
                self.call(&format!("__regrain_f{name}{}_{short}_bits", choice_suffix(style)), &passed(&values))?
            }
            _ => {
                let mut wide = Vec::new();
                for value in &values {
                    wide.push(self.decode_float(ty, value)?);
                }
                let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
                let plain = Style { ftz: false, sat: false, relu: false, ..*style };
                let value = self.arithmetic(name, Type::F32, &plain, &wide)?;
                self.call(&format!("__regrain_f32_to_{short}_rn"), &[("float", value)])?
            }
        };
        for (wanted, function) in [(style.sat, "sat"), (style.relu, "relu"), (style.ftz, "ftz")] {
            if wanted {
                result = self.call(&format!("__regrain_{function}_{short}"), &[("i16", result)])?;
            }
        }
        Ok(result)
    }

    /// float and double; arguments and result are LLVM floats.
    fn arithmetic(&mut self, name: &str, ty: Type, style: &Style, arguments: &[&str]) -> Result<String, Reason> {
        let float = llvm_name(ty);
        let letter = if ty == Type::F64 { "d" } else { "f" };
        let plain = style.mode == "rn" && !style.ftz;
        let (name, arguments) = match (name, arguments) {
            ("sub", [a, b]) => ("add", vec![a.to_string(), self.value(&format!("fneg {float} {b}"))]),
            ("mad", given) => ("fma", given.iter().map(|a| a.to_string()).collect()),
            (name, given) => (name, given.iter().map(|a| a.to_string()).collect::<Vec<_>>()),
        };
        let symbol = match name {
            "add" | "mul" if plain => {
                let [a, b] = arguments.as_slice() else { return Err("two sources expected".into()) };
                let result = self.value(&format!("f{name} {float} {a}, {b}"));
                return self.saturated(ty, style, result);
            }
            "fma" if plain => {
                let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
                if given.len() != 3 {
                    return Err("three sources expected".into());
                }
                let suffix = if ty == Type::F64 { "f64" } else { "f32" };
                let result = self.intrinsic(&format!("llvm.fma.{suffix}"), float, &given);
                return self.saturated(ty, style, result);
            }
            "div" if style.approx => format!("div_approx{}_f", style.ftz()),
            "div" if style.full => format!("div_full{}", style.ftz()),
            "rcp" if style.approx && ty == Type::F32 && !style.ftz => {
                return Ok(self.value(&format!("fdiv float 1.0, {}", arguments[0])));
            }
            "rcp" if style.approx => format!("rcp_approx_ftz_{letter}"),
            "sqrt" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" if style.approx => {
                format!("{name}_approx{}_{letter}", style.ftz())
            }
            "tanh" => {
                let result = self.call("__regrain_ptx_tanh_approx_f32", &[("float", arguments[0].clone())])?;
                return Ok(result);
            }
            "min" | "max" => format!("f{name}{}{}_{letter}", style.ftz(), choice_suffix(style)),
            "add" | "mul" | "div" | "fma" | "sqrt" | "rcp" => format!("{name}_{}{}_{letter}", style.mode, style.ftz()),
            _ => return Err(NOT_KNOWN.into()),
        };
        let passed: Vec<(&str, String)> = arguments.into_iter().map(|a| (float, a)).collect();
        let result = self.call(&format!("__regrain_llvm_nvvm_{symbol}"), &passed)?;
        self.saturated(ty, style, result)
    }

    fn saturated(&mut self, ty: Type, style: &Style, result: String) -> Result<String, Reason> {
        if style.relu {
            return Err("modifier '.relu'".into());
        }
        if !style.sat {
            return Ok(result);
        }
        let suffix = if ty == Type::F64 { "f64" } else { "f32" };
        self.call(&format!("__regrain_sat_{suffix}"), &[(llvm_name(ty), result)])
    }

    /// testp: the class of a float.
    pub(super) fn testp(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let ty = modifiers.last_type()?;
        let [to, a] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let bits = self.read(a, ty.width())?;
        let value = self.decode_float(ty, &bits)?;
        let float = llvm_name(ty);
        // The classes as llvm.is.fpclass numbers them.
        let mask = match instruction.opcode.get(1).map(String::as_str) {
            Some("finite") => 504,
            Some("infinite") => 516,
            Some("number") => 1020,
            Some("notanumber") => 3,
            Some("normal") => 264,
            Some("subnormal") => 144,
            _ => return Err("class".into()),
        };
        let suffix = if ty == Type::F64 { "f64" } else { "f32" };
        let result = self.declared(
            &format!("llvm.is.fpclass.{suffix}"),
            &format!("declare i1 @llvm.is.fpclass.{suffix}({float}, i32 immarg)\n"),
            &format!("call i1 @llvm.is.fpclass.{suffix}({float} {value}, i32 {mask})"),
        );
        self.write(to, &result, 1, false)
    }

    /// Bits of a scalar type as a float (F16, Bf16, F32) or a double (F64).
    pub(super) fn decode_float(&mut self, ty: Type, bits: &str) -> Result<String, Reason> {
        match ty {
            Type::F16 => self.call("__regrain_f16_to_f32", &[("i16", bits.to_string())]),
            Type::Bf16 => self.call("__regrain_bf16_to_f32", &[("i16", bits.to_string())]),
            Type::F32 | Type::Tf32 => Ok(self.from_integer("float", bits, 32)),
            Type::F64 => Ok(self.from_integer("double", bits, 64)),
            other => Err(format!("type {other:?}")),
        }
    }

    /// Subnormal numbers become zero; on bits.
    pub(super) fn flush(&mut self, ty: Type, bits: &str) -> Result<String, Reason> {
        match ty {
            Type::F16 => self.call("__regrain_ftz_f16", &[("i16", bits.to_string())]),
            Type::Bf16 => self.call("__regrain_ftz_bf16", &[("i16", bits.to_string())]),
            Type::F32 => {
                let value = self.from_integer("float", bits, 32);
                let flushed = self.call("__regrain_ftz_f32", &[("float", value)])?;
                Ok(self.as_integer("float", &flushed, 32))
            }
            _ => Ok(bits.to_string()),
        }
    }

    /// The elements of a packed value, or the value itself.
    pub(super) fn elements(&mut self, ty: Type, bits: &str) -> Vec<String> {
        if element_type(ty) == ty {
            return vec![bits.to_string()];
        }
        let low = self.resize(bits, 32, 16, false);
        let high = self.value(&format!("lshr i32 {bits}, 16"));
        let high = self.resize(&high, 32, 16, false);
        vec![low, high]
    }

    /// The inverse of [`Self::elements`].
    pub(super) fn join(&mut self, ty: Type, elements: &[String]) -> String {
        match elements {
            [low, high] if element_type(ty) != ty => {
                let (low, high) = (self.resize(low, 16, 32, false), self.resize(high, 16, 32, false));
                let high = self.value(&format!("shl i32 {high}, 16"));
                self.value(&format!("or i32 {low}, {high}"))
            }
            _ => elements.first().cloned().unwrap_or_default(),
        }
    }
}

fn choice_suffix(style: &Style) -> String {
    format!("{}{}", if style.nan { "_nan" } else { "" }, if style.xorsign { "_xorsign_abs" } else { "" })
}

/// LLVM's name of a type's arithmetic form.
pub(super) fn llvm_name(ty: Type) -> &'static str {
    if ty == Type::F64 { "double" } else { "float" }
}
