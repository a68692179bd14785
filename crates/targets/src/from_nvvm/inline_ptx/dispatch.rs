//! From a mnemonic to the code that lowers it.

use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::library::width_of_type;
use super::parse::{Instruction, Operand, width_of};

/// A PTX type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Unsigned(u32),
    Signed(u32),
    Bits(u32),
    Predicate,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F64,
    Tf32,
}

impl Type {
    /// A type without its dot.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "pred" => Self::Predicate,
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "f16x2" => Self::F16x2,
            "bf16x2" => Self::Bf16x2,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "tf32" => Self::Tf32,
            _ => {
                let width = width_of(text)?;
                match text.as_bytes()[0] {
                    b'u' => Self::Unsigned(width),
                    b's' => Self::Signed(width),
                    b'b' => Self::Bits(width),
                    _ => return None,
                }
            }
        })
    }

    pub fn width(self) -> u32 {
        match self {
            Self::Unsigned(w) | Self::Signed(w) | Self::Bits(w) => w,
            Self::Predicate => 1,
            Self::F16 | Self::Bf16 => 16,
            Self::F16x2 | Self::Bf16x2 | Self::F32 | Self::Tf32 => 32,
            Self::F64 => 64,
        }
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::Signed(_))
    }

    pub fn is_float(self) -> bool {
        !matches!(self, Self::Unsigned(_) | Self::Signed(_) | Self::Bits(_) | Self::Predicate)
    }
}

/// What stands between the first and the last part of a mnemonic.
pub(super) struct Modifiers<'a>(pub &'a [String]);

impl<'a> Modifiers<'a> {
    pub fn of(instruction: &'a Instruction) -> Self {
        Self(&instruction.opcode[1..])
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|m| m == name)
    }

    /// All types, in the order written.
    pub fn types(&self) -> Vec<Type> {
        self.0.iter().filter_map(|m| Type::parse(m)).collect()
    }

    /// The last type: that of the operands.
    pub fn last_type(&self) -> Result<Type, Reason> {
        self.types().last().copied().ok_or_else(|| "no type".to_string())
    }

    /// Fails unless every modifier that is not a type is in `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), Reason> {
        match self.0.iter().find(|m| Type::parse(m).is_none() && !known.contains(&m.as_str())) {
            Some(modifier) => Err(format!("modifier '.{modifier}'")),
            None => Ok(()),
        }
    }
}

impl Emitter<'_> {
    /// Lowers one instruction, its guard aside.
    pub(super) fn instruction(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let is_float = modifiers.last_type().is_ok_and(Type::is_float);
        match instruction.opcode[0].as_str() {
            "mov" => self.mov(instruction),
            "cvt" => self.cvt(instruction),
            "cvta" => self.cvta(instruction),
            "setp" => self.setp(instruction),
            "set" => self.set(instruction),
            "selp" => self.selp(instruction),
            "slct" => self.slct(instruction),
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "neg" | "abs" | "min" | "max" if is_float => {
                self.float(instruction)
            }
            "sqrt" | "rcp" | "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" | "copysign" => self.float(instruction),
            "testp" => self.testp(instruction),
            "add" | "sub" | "addc" | "subc" => self.add_sub(instruction),
            "mul" | "mad" | "madc" | "mul24" | "mad24" => self.mul_mad(instruction),
            "neg" | "abs" | "min" | "max" => self.integer_unary_or_choice(instruction),
            "and" | "or" | "xor" | "not" | "cnot" => self.logic(instruction),
            "sad" => self.sad(instruction),
            "ld" | "ldu" => self.load(instruction),
            "st" => self.store(instruction),
            "atom" | "red" => self.atomic(instruction),
            "isspacep" => self.isspacep(instruction),
            "cp" => self.cp(instruction),
            "membar" | "fence" => {
                self.line("fence seq_cst");
                Ok(())
            }
            "prefetch" | "prefetchu" | "applypriority" | "discard" | "griddepcontrol" | "pmevent" => Ok(()),
            "tex" => self.tex(instruction),
            "tld4" => self.tld4(instruction),
            "suld" | "sust" => self.surface(instruction),
            "mma" => self.product(instruction),
            "wmma" => match instruction.opcode.get(1).map(String::as_str) {
                Some("load") => self.load_fragment(instruction),
                Some("store") => self.store_fragment(instruction),
                _ => self.product(instruction),
            },
            "ldmatrix" => self.load_matrix(instruction),
            "stmatrix" => self.store_matrix(instruction),
            "bar" | "barrier" => self.barrier(instruction),
            "mbarrier" => self.mbarrier(instruction),
            "shfl" | "match" | "elect" => self.exchange(instruction),
            "vote" => self.vote(instruction),
            "activemask" | "redux" | "fns" => self.warp_value(instruction),
            "bra" => self.branch(instruction),
            "ret" | "exit" => self.exit(instruction),
            // Without a debugger a breakpoint is a trap.
            "trap" | "brkpt" => {
                self.call("__regrain_trap", &[])?;
                self.end_block("unreachable");
                Ok(())
            }
            _ => self.library_function(instruction),
        }
    }

    fn mov(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let modifiers = Modifiers::of(instruction);
        let [to, from] = instruction.operands.as_slice() else { return Err("two operands expected".into()) };
        let width = modifiers.last_type()?.width();
        let value = self.read(from, width)?;
        self.write(to, &value, width, false)
    }

    fn branch(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        match instruction.operands.as_slice() {
            [Operand::Name(label)] => {
                self.end_block(&format!("br label %\"l.{label}\""));
                Ok(())
            }
            _ => Err("a label expected".into()),
        }
    }

    fn exit(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        if instruction.opcode[0] == "ret" {
            return Err("it would return from the function around it".into());
        }
        self.call("__regrain_exit_thread", &[])?;
        self.end_block("unreachable");
        Ok(())
    }

    /// Any instruction that the device library implements under the mnemonic's own name.
    fn library_function(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let symbol = format!("__regrain_ptx_{}", instruction.opcode.join("_").replace("::", "_"));
        let Some(signature) = self.library.get(&symbol).cloned() else { return Err(NOT_KNOWN.into()) };
        let has_result = signature.result != "void";
        if instruction.operands.len() != signature.parameters.len() + usize::from(has_result) {
            return Err(format!("{} operands", instruction.operands.len()));
        }
        let sources = &instruction.operands[usize::from(has_result)..];
        let mut arguments = Vec::new();
        for (operand, ty) in sources.iter().zip(&signature.parameters) {
            let width = width_of_type(ty).ok_or("an operand type")?;
            let bits = self.read(operand, width)?;
            arguments.push((ty.as_str(), self.from_integer(ty, &bits, width)));
        }
        let result = self.call(&symbol, &arguments)?;
        if !has_result {
            return Ok(());
        }
        let width = signature.result_width();
        let bits = self.as_integer(&signature.result, &result, width);
        let signed = instruction.opcode.last().is_some_and(|ty| ty.starts_with('s'));
        self.write(&instruction.operands[0], &bits, width, signed)
    }
}
