//! Accesses whose lanes lie near one another by constants that are known, though not side by side.
//!
//! ```mlir
//! %v = llvm.intr.masked.gather %p               // of the lanes 1, 0, 3, 2 of four elements
//! ```
//! becomes
//! ```mlir
//! %all = llvm.load %p0 : vector<4xf32>
//! %v = llvm.shufflevector %all, %all [1, 0, 3, 2]
//! ```
//! A store writes back what lies between its lanes, which only memory of the block allows (`guard.rs`).

use mlir_bridge::ir::{Builder, Op, Type, Value};

use super::{
    classify::is_ordinary,
    emit::Emitter,
    memory::{MOST_APART, Scalar, kept_attrs, lies_as_array},
    own_memory::{self, ROOM},
    shapes::{Shape, Shapes},
};

/// The elements that the lanes of an access lie in.
#[derive(Clone, Debug)]
pub struct Window {
    /// The first element, from the first lane's.
    lowest: i64,
    /// Where each lane is.
    places: Vec<i64>,
    /// The elements.
    count: i64,
}

impl Window {
    /// The window of an access of elements of `size` bytes whose lanes do not lie side by side.
    pub fn of<'c>(shapes: &Shapes<'c>, address: Value<'c>, size: i64, lanes: u32) -> Option<Self> {
        let shape = shapes.of(address);
        let apart = match shape {
            Shape::Uneven(_) => true,
            Shape::Linear(linear) => (2..=MOST_APART).contains(&(linear.stride / size)),
            _ => false,
        };
        let offsets = shapes.offsets(shape).filter(|_| apart && size > 0)?;
        let offsets = &offsets[..lanes as usize];
        if offsets.iter().any(|offset| offset % size != 0) {
            return None;
        }
        let places = offsets.iter().map(|offset| offset / size);
        let (lowest, highest) = (places.clone().min()?, places.clone().max()?);
        // Whole vectors of memory that rows may reach beyond: other accesses meet the same ones.
        let whole = |first: i64| {
            let lanes = i64::from(lanes);
            let before = (first + lowest).rem_euclid(lanes);
            let behind = (-1 - first - highest).rem_euclid(lanes);
            (lowest - before, highest + behind + 1)
        };
        let own = own_memory::root(address).is_some();
        let beside = || {
            let whole = whole(shapes.place_beside(address, size)?);
            let parts = |(from, end): (i64, i64)| (end - from + i64::from(lanes) - 1) / i64::from(lanes);
            (parts(whole) == parts((lowest, highest + 1))).then_some(whole)
        };
        let (lowest, end) = own
            .then(|| shapes.first_place(address, size).map(whole).or_else(beside))
            .flatten()
            .unwrap_or((lowest, highest + 1));
        let count = end.checked_sub(lowest)?;
        let near = count <= MOST_APART * i64::from(lanes) && count.checked_mul(size)? <= ROOM;
        near.then(|| Self { lowest, places: places.map(|place| place - lowest).collect(), count })
    }

    /// Vectors of all lanes that the elements take.
    pub fn parts(&self) -> u64 {
        self.count.cast_unsigned().div_ceil(self.places.len() as u64)
    }

    /// Whether no two lanes are at the same element.
    fn is_injective(&self) -> bool {
        let mut seen = self.places.clone();
        seen.sort_unstable();
        seen.windows(2).all(|pair| pair[0] != pair[1])
    }

    /// Whether the lanes are a permutation of elements that lie side by side.
    pub fn is_full(&self) -> bool {
        self.is_injective() && self.count == self.places.len() as i64
    }

    /// Where each part begins; the last one ends where the window does.
    fn starts(&self) -> Vec<i64> {
        let lanes = self.places.len() as i64;
        (0..self.parts().cast_signed()).map(|part| (part * lanes).min(self.count - lanes).max(0)).collect()
    }

    /// The lane at an element.
    fn lane_at(&self, place: i64) -> Option<usize> {
        self.places.iter().position(|at| *at == place)
    }

    /// Whether a store may go by windows: what is between the lanes is written back, which costs less than a lane at a time.
    pub fn may_store(&self, address: Value<'_>, masked: bool) -> bool {
        let own = || own_memory::root(address).is_some() && self.count >= self.places.len() as i64;
        self.is_injective() && (self.is_full() && !masked || own()) && 3 * self.parts() < 2 * self.places.len() as u64
    }
}

impl<'c> Emitter<'c, '_> {
    /// The window of an access, if it has one.
    pub fn window(&self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>) -> Option<Window> {
        Window::of(self.shapes, address, scalar.ty.layout(op).0.cast_signed(), self.lanes)
    }

    /// Whether a store goes by a window of memory that has been accessed before.
    pub fn blends_window(&self, op: Op<'c>, address: Value<'c>, ty: Type<'c>) -> bool {
        let size = ty.layout(op).0.cast_signed();
        let known = is_ordinary(op) && lies_as_array(ty) && self.touched.contains(&address);
        known
            && Window::of(self.shapes, address, size, self.lanes).is_some_and(|window| window.may_store(address, true))
    }

    /// Loads the elements of a window and puts each where its lane is.
    pub fn load_window(&self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>, window: &Window) -> Value<'c> {
        let ctx = self.b.ctx();
        let lanes = window.places.len() as i64;
        let width = lanes.min(window.count);
        let ty = ctx.vector(scalar.ty, width as u32);
        let mut made: Option<Value<'c>> = None;
        let starts = window.starts();
        for (number, start) in starts.iter().enumerate() {
            let next = starts.get(number + 1).copied().unwrap_or(window.count);
            let spec = self.b.op("llvm.load").operands(&[self.part_of(op, address, scalar, window, *start)]);
            let spec = spec.attrs(&kept_attrs(op)).attr("alignment", ctx.i64_attr(self.element_alignment(op, scalar)));
            let loaded = spec.attr("ordering", ctx.i64_attr(0)).result(ty).build().result(0);
            let pick = window.places.iter().enumerate().map(|(lane, place)| {
                let here = (*start..next).contains(place);
                match made {
                    None => {
                        if here {
                            (place - start) as i32
                        } else {
                            -1
                        }
                    }
                    Some(_) => {
                        if here {
                            (lanes + place - start) as i32
                        } else {
                            lane as i32
                        }
                    }
                }
            });
            let pick: Vec<_> = pick.collect();
            made = Some(self.shuffled(made.unwrap_or(loaded), loaded, &pick));
        }
        made.unwrap_or_else(|| self.poison(self.vector(scalar.ty)))
    }

    fn part_of(&self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>, window: &Window, start: i64) -> Value<'c> {
        let size = scalar.ty.layout(op).0.cast_signed();
        self.moved(self.scalar(address), scalar.offset + (window.lowest + start) * size)
    }

    fn element_alignment(&self, op: Op<'c>, scalar: &Scalar<'c>) -> i64 {
        1 << (scalar.alignment | scalar.ty.layout(op).0.cast_signed()).trailing_zeros()
    }

    /// Stores the lanes that take part among the elements of a window.
    pub fn store_window(
        &mut self,
        op: Op<'c>,
        address: Value<'c>,
        scalar: &Scalar<'c>,
        window: &Window,
        vector: Value<'c>,
    ) {
        let whole = self.mask.is_none() && window.is_full();
        if whole || self.may_touch_all(address, !whole) {
            self.store_parts(op, address, scalar, window, vector);
            return;
        }
        let made = self.b.scf_if(self.any(self.mask_vector()), &[], false);
        let inside = Builder::at_end(made.body(), self.b.loc);
        let outer = std::mem::replace(&mut self.b, inside);
        self.store_parts(op, address, scalar, window, vector);
        self.b.scf_yield(&[]);
        self.b = outer;
    }

    fn store_parts(&self, op: Op<'c>, address: Value<'c>, scalar: &Scalar<'c>, window: &Window, vector: Value<'c>) {
        let ctx = self.b.ctx();
        let lanes = window.places.len() as i64;
        let part = Scalar { alignment: self.element_alignment(op, scalar), ..*scalar };
        // Lanes that take no part write back what is there: a mask is wide to shuffle, its lanes once in their places are constants.
        let vector = match self.mask {
            Some(mask) => {
                let old = self.load_window(op, address, scalar, window);
                self.select(mask, vector, self.b.value("llvm.freeze", &[old], old.ty()))
            }
            None => vector,
        };
        for start in window.starts() {
            let pointer = self.part_of(op, address, scalar, window, start);
            let from: Vec<_> = (start..start + lanes).map(|place| window.lane_at(place)).collect();
            let pick: Vec<_> = from.iter().map(|lane| lane.map_or(-1, |lane| lane as i32)).collect();
            let mut all = self.shuffled(vector, vector, &pick);
            if from.contains(&None) {
                let there = self.constants(ctx.int(1), from.iter().map(|lane| i64::from(lane.is_some())));
                all = self.among(op, pointer, &part, there, all);
            }
            self.store_lanes_at(op, pointer, &part, all);
        }
    }
}
