//! Integer division by zero, which x86 processors trap at, and so for the quotient that does not fit: the least number by -1.
//!
//! CUDA says nothing of the result, and goes on. Here it is what NVIDIA's GPUs give: all bits set and the dividend as the remainder; the least number
//! by -1 is itself, without a remainder. The instruction is skipped; nothing is paid by divisions that are right.

use super::registers::Registers;

/// Puts the result of a division that has trapped in its registers, and goes on behind it. Whether it was one.
#[cfg(not(target_arch = "x86_64"))]
pub fn skip(_registers: &Registers) -> bool {
    false
}

/// Puts the result of a division that has trapped in its registers, and goes on behind it. Whether it was one.
#[cfg(target_arch = "x86_64")]
pub fn skip(registers: &Registers) -> bool {
    const LONGEST: usize = 15;
    let pc = registers.pc();
    // SAFETY: the instruction has just been run; as many bytes as it has are read, one after the other.
    let byte = |at: usize| unsafe { *((pc + at) as *const u8) };
    let Some(division) = decode(&mut (0..LONGEST).map(byte)) else { return false };
    let (rax, rdx) = (registers.get(libc::REG_RAX) as u64, registers.get(libc::REG_RDX) as u64);
    let (rax, rdx) = division.result(rax, rdx);
    registers.set(libc::REG_RAX, rax as i64);
    registers.set(libc::REG_RDX, rdx as i64);
    registers.set(libc::REG_RIP, (pc + division.length) as i64);
    true
}

/// A `div` or `idiv`.
#[derive(Debug, PartialEq, Eq)]
#[cfg(any(target_arch = "x86_64", test))]
struct Division {
    length: usize,
    bits: u32,
    signed: bool,
}

/// Reads one instruction.
#[cfg(any(target_arch = "x86_64", test))]
fn decode(bytes: &mut dyn Iterator<Item = u8>) -> Option<Division> {
    let (mut length, mut wide, mut short) = (0, false, false);
    let mut next = || {
        length += 1;
        bytes.next()
    };
    let opcode = loop {
        match next()? {
            0x66 => short = true,
            // Of segments, addresses of 32 bits, and those that mean nothing here.
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0x67 | 0xf2 | 0xf3 => (),
            rex @ 0x40..=0x4f => wide = rex & 8 != 0,
            opcode => break opcode,
        }
    };
    let modrm = next()?;
    let (mode, operation, base) = (modrm >> 6, modrm >> 3 & 7, modrm & 7);
    if !matches!(opcode, 0xf6 | 0xf7) || !matches!(operation, 6 | 7) {
        return None;
    }
    let sib = if mode != 3 && base == 4 { Some(next()?) } else { None };
    let displacement = match mode {
        0 if base == 5 || sib.is_some_and(|sib| sib & 7 == 5) => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    let bits = match opcode {
        0xf6 => 8,
        _ if wide => 64,
        _ if short => 16,
        _ => 32,
    };
    Some(Division { length: length + displacement, bits, signed: operation == 7 })
}

#[cfg(any(target_arch = "x86_64", test))]
impl Division {
    /// What a quotient and a remainder are in the registers of a dividend.
    fn result(&self, rax: u64, rdx: u64) -> (u64, u64) {
        let low = |value: u64| value & (u64::MAX >> (64 - self.bits));
        let (dividend, high) = match self.bits {
            8 => (rax & 0xff, rax >> 8 & 0xff),
            _ => (low(rax), low(rdx)),
        };
        // A signed dividend is the least number where its upper half says that it is negative, and the rest is 0.
        let least = 1 << (self.bits - 1);
        // Whether it was divided by -1 or by 0 cannot be told here, and need not be.
        let is_least = self.signed && dividend == least && high == low(u64::MAX);
        let (quotient, rest) = if is_least { (least, 0) } else { (low(u64::MAX), dividend) };
        match self.bits {
            8 => (rax & !0xffff | rest << 8 | quotient, rdx),
            16 => (rax & !0xffff | quotient, rdx & !0xffff | rest),
            _ => (quotient, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<(usize, u32, bool)> {
        decode(&mut bytes.iter().copied()).map(|found| (found.length, found.bits, found.signed))
    }

    #[test]
    fn divisions_are_read_with_their_length() {
        assert_eq!(read(&[0xf7, 0xf9]), Some((2, 32, true))); // idiv ecx
        assert_eq!(read(&[0x48, 0xf7, 0xfe]), Some((3, 64, true))); // idiv rsi
        assert_eq!(read(&[0x41, 0xf7, 0xf0]), Some((3, 32, false))); // div r8d
        assert_eq!(read(&[0x66, 0xf7, 0xf1]), Some((3, 16, false))); // div cx
        assert_eq!(read(&[0xf6, 0xf1]), Some((2, 8, false))); // div cl
        assert_eq!(read(&[0xf7, 0x7d, 0xf8]), Some((3, 32, true))); // idiv dword ptr [rbp - 8]
        assert_eq!(read(&[0xf7, 0x7c, 0x24, 0x10]), Some((4, 32, true))); // idiv dword ptr [rsp + 16]
        assert_eq!(read(&[0xf7, 0xbc, 0x24, 0, 1, 0, 0]), Some((7, 32, true))); // idiv dword ptr [rsp + 256]
        assert_eq!(read(&[0xf7, 0x3d, 1, 2, 3, 4]), Some((6, 32, true))); // idiv dword ptr [rip + ...]
        assert_eq!(read(&[0x49, 0xf7, 0x3c, 0xc4]), Some((4, 64, true))); // idiv qword ptr [r12 + 8*rax]
        assert_eq!(read(&[0xf7, 0x3c, 0x25, 1, 2, 3, 4]), Some((7, 32, true))); // idiv dword ptr [...]
        assert_eq!(read(&[0xf7, 0x38]), Some((2, 32, true))); // idiv dword ptr [rax]
    }

    #[test]
    fn other_instructions_are_none() {
        assert_eq!(read(&[0xf7, 0xe1]), None); // mul ecx
        assert_eq!(read(&[0x0f, 0x5e, 0xc1]), None); // divps
        assert_eq!(read(&[0xf7]), None);
    }

    #[test]
    fn results_are_those_of_nvidias_gpus() {
        let of = |bits, signed, rax, rdx| Division { length: 2, bits, signed }.result(rax, rdx);
        assert_eq!(of(32, true, 7, 0), (0xffff_ffff, 7));
        assert_eq!(of(32, true, 0xffff_fff9, 0xffff_ffff), (0xffff_ffff, 0xffff_fff9));
        assert_eq!(of(32, true, 0x8000_0000, 0xffff_ffff), (0x8000_0000, 0));
        assert_eq!(of(32, false, 0x8000_0000, 0), (0xffff_ffff, 0x8000_0000));
        assert_eq!(of(64, true, 1 << 63, u64::MAX), (1 << 63, 0));
        assert_eq!(of(64, false, 5, 0), (u64::MAX, 5));
        assert_eq!(of(8, false, 0xaa_0009, 3), (0xaa_09ff, 3));
        assert_eq!(of(16, false, 0x1_0009, 0x2_0000), (0x1_ffff, 0x2_0009));
    }
}
