//! The device code of a unit in its host module: images, or what they are made of when the program is linked.

use inkwell::module::Module;
use regrain_targets::image::Piece;
use regrain_targets::offload::{self, ImageKind, OffloadImage};
use regrain_targets::target::{Blocks, Code as Kind};
use regrain_targets::{registration, units};

use crate::chips::Group;
use crate::device_side::{Code, DeviceSide};
use crate::error::Result;

/// Lets clang's registration code find the device code of all groups, or those `pieces` of it.
pub(crate) fn put(
    host: &Module<'_>,
    groups: &[Group<'_>],
    sides: &[DeviceSide],
    pieces: Option<&[Piece]>,
) -> Result<()> {
    let is_cudas = |group: &Group<'_>| group.archs.iter().all(|arch| group.target.cuda_arch(&arch.name).is_some());
    if !groups.iter().all(is_cudas)
        && let Some(seen) = groups.iter().flat_map(|group| &group.chips).min()
    {
        registration::say_cuda_arch(host, seen.cuda_arch_macro());
    }
    let waiting = sides.iter().find_map(|side| side.code.waiting_unit());
    if let ([group], [side], None) = (groups, sides, waiting) {
        match (&side.code, group.target.code()) {
            (Code::Object { table, unit, kernels, .. }, Kind::Blocks(blocks)) => {
                registration::refer_to_image(host, table)?;
                offload::embed_listing(host, &listing(group, blocks, unit, kernels));
            }
            (Code::Images { images, .. }, Kind::Kernels(kernels)) => kernels.embed(host, images, pieces)?,
            // A target makes code of its own kind, and no code waits here.
            _ => {}
        }
        return Ok(());
    }
    let (mut binaries, mut symbol) = (Vec::new(), None);
    for (group, side) in groups.iter().zip(sides) {
        match (&side.code, group.target.code()) {
            (Code::Object { table, unit, kernels, .. }, Kind::Blocks(blocks)) => {
                symbol = Some(table.as_str());
                binaries.extend(listing(group, blocks, waiting.unwrap_or(unit), kernels));
            }
            (Code::Images { images, .. }, Kind::Kernels(kernels)) => {
                binaries.extend(offload::write(&kernels.offload_images(images, pieces)?));
            }
            // What the link step makes images of goes into the object.
            (Code::Waiting { codes, unit }, _) => {
                let images: Vec<_> = codes.iter().map(|code| code.image(unit)).collect();
                binaries.extend(offload::write(&images));
            }
            _ => {}
        }
    }
    match waiting {
        Some(name) => units::embed(host, name, symbol, &binaries)?,
        None => offload::embed_set(host, symbol, &binaries).map(drop)?,
    }
    Ok(())
}

/// The offload binary that lists the kernels of a group whose code is linked into the program.
fn listing(group: &Group<'_>, blocks: &dyn Blocks, unit: &str, kernels: &[String]) -> Vec<u8> {
    let (triple, list) = (blocks.triple(), offload::cpu_listing(kernels.iter().map(String::as_str)));
    let (kind, options, bytes) = (ImageKind::None, "", list.as_bytes());
    let arch = &group.archs[0].name;
    offload::write(&[OffloadImage { kind, triple: &triple, arch, unit, options, bytes }])
}
