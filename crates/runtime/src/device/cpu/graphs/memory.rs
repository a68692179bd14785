//! Memory of graphs: nodes that allocate it and nodes that free it (CUDA C++ Programming Guide, *Graph Memory Nodes*).
//!
//! An address is known as soon as a node is added, and stays the same in all launches. A later node of the same graph gets memory again that is
//! free on each way to it. What a launch leaves allocated is the program's until it frees it, or another graph does; until then the graph
//! cannot be launched again, unless its instance frees such memory by itself. Pages stay until they are trimmed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use super::graph::{Graph, Name, Plan};
use super::work::Work;
use crate::device::cpu::heap::{self, Kind};
use crate::device::cpu::pages;
use crate::error::{CudaError, Result, check};

/// `cudaGraphInstantiateFlagAutoFreeOnLaunch`
pub const FREES_BY_ITSELF: u64 = 1;
/// Values of `cudaGraphMemAttributeType`; what is reserved is in use here.
const USED_HIGH: u32 = 1;
const RESERVED_HIGH: u32 = 3;

/// Memory with one address for all launches.
pub struct Region {
    start: usize,
    size: usize,
    /// The program has it: a launch has allocated it, and nobody has freed it.
    live: AtomicBool,
    /// A launch has used it since it was trimmed.
    touched: AtomicBool,
}

#[derive(Default)]
struct Regions {
    known: BTreeMap<usize, Weak<Region>>,
    /// What the program has, which outlives the graphs that it comes from.
    live: HashMap<usize, Arc<Region>>,
}

/// The most bytes that were in use at a time, for either of two attributes.
static HIGHEST: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

fn regions() -> MutexGuard<'static, Regions> {
    static REGIONS: OnceLock<Mutex<Regions>> = OnceLock::new();
    REGIONS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Region {
    fn drop(&mut self) {
        regions().known.remove(&self.start);
        // It is in the table, unless the device was reset.
        let _ = heap::release(self.pointer(), &[Kind::Device]);
    }
}

impl Region {
    fn new(size: usize) -> Result<Arc<Self>> {
        let start = heap::allocate(size, Kind::Device, 0)? as usize;
        let made = Arc::new(Self { start, size, live: AtomicBool::new(false), touched: AtomicBool::new(false) });
        regions().known.insert(start, Arc::downgrade(&made));
        Ok(made)
    }

    pub fn pointer(&self) -> *mut c_void {
        self.start as *mut c_void
    }

    pub fn size(&self) -> usize {
        self.size
    }

    /// A launch gets to it.
    pub fn touch(&self) {
        if !self.touched.swap(true, Ordering::Relaxed) {
            let used = used();
            for highest in &HIGHEST {
                highest.fetch_max(used, Ordering::Relaxed);
            }
        }
    }

    /// Gives whole pages back to the system.
    fn trim(&self) {
        self.touched.store(false, Ordering::Relaxed);
        // SAFETY: an allocation that nobody uses.
        unsafe { pages::drop_whole(self.start, self.size) };
    }
}

/// The memory of graphs that begins at an address.
pub fn find(pointer: *mut c_void) -> Option<Arc<Region>> {
    regions().known.get(&(pointer as usize)).and_then(Weak::upgrade)
}

/// All of it.
fn all() -> Vec<Arc<Region>> {
    regions().known.values().filter_map(Weak::upgrade).collect()
}

fn used() -> u64 {
    all().iter().filter(|region| region.touched.load(Ordering::Relaxed)).map(|region| region.size as u64).sum()
}

/// The value of an attribute.
pub fn attribute(which: u32) -> Result<u64> {
    match which {
        USED_HIGH | RESERVED_HIGH => Ok(HIGHEST[which as usize / 2].load(Ordering::Relaxed)),
        0 | 2 => Ok(used()),
        _ => Err(CudaError::INVALID_VALUE),
    }
}

/// Begins anew with the highest value.
pub fn reset(which: u32) -> Result {
    check(matches!(which, USED_HIGH | RESERVED_HIGH))?;
    HIGHEST[which as usize / 2].store(used(), Ordering::Relaxed);
    Ok(())
}

/// Gives back what nobody has; no launch is at work.
pub fn trim() {
    all().iter().filter(|region| !region.live.load(Ordering::Relaxed)).for_each(|region| region.trim());
}

/// Forgets what the program has (`cudaDeviceReset`).
pub fn forget_all() {
    let gone = std::mem::take(&mut regions().live);
    drop(gone);
}

/// The program, or a graph that it launches, frees memory.
pub fn free(region: &Region) -> Result {
    check(region.live.swap(false, Ordering::Relaxed))?;
    let gone = regions().live.remove(&region.start);
    drop(gone);
    Ok(())
}

fn keep(region: &Arc<Region>) {
    region.live.store(true, Ordering::Relaxed);
    regions().live.insert(region.start, region.clone());
}

/// The nodes that come before one behind `after`.
fn before(graph: &Graph, after: &[Name]) -> HashSet<Name> {
    let mut found = HashSet::new();
    let mut left = after.to_vec();
    while let Some(name) = left.pop() {
        if found.insert(name) {
            left.extend(graph.nodes.iter().filter(|node| node.name == name).flat_map(|node| node.after.iter()));
        }
    }
    found
}

/// Memory for a node behind `after`: what is free there in the graph, else new memory.
pub fn for_node(graph: &Graph, after: &[Name], size: usize) -> Result<Arc<Region>> {
    check(size != 0)?;
    let before = before(graph, after);
    let is_free = |region: &Arc<Region>| {
        let same = |other: &Arc<Region>| Arc::ptr_eq(other, region);
        let made = graph.nodes.iter().filter(|node| matches!(&node.work, Work::Allocate(other) if same(other)));
        let mut freed = graph.nodes.iter().filter(|node| matches!(&node.work, Work::Free(other) if same(other)));
        made.count() == freed.clone().count() && freed.all(|node| before.contains(&node.name))
    };
    let mut free: Vec<&Arc<Region>> = graph.nodes.iter().filter_map(|node| allocated(&node.work)).collect();
    free.retain(|region| region.size >= size && region.size / 2 <= size && is_free(region));
    match free.into_iter().min_by_key(|region| region.size) {
        Some(region) => Ok(region.clone()),
        None => Region::new(size),
    }
}

fn allocated(work: &Work) -> Option<&Arc<Region>> {
    match work {
        Work::Allocate(region) => Some(region),
        _ => None,
    }
}

/// What a graph does with memory.
#[derive(Clone, Default)]
pub struct Use {
    /// What it allocates at all.
    allocates: Vec<Arc<Region>>,
    /// What of it is there when it is done.
    leaves: Vec<Arc<Region>>,
    /// What it frees of other graphs.
    takes: Vec<Arc<Region>>,
}

impl Use {
    pub fn of<'a>(works: impl Iterator<Item = &'a Work> + Clone) -> Self {
        let mut found = Self::default();
        let frees = |region: &Arc<Region>| {
            works.clone().filter(|work| matches!(work, Work::Free(other) if Arc::ptr_eq(other, region))).count()
        };
        let makes = |region: &Arc<Region>| {
            works.clone().filter_map(allocated).filter(|other| Arc::ptr_eq(other, region)).count()
        };
        let has = |list: &[Arc<Region>], region: &Arc<Region>| list.iter().any(|known| Arc::ptr_eq(known, region));
        for work in works.clone() {
            match work {
                Work::Allocate(region) if !has(&found.allocates, region) => {
                    found.allocates.push(region.clone());
                    if makes(region) > frees(region) {
                        found.leaves.push(region.clone());
                    }
                }
                Work::Free(region) if makes(region) == 0 && !has(&found.takes, region) => {
                    found.takes.push(region.clone());
                }
                _ => (),
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.allocates.is_empty() && self.takes.is_empty()
    }

    /// Whether both have memory in common that they allocate.
    pub fn shares(&self, other: &Self) -> bool {
        self.allocates.iter().any(|region| other.allocates.iter().any(|known| Arc::ptr_eq(known, region)))
    }
}

/// A launch is asked for: what it finds allocated and leaves so.
pub fn begin(plan: &Plan) -> Result {
    let uses = &plan.memory;
    if uses.is_empty() {
        return Ok(());
    }
    let is_live = |region: &Arc<Region>| region.live.load(Ordering::Relaxed);
    let frees = plan.flags & FREES_BY_ITSELF != 0;
    check(frees || !uses.allocates.iter().any(is_live))?;
    check(uses.takes.iter().all(is_live))?;
    uses.allocates.iter().filter(|region| is_live(region)).try_for_each(|region| free(region))?;
    uses.takes.iter().try_for_each(|region| free(region))?;
    uses.leaves.iter().for_each(keep);
    Ok(())
}
