//! Which device this process uses: chosen at the first call that needs one, for good.
//!
//! `REGRAIN_DEVICE` forces one. Else the first of the table is used for which all parts of the program that hold images
//! hold one and which the machine has; without such a device, the first for which any part does. Where none can be had,
//! every call returns the error, and one message says what was looked for and what was found.

use std::sync::OnceLock;

use super::row::{Refusal, Row};
use super::seam::Device;
use super::{cpu, cuda, hip};
use crate::error::{CudaError, Result};
use crate::images::image::Images;
use crate::images::registry::{self, Module};

/// All devices, the preferred ones first. The last needs nothing of the machine: it also runs programs without any
/// image.
static DEVICES: [Row; 3] = [cuda::machine::ROW, hip::machine::ROW, cpu::machine::ROW];

#[derive(Clone, Copy)]
struct Chosen {
    device: &'static dyn Device,
    row: &'static Row,
}

static CHOSEN: OnceLock<Result<Chosen>> = OnceLock::new();

fn chosen() -> &'static Result<Chosen> {
    CHOSEN.get_or_init(|| {
        choose(std::env::var("REGRAIN_DEVICE").unwrap_or_default().trim(), &registry::modules()).map_err(|refusal| {
            eprintln!("regrain runtime: error: {}", refusal.text);
            refusal.error
        })
    })
}

/// The device of this process.
#[inline]
pub fn device() -> Result<&'static dyn Device> {
    match chosen() {
        Ok(chosen) => Ok(chosen.device),
        Err(error) => Err(*error),
    }
}

/// The device of this process, if a call has needed one already.
pub fn device_if_chosen() -> Option<&'static dyn Device> {
    CHOSEN.get()?.as_ref().ok().map(|chosen| chosen.device)
}

/// The kind of the device of this process; the CPU's where none can be had.
pub fn kind() -> u32 {
    chosen().as_ref().map_or(cpu::machine::ROW.kind, |chosen| chosen.row.kind)
}

/// Says so where a translation unit comes too late to have a say in the choice, and holds nothing for the device: a
/// constructor of the program has made a CUDA call before clang's own constructor registered the images.
pub fn arrived(images: &Images) {
    if let Some(Ok(chosen)) = CHOSEN.get()
        && !images.is_empty()
        && !(chosen.row.holds)(images)
    {
        let name = chosen.row.name;
        eprintln!(
            "regrain runtime: error: images ({images}) were registered after a CUDA call had chosen the \
             device '{name}', for which there is none among them; set REGRAIN_DEVICE"
        );
    }
}

fn open(row: &'static Row, modules: &[&'static Module]) -> std::result::Result<Chosen, Refusal> {
    (row.open)(modules).map(|device| Chosen { device, row })
}

fn holds(row: &Row, modules: &[&'static Module]) -> bool {
    modules.iter().any(|module| (row.holds)(&module.images))
}

fn all_hold(row: &Row, modules: &[&'static Module]) -> bool {
    modules.iter().all(|module| module.images.is_empty() || (row.holds)(&module.images))
}

/// The images of a program, for messages.
fn all_images(modules: &[&'static Module]) -> String {
    let mut names: Vec<String> = modules.iter().map(|module| module.images.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| name != "none");
    if names.is_empty() { "no image".into() } else { names.join("; ") }
}

fn choose(forced: &str, modules: &[&'static Module]) -> std::result::Result<Chosen, Refusal> {
    let bare = modules.iter().all(|module| module.images.is_empty());
    let with_images = |text: &str| format!("{text}; the program holds: {}", all_images(modules));
    if !forced.is_empty() {
        let Some(row) = DEVICES.iter().find(|row| row.name == forced) else {
            let names = DEVICES.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
            let text = format!("REGRAIN_DEVICE: expected one of {names}, got '{forced}'");
            return Err(Refusal { error: CudaError::NO_DEVICE, text });
        };
        if !bare && !holds(row, modules) {
            let text = with_images(&format!("REGRAIN_DEVICE={forced}: the program has no image for this device"));
            return Err(Refusal { error: CudaError::INVALID_KERNEL_IMAGE, text });
        }
        return open(row, modules).map_err(|refusal| Refusal {
            text: with_images(&format!("REGRAIN_DEVICE={forced}: {}", refusal.text)),
            ..refusal
        });
    }
    if bare && let Some(last) = DEVICES.last() {
        return open(last, modules);
    }
    let mut refusals = Vec::new();
    let whole = DEVICES.iter().filter(|row| all_hold(row, modules));
    let partial = DEVICES.iter().filter(|row| holds(row, modules) && !all_hold(row, modules));
    for row in whole.chain(partial) {
        match open(row, modules) {
            Ok(chosen) => return Ok(chosen),
            Err(refusal) => refusals.push(refusal),
        }
    }
    // What the first says is what the calls return; the message has all.
    let error = refusals.first().map_or(CudaError::INVALID_KERNEL_IMAGE, |refusal| refusal.error);
    let texts: Vec<String> = refusals.into_iter().map(|refusal| refusal.text).collect();
    let text = if texts.is_empty() {
        "the program has no image for a device that this runtime knows".into()
    } else {
        texts.join("; ")
    };
    Err(Refusal { error, text: with_images(&text) })
}
