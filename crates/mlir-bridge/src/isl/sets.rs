//! Sets and relations of integer points.

use std::ffi::CString;

use super::{Context, Error, Result, object, raw};

object! {
    /// A set of points of one space, or of parameters alone.
    Set, isl_set, isl_set_copy, isl_set_free, isl_set_to_str
}
object! {
    /// A set of points of any spaces: instances of statements, elements of arrays.
    UnionSet, isl_union_set, isl_union_set_copy, isl_union_set_free, isl_union_set_to_str
}
object! {
    /// A relation between points of any spaces: accesses, schedules, dependences.
    UnionMap, isl_union_map, isl_union_map_copy, isl_union_map_free, isl_union_map_to_str
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Failed("text with a zero byte".into()))
}

/// Methods that take further objects of the context and give one.
macro_rules! operations {
    ($type:ident: $($(#[$doc:meta])* $name:ident($($other:ident: $kind:ident),*) -> $result:ident = $raw:ident;)*) => {
        impl $type {
            $($(#[$doc])*
            ///
            /// # Errors
            /// The budget is spent, or spaces do not fit.
            pub fn $name(&self $(, $other: &$kind)*) -> Result<$result> {
                $(self.context.same(&$other.context);)*
                // SAFETY: live objects of one context, each a reference that isl takes.
                $result::take(&self.context, unsafe { raw::$raw(self.give() $(, $other.give())*) })
            })*
        }
    };
}

impl Set {
    /// Reads isl's notation.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(context: &Context, text: &str) -> Result<Self> {
        let text = c_text(text)?;
        // SAFETY: a live context and a string.
        Self::take(context, unsafe { raw::isl_set_read_from_str(context.raw(), text.as_ptr()) })
    }

    /// Whether no point is in it for any parameters.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_empty(&self) -> Result<bool> {
        // SAFETY: a live set.
        self.context.answer(unsafe { raw::isl_set_is_empty(self.raw) })
    }

    /// How many dimensions its points have.
    ///
    /// # Errors
    /// isl fails.
    pub fn dimensions(&self) -> Result<usize> {
        // SAFETY: a live set.
        self.context.size(unsafe { raw::isl_set_dim(self.raw, raw::isl_dim_type_isl_dim_set) })
    }

    /// How many conjunctions it is the disjunction of.
    ///
    /// # Errors
    /// isl fails.
    pub fn parts(&self) -> Result<usize> {
        // SAFETY: a live set.
        self.context.size(unsafe { raw::isl_set_n_basic_set(self.raw) })
    }

    /// Whether both have the same points for all parameters.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_equal(&self, other: &Set) -> Result<bool> {
        self.context.same(&other.context);
        // SAFETY: live sets of one context.
        self.context.answer(unsafe { raw::isl_set_is_equal(self.raw, other.raw) })
    }

    /// A box of a size that is the same for all parameters with all points of the set in it: its first point, and how many there are in
    /// each dimension. `None` where isl finds none.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn fixed_box(&self) -> Result<Option<(Set, Vec<i64>)>> {
        let dimensions = self.dimensions()?;
        // SAFETY: a live set; the box, its size and its numbers are our own and given back, the offset is taken by what makes a set of it.
        unsafe {
            let found = self.context.check(raw::isl_set_get_simple_fixed_box_hull(self.raw))?;
            let is_valid = self.context.answer(raw::isl_fixed_box_is_valid(found));
            let offset = raw::isl_set_from_multi_aff(raw::isl_fixed_box_get_offset(found));
            let size = raw::isl_fixed_box_get_size(found);
            raw::isl_fixed_box_free(found);
            let mut sizes = Vec::new();
            for at in 0..dimensions {
                let value = raw::isl_multi_val_get_val(size, at as i32);
                sizes.push(super::text(raw::isl_val_to_str(value)).parse().ok());
                raw::isl_val_free(value);
            }
            raw::isl_multi_val_free(size);
            let offset = Set::take(&self.context, offset);
            if !is_valid? {
                return Ok(None);
            }
            let sizes: Option<Vec<i64>> = sizes.into_iter().collect();
            sizes.map(|sizes| Ok((offset?, sizes))).transpose()
        }
    }

    /// All of its points and more, said by constraints of its parts that hold for all of them: one conjunction.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn simple_hull(&self) -> Result<Set> {
        // SAFETY: a live set, of which isl takes a reference; what it makes of it is taken in turn.
        Set::take(&self.context, unsafe { raw::isl_set_from_basic_set(raw::isl_set_simple_hull(self.give())) })
    }

    /// Its space, which is whoever's that asks.
    pub(super) fn raw_space(&self) -> *mut raw::isl_space {
        // SAFETY: a live set.
        unsafe { raw::isl_set_get_space(self.raw) }
    }

    pub(super) fn raw_copy(&self) -> *mut raw::isl_set {
        self.give()
    }
}

operations! { Set:
    /// The parameters for which a point is in it.
    params() -> Set = isl_set_params;
    /// What is in both.
    intersect(other: Set) -> Set = isl_set_intersect;
    /// What is in either.
    union(other: Set) -> Set = isl_set_union;
    /// What is not in the other.
    subtract(other: Set) -> Set = isl_set_subtract;
    /// Said in fewer words, given that `other` holds.
    gist(other: Set) -> Set = isl_set_gist;
    /// Said in fewer words.
    coalesce() -> Set = isl_set_coalesce;
    /// Its points as those of any space.
    to_union() -> UnionSet = isl_union_set_from_set;
    /// All of its points and more, said without the numbers that must exist for a point to be in it.
    remove_divs() -> Set = isl_set_remove_divs;
    /// The first of its points, in the order of their dimensions.
    first() -> Set = isl_set_lexmin;
    /// The last of its points.
    last() -> Set = isl_set_lexmax;
}

impl UnionSet {
    /// Reads isl's notation.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(context: &Context, text: &str) -> Result<Self> {
        let text = c_text(text)?;
        // SAFETY: a live context and a string.
        Self::take(context, unsafe { raw::isl_union_set_read_from_str(context.raw(), text.as_ptr()) })
    }

    /// Whether no point is in it for any parameters.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_empty(&self) -> Result<bool> {
        // SAFETY: a live set.
        self.context.answer(unsafe { raw::isl_union_set_is_empty(self.raw) })
    }

    /// Its points, which are of one space.
    ///
    /// # Errors
    /// They are of none or of several.
    pub fn to_set(&self) -> Result<Set> {
        // SAFETY: a live set, of which isl takes a reference.
        Set::take(&self.context, unsafe { raw::isl_set_from_union_set(self.give()) })
    }
}

operations! { UnionSet:
    /// What is in either.
    union(other: UnionSet) -> UnionSet = isl_union_set_union;
    /// What is in both.
    intersect(other: UnionSet) -> UnionSet = isl_union_set_intersect;
    /// What is not in the other.
    subtract(other: UnionSet) -> UnionSet = isl_union_set_subtract;
    /// The points for such parameters.
    intersect_params(params: Set) -> UnionSet = isl_union_set_intersect_params;
    /// The parameters for which a point is in it.
    params() -> Set = isl_union_set_params;
    /// Said in fewer words, given that `params` holds of the parameters.
    gist_params(params: Set) -> UnionSet = isl_union_set_gist_params;
    /// Where a relation leads from its points.
    apply(map: UnionMap) -> UnionSet = isl_union_set_apply;
    /// Each point to itself.
    identity() -> UnionMap = isl_union_set_identity;
    /// Said in fewer words.
    coalesce() -> UnionSet = isl_union_set_coalesce;
}

impl UnionMap {
    /// Reads isl's notation.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(context: &Context, text: &str) -> Result<Self> {
        let text = c_text(text)?;
        // SAFETY: a live context and a string.
        Self::take(context, unsafe { raw::isl_union_map_read_from_str(context.raw(), text.as_ptr()) })
    }

    /// Whether it relates no points for any parameters.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_empty(&self) -> Result<bool> {
        // SAFETY: a live relation.
        self.context.answer(unsafe { raw::isl_union_map_is_empty(self.raw) })
    }

    /// Whether it relates each point to one at most.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_single_valued(&self) -> Result<bool> {
        // SAFETY: a live relation.
        self.context.answer(unsafe { raw::isl_union_map_is_single_valued(self.raw) })
    }

    /// Whether the other relates all that this one does.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn is_subset(&self, other: &UnionMap) -> Result<bool> {
        self.context.same(&other.context);
        // SAFETY: live relations of one context.
        self.context.answer(unsafe { raw::isl_union_map_is_subset(self.raw, other.raw) })
    }

    /// The same for what a parameter may be, which is none of its own any more.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn without_param(&self, name: &str) -> Result<Self> {
        let name = c_text(name)?;
        // SAFETY: a live relation, of which isl takes a reference, and a string.
        Self::take(&self.context, unsafe {
            match raw::isl_union_map_find_dim_by_name(self.raw, raw::isl_dim_type_isl_dim_param, name.as_ptr()) {
                at @ 0.. => raw::isl_union_map_project_out(self.give(), raw::isl_dim_type_isl_dim_param, at as u32, 1),
                _ => self.give(),
            }
        })
    }

    pub(super) fn from_raw(context: &Context, raw: *mut raw::isl_union_map) -> Result<Self> {
        Self::take(context, raw)
    }

    /// The parameters that it may have, which are whoever's that asks.
    pub(super) fn raw_space(&self) -> *mut raw::isl_space {
        // SAFETY: a live relation.
        unsafe { raw::isl_union_map_get_space(self.raw) }
    }

    pub(super) fn raw_copy(&self) -> *mut raw::isl_union_map {
        self.give()
    }
}

impl UnionSet {
    pub(super) fn from_raw(context: &Context, raw: *mut raw::isl_union_set) -> Result<Self> {
        Self::take(context, raw)
    }

    pub(super) fn raw_copy(&self) -> *mut raw::isl_union_set {
        self.give()
    }
}

operations! { UnionMap:
    /// What it relates for such parameters.
    intersect_params(params: Set) -> UnionMap = isl_union_map_intersect_params;
    /// What either relates.
    union(other: UnionMap) -> UnionMap = isl_union_map_union;
    /// What both relate.
    intersect(other: UnionMap) -> UnionMap = isl_union_map_intersect;
    /// From where the first starts to where the other leads from there.
    apply_range(other: UnionMap) -> UnionMap = isl_union_map_apply_range;
    /// The other way round.
    reverse() -> UnionMap = isl_union_map_reverse;
    /// Only from such points.
    intersect_domain(set: UnionSet) -> UnionMap = isl_union_map_intersect_domain;
    /// Only to such points.
    intersect_range(set: UnionSet) -> UnionMap = isl_union_map_intersect_range;
    /// Where it leads.
    range() -> UnionSet = isl_union_map_range;
    /// Where it starts.
    domain() -> UnionSet = isl_union_map_domain;
    /// All pairs that the equations hold of that hold of its own, for each two spaces of points.
    affine_hull() -> UnionMap = isl_union_map_affine_hull;
    /// How far each pair is apart.
    deltas() -> UnionSet = isl_union_map_deltas;
    /// From points to those that the other relation, likewise to times, puts later.
    earlier_than(other: UnionMap) -> UnionMap = isl_union_map_lex_lt_union_map;
    /// Said in fewer words.
    coalesce() -> UnionMap = isl_union_map_coalesce;
}
