//! Schedules of the instances of statements.

use super::{Context, Result, UnionMap, UnionSet, object, raw, text};

object! {
    /// A schedule: a tree of bands and sequences over the instances of statements.
    Schedule, isl_schedule, isl_schedule_copy, isl_schedule_free, isl_schedule_to_str
}

impl Schedule {
    /// A schedule of `domain` that keeps `validity`. A dimension is coincident where it carries nothing of `coincidence`; what
    /// `proximity` relates comes close together.
    ///
    /// # Errors
    /// The budget is spent.
    pub fn compute(
        domain: &UnionSet,
        validity: &UnionMap,
        coincidence: &UnionMap,
        proximity: &UnionMap,
    ) -> Result<Self> {
        let context = domain.context();
        [validity, coincidence, proximity].iter().for_each(|map| context.same(map.context()));
        // SAFETY: live objects of one context, each a reference that isl takes; null goes through to the end.
        let schedule = unsafe {
            let constraints = raw::isl_schedule_constraints_on_domain(domain.raw_copy());
            let constraints = raw::isl_schedule_constraints_set_validity(constraints, validity.raw_copy());
            let constraints = raw::isl_schedule_constraints_set_coincidence(constraints, coincidence.raw_copy());
            let constraints = raw::isl_schedule_constraints_set_proximity(constraints, proximity.raw_copy());
            raw::isl_schedule_constraints_compute_schedule(constraints)
        };
        Self::take(context, schedule)
    }

    /// A schedule of `domain` that orders nothing: what is inserted at its leaf does.
    ///
    /// # Errors
    /// isl fails.
    pub fn unordered(domain: &UnionSet) -> Result<Self> {
        // SAFETY: a live set, of which isl takes a reference.
        Self::take(domain.context(), unsafe { raw::isl_schedule_from_domain(domain.raw_copy()) })
    }

    /// The top of the tree.
    ///
    /// # Errors
    /// isl fails.
    pub fn root(&self) -> Result<Node> {
        // SAFETY: a live schedule.
        Node::take(&self.context, unsafe { raw::isl_schedule_get_root(self.raw) })
    }

    /// All of its bands and sequences as times.
    ///
    /// # Errors
    /// isl fails.
    pub fn times(&self) -> Result<UnionMap> {
        // SAFETY: a live schedule.
        UnionMap::from_raw(&self.context, unsafe { raw::isl_schedule_get_map(self.raw) })
    }

    /// The tree, indented.
    pub fn tree(&self) -> String {
        self.root().map_or_else(|error| error.to_string(), |root| root.tree())
    }
}

object! {
    /// A place in a schedule's tree.
    Node, isl_schedule_node, isl_schedule_node_copy, isl_schedule_node_free, isl_schedule_node_to_str
}

/// What a node does with the instances that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It orders them by one or more dimensions.
    Band,
    /// Its children, filters, come one after the other.
    Sequence,
    /// Its children, filters, come in any order.
    Set,
    /// One of several: the instances that go on from here.
    Filter,
    /// The top.
    Domain,
    /// The end: nothing is ordered any more.
    Leaf,
    /// None of those that a computed schedule has.
    Other,
}

impl Node {
    /// What it does.
    pub fn step(&self) -> Step {
        // SAFETY: a live node.
        match unsafe { raw::isl_schedule_node_get_type(self.raw) } {
            raw::isl_schedule_node_type_isl_schedule_node_band => Step::Band,
            raw::isl_schedule_node_type_isl_schedule_node_sequence => Step::Sequence,
            raw::isl_schedule_node_type_isl_schedule_node_set => Step::Set,
            raw::isl_schedule_node_type_isl_schedule_node_filter => Step::Filter,
            raw::isl_schedule_node_type_isl_schedule_node_domain => Step::Domain,
            raw::isl_schedule_node_type_isl_schedule_node_leaf => Step::Leaf,
            _ => Step::Other,
        }
    }

    /// The nodes below; a leaf where the tree has none.
    ///
    /// # Errors
    /// isl fails.
    pub fn children(&self) -> Result<Vec<Node>> {
        // SAFETY: a live node.
        let count = self.context.size(unsafe { raw::isl_schedule_node_n_children(self.raw) })?;
        (0..count).map(|at| self.child_at(at)).collect()
    }

    /// The only node below, or the first of them.
    ///
    /// # Errors
    /// There is none.
    pub fn child(&self) -> Result<Node> {
        self.child_at(0)
    }

    /// The node below of this number.
    ///
    /// # Errors
    /// There is none.
    pub fn child_at(&self, at: usize) -> Result<Node> {
        // SAFETY: a live node; isl checks the number.
        Self::take(&self.context, unsafe { raw::isl_schedule_node_get_child(self.raw, at as i32) })
    }

    /// The node above.
    ///
    /// # Errors
    /// It is the top.
    pub fn parent(&self) -> Result<Node> {
        // SAFETY: a live node, of which isl takes a reference.
        Self::take(&self.context, unsafe { raw::isl_schedule_node_parent(self.give()) })
    }

    /// A band of these times above what is here, with what is known of it: which dimensions carry nothing, and whether they may be interchanged.
    ///
    /// # Errors
    /// The times are of several spaces.
    pub fn insert_band(&self, times: &UnionMap, coincident: &[bool], permutable: bool) -> Result<Node> {
        self.context.same(times.context());
        // SAFETY: live objects of one context, each a reference that isl takes; null goes through to the end.
        Self::take(&self.context, unsafe {
            let times = raw::isl_multi_union_pw_aff_from_union_map(times.raw_copy());
            let band = raw::isl_schedule_node_insert_partial_schedule(self.give(), times);
            let band = raw::isl_schedule_node_band_set_permutable(band, i32::from(permutable));
            coincident.iter().enumerate().fold(band, |band, (member, coincident)| {
                raw::isl_schedule_node_band_member_set_coincident(band, member as i32, i32::from(*coincident))
            })
        })
    }

    /// What is here without the band.
    ///
    /// # Errors
    /// It is no band.
    pub fn delete(&self) -> Result<Node> {
        // SAFETY: a live object, a reference to which isl takes; null goes through to the end.
        Self::take(&self.context, unsafe { raw::isl_schedule_node_delete(self.give()) })
    }

    /// Filters above what is here, one after the other, or in any order.
    ///
    /// # Errors
    /// They are not for all that reaches this place.
    pub fn insert_parts(&self, filters: &[UnionSet], in_order: bool) -> Result<Node> {
        let insert = if in_order { raw::isl_schedule_node_insert_sequence } else { raw::isl_schedule_node_insert_set };
        // SAFETY: live objects of one context, each a reference that isl takes; null goes through to the end.
        Self::take(&self.context, unsafe {
            let none = raw::isl_union_set_list_alloc(self.context.raw(), filters.len() as i32);
            let add = |list, filter: &UnionSet| raw::isl_union_set_list_add(list, filter.raw_copy());
            insert(self.give(), filters.iter().fold(none, add))
        })
    }

    /// What goes on from a filter.
    ///
    /// # Errors
    /// It is no filter.
    pub fn filter(&self) -> Result<UnionSet> {
        // SAFETY: a live node; isl checks what it is.
        UnionSet::from_raw(&self.context, unsafe { raw::isl_schedule_node_filter_get_filter(self.raw) })
    }

    /// The schedule that it is in.
    ///
    /// # Errors
    /// isl fails.
    pub fn schedule(&self) -> Result<Schedule> {
        // SAFETY: a live node.
        Schedule::take(&self.context, unsafe { raw::isl_schedule_node_get_schedule(self.raw) })
    }

    /// How many dimensions a band has.
    ///
    /// # Errors
    /// It is no band.
    pub fn members(&self) -> Result<usize> {
        // SAFETY: a live node; isl says so where it is no band.
        self.context.size(unsafe { raw::isl_schedule_node_band_n_member(self.raw) })
    }

    /// Whether a dimension of a band carries no dependence that reaches it.
    ///
    /// # Errors
    /// It is no band, or has no such dimension.
    pub fn is_coincident(&self, member: usize) -> Result<bool> {
        // SAFETY: a live node; isl checks what it is.
        self.context.answer(unsafe { raw::isl_schedule_node_band_member_get_coincident(self.raw, member as i32) })
    }

    /// Whether the dimensions of a band may be interchanged.
    ///
    /// # Errors
    /// It is no band.
    pub fn is_permutable(&self) -> Result<bool> {
        // SAFETY: a live node; isl checks what it is.
        self.context.answer(unsafe { raw::isl_schedule_node_band_get_permutable(self.raw) })
    }

    /// The band as one of its first `members` dimensions with one of the others below.
    ///
    /// # Errors
    /// It is no band of more dimensions.
    pub fn split(&self, members: usize) -> Result<Node> {
        // SAFETY: a live node, of which isl takes a reference.
        Self::take(&self.context, unsafe { raw::isl_schedule_node_band_split(self.give(), members as i32) })
    }

    /// The times that a band gives.
    ///
    /// # Errors
    /// It is no band.
    pub fn band_times(&self) -> Result<UnionMap> {
        // SAFETY: a live node; isl checks what it is.
        let map = unsafe { raw::isl_schedule_node_band_get_partial_schedule_union_map(self.raw) };
        UnionMap::from_raw(&self.context, map)
    }

    /// The times that this node and all below give.
    ///
    /// # Errors
    /// isl fails.
    pub fn times_below(&self) -> Result<UnionMap> {
        // SAFETY: a live node.
        let map = unsafe { raw::isl_schedule_node_get_subtree_schedule_union_map(self.raw) };
        UnionMap::from_raw(&self.context, map)
    }

    /// The instances that reach the node.
    ///
    /// # Errors
    /// isl fails.
    pub fn domain(&self) -> Result<UnionSet> {
        // SAFETY: a live node.
        UnionSet::from_raw(&self.context, unsafe { raw::isl_schedule_node_get_domain(self.raw) })
    }

    /// The tree from the root on, indented, with a mark at this node.
    pub fn tree(&self) -> String {
        // SAFETY: a printer to text of a live context; each call takes the printer and gives it back, null at the end of memory.
        unsafe {
            let printer = raw::isl_printer_to_str(self.context.raw());
            let printer = raw::isl_printer_set_yaml_style(printer, raw::ISL_YAML_STYLE_BLOCK as i32);
            let printer = raw::isl_printer_print_schedule_node(printer, self.raw);
            let printed = text(raw::isl_printer_get_str(printer));
            raw::isl_printer_free(printer);
            printed
        }
    }
}

impl Context {
    /// No instances at all.
    ///
    /// # Errors
    /// isl fails.
    pub fn no_instances(&self) -> Result<UnionSet> {
        UnionSet::parse(self, "{ }")
    }
}
