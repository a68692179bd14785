//! Units whose device code is linked with that of others (`-fgpu-rdc`): what waits in their objects, and what the link step adds.
//!
//! ```text
//! @__cuda_fatbin_wrapper = { i32 0x466243b1, i32 1, ptr @__regrain_unit, ptr null }      ; clang's, for registration
//! @__regrain_unit        = { i64 "RRGUNI01", ptr @__regrain_cpu_image.<unit>, ptr @__regrain_program_images, i64 <unit> },
//!                          section ".regrain.units"
//! @__regrain_offload     = [bytes x i8] ..., section ".llvm.offloading", !exclude        ; the unit's device code, as bitcode
//! ```
//! in the object of each unit, the code in a section that no program gets. The link step makes of it
//! ```text
//! @__regrain_program_images = { i64 "RRGSET01", ptr null, ptr @__regrain_offload, i64 bytes }
//! @__regrain_offload        = [bytes x i8] ..., section ".llvm.offloading"               ; images of the whole program
//! ```
//! The registration of every unit leads to it, and by its address the runtime knows that units share it: their variables are the
//! same. Both symbols are hidden, so that a shared library has images of its own.

use std::collections::HashSet;

use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::{AddressSpace, GlobalVisibility};
use mlir_bridge::llvm;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::offload::{self, ImageKind, OffloadImage, SET_MAGIC};
use crate::{Error, registration};

/// The section of the records of units that a linked file holds.
const SECTION: &str = ".regrain.units";
/// The first word of a record: "RRGUNI01".
const UNIT_MAGIC: u64 = 0x3130_494e_5547_5252;
/// Bytes of a record, and where in it the unit stands.
const RECORD: usize = 32;
const UNIT_AT: usize = 24;
/// The images that all units of a program share.
const PROGRAM_IMAGES: &str = "__regrain_program_images";

/// The device code of a unit for one architecture, not compiled yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// As in `gfx90a`.
    pub arch: String,
    /// How it is to be compiled, in the words of who wrote it.
    pub options: String,
    /// LLVM bitcode.
    pub bitcode: Vec<u8>,
}

/// What waits in an object to be linked with the rest of the program's device code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The object, with the archive's name before it.
    pub file: String,
    /// A name that no other unit of the program has: 16 digits.
    pub name: String,
    /// The code for each architecture.
    pub codes: Vec<DeviceCode>,
    /// The offload binaries that list what is in the host code.
    pub listings: Vec<u8>,
}

impl DeviceCode {
    /// As a part of an offload section. Whatever the code is for, its language is clang's for NVIDIA's chips.
    pub fn image<'c>(&'c self, unit: &'c str) -> OffloadImage<'c> {
        let Self { arch, options, bitcode } = self;
        OffloadImage { kind: ImageKind::Bitcode, triple: "nvptx64-nvidia-cuda", arch, unit, options, bytes: bitcode }
    }
}

/// Puts the offload binaries `offload` of the unit `name` into its object, and lets its registration code refer to the images
/// of the program, and to the CPU's table, where there is a symbol of it.
///
/// # Errors
/// The registration code is not of the expected form.
pub fn embed(host: &Module<'_>, name: &str, cpu_image_symbol: Option<&str>, offload: &[u8]) -> Result<(), Error> {
    let context = host.get_context();
    let binaries = offload::add_binaries(host, offload);
    binaries.set_metadata(context.metadata_node(&[]), context.get_kind_id("exclude"));
    llvm::keep_in_object(host, binaries);
    if !registration::registers_device_code(host) {
        return Ok(());
    }
    registration::register_early(host);
    let null = context.ptr_type(AddressSpace::default()).const_null();
    let cpu = cpu_image_symbol.map_or(null, |symbol| registration::external(host, symbol).as_pointer_value());
    let program = registration::external(host, PROGRAM_IMAGES).as_pointer_value();
    let number = u64::from_str_radix(name, 16).map_err(|e| Error::internal("naming a unit", e.to_string()))?;
    let word = |value: u64| context.i64_type().const_int(value, false);
    let record =
        context.const_struct(&[word(UNIT_MAGIC).into(), cpu.into(), program.into(), word(number).into()], false);
    let global = host.add_global(record.get_type(), None, "__regrain_unit");
    global.set_initializer(&record);
    global.set_linkage(Linkage::Private);
    global.set_section(Some(SECTION));
    global.set_alignment(8);
    registration::set_image(host, global.as_pointer_value()).map(drop)
}

/// The host module that the link step adds to a program, or to a shared library, with the offload binaries `offload`.
pub fn program_images<'ctx>(context: &'ctx Context, offload: &[u8]) -> Module<'ctx> {
    let module = context.create_module("device images");
    let binaries = offload::add_binaries(&module, offload).as_pointer_value();
    let null = context.ptr_type(AddressSpace::default()).const_null();
    let word = |value: u64| context.i64_type().const_int(value, false);
    let fields = [word(SET_MAGIC).into(), null.into(), binaries.into(), word(offload.len() as u64).into()];
    let set = context.const_struct(&fields, false);
    let global = module.add_global(set.get_type(), None, PROGRAM_IMAGES);
    global.set_initializer(&set);
    global.set_constant(true);
    global.set_visibility(GlobalVisibility::Hidden);
    global.set_alignment(8);
    module
}

/// Whether the object with the content `bytes` has the images of a program: its device code is linked.
pub fn are_linked(bytes: &[u8]) -> bool {
    let Ok(object) = object::File::parse(bytes) else { return false };
    object.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(PROGRAM_IMAGES))
}

/// What waits in the object `file`, whose content is `bytes`. None where the file is no object, or one of another compiler's.
pub fn waiting(file: &str, bytes: &[u8]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let Ok(object) = object::File::parse(bytes) else { return units };
    for section in object.sections().filter(|section| section.name() == Ok(offload::SECTION)) {
        let Some(images) = section.data().ok().and_then(|data| offload::parse(data).ok()) else { continue };
        for image in images.iter().filter(|image| image.kind == ImageKind::Bitcode && !image.options.is_empty()) {
            let (arch, options, bitcode) = (image.arch.into(), image.options.into(), image.bytes.into());
            let code = DeviceCode { arch, options, bitcode };
            match units.iter_mut().find(|unit| unit.name == image.unit) {
                Some(unit) => unit.codes.push(code),
                None => {
                    let (file, name) = (file.into(), image.unit.into());
                    let own = |other: &&OffloadImage<'_>| other.kind == ImageKind::None && other.unit == image.unit;
                    let listings: Vec<_> = images.iter().filter(own).copied().collect();
                    units.push(Unit { file, name, codes: vec![code], listings: offload::write(&listings) });
                }
            }
        }
    }
    units
}

/// The units that are registered in the linked file `bytes`.
///
/// # Errors
/// It is no linked file.
pub fn registered(bytes: &[u8]) -> Result<HashSet<String>, Error> {
    let unreadable = |error: object::Error| Error::internal("reading a linked program", error.to_string());
    let object = object::File::parse(bytes).map_err(unreadable)?;
    let Some(section) = object.section_by_name(SECTION) else { return Ok(HashSet::new()) };
    let word = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
    let records = section.data().map_err(unreadable)?.chunks_exact(RECORD);
    let known = records.filter(|record| word(&record[..8]) == UNIT_MAGIC);
    Ok(known.map(|record| format!("{:016x}", word(&record[UNIT_AT..]))).collect())
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;
    use inkwell::targets::{FileType, RelocMode, TargetMachineOptions};

    use super::*;

    const NAME: &str = "00000000deadbeef";

    /// The object of a unit as clang makes it.
    fn object(listed: bool) -> Vec<u8> {
        let context = Context::create();
        let text = "@0 = private constant [1 x i8] c\"x\", section \".nv_fatbin\", align 8\n\
                    @__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1180844977, i32 1, ptr @0, ptr null }\n\
                    @wrapper = global ptr @__cuda_fatbin_wrapper\n\0";
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "host");
        let host = context.create_module_from_ir(buffer).expect("valid IR");
        let (triple, target) = crate::machines::host_target().expect("a target");
        let options = TargetMachineOptions::new().set_reloc_mode(RelocMode::PIC);
        let machine = target.create_target_machine_from_options(&triple, options).expect("a target machine");
        host.set_triple(&machine.get_triple());
        host.set_data_layout(&machine.get_target_data().get_data_layout());
        let mut binaries = Vec::new();
        if listed {
            let cpu = code("cpu");
            let image = OffloadImage { kind: ImageKind::None, arch: "cpu", ..cpu.image(NAME) };
            binaries.extend(offload::write(&[image]));
        }
        binaries.extend(offload::write(&[code("gfx90a").image(NAME), code("sm_80").image(NAME)]));
        embed(&host, NAME, None, &binaries).expect("embedded");
        host.verify().expect("a valid module");
        machine.write_to_memory_buffer(&host, FileType::Object).expect("an object").as_slice().to_vec()
    }

    fn code(arch: &str) -> DeviceCode {
        DeviceCode { arch: arch.into(), options: "{}".into(), bitcode: arch.as_bytes().repeat(3) }
    }

    #[test]
    fn what_waits_is_found_again() {
        for listed in [false, true] {
            let object = object(listed);
            let units = waiting("a.o", &object);
            let [unit] = &units[..] else { panic!("expected one unit, got {units:?}") };
            assert_eq!((unit.file.as_str(), unit.name.as_str()), ("a.o", NAME));
            assert_eq!(unit.codes, [code("gfx90a"), code("sm_80")]);
            assert_eq!(unit.listings.is_empty(), !listed);
            assert_eq!(registered(&object).expect("readable"), HashSet::from([NAME.to_owned()]));
        }
        assert!(waiting("a.txt", b"some text").is_empty());
    }

    #[test]
    fn no_program_gets_what_waits() {
        let object = object(false);
        let file = object::File::parse(&*object).expect("an object");
        let section = file.section_by_name(offload::SECTION).expect("a section");
        let object::SectionFlags::Elf { sh_flags } = section.flags() else { panic!("expected ELF") };
        let (alloc, exclude) = (u64::from(object::elf::SHF_ALLOC), u64::from(object::elf::SHF_EXCLUDE));
        assert_eq!((sh_flags & alloc, sh_flags & exclude), (0, exclude));
    }
}
