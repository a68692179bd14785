//! Matrix instructions: mma, wmma, ldmatrix, stmatrix; as inline PTX and as NVVM's intrinsics.
//!
//! ```text
//! mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};
//! ```
//! becomes a call of what the lanes compute together,
//! ```text
//! %d = call { i32, i32, i32, i32 } @__regrain_warp.mma_f16_2x2(i32 %a0, ..., i32 %c3)
//! ```
//! which the parallel form knows (`regrain.warp_call`); in the coroutine form each lane calls it, and waits for the others. A product goes by
//! rows of 16 (or 8) and columns of 8, by those registers that PTX documents for `mma` (`device-lib/cpu/matrix.h`); fragments of
//! `wmma`, whose registers nobody documents, are several of these, of halves with empty registers in the place of copies. Where a result has more columns
//! than rows its columns are held as rows. So matrix and registers agree in all forms: `wmma.load` of what lies in rows of 16 bytes is
//! `ldmatrix`. Sums are of floats, in ascending order of k; to halves they are rounded once, at the end of an instruction. Sums of
//! integers wrap around, or with `.satfinite` the sum of all products and C is clamped.

mod fragments;
mod kinds;
mod rows;

use super::emit::{Emitter, NOT_KNOWN, Reason};
use super::parse::{Instruction, Operand};
use crate::nvvm::matrices;
use kinds::{Element, Part, Product, Shape};

/// The intrinsics that stand for matrix instructions begin so, after `llvm.nvvm.`.
const INTRINSICS: &[&str] = &["mma.", "wmma.", "ldmatrix.", "stmatrix."];

/// The inline PTX that a call of the intrinsic `name` is, which gives `results` values and takes `arguments`; and its constraints.
pub(super) fn as_statement(name: &str, results: usize, arguments: usize) -> Option<(String, String)> {
    let rest = name.strip_prefix("llvm.nvvm.")?;
    if !INTRINSICS.iter().any(|start| rest.starts_with(start)) {
        return None;
    }
    let mnemonic = kinds::mnemonic(rest)?;
    let opcode: Vec<String> = mnemonic.split('.').map(String::from).collect();
    let list = |from: usize, count: usize| {
        let all: Vec<String> = (from..from + count).map(|number| format!("${number}")).collect();
        format!("{{{}}}", all.join(","))
    };
    let operands = match (opcode[0].as_str(), opcode[1].as_str()) {
        ("ldmatrix", _) => format!("{}, [$0]", list(0, results)).replace("[$0]", &format!("[${results}]")),
        ("stmatrix", _) => format!("[$0], {}", list(1, arguments - 1)),
        ("wmma", "load") if rest.contains(".stride.") => {
            format!("{}, [${results}], ${}", list(0, results), results + 1)
        }
        ("wmma", "load") => format!("{}, [${results}]", list(0, results)),
        ("wmma", "store") if rest.contains(".stride.") => {
            format!("[$0], {}, ${}", list(1, arguments - 2), arguments - 1)
        }
        ("wmma", "store") => format!("[$0], {}", list(1, arguments - 1)),
        _ => {
            let product = kinds::product(&opcode)?;
            let [a, b, c] = [Part::A, Part::B, Part::Sum].map(|part| Tiles::of_product(&product, part).registers());
            if a + b + c != arguments {
                return None;
            }
            let parts = [list(0, results), list(results, a), list(results + a, b), list(results + a + b, c)];
            parts.join(", ")
        }
    };
    let constraints: Vec<&str> =
        std::iter::repeat_n("=r", results).chain(std::iter::repeat_n("r", arguments)).collect();
    Some((format!("{mnemonic} {operands};"), constraints.join(",")))
}

/// Whether inline PTX holds a matrix instruction.
pub(super) fn is_matrix(text: &str) -> bool {
    ["mma.", "ldmatrix.", "stmatrix."].iter().any(|word| text.contains(word))
}

/// How the registers of a fragment hold its matrix: by tiles of 8 rows and 4 words of each. The rows of B are its columns.
#[derive(Clone, Copy, Debug)]
struct Tiles {
    /// Tiles below one another that one product takes.
    step: u32,
    /// Tiles below one another, and beside.
    down: u32,
    across: u32,
    /// Registers of a tile.
    each: u32,
    /// Registers that are there beside.
    copies: u32,
}

impl Tiles {
    fn of(shape: Shape, part: Part, element: Element, wmma: bool) -> Self {
        let (high, wide) = if shape.is_turned() { (shape.n, shape.m) } else { (shape.m, shape.n) };
        let step = (high / 8).min(2);
        let across = (shape.k * element.bits()).div_ceil(4 * element.word());
        let is_high = (part == Part::A) != shape.is_turned();
        // Volta's product has registers of its own.
        let of_quads = shape.m == 8 && shape.k == 4 && element != Element::F64;
        match part {
            Part::Sum if of_quads => {
                Self { step, down: 1, across: 1, each: if element == Element::F16 { 4 } else { 8 }, copies: 0 }
            }
            _ if of_quads => Self { step, down: 1, across: 2, each: 1, copies: 0 },
            Part::Sum => {
                let each = if element == Element::F16 { 1 } else { 2 };
                Self { step, down: high / 8, across: wide / 8, each, copies: 0 }
            }
            _ => {
                let (step, down) = if is_high { (step, high / 8) } else { (1, wide / 8) };
                let whole = if wmma && element == Element::F16 { 8 } else { 0 };
                Self { step, down, across, each: 1, copies: u32::saturating_sub(whole, down * across) }
            }
        }
    }

    fn of_product(product: &Product, part: Part) -> Self {
        let element = match part {
            Part::A => product.a,
            Part::B => product.b,
            Part::Sum => product.c,
        };
        Self::of(product.shape, part, element, product.wmma)
    }

    /// How many registers there are.
    fn registers(&self) -> usize {
        (self.down * self.across * self.each + self.copies) as usize
    }

    /// The number of the first register of a tile.
    fn first(&self, down: u32, across: u32) -> usize {
        let tile = ((down / self.step) * self.across + across) * self.step + down % self.step;
        (tile * self.each) as usize
    }
}

impl Emitter<'_> {
    /// What all lanes of the warp compute together of words of `bits` bits.
    fn together(
        &mut self,
        function: &str,
        bits: u32,
        values: &[String],
        results: usize,
    ) -> Result<Vec<String>, Reason> {
        let name = matrices::together(function);
        let symbol = crate::from_nvvm::library::struct_intrinsic_symbol(&name);
        if self.library.get(&symbol).is_none() {
            return Err(NOT_KNOWN.into());
        }
        let list = |of: &[String]| of.join(", ");
        let result = format!("{{ {} }}", list(&vec![format!("i{bits}"); results]));
        let types = list(&vec![format!("i{bits}"); values.len()]);
        let given: Vec<String> = values.iter().map(|value| format!("i{bits} {value}")).collect();
        let declaration = format!("declare {result} @{name}({types}) convergent nounwind\n");
        let text = format!("call {result} @{name}({}) convergent", list(&given));
        let all = self.declared(&name, &declaration, &text);
        Ok((0..results).map(|number| self.value(&format!("extractvalue {result} {all}, {number}"))).collect())
    }

    /// All lanes of the warp are here.
    fn meet(&mut self) {
        let name = "llvm.nvvm.bar.warp.sync";
        self.declare(name, &format!("declare void @{name}(i32)\n"));
        self.line(&format!("call void @{name}(i32 -1)"));
    }

    /// The number of the lane.
    fn lane(&mut self) -> String {
        let name = "llvm.nvvm.read.ptx.sreg.laneid";
        self.declared(name, &format!("declare i32 @{name}()\n"), &format!("call i32 @{name}()"))
    }

    /// The registers of an operand.
    fn registers(&mut self, operand: &Operand, count: usize, bits: u32) -> Result<Vec<String>, Reason> {
        let parts = operand.parts();
        if parts.len() != count {
            return Err(format!("{} registers, {count} expected", parts.len()));
        }
        parts.iter().map(|part| self.read(part, bits)).collect()
    }

    fn write_registers(&mut self, operand: &Operand, values: &[String], bits: u32) -> Result<(), Reason> {
        let parts = operand.parts();
        if parts.len() != values.len() {
            return Err(format!("{} registers, {} expected", parts.len(), values.len()));
        }
        parts.iter().zip(values).try_for_each(|(part, value)| self.write(part, value, bits, false))
    }

    /// mma, wmma.mma
    pub(in super::super) fn product(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let product = kinds::product(&instruction.opcode).ok_or(NOT_KNOWN)?;
        let [to, a, b, c] = instruction.operands.as_slice() else { return Err("four operands expected".into()) };
        let bits = product.a.word();
        let tiles = [Part::A, Part::B, Part::Sum].map(|part| Tiles::of_product(&product, part));
        let a = self.registers(a, tiles[0].registers(), bits)?;
        let b = self.registers(b, tiles[1].registers(), bits)?;
        let given = self.registers(c, tiles[2].registers(), bits)?;
        let given = if product.c == Element::F16 { self.widened(&given) } else { given };
        let sums = match product.saturates {
            true => vec!["0".to_string(); given.len()],
            false => given.clone(),
        };
        let made = match (product.a, product.shape.k) {
            (Element::F16, 4) => self.product_of_quads(&product, &a, &b, &sums)?,
            _ if product.shape.is_turned() => self.product_of_tiles(&product, (&b, tiles[1]), (&a, tiles[0]), &sums)?,
            _ => self.product_of_tiles(&product, (&a, tiles[0]), (&b, tiles[1]), &sums)?,
        };
        let made = match product.saturates {
            true => self.clamped(&made, &given),
            false => made,
        };
        let made = if product.d == Element::F16 { self.narrowed(&made) } else { made };
        self.write_registers(to, &made, bits)
    }

    /// A product by what the library multiplies at once.
    fn product_of_tiles(
        &mut self,
        product: &Product,
        (high, high_tiles): (&[String], Tiles),
        (wide, wide_tiles): (&[String], Tiles),
        sums: &[String],
    ) -> Result<Vec<String>, Reason> {
        let element = if product.d.word() == 64 { Element::F64 } else { Element::F32 };
        let sum_tiles = Tiles::of(product.shape, Part::Sum, element, product.wmma);
        let (step, across) = (high_tiles.step, high_tiles.across);
        let kinds = match product.a {
            Element::B1 if product.and => "b1_and".to_string(),
            Element::B1 => "b1_xor".to_string(),
            a if a.is_integer() || a.is_byte_with_exponent() => format!("{}_{}", product.a.name(), product.b.name()),
            _ => product.a.name().to_string(),
        };
        // The library multiplies two words of a row at most.
        let most = across.min(2);
        let function = format!("mma_{kinds}_{step}x{most}");
        let mut made = vec![String::new(); sums.len()];
        for down in (0..high_tiles.down).step_by(step as usize) {
            for column in 0..wide_tiles.down {
                let first = sum_tiles.first(down, column);
                let places = first..first + 2 * step as usize;
                let mut part: Vec<String> = sums[places.clone()].to_vec();
                for words in (0..across).step_by(most as usize) {
                    let each = words..words + most;
                    let mut values: Vec<String> = Vec::new();
                    for word in each.clone() {
                        values.extend((0..step).map(|row| high[high_tiles.first(down + row, word)].clone()));
                    }
                    values.extend(each.map(|word| wide[wide_tiles.first(column, word)].clone()));
                    values.append(&mut part);
                    part = self.together(&function, product.a.word(), &values, places.len())?;
                }
                made.splice(places, part);
            }
        }
        Ok(made)
    }

    /// Volta's product, of four lanes and four others each.
    fn product_of_quads(
        &mut self,
        product: &Product,
        a: &[String],
        b: &[String],
        sums: &[String],
    ) -> Result<Vec<String>, Reason> {
        let flags = [product.columns.0, product.columns.1, product.c == Element::F16, product.d == Element::F16];
        let flags: u32 = flags.iter().enumerate().map(|(bit, set)| u32::from(*set) << bit).sum();
        let values: Vec<String> = a.iter().chain(b).chain(sums).cloned().chain([flags.to_string()]).collect();
        self.together("mma_quads", 32, &values, 8)
    }

    /// Pairs of halves as floats, in the bits of integers.
    fn widened(&mut self, words: &[String]) -> Vec<String> {
        let mut floats = Vec::new();
        for word in words {
            let high = self.value(&format!("lshr i32 {word}, 16"));
            for half in [word.clone(), high] {
                let bits = self.value(&format!("trunc i32 {half} to i16"));
                let half = self.value(&format!("bitcast i16 {bits} to half"));
                let float = self.value(&format!("fpext half {half} to float"));
                floats.push(self.value(&format!("bitcast float {float} to i32")));
            }
        }
        floats
    }

    /// Floats as pairs of halves; what is no number is the one that hardware makes.
    fn narrowed(&mut self, floats: &[String]) -> Vec<String> {
        let mut words = Vec::new();
        for pair in floats.chunks(2) {
            let mut word = String::from("0");
            for (place, bits) in pair.iter().enumerate() {
                let float = self.value(&format!("bitcast i32 {bits} to float"));
                let half = self.value(&format!("fptrunc float {float} to half"));
                let bits = self.value(&format!("bitcast half {half} to i16"));
                let none = self.value(&format!("fcmp uno float {float}, {float}"));
                let bits = self.value(&format!("select i1 {none}, i16 32767, i16 {bits}"));
                let wide = self.value(&format!("zext i16 {bits} to i32"));
                let moved = self.value(&format!("shl i32 {wide}, {}", 16 * place));
                word = self.value(&format!("or i32 {word}, {moved}"));
            }
            words.push(word);
        }
        words
    }

    /// The sums of products and C, clamped to what 32 bits hold.
    fn clamped(&mut self, products: &[String], sums: &[String]) -> Vec<String> {
        let pairs = products.iter().zip(sums);
        pairs.map(|(product, sum)| self.intrinsic("llvm.sadd.sat.i32", "i32", &[product, sum])).collect()
    }
}
