//! Operations as bytes: what they do, whatever they are called and wherever they stand.

use super::Op;
use crate::ffi;

impl<'c> Op<'c> {
    /// Bytes that say what `roots`, functions or globals directly in this module, do with all that they reach; the same
    /// in every process and context. Locations, names that nobody outside sees, what names the chip, and the attributes
    /// `left_out` count for nothing (`cpp/structure.cpp` has the whole list).
    pub fn structure(self, roots: &[Op<'c>], left_out: &[&str]) -> Vec<u8> {
        let roots: Vec<_> = roots.iter().map(|root| root.raw).collect();
        let names: Vec<_> = left_out.iter().map(|name| ffi::string(name)).collect();
        // SAFETY: the operations are live, the arrays are read during the call, the sink gets a live Vec.
        let ((), bytes) = ffi::gather(|sink, user| unsafe {
            ffi::regrainStructure(roots.as_ptr(), roots.len(), self.raw, names.as_ptr(), names.len(), sink, user);
        });
        bytes
    }
}
