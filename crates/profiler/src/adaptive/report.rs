//! What a program settled on, in words.

use std::fmt::Write;

use regrain_tuning::record::Summary;

use super::settle::Version;
use super::table::{Kernel, Seen};
use crate::kernel::{Identity, Launch};

/// One line for each class of a kernel's launches.
pub fn of(kernel: &Kernel) -> String {
    let mut text = String::new();
    kernel.each(|seen| {
        let _ = writeln!(text, "{}", line(&kernel.identity, seen));
    });
    text
}

fn line(identity: &Identity, seen: &Seen<'_>) -> String {
    let Launch { grid: [gx, gy, gz], block: [bx, by, bz], .. } = seen.launch;
    let name = |version: usize| identity.grains[version].to_string();
    let outcome = match seen.class.settled() {
        Some(version) if seen.is_recalled => format!("{}, as before", name(version)),
        Some(version) => format!("{} after {} launches", name(version), seen.class.launches()),
        None => "not settled".into(),
    };
    let mut text = format!(
        "regrain adaptive: {} on {} {}, grids like {gx}x{gy}x{gz} of {bx}x{by}x{bz}: {outcome}; {} launches",
        identity.kernel, identity.target, seen.device, seen.launches
    );
    let is_known = |version: &Version| version.failed || version.samples() > 0;
    for (version, known) in seen.class.versions().iter().enumerate().filter(|(_, known)| is_known(known)) {
        let _ = write!(text, "; {} {}", name(version), times(known));
    }
    text
}

fn times(version: &Version) -> String {
    let mut warm: Vec<u64> = version.warm().collect();
    warm.sort_unstable();
    let known = Summary::of(&warm).map_or_else(
        || "unknown".into(),
        |all| format!("{:.1} us +- {:.1} of {}", all.median as f64 / 1e3, all.error() / 1e3, all.samples),
    );
    let state = match (version.failed, version.out) {
        (true, _) => ", cannot be launched",
        (_, true) => ", slower",
        _ => "",
    };
    known + state
}
