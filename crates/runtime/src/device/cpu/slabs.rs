//! Small device memory, cut from slabs as CUDA's driver does it.
//!
//! What a kernel writes behind the end of an allocation then lands in device memory, as on a GPU, and not in what the host's heap keeps
//! between its blocks. Slabs are never given back.

use std::collections::{BTreeMap, BTreeSet};

use super::pages::ALIKE;

/// Allocations are multiples of this, and begin at one.
pub const GRAIN: usize = 512;
/// What a multiple of [`ALIKE`] takes beyond, so that what follows it is not like it.
const APART: usize = 3 * GRAIN;
/// Bytes of a slab, and its alignment.
pub const SLAB: usize = 2 << 20;
/// Up to so many bytes are cut from slabs.
pub const LARGEST: usize = 1 << 19;

/// What is free.
#[derive(Default)]
pub struct Slabs {
    /// Sizes of the free ranges by where they begin. No two touch.
    free: BTreeMap<usize, usize>,
    /// The same by size.
    by_size: BTreeSet<(usize, usize)>,
}

impl Slabs {
    /// Takes `size` bytes from the smallest free range that has them; `slab` makes a new slab where none has.
    pub fn take(&mut self, size: usize, slab: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let size = whole(size);
        if self.by_size.range((size, 0)..).next().is_none() {
            self.add(slab()?, SLAB);
        }
        let (found, start) = *self.by_size.range((size, 0)..).next()?;
        self.remove(start, found);
        if found > size {
            self.add(start + size, found - size);
        }
        Some(start)
    }

    /// Gives back what was taken.
    pub fn give(&mut self, start: usize, size: usize) {
        self.add(start, whole(size));
    }

    /// Adds a free range, joined with those that it touches.
    fn add(&mut self, mut start: usize, mut size: usize) {
        if let Some((before, length)) = self.free.range(..start).next_back().map(|(at, length)| (*at, *length))
            && before + length == start
        {
            self.remove(before, length);
            (start, size) = (before, length + size);
        }
        if let Some(length) = self.free.get(&(start + size)).copied() {
            self.remove(start + size, length);
            size += length;
        }
        self.free.insert(start, size);
        self.by_size.insert((size, start));
    }

    fn remove(&mut self, start: usize, size: usize) {
        self.free.remove(&start);
        self.by_size.remove(&(size, start));
    }
}

/// What an allocation of `size` bytes takes.
fn whole(size: usize) -> usize {
    let grains = size.next_multiple_of(GRAIN);
    grains + if grains.is_multiple_of(ALIKE) { APART } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_given_back_is_one_range_again() {
        let (mut slabs, mut made) = (Slabs::default(), 0);
        let mut take = |slabs: &mut Slabs, size| {
            slabs.take(size, || {
                made += 1;
                Some(made * 2 * SLAB)
            })
        };
        let [one, two, three] = [1, GRAIN + 1, LARGEST].map(|size| take(&mut slabs, size).expect("memory"));
        assert_eq!([two - one, three - two], [GRAIN, 2 * GRAIN]);
        slabs.give(one, 1);
        slabs.give(three, LARGEST);
        assert_eq!(take(&mut slabs, GRAIN), Some(one), "the smallest range that is enough");
        slabs.give(two, GRAIN + 1);
        slabs.give(one, GRAIN);
        assert_eq!(slabs.free, BTreeMap::from([(2 * SLAB, SLAB)]));
        let step = LARGEST + APART;
        assert_eq!([(); 3].map(|()| take(&mut slabs, LARGEST)), [0, 1, 2].map(|at| Some(one + at * step)));
        assert_eq!(take(&mut slabs, LARGEST), Some(4 * SLAB), "a second slab");
        assert_eq!(slabs.take(SLAB - step + 1, || None), None);
    }

    proptest! {
        #[test]
        fn nothing_overlaps(steps in prop::collection::vec((1..=LARGEST, any::<prop::sample::Index>(), any::<bool>()), 1..200)) {
            let (mut slabs, mut live, mut made) = (Slabs::default(), Vec::<(usize, usize)>::new(), 0);
            for (size, which, gives) in steps {
                if gives && !live.is_empty() {
                    let (start, size) = live.swap_remove(which.index(live.len()));
                    slabs.give(start, size);
                } else {
                    let start = slabs.take(size, || { made += 1; Some(made * SLAB) }).expect("memory");
                    prop_assert!(start % GRAIN == 0 && start >= SLAB && start + size <= (made + 1) * SLAB);
                    prop_assert!(live.iter().all(|(other, length)| start + size <= *other || other + length <= start));
                    live.push((start, size));
                }
            }
            live.into_iter().for_each(|(start, size)| slabs.give(start, size));
            let free: usize = slabs.free.values().sum();
            prop_assert_eq!((free, slabs.by_size.len()), (made * SLAB, slabs.free.len()));
        }
    }
}
