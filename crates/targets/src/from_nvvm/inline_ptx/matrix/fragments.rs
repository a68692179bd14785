//! Fragments of `wmma` between memory and registers.
//!
//! What lies in rows of 16 bytes is loaded as `ldmatrix` does (`rows.rs`), each lane its own row; all else by elements.

use super::Tiles;
use super::kinds::{self, Element, Fragment, Part};
use crate::from_nvvm::inline_ptx::dispatch::Modifiers;
use crate::from_nvvm::inline_ptx::emit::{Emitter, NOT_KNOWN, Reason};
use crate::from_nvvm::inline_ptx::parse::{Instruction, Operand};

/// A matrix in memory.
struct Memory {
    base: String,
    /// Elements from one row (or column) to the next, an i64.
    stride: String,
    bits: u32,
}

/// Where a lane is: the row of its tile, and its place in the row.
struct Lane {
    number: String,
    row: String,
    part: String,
}

impl Emitter<'_> {
    /// wmma.load
    pub(in super::super) fn load_fragment(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let fragment = kinds::fragment(&instruction.opcode).ok_or(NOT_KNOWN)?;
        let [to, address, stride @ ..] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let memory = self.memory(&fragment, instruction, address, stride.first())?;
        let tiles = Tiles::of(fragment.shape, fragment.part, fragment.element, true);
        self.meet();
        let contiguous = (fragment.part == Part::A) == fragment.rows;
        let mut made = match (fragment.part, fragment.element.bits()) {
            (Part::Sum, _) => self.load_sums(&fragment, &tiles, &memory),
            (_, 16) => self.load_rows(&tiles, &memory, !contiguous)?,
            (_, 1..=32) if contiguous => self.load_rows(&tiles, &memory, false)?,
            (_, bits @ (8..)) => self.load_elements(&tiles, &memory, bits, contiguous),
            _ => return Err(NOT_KNOWN.into()),
        };
        made.extend((0..tiles.copies).map(|_| "0".to_string()));
        self.write_registers(to, &made, fragment.element.word())
    }

    /// wmma.store
    pub(in super::super) fn store_fragment(&mut self, instruction: &Instruction) -> Result<(), Reason> {
        let fragment = kinds::fragment(&instruction.opcode).filter(|f| f.part == Part::Sum).ok_or(NOT_KNOWN)?;
        let [address, from, stride @ ..] = instruction.operands.as_slice() else { return Err("operands".into()) };
        let memory = self.memory(&fragment, instruction, address, stride.first())?;
        let tiles = Tiles::of(fragment.shape, fragment.part, fragment.element, true);
        let given = self.registers(from, tiles.registers(), fragment.element.word())?;
        let lane = self.place_of_lane();
        for (down, across) in tiles_of(&tiles) {
            let first = tiles.first(down, across);
            let places = self.places_of_sums(&fragment, &memory, &lane, (down, across));
            for (number, place) in places.iter().enumerate() {
                let (bits, value) = match fragment.element {
                    Element::F16 => {
                        let moved = self.value(&format!("lshr i32 {}, {}", given[first], 16 * number));
                        (16, self.value(&format!("trunc i32 {moved} to i16")))
                    }
                    element => (element.bits(), given[first + number].clone()),
                };
                self.line(&format!("store i{bits} {value}, ptr {place}, align {}", bits / 8));
            }
        }
        self.meet();
        Ok(())
    }

    fn memory(
        &mut self,
        fragment: &Fragment,
        instruction: &Instruction,
        address: &Operand,
        stride: Option<&Operand>,
    ) -> Result<Memory, Reason> {
        let base = self.row_pointer(&Modifiers::of(instruction), address)?;
        let shape = fragment.shape;
        let (rows, columns) = match fragment.part {
            Part::A => (shape.m, shape.k),
            Part::B => (shape.k, shape.n),
            Part::Sum => (shape.m, shape.n),
        };
        let stride = match stride {
            Some(stride) => {
                let words = self.read(stride, 32)?;
                self.value(&format!("sext i32 {words} to i64"))
            }
            None => if fragment.rows { columns } else { rows }.to_string(),
        };
        Ok(Memory { base, stride, bits: fragment.element.bits() })
    }

    fn place_of_lane(&mut self) -> Lane {
        let number = self.lane();
        let row = self.value(&format!("lshr i32 {number}, 2"));
        let part = self.value(&format!("and i32 {number}, 3"));
        Lane { number, row: self.wide(&row), part: self.wide(&part) }
    }

    fn wide(&mut self, number: &str) -> String {
        self.value(&format!("zext i32 {number} to i64"))
    }

    fn sum(&mut self, a: &str, b: &str) -> String {
        self.value(&format!("add i64 {a}, {b}"))
    }

    /// The address of an element: `line` strides from the start, and `within` elements.
    fn element_at(&mut self, memory: &Memory, line: &str, within: &str) -> String {
        let lines = self.value(&format!("mul i64 {line}, {}", memory.stride));
        let elements = self.sum(&lines, within);
        let bytes = match memory.bits {
            bits @ 8.. => self.value(&format!("mul i64 {elements}, {}", bits / 8)),
            bits => self.value(&format!("sdiv i64 {elements}, {}", 8 / bits)),
        };
        self.value(&format!("getelementptr i8, ptr {}, i64 {bytes}", memory.base))
    }

    /// The places of the two neighbours that a lane has of a tile of sums.
    fn places_of_sums(
        &mut self,
        fragment: &Fragment,
        memory: &Memory,
        lane: &Lane,
        (down, across): (u32, u32),
    ) -> Vec<String> {
        let high = self.sum(&lane.row, &(8 * down).to_string());
        let pair = self.value(&format!("mul i64 {}, 2", lane.part));
        // Whether what is held as rows are lines in memory.
        let as_lines = fragment.rows != fragment.shape.is_turned();
        let places = (0..2).map(|number| {
            let wide = self.sum(&pair, &(8 * across + number).to_string());
            let (line, within) = if as_lines { (&high, &wide) } else { (&wide, &high) };
            self.element_at(memory, line, within)
        });
        places.collect()
    }

    fn load_sums(&mut self, fragment: &Fragment, tiles: &Tiles, memory: &Memory) -> Vec<String> {
        let lane = self.place_of_lane();
        let mut made = vec![String::new(); tiles.registers()];
        for (down, across) in tiles_of(tiles) {
            let first = tiles.first(down, across);
            let places = self.places_of_sums(fragment, memory, &lane, (down, across));
            let bits = memory.bits;
            let loads =
                places.iter().map(|place| self.value(&format!("load i{bits}, ptr {place}, align {}", bits / 8)));
            let values: Vec<String> = loads.collect();
            if fragment.element == Element::F16 {
                made[first] = self.joined_words(&values, bits);
            } else {
                made.splice(first..first + 2, values);
            }
        }
        made
    }

    /// Small numbers, the first below, in a word.
    fn joined_words(&mut self, values: &[String], bits: u32) -> String {
        let mut word = String::from("0");
        for (number, value) in values.iter().enumerate() {
            let wide = self.resize(value, bits, 32, false);
            let moved = self.value(&format!("shl i32 {wide}, {}", bits as usize * number));
            word = self.value(&format!("or i32 {word}, {moved}"));
        }
        word
    }

    /// Tiles whose rows are 16 bytes, four at a time; of transposed ones the rows lie across.
    fn load_rows(&mut self, tiles: &Tiles, memory: &Memory, transposed: bool) -> Result<Vec<String>, Reason> {
        let lane = self.place_of_lane();
        let all = tiles.down * tiles.across;
        let many = all.min(4);
        let within = self.value(&format!("and i32 {}, 7", lane.number));
        let mine = self.value(&format!("lshr i32 {}, 3", lane.number));
        let mine = self.value(&format!("and i32 {mine}, {}", many - 1));
        let mut made = Vec::new();
        for first in (0..all).step_by(many as usize) {
            let tile = self.value(&format!("add i32 {mine}, {first}"));
            let inner = self.value(&format!("urem i32 {tile}, {}", tiles.step));
            let outer = self.value(&format!("udiv i32 {tile}, {}", tiles.step));
            let across = self.value(&format!("urem i32 {outer}, {}", tiles.across));
            let above = self.value(&format!("udiv i32 {outer}, {}", tiles.across));
            let above = self.value(&format!("mul i32 {above}, {}", tiles.step));
            let down = self.value(&format!("add i32 {above}, {inner}"));
            let (lines, beside) = if transposed { (&across, &down) } else { (&down, &across) };
            let line = self.value(&format!("mul i32 {lines}, 8"));
            let line = self.value(&format!("add i32 {line}, {within}"));
            let beside = self.value(&format!("mul i32 {beside}, {}", 128 / memory.bits));
            let (line, beside) = (self.wide(&line), self.wide(&beside));
            let row = self.element_at(memory, &line, &beside);
            let mut words = Vec::new();
            for number in 0..4 {
                let place = self.word_at(&row, number);
                words.push(self.value(&format!("load i32, ptr {place}, align 4")));
            }
            made.extend(self.exchanged(&words, many as usize, transposed)?);
        }
        Ok(made)
    }

    /// Each element on its own.
    fn load_elements(&mut self, tiles: &Tiles, memory: &Memory, bits: u32, contiguous: bool) -> Vec<String> {
        let lane = self.place_of_lane();
        let many = if bits == 64 { 1 } else { 32 / bits };
        let mut made = vec![String::new(); tiles.registers() - tiles.copies as usize];
        for (down, across) in tiles_of(tiles) {
            let row = self.sum(&lane.row, &(8 * down).to_string());
            let first = self.value(&format!("mul i64 {}, {many}", lane.part));
            let mut values = Vec::new();
            for number in 0..many {
                let k = self.sum(&first, &(4 * many * across + number).to_string());
                let (line, within) = if contiguous { (&row, &k) } else { (&k, &row) };
                let place = self.element_at(memory, line, within);
                values.push(self.value(&format!("load i{bits}, ptr {place}, align {}", bits / 8)));
            }
            made[tiles.first(down, across)] = match many {
                1 => values.remove(0),
                _ => self.joined_words(&values, bits),
            };
        }
        made
    }
}

fn tiles_of(tiles: &Tiles) -> impl Iterator<Item = (u32, u32)> + use<> {
    let Tiles { down, across, .. } = *tiles;
    (0..down).flat_map(move |row| (0..across).map(move |column| (row, column)))
}
