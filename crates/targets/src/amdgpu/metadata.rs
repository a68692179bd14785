//! What a code object says of its kernels: the note `NT_AMDGPU_METADATA`, MessagePack in the form that LLVM's "User Guide for AMDGPU
//! Backend" describes (version 4 and later).

use object::elf::FileHeader64;
use object::read::elf::{FileHeader, SectionHeader as _};
use object::{Endianness, elf};
use rmpv::Value;

use crate::{Error, Report};

/// The note's type.
const METADATA: u32 = 32;

/// The resources of the kernels in a code object made for `arch`, in its order.
///
/// # Errors
/// It is not a code object, or says nothing of its kernels.
pub fn reports(code: &[u8], arch: &str) -> Result<Vec<Report>, Error> {
    let unreadable = |what: String| Error::internal("reading the metadata of a code object", what);
    let note = note(code).map_err(|error| unreadable(error.to_string()))?;
    let mut note = note.ok_or_else(|| unreadable("there is no note".into()))?;
    let metadata = rmpv::decode::read_value(&mut note).map_err(|error| unreadable(error.to_string()))?;
    let kernels = member(&metadata, "amdhsa.kernels").and_then(Value::as_array).cloned().unwrap_or_default();
    Ok(kernels.iter().map(|kernel| report(kernel, arch)).collect())
}

/// The content of the note.
fn note(code: &[u8]) -> object::Result<Option<&[u8]>> {
    let header = FileHeader64::<Endianness>::parse(code)?;
    let endian = header.endian()?;
    for section in header.sections(endian, code)?.iter() {
        let Some(mut notes) = section.notes(endian, code)? else { continue };
        while let Some(note) = notes.next()? {
            if note.name() == b"AMDGPU" && note.n_type(endian) == METADATA {
                return Ok(Some(note.desc()));
            }
        }
    }
    Ok(None)
}

fn member<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    let found = map.as_map()?.iter().find(|(name, _)| name.as_str() == Some(key));
    found.map(|(_, value)| value)
}

fn report(kernel: &Value, arch: &str) -> Report {
    let number =
        |key: &str| member(kernel, key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0);
    let name = member(kernel, ".name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let spilled = number(".vgpr_spill_count") * 4;
    Report {
        name,
        arch: arch.to_owned(),
        is_kernel: true,
        registers: number(".vgpr_count"),
        accumulators: number(".agpr_count"),
        scalar_registers: number(".sgpr_count"),
        spill_stores: spilled,
        spill_loads: spilled,
        scalar_spills: number(".sgpr_spill_count"),
        stack_frame: number(".private_segment_fixed_size"),
        shared: number(".group_segment_fixed_size"),
        ..Report::default()
    }
}

/// Whether bytes are a code object of AMD's: an ELF file of its machine.
pub fn is_code_object(bytes: &[u8]) -> bool {
    let header = FileHeader64::<Endianness>::parse(bytes);
    header.is_ok_and(|header| header.e_machine.get(header.endian().unwrap_or_default()) == elf::EM_AMDGPU)
}

/// The names of the kernels of a code object; none of what is no code object.
pub fn kernels(code: &[u8]) -> Vec<String> {
    let reports = reports(code, "").unwrap_or_default();
    let mut names: Vec<String> = reports.into_iter().map(|report| report.name).collect();
    names.sort();
    names
}
