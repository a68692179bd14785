//! What was advised for ranges of managed memory, and where they were prefetched to: hints that change nothing here, kept for programs that ask.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{CudaError, Result, check};
use crate::types::Location;

/// Devices as programs name them: `cudaCpuDeviceId`, and `cudaInvalidDeviceId` for none.
const HOST: i32 = -1;
const NONE: i32 = -2;
/// Of the devices here a location names one, of the rest of them the host.
const OF_DEVICE: u32 = 1;

#[derive(Clone, Default, PartialEq, Eq)]
struct Advice {
    read_mostly: bool,
    preferred: Option<Location>,
    accessed_by: Vec<i32>,
    prefetched: Option<Location>,
}

/// Pieces that do not overlap, by where they begin: the end of each, and what was advised for it.
type Pieces = BTreeMap<usize, (usize, Advice)>;

fn pieces() -> MutexGuard<'static, Pieces> {
    static PIECES: Mutex<Pieces> = Mutex::new(BTreeMap::new());
    PIECES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes pieces begin and end at an address.
fn split(pieces: &mut Pieces, at: usize) {
    let Some((_, (end, advice))) = pieces.range_mut(..at).next_back().filter(|(_, (end, _))| *end > at) else { return };
    let rest = (std::mem::replace(end, at), advice.clone());
    pieces.insert(at, rest);
}

/// The pieces of a range, and what lies between them.
fn of_range(pieces: &Pieces, start: usize, end: usize) -> Vec<(usize, usize, Advice)> {
    let before = pieces.range(..start).next_back().filter(|(_, (end, _))| *end > start);
    let (mut all, mut at) = (Vec::new(), start);
    for (from, (to, advice)) in before.into_iter().chain(pieces.range(start..end)) {
        if *from > at {
            all.push((at, *from, Advice::default()));
        }
        all.push(((*from).max(start), (*to).min(end), advice.clone()));
        at = *to;
    }
    if at < end {
        all.push((at, end, Advice::default()));
    }
    all
}

fn change(start: usize, end: usize, change: impl Fn(&mut Advice)) {
    let mut pieces = pieces();
    split(&mut pieces, start);
    split(&mut pieces, end);
    for (from, to, mut advice) in of_range(&pieces, start, end) {
        change(&mut advice);
        pieces.insert(from, (to, advice));
    }
}

/// The number of a place as programs name devices.
fn device_of(place: Location) -> i32 {
    if place.kind == OF_DEVICE { place.id } else { HOST }
}

/// Takes note of a `cudaMemoryAdvise`.
pub fn advise(start: usize, count: usize, advice: u32, place: Location) {
    let device = device_of(place);
    change(start, start + count, |known| match advice {
        1 | 2 => known.read_mostly = advice == 1,
        3 => known.preferred = Some(place),
        4 => known.preferred = None,
        _ => {
            known.accessed_by.retain(|known| *known != device);
            known.accessed_by.extend((advice == 5).then_some(device));
        }
    });
}

/// Takes note of where a range was prefetched to.
pub fn prefetched(start: usize, count: usize, place: Location) {
    change(start, start + count, |known| known.prefetched = Some(place));
}

/// Forgets what was advised for memory that is freed.
pub fn forget(start: usize, size: usize) {
    let mut pieces = pieces();
    if pieces.is_empty() {
        return;
    }
    split(&mut pieces, start);
    split(&mut pieces, start + size);
    pieces.retain(|from, _| !(start..start + size).contains(from));
}

/// What all of a range has in common.
fn common<T: PartialEq>(all: &[Advice], of: impl Fn(&Advice) -> T) -> Option<T> {
    let first = all.first().map(&of)?;
    all.iter().all(|advice| of(advice) == first).then_some(first)
}

/// The values of a `cudaMemRangeAttribute` of a range, for which there is room for so many.
pub fn attribute(start: usize, count: usize, which: u32, room: usize) -> Result<Vec<i32>> {
    const ACCESSED_BY: u32 = 3;
    check(room > 0 && (room == 1 || which == ACCESSED_BY))?;
    let all: Vec<Advice> = of_range(&pieces(), start, start + count).into_iter().map(|piece| piece.2).collect();
    let preferred = || common(&all, |advice| advice.preferred).flatten();
    let prefetched = || common(&all, |advice| advice.prefetched).flatten();
    let number = |place: Option<Location>| place.map_or(NONE, device_of);
    let kind = |place: Option<Location>| place.map_or(0, |place| place.kind as i32);
    let id = |place: Option<Location>| place.map_or(NONE, |place| place.id);
    let value = match which {
        1 => i32::from(all.iter().all(|advice| advice.read_mostly)),
        2 => number(preferred()),
        ACCESSED_BY => {
            let first = all.first().map(|advice| advice.accessed_by.clone()).unwrap_or_default();
            let by_all = first.into_iter().filter(|device| all.iter().all(|other| other.accessed_by.contains(device)));
            return Ok(by_all.chain(std::iter::repeat(NONE)).take(room).collect());
        }
        4 => number(prefetched()),
        5 => kind(preferred()),
        6 => id(preferred()),
        7 => kind(prefetched()),
        8 => id(prefetched()),
        _ => return Err(CudaError::INVALID_VALUE),
    };
    Ok(vec![value])
}
