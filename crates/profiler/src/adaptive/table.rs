//! One kernel of a program that chooses by itself: a table of the classes of its launches.
//!
//! Launches with one block shape on one device share a decision if their grids have about as many blocks (the same power of two
//! below) and about as much dynamic shared memory. A class is one word: what it is, and what was settled on. So a launch
//! that is settled costs one load and one comparison, without a lock.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use regrain_tuning::Grain;
use regrain_tuning::database::Shape;
use regrain_tuning::record::{Key, Record, Times, space_checksum};

use super::recall::{self, Recalled};
use super::settle::{Class, Start, Trial};
use crate::kernel::{Identity, Launch};

/// Classes of a kernel's launches that get a decision; others run what the compiler takes for the best.
pub const MOST_CLASSES: usize = 64;
/// How many places a class may stand at.
const PROBES: usize = 8;
/// What is expected of a version that nobody knows, where nothing is remembered: that it takes half as long again.
const UNKNOWN: f64 = 1.5;
/// The bits of a word that say what a class is; above them stands the number of the version that was settled on, from 1.
const CLASS_BITS: u32 = 48;

/// A class of launches, in 48 bits, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassKey(u64);

impl ClassKey {
    /// The class of a launch on a device; `None` where CUDA knows no such launch.
    pub fn of(launch: &Launch, device: i32) -> Option<Self> {
        let [x, y, z] = launch.block.map(u64::from);
        let device = u8::try_from(device).ok()?;
        if x == 0 || x > 1024 || y > 1024 || z > 64 || launch.shared > u64::from(u32::MAX) {
            return None;
        }
        let parts =
            [(y, 11), (z, 7), (grid_class(launch.grid), 6), (shared_class(launch.shared), 5), (device.into(), 8)];
        Some(Self(parts.into_iter().fold(x, |word, (part, bits)| word << bits | part)))
    }

    fn places(self) -> impl Iterator<Item = usize> {
        // What is in the upper bits comes down first, and the product's upper bits are the mixed ones.
        let hash = ((self.0 ^ self.0 >> 23).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize;
        (0..PROBES).map(move |probe| (hash + probe) % MOST_CLASSES)
    }
}

/// The power of two below the number of blocks.
pub fn grid_class(grid: [u32; 3]) -> u64 {
    let blocks = grid.into_iter().map(u64::from).fold(1, u64::saturating_mul);
    blocks.max(1).ilog2().into()
}

/// The same of dynamic shared memory, where there is some.
pub fn shared_class(shared: u64) -> u64 {
    shared.checked_ilog2().map_or(0, |log| u64::from(log) + 1).min(31)
}

/// A kernel with its versions.
pub struct Kernel {
    /// What names it.
    pub identity: Identity,
    /// Whether launches are synchronous.
    pub on_cpu: bool,
    first: usize,
    /// What is expected of a version that nobody knows: how its time compares with the original's.
    unknown: f64,
    slots: [Slot; MOST_CLASSES],
    /// By device, the versions that were launched there.
    launched: Mutex<HashMap<u64, Vec<bool>>>,
}

/// A place of the table.
#[derive(Default)]
struct Slot {
    word: AtomicU64,
    /// Launches since it was settled. Counts of threads that launch at once may be lost: it is a weight, no more.
    launches: AtomicU64,
    met: Mutex<Option<Met>>,
}

/// A class that the program has launched.
struct Met {
    /// Its first launch, which stands for all.
    launch: Launch,
    device: u64,
    class: Class,
    is_recalled: bool,
}

/// What a slot holds, for a report.
pub struct Seen<'c> {
    /// The first launch.
    pub launch: Launch,
    /// The device.
    pub device: u64,
    /// What was measured.
    pub class: &'c Class,
    /// All launches.
    pub launches: u64,
    /// Whether it was settled before.
    pub is_recalled: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kernel {
    /// A kernel of which nothing was launched in this process; `first` runs where nothing is known. `is_remembered` says whether later
    /// runs have something of what this one finds out: then a first trial is worth what it costs.
    pub fn new(identity: Identity, first: usize, is_remembered: bool) -> Self {
        Self {
            unknown: if is_remembered { 1.0 } else { UNKNOWN },
            on_cpu: identity.target.starts_with("cpu"),
            first: if first < identity.grains.len() { first } else { 0 },
            identity,
            slots: std::array::from_fn(|_| Slot::default()),
            launched: Mutex::default(),
        }
    }

    /// The number of the original.
    pub fn original(&self) -> usize {
        self.identity.grains.iter().position(Grain::is_original).unwrap_or(0)
    }

    /// What runs where nothing is known.
    pub fn first(&self) -> usize {
        self.first
    }

    /// What was settled on for a class, and its place.
    #[inline]
    pub fn settled(&self, key: ClassKey) -> Option<(usize, usize)> {
        for place in key.places() {
            let word = self.slots[place].word.load(Ordering::Acquire);
            let version = word >> CLASS_BITS;
            if word & ((1 << CLASS_BITS) - 1) == key.0 {
                if version == 0 {
                    return None;
                }
                let count = &self.slots[place].launches;
                count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                return Some((version as usize - 1, place));
            }
            if word == 0 {
                return None;
            }
        }
        None
    }

    /// What a launch runs whose class is not settled, and the class' place. `recall` gives what earlier runs know of a class. `None` if
    /// there is no place left.
    pub fn choose(
        &self,
        launch: Launch,
        key: ClassKey,
        recall: impl FnOnce(&Launch) -> Vec<Shape>,
    ) -> Option<(Trial, usize)> {
        let device = key.0 & 0xff;
        let place = self.place_of(key)?;
        let slot = &self.slots[place];
        let mut met = lock(&slot.met);
        let met = met.get_or_insert_with(|| self.meet(launch, key, recall(&launch)));
        let trial = met.class.choose();
        if let Some(launched) = lock(&self.launched).get_mut(&device) {
            launched[trial.version] = true;
        }
        publish(slot, key.0, &met.class);
        Some((trial, place))
    }

    /// The place of a class, which it gets here if it has none.
    fn place_of(&self, key: ClassKey) -> Option<usize> {
        let _one_at_a_time = lock(&self.launched);
        for place in key.places() {
            let word = &self.slots[place].word;
            let now = word.load(Ordering::Acquire);
            if now == 0 {
                word.store(key.0, Ordering::Release);
            }
            if now == 0 || now & ((1 << CLASS_BITS) - 1) == key.0 {
                return Some(place);
            }
        }
        None
    }

    /// A class that is new in this process.
    fn meet(&self, launch: Launch, key: ClassKey, earlier: Vec<Shape>) -> Met {
        let count = self.identity.grains.len();
        let device = key.0 & 0xff;
        let alike = self.alike(&launch, device);
        let settled = alike.as_ref().and_then(|(_, settled)| *settled);
        let (mut first, mut out) = (settled.unwrap_or(self.first), vec![false; count]);
        let (mut decided, mut samples) = (None, 0);
        match recall::recall(&earlier, &self.identity.grains) {
            Recalled::Nothing => {}
            Recalled::Settled(version) => decided = Some(version),
            Recalled::Some { fewest, slower, known } => (first, out, samples) = (fewest, slower, known),
        }
        if let Some(version) = decided {
            out = (0..count).map(|other| other != version && other != self.original()).collect();
            first = version;
        }
        let mut launched = lock(&self.launched);
        let launched = launched.entry(device).or_insert_with(|| vec![false; count]);
        let mut cold = vec![first];
        let rest = [self.original()].into_iter().chain(0..count);
        for version in rest.filter(|version| !launched[*version] && !out[*version]) {
            if !cold.contains(&version) {
                cold.push(version);
            }
        }
        let expected = |version| match &alike {
            Some((ratios, _)) => ratios[version],
            None if version == first || version == self.original() => 1.0,
            None => self.unknown,
        };
        let ratios = (0..count).map(expected).collect();
        // Each run has another order, where one run alone does not settle it.
        let seed = key.0.wrapping_add(samples as u64);
        let start = Start { original: self.original(), cold, first, out, ratios, alone: self.on_cpu, seed };
        let mut class = Class::new(&start);
        if let Some(version) = decided {
            class.decide(version);
        }
        Met { launch, device, class, is_recalled: decided.is_some() }
    }

    /// What is known of the versions where grids have a size that is the nearest to that of a launch, and what was settled on there.
    fn alike(&self, launch: &Launch, device: u64) -> Option<(Vec<f64>, Option<usize>)> {
        let size = grid_class(launch.grid);
        let nearest = |slot: &Slot| {
            // Who launches for the first time at the same moment knows nothing yet.
            let met = slot.met.try_lock().ok()?;
            let met = met.as_ref().filter(|met| met.device == device && met.launch.block == launch.block)?;
            let known = (met.class.known_ratios(), met.class.settled());
            Some((grid_class(met.launch.grid).abs_diff(size), known))
        };
        let all = self.slots.iter().filter_map(nearest);
        all.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
    }

    /// Changes what is known of the class at a place.
    pub fn with(&self, place: usize, change: impl FnOnce(&mut Class)) {
        let Some(slot) = self.slots.get(place) else { return };
        if let Some(met) = lock(&slot.met).as_mut() {
            change(&mut met.class);
            publish(slot, slot.word.load(Ordering::Acquire) & ((1 << CLASS_BITS) - 1), &met.class);
        }
    }

    /// Shows every class that was launched.
    pub fn each(&self, mut show: impl FnMut(&Seen<'_>)) {
        for slot in &self.slots {
            if let Some(Met { launch, device, class, is_recalled }) = &*lock(&slot.met) {
                let launches = class.launches() + slot.launches.load(Ordering::Relaxed);
                show(&Seen { launch: *launch, device: *device, class, launches, is_recalled: *is_recalled });
            }
        }
    }

    /// What was measured here, as records without run and date.
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        self.each(|seen| {
            let is_new = seen.class.versions().iter().any(|version| version.failed || version.samples() > 0);
            if is_new && !seen.is_recalled {
                records.push(self.record(seen));
            }
        });
        records
    }

    fn record(&self, seen: &Seen<'_>) -> Record {
        let Identity { kernel, hash, target, version, grains } = self.identity.clone();
        let Launch { grid, block, shared } = seen.launch;
        let times = |(grain, version): (&Grain, &super::settle::Version)| {
            let mut times =
                Times { warm: version.warm().collect(), cold: version.cold.clone(), failed: version.failed };
            times.warm.sort_unstable();
            times.cold.sort_unstable();
            (*grain, times)
        };
        let candidates: BTreeMap<_, _> = grains.iter().zip(seen.class.versions()).map(times).collect();
        Record {
            kernel,
            key: Key { hash, block, grid, shared, target, version },
            run: String::new(),
            date: 0,
            launches: seen.launches,
            space: space_checksum(candidates.keys()),
            candidates,
            settled: seen.class.settled().map(|version| grains[version]),
        }
    }
}

/// Lets launches see what a class is settled on, or that it is not.
fn publish(slot: &Slot, key: u64, class: &Class) {
    let version = class.settled().map_or(0, |version| version as u64 + 1);
    slot.word.store(key | version << CLASS_BITS, Ordering::Release);
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
