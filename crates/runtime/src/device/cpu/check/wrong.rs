//! What is wrong with an access, in words.

use super::asked::{Asked, How};
use super::between;
use super::callers::Caller;
use super::kinds::Kind;
use super::local::{self, Local};
use super::memory::{self, Owner, Record};
use super::places;
use super::races::{Class, Race};
use super::reports::{Report, Runs, say};
use super::sites::spot;
use crate::abi::tls;
use crate::device::cpu::heap;
use crate::device::cpu::state::Worker;

/// A kind of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    Global,
    Shared,
    Local,
}

impl Space {
    fn name(self) -> &'static str {
        match self {
            Self::Global => "__global__",
            Self::Shared => "__shared__",
            Self::Local => "__local__",
        }
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Load => "read",
        How::Store => "write",
        How::Atomic => "atomic operation",
    }
}

fn article(how: How) -> &'static str {
    if how == How::Atomic { "an" } else { "a" }
}

fn bytes(count: usize) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

/// The running thread.
pub fn running(worker: &Worker, with_thread: bool) -> Runs {
    // SAFETY: this OS thread's own storage.
    let tls = unsafe { &*tls() };
    Runs {
        kernel: worker.job().kernel.source_name().to_owned(),
        block: tls.ctaid,
        thread: with_thread.then_some(tls.tid),
    }
}

fn runs() -> Option<Runs> {
    // SAFETY: null, or this OS thread's own with the worker of the block that runs.
    unsafe { local::current().as_ref().and_then(|local| local.worker.as_ref()).map(|worker| running(worker, true)) }
}

/// Where bytes are to a range: inside, behind or before it.
fn relation(address: usize, size: usize, start: usize, len: usize) -> String {
    match address.checked_sub(start) {
        None => format!("{} before", bytes(start - address)),
        Some(offset) if offset >= len => match offset - len {
            0 => "right behind".to_owned(),
            behind => format!("{} behind", bytes(behind)),
        },
        Some(offset) if size > len - offset => format!("{} in front of the end of", bytes(len - offset)),
        Some(offset) => format!("{} inside", bytes(offset)),
    }
}

fn of_record(record: &Record, address: usize, size: usize) -> Vec<String> {
    let what = match record.owner {
        Owner::Host(heap::Kind::Managed) => "a managed allocation",
        Owner::Host(heap::Kind::Host) => "an allocation of host memory",
        Owner::Host(_) => "an allocation",
        Owner::Kernel => "an allocation made in a kernel",
    };
    let made = record.made.as_ref().map_or(String::new(), |made| format!(" made by {}", made.in_words()));
    let freed = match (&record.freed, record.is_live) {
        (_, true) => String::new(),
        (Some(freed), false) => format!(", freed by {}", freed.in_words()),
        (None, false) => ", freed".to_owned(),
    };
    let place = relation(address, size, record.start, record.size);
    vec![format!("Address {address:#x} is {place} {what} of {}{made}{freed}", bytes(record.size))]
}

/// What lies at or near an address.
fn describe(asked: &Asked) -> Vec<String> {
    const NEAR: usize = 1 << 20;
    let Asked { address, size, .. } = *asked;
    if address < 4096 {
        return vec![format!("Address {address:#x} is null, or an offset from it")];
    }
    // SAFETY: null or this OS thread's own.
    if let Some(local) = unsafe { local::current().as_ref() } {
        let of_variable = |found: &places::Variable| {
            let place = relation(address, size, found.start, found.size);
            let name = &found.name;
            vec![format!("Address {address:#x} is {place} the shared variable {name} of {}", bytes(found.size))]
        };
        if local.shared.holds(address, 1)
            && let Some(found) = local.variable(address)
        {
            return of_variable(found);
        }
        let near = |start: usize, len: usize| address + 4096 >= start && address < start + len + 4096;
        if near(local.dynamic.start, local.dynamic.len) {
            let len = local.dynamic_size();
            let place = relation(address, size, local.dynamic.start, len);
            return vec![format!(
                "Address {address:#x} is {place} the block's dynamic shared memory of {}",
                bytes(len)
            )];
        }
        if let Some(found) = local.variable(address).filter(|found| near(found.start, found.size)) {
            return of_variable(found);
        }
    }
    if memory::state(address, 1).is_some()
        && let Some(record) = memory::nearest(address)
    {
        return of_record(&record, address, size);
    }
    match places::near_variable(address).filter(|found| address - found.start < found.size + NEAR) {
        Some(found) => {
            let place = relation(address, size, found.start, found.size);
            vec![format!("Address {address:#x} is {place} the variable {} of {}", found.name, bytes(found.size))]
        }
        None => vec![format!(
            "Address {address:#x} is not memory of the device; perhaps it is the host's, or of a texture that is destroyed"
        )],
    }
}

fn memory_report(
    asked: &Asked,
    which: usize,
    kind: Kind,
    title: impl FnOnce() -> String,
    notes: impl FnOnce() -> Vec<String>,
) {
    say((kind, asked.place as usize, which), || Report {
        kind,
        title: title(),
        spot: spot(asked.place),
        runs: runs(),
        notes: notes(),
    });
}

/// An access of what is not there, or not any more.
pub fn invalid(asked: &Asked, space: Space) {
    let title = || format!("Invalid {} {} of size {}", space.name(), how(asked.how), bytes(asked.size));
    memory_report(asked, asked.how as usize, Kind::Memory, title, || describe(asked));
}

/// An access whose address is no multiple of what it has to be.
pub fn misaligned(asked: &Asked, space: Space) {
    let title = || format!("Misaligned {} {} of size {}", space.name(), how(asked.how), bytes(asked.size));
    let notes = || vec![format!("Address {:#x} is no multiple of {}", asked.address, asked.align)];
    memory_report(asked, 8 + asked.how as usize, Kind::Memory, title, notes);
}

/// A read of what nobody has written.
pub fn uninitialised(asked: &Asked, space: Space) {
    let title = || format!("Uninitialized {} {} of size {}", space.name(), how(asked.how), bytes(asked.size));
    memory_report(asked, asked.how as usize, Kind::Init, title, || describe(asked));
}

/// An access outside of the variable that its address is computed of.
pub fn outside_of(asked: &Asked, start: usize, len: usize, is_own: bool) {
    // SAFETY: null or this OS thread's own.
    let shared = unsafe { local::current().as_ref() }
        .and_then(|local: &Local| local.variables.iter().find(|variable| variable.start == start).cloned());
    let space = match (is_own, &shared) {
        (true, _) => Space::Local,
        (false, Some(_)) => Space::Shared,
        (false, None) => Space::Global,
    };
    let title = || format!("Invalid {} {} of size {}", space.name(), how(asked.how), bytes(asked.size));
    let notes = || {
        let what = match (is_own, shared.or_else(|| places::near_variable(start))) {
            (true, _) => "an array of the thread".to_owned(),
            (false, Some(found)) if space == Space::Shared => format!("the shared variable {}", found.name),
            (false, Some(found)) => format!("the variable {}", found.name),
            (false, None) => "a variable".to_owned(),
        };
        let place = relation(asked.address, asked.size, start, len);
        vec![format!("Address {:#x} is {place} {what} of {}", asked.address, bytes(len))]
    };
    memory_report(asked, asked.how as usize, Kind::Memory, title, notes);
}

/// Two accesses of different threads that nothing orders.
pub fn race(asked: &Asked, race: &Race, space: Space) {
    let earlier = match (race.past_writes, race.past.class) {
        (false, _) => "read",
        (true, Class::Atomic) => "atomic operation",
        (true, _) => "write",
    };
    // In either order it is one race.
    let (a, b) = (asked.place as usize, race.past.place as usize);
    say((Kind::Race, a.min(b), a.max(b)), || {
        // SAFETY: this OS thread's own, with the worker of the block that runs.
        let [x, y, z] = unsafe { (&(*(*local::current()).worker).threads)[race.past.thread as usize].tid };
        Report {
            kind: Kind::Race,
            title: format!(
                "Race of {} {} and an earlier {earlier} of {} memory",
                article(asked.how),
                how(asked.how),
                space.name()
            ),
            spot: spot(asked.place),
            runs: runs(),
            notes: [
                vec![format!("The {earlier} is at {} by thread ({x},{y},{z})", spot(race.past.place).in_words())],
                describe(asked),
            ]
            .concat(),
        }
    });
}

/// Two accesses of different blocks, or in different streams, that nothing orders; the host's copies have no place.
pub fn race_of_blocks(asked: Option<&Asked>, how_now: How, race: &between::Race) {
    let earlier = if race.past_writes { "write" } else { "read" };
    let (a, b) = (asked.map_or(0, |asked| asked.place as usize), race.place as usize);
    // Races between the threads of a block are other ones.
    let of = if race.is_same_grid { 1 << 62 } else { 1 << 63 };
    say((Kind::Race, a.min(b), a.max(b) | of), || {
        let who = if race.is_same_grid { "blocks of a grid" } else { "streams" };
        let place = match race.place.is_null() {
            true => "by a copy or a fill".to_owned(),
            false => format!("at {} by block {}", spot(race.place).in_words(), block_of(race)),
        };
        let (spot, what) = match asked {
            Some(asked) => (spot(asked.place), how(how_now)),
            None => (
                Caller::current().look_up().spot.unwrap_or_default(),
                if how_now == How::Load { "copy" } else { "copy or fill" },
            ),
        };
        Report {
            kind: Kind::Race,
            title: format!("Race of a {what} and an earlier {earlier} of __global__ memory between {who}"),
            spot,
            runs: asked.and_then(|_| runs()),
            notes: [vec![format!("The {earlier} is {place}")], asked.map_or(Vec::new(), describe)].concat(),
        }
    });
}

/// The block of an earlier access: its place in the running grid, or its number in another one.
fn block_of(race: &between::Race) -> String {
    // SAFETY: this OS thread's own storage.
    let [width, height, _] = unsafe { &*tls() }.nctaid.map(|count| count.max(1));
    match race.is_same_grid {
        true => format!("({},{},{})", race.block % width, race.block / width % height, race.block / width / height),
        false => format!("{} of its grid", race.block),
    }
}
