//! Writes one asm statement as the text of an LLVM function.
//!
//! Every PTX register is an `alloca` of an integer of its width; a guarded instruction stands in a block of its own.
//! LLVM makes values and selects of that once the function is inlined.
//!
//! ```text
//! asm "{.reg .b16 h; cvt.rn.f16.f32 h, $1; mov.b32 $0, {h,h};}", "=r,f"
//! ```
//! becomes
//! ```text
//! define internal i32 @__regrain_asm.1f2e(float %p0) alwaysinline {
//!   %o0 = alloca i32
//!   %h.0 = alloca i16
//!   %t0 = bitcast float %p0 to i32 ...
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::library::Library;
use super::parse::{Instruction, Operand, Program, Statement};
use crate::from_nvvm::lacks::lack;

/// A reason why an instruction cannot be lowered.
pub(super) type Reason = String;

/// Why one cannot be lowered that this compiler knows nothing of.
pub(super) const NOT_KNOWN: &str = "not known";

/// The type of an asm operand: LLVM's name of it and its width in bits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OuterType {
    /// As in textual IR.
    pub text: String,
    /// Its bits.
    pub width: u32,
}

/// An operand of the asm statement, in the order of `$N`.
#[derive(Clone, Debug)]
pub(super) enum Outer {
    /// The N-th result.
    Result(OuterType),
    /// The N-th argument.
    Argument(OuterType, usize),
    /// The N-th argument, in the register of the given result.
    Tied(OuterType, usize, usize),
}

/// Where an asm operand lives in the function.
enum Place {
    /// An `alloca` of that name and width.
    Slot(String, u32),
    /// A value of that name and width.
    Value(String, u32),
}

/// The function under construction.
pub(super) struct Emitter<'l> {
    pub(super) library: &'l Library,
    body: String,
    allocas: String,
    temporaries: u32,
    registers: HashMap<String, u32>,
    places: Vec<Place>,
    /// The arguments that are pointers, with their type and name, by the operand's number.
    pointers: HashMap<usize, (String, String)>,
    declarations: BTreeMap<String, String>,
    /// The current block already ends in a branch.
    ended: bool,
}

/// The text of a function and of what it calls.
pub(super) struct Lowered {
    pub function: String,
    pub declarations: BTreeMap<String, String>,
}

/// Lowers `program`; `name` is the function's name and `result` its type.
pub(super) fn function(
    library: &Library,
    name: &str,
    result: &str,
    outer: &[Outer],
    program: &Program,
) -> Result<Lowered, (String, Reason)> {
    let mut emitter = Emitter {
        library,
        body: String::new(),
        allocas: String::new(),
        temporaries: 0,
        registers: program.registers.iter().cloned().collect(),
        places: Vec::new(),
        pointers: HashMap::new(),
        declarations: BTreeMap::new(),
        ended: false,
    };
    emitter.alloca("cc", 1);
    for (register, width) in &program.registers {
        emitter.alloca(&format!("r.{register}"), *width);
    }
    let parameters = emitter.place(outer);
    for statement in &program.statements {
        match statement {
            Statement::Label(label) => emitter.start_block(&format!("l.{label}")),
            Statement::Instruction(instruction) => {
                emitter.guarded(instruction).map_err(|reason| (instruction.mnemonic(), reason))?;
            }
        }
    }
    emitter.finish(result, outer);
    let function = format!(
        "define hidden {result} @{name}({}) alwaysinline nounwind {{\n{}{}}}\n",
        parameters.join(", "),
        emitter.allocas,
        emitter.body
    );
    Ok(Lowered { function, declarations: emitter.declarations })
}

impl Emitter<'_> {
    pub(super) fn alloca(&mut self, name: &str, width: u32) {
        let _ = writeln!(self.allocas, "  %\"{name}\" = alloca i{width}");
    }

    /// Gives each asm operand its place; the answer is the list of parameters.
    fn place(&mut self, outer: &[Outer]) -> Vec<String> {
        let mut parameters = Vec::new();
        for (number, operand) in outer.iter().enumerate() {
            match operand {
                Outer::Result(ty) => {
                    let slot = format!("o{number}");
                    self.alloca(&slot, ty.width);
                    self.places.push(Place::Slot(slot, ty.width));
                }
                Outer::Argument(ty, index) => {
                    parameters.push(format!("{} %p{index}", ty.text));
                    if ty.text.starts_with("ptr") {
                        self.pointers.insert(number, (ty.text.clone(), format!("%p{index}")));
                    }
                    let value = self.as_integer(&ty.text, &format!("%p{index}"), ty.width);
                    self.places.push(Place::Value(value, ty.width));
                }
                Outer::Tied(ty, index, result) => {
                    parameters.push(format!("{} %p{index}", ty.text));
                    let value = self.as_integer(&ty.text, &format!("%p{index}"), ty.width);
                    let Place::Slot(slot, width) = &self.places[*result] else { continue };
                    let (slot, width) = (slot.clone(), *width);
                    let value = self.resize(&value, ty.width, width, false);
                    self.line(&format!("store i{width} {value}, ptr %\"{slot}\""));
                    self.places.push(Place::Slot(slot, width));
                }
            }
        }
        parameters
    }

    fn finish(&mut self, result: &str, outer: &[Outer]) {
        let mut values = Vec::new();
        for (number, operand) in outer.iter().enumerate() {
            if let Outer::Result(ty) = operand {
                let bits = self.value(&format!("load i{}, ptr %\"o{number}\"", ty.width));
                values.push((ty.text.clone(), self.from_integer(&ty.text, &bits, ty.width)));
            }
        }
        match values.as_slice() {
            [] => self.line("ret void"),
            [(ty, value)] => self.line(&format!("ret {ty} {value}")),
            several => {
                let mut whole = "poison".to_string();
                for (index, (ty, value)) in several.iter().enumerate() {
                    whole = self.value(&format!("insertvalue {result} {whole}, {ty} {value}, {index}"));
                }
                self.line(&format!("ret {result} {whole}"));
            }
        }
    }

    /// One instruction, in a block of its own when it is guarded.
    fn guarded(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let Some((predicate, negated)) = &instruction.guard else { return self.instruction(instruction) };
        let condition = self.read(predicate, 1)?;
        let (run, rest) = (self.fresh_label("run"), self.fresh_label("rest"));
        let (yes, no) = if *negated { (&rest, &run) } else { (&run, &rest) };
        self.line(&format!("br i1 {condition}, label %\"{yes}\", label %\"{no}\""));
        self.ended = true;
        self.start_block(&run);
        self.instruction(instruction)?;
        self.start_block(&rest);
        Ok(())
    }

    pub(super) fn fresh_label(&mut self, kind: &str) -> String {
        self.temporaries += 1;
        format!("{kind}.{}", self.temporaries)
    }

    /// Ends the current block with a branch to `label`, which comes next.
    pub(super) fn start_block(&mut self, label: &str) {
        if !self.ended {
            self.line(&format!("br label %\"{label}\""));
        }
        let _ = writeln!(self.body, "\"{label}\":");
        self.ended = false;
    }

    /// Ends the current block with `terminator`.
    pub(super) fn end_block(&mut self, terminator: &str) {
        self.line(terminator);
        self.ended = true;
    }

    /// Adds an instruction without a result.
    pub(super) fn line(&mut self, text: &str) {
        if self.ended {
            let dead = self.fresh_label("dead");
            let _ = writeln!(self.body, "\"{dead}\":");
            self.ended = false;
        }
        let _ = writeln!(self.body, "  {text}");
    }

    /// Adds an instruction and names its result.
    pub(super) fn value(&mut self, text: &str) -> String {
        self.temporaries += 1;
        let name = format!("%t{}", self.temporaries);
        self.line(&format!("{name} = {text}"));
        name
    }

    /// An integer of `from` bits as one of `to` bits.
    pub(super) fn resize(&mut self, value: &str, from: u32, to: u32, signed: bool) -> String {
        let operation = match (from.cmp(&to), signed) {
            (std::cmp::Ordering::Equal, _) => return value.to_string(),
            (std::cmp::Ordering::Greater, _) => "trunc",
            (_, true) => "sext",
            (_, false) => "zext",
        };
        self.value(&format!("{operation} i{from} {value} to i{to}"))
    }

    /// A value of type `ty` as an integer.
    pub(super) fn as_integer(&mut self, ty: &str, value: &str, width: u32) -> String {
        match ty {
            _ if ty.starts_with('i') => value.to_string(),
            _ if ty.starts_with("ptr") => self.value(&format!("ptrtoint {ty} {value} to i{width}")),
            _ => self.value(&format!("bitcast {ty} {value} to i{width}")),
        }
    }

    /// An integer as a value of type `ty`.
    #[expect(clippy::wrong_self_convention, reason = "it emits, it does not construct")]
    pub(super) fn from_integer(&mut self, ty: &str, value: &str, width: u32) -> String {
        match ty {
            _ if ty.starts_with('i') => value.to_string(),
            _ if ty.starts_with("ptr") => self.value(&format!("inttoptr i{width} {value} to {ty}")),
            _ => self.value(&format!("bitcast i{width} {value} to {ty}")),
        }
    }

    /// The bits of an operand, as an integer of `width` bits.
    pub(super) fn read(&mut self, operand: &Operand, width: u32) -> Result<String, Reason> {
        match operand {
            Operand::Integer(value) => Ok(constant(*value, width)),
            Operand::Float(bits, 64) if width == 32 => {
                Ok(constant((f64::from_bits(*bits) as f32).to_bits().into(), 32))
            }
            Operand::Float(bits, own) if *own == width => Ok(constant(*bits, width)),
            Operand::Float(..) => Err("a floating-point constant of another width".into()),
            Operand::Outer(number) => match self.places.get(*number) {
                Some(Place::Slot(slot, own)) => {
                    let (slot, own) = (slot.clone(), *own);
                    let value = self.value(&format!("load i{own}, ptr %\"{slot}\""));
                    Ok(self.resize(&value, own, width, false))
                }
                Some(Place::Value(value, own)) => {
                    let (value, own) = (value.clone(), *own);
                    Ok(self.resize(&value, own, width, false))
                }
                None => Err(format!("no operand ${number}")),
            },
            Operand::Register(name) => {
                let own = self.registers[name];
                let value = self.value(&format!("load i{own}, ptr %\"r.{name}\""));
                Ok(self.resize(&value, own, width, false))
            }
            Operand::Not(inner) => {
                let value = self.read(inner, width)?;
                Ok(self.value(&format!("xor i{width} {value}, -1")))
            }
            Operand::Special(name) => {
                let (value, own) = self.special(name)?;
                Ok(self.resize(&value, own, width, false))
            }
            Operand::Vector(elements) => self.pack(elements, width),
            Operand::Name(name) => Err(format!("the symbol '{name}'")),
            other => Err(format!("operand {other:?}")),
        }
    }

    fn pack(&mut self, elements: &[Operand], width: u32) -> Result<String, Reason> {
        let part = width / elements.len() as u32;
        let mut whole = "0".to_string();
        for (index, element) in elements.iter().enumerate() {
            let value = self.read(element, part)?;
            let wide = self.resize(&value, part, width, false);
            let placed = self.value(&format!("shl i{width} {wide}, {}", part * index as u32));
            whole = self.value(&format!("or i{width} {whole}, {placed}"));
        }
        Ok(whole)
    }

    /// A special register, and its width.
    fn special(&mut self, name: &str) -> Result<(String, u32), Reason> {
        let own = format!("__regrain_ptx_sreg_{}", name.replace('.', "_"));
        let symbol = if self.library.get(&own).is_some() {
            own
        } else {
            let plain = match name {
                "clock_hi" | "globaltimer_hi" => return self.special_high(name),
                _ => name.replace('.', "_"),
            };
            format!("__regrain_llvm_nvvm_read_ptx_sreg_{plain}")
        };
        let width = match self.library.get(&symbol) {
            Some(signature) => signature.result_width(),
            None => return Err(format!("special register '%{name}'")),
        };
        Ok((self.call(&symbol, &[])?, width))
    }

    fn special_high(&mut self, name: &str) -> Result<(String, u32), Reason> {
        let whole = if name == "clock_hi" { "clock64" } else { "globaltimer" };
        let value = self.call(&format!("__regrain_llvm_nvvm_read_ptx_sreg_{whole}"), &[])?;
        let high = self.value(&format!("lshr i64 {value}, 32"));
        Ok((self.resize(&high, 64, 32, false), 32))
    }

    /// Stores `width` bits; a wider register gets them extended.
    pub(super) fn write(&mut self, operand: &Operand, value: &str, width: u32, signed: bool) -> Result<(), Reason> {
        let (slot, own) = match operand {
            Operand::Sink => return Ok(()),
            Operand::Register(name) => (format!("r.{name}"), self.registers[name]),
            Operand::Outer(number) => match self.places.get(*number) {
                Some(Place::Slot(slot, own)) => (slot.clone(), *own),
                _ => return Err(format!("it writes ${number}, which is no result")),
            },
            Operand::Vector(elements) => return self.unpack(elements, value, width, signed),
            other => return Err(format!("it writes {other:?}")),
        };
        let value = self.resize(value, width, own, signed);
        self.line(&format!("store i{own} {value}, ptr %\"{slot}\""));
        Ok(())
    }

    fn unpack(&mut self, elements: &[Operand], value: &str, width: u32, signed: bool) -> Result<(), Reason> {
        let part = width / elements.len() as u32;
        for (index, element) in elements.iter().enumerate() {
            let moved = self.value(&format!("lshr i{width} {value}, {}", part * index as u32));
            let small = self.resize(&moved, width, part, false);
            self.write(element, &small, part, signed)?;
        }
        Ok(())
    }

    /// Calls a function of the device library; each argument comes with its LLVM type.
    pub(super) fn call(&mut self, symbol: &str, arguments: &[(&str, String)]) -> Result<String, Reason> {
        let what = || lack(symbol).unwrap_or("function in the device library");
        let signature =
            self.library.get(symbol).ok_or_else(|| format!("this target has no {} ('{symbol}')", what()))?;
        let given: Vec<&str> = arguments.iter().map(|(ty, _)| *ty).collect();
        if given != signature.parameters {
            return Err(format!("'{symbol}' takes {:?}, got {given:?}", signature.parameters));
        }
        let result = signature.result.clone();
        self.declarations.insert(symbol.to_string(), format!("declare {result} @{symbol}({})\n", given.join(", ")));
        let list: Vec<String> = arguments.iter().map(|(ty, value)| format!("{ty} {value}")).collect();
        let text = format!("call {result} @{symbol}({})", list.join(", "));
        if result == "void" {
            self.line(&text);
            return Ok(String::new());
        }
        Ok(self.value(&text))
    }

    /// The generic pointer that an operand was given as.
    pub(super) fn given_pointer(&mut self, operand: &Operand) -> Option<String> {
        let Operand::Outer(number) = operand else { return None };
        let (ty, name) = self.pointers.get(number)?.clone();
        Some(if ty == "ptr" { name } else { self.value(&format!("addrspacecast {ty} {name} to ptr")) })
    }

    /// Declares what instructions call.
    pub(super) fn declare(&mut self, name: &str, declaration: &str) {
        self.declarations.insert(name.to_string(), declaration.to_string());
    }

    /// Adds an instruction that needs the given declaration.
    pub(super) fn declared(&mut self, name: &str, declaration: &str, text: &str) -> String {
        self.declare(name, declaration);
        self.value(text)
    }

    /// Whether an operand is a predicate register.
    pub(super) fn is_predicate(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Register(name) if self.registers[name] == 1)
    }

    /// Calls an LLVM intrinsic whose arguments and result all have type `ty`.
    pub(super) fn intrinsic(&mut self, name: &str, ty: &str, arguments: &[&str]) -> String {
        let types = vec![ty; arguments.len()].join(", ");
        self.declarations.insert(name.to_string(), format!("declare {ty} @{name}({types})\n"));
        let list: Vec<String> = arguments.iter().map(|value| format!("{ty} {value}")).collect();
        self.value(&format!("call {ty} @{name}({})", list.join(", ")))
    }
}

/// A constant as LLVM writes it: signed, of `width` bits.
pub(super) fn constant(value: u64, width: u32) -> String {
    match width {
        1 => (if value & 1 == 1 { "true" } else { "false" }).to_string(),
        8 => (value as i8).to_string(),
        16 => (value as i16).to_string(),
        32 => (value as i32).to_string(),
        _ => (value as i64).to_string(),
    }
}
