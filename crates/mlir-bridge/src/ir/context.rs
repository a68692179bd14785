//! The context and locations; the factory of types and attributes.

use super::{Attr, Type, handle};
use crate::ffi;
use melior::Context;

handle!(
    /// A reference to an `MLIRContext`; makes types, attributes and locations.
    Ctx, MlirContext
);

handle!(
    /// A source location.
    Loc, MlirLocation
);

impl<'c> From<&'c Context> for Ctx<'c> {
    fn from(context: &'c Context) -> Self {
        Self::wrap(context.to_raw())
    }
}

impl<'c> Ctx<'c> {
    /// The context as melior sees it.
    pub fn melior(self) -> melior::ContextRef<'c> {
        // SAFETY: the context outlives 'c.
        unsafe { melior::ContextRef::from_raw(self.raw) }
    }

    /// Loads a dialect; false when nobody registered it.
    pub fn load_dialect(self, name: &str) -> bool {
        // SAFETY: the context is live, the name is copied by MLIR.
        unsafe { !mlir_sys::mlirContextGetOrLoadDialect(self.raw, ffi::string(name)).ptr.is_null() }
    }

    /// Parses a type, as `!llvm.ptr<3>`.
    pub fn parse_type(self, text: &str) -> Option<Type<'c>> {
        // SAFETY: as above.
        Type::wrap_option(unsafe { mlir_sys::mlirTypeParseGet(self.raw, ffi::string(text)) })
    }

    /// Parses an attribute, as `#llvm.linkage<internal>`.
    pub fn parse_attr(self, text: &str) -> Option<Attr<'c>> {
        // SAFETY: as above.
        Attr::wrap_option(unsafe { mlir_sys::mlirAttributeParseGet(self.raw, ffi::string(text)) })
    }

    /// An unknown location.
    pub fn unknown_loc(self) -> Loc<'c> {
        // SAFETY: as above.
        Loc::wrap(unsafe { mlir_sys::mlirLocationUnknownGet(self.raw) })
    }

    /// The location `file:line:column`.
    pub fn file_loc(self, file: &str, line: u32, column: u32) -> Loc<'c> {
        // SAFETY: as above.
        Loc::wrap(unsafe { mlir_sys::mlirLocationFileLineColGet(self.raw, ffi::string(file), line, column) })
    }
}

impl<'c> Loc<'c> {
    pub fn ctx(self) -> Ctx<'c> {
        // SAFETY: the location is live, as all of a context's attributes are.
        Ctx::wrap(unsafe { mlir_sys::mlirLocationGetContext(self.raw) })
    }

    /// `file`, line and column of the innermost file location: looks through names, call sites
    /// (the callee) and fused locations (the first that has one).
    pub fn file_line(self) -> Option<(String, u32, u32)> {
        // SAFETY: every accessor is called only after the check of the location's kind.
        unsafe {
            let raw = self.raw;
            if mlir_sys::mlirLocationIsAFileLineColRange(raw) {
                let name = mlir_sys::mlirLocationFileLineColRangeGetFilename(raw);
                let file = ffi::to_str(mlir_sys::mlirIdentifierStr(name)).to_owned();
                let line = mlir_sys::mlirLocationFileLineColRangeGetStartLine(raw);
                let column = mlir_sys::mlirLocationFileLineColRangeGetStartColumn(raw);
                return Some((file, line as u32, column as u32));
            }
            if mlir_sys::mlirLocationIsAName(raw) {
                return Loc::wrap(mlir_sys::mlirLocationNameGetChildLoc(raw)).file_line();
            }
            if mlir_sys::mlirLocationIsACallSite(raw) {
                return Loc::wrap(mlir_sys::mlirLocationCallSiteGetCallee(raw)).file_line();
            }
            if mlir_sys::mlirLocationIsAFused(raw) {
                let count = mlir_sys::mlirLocationFusedGetNumLocations(raw) as usize;
                let mut parts = vec![raw; count];
                mlir_sys::mlirLocationFusedGetLocations(raw, parts.as_mut_ptr());
                return parts.into_iter().find_map(|part| Loc::wrap(part).file_line());
            }
        }
        None
    }
}

impl std::fmt::Display for Loc<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirLocationPrint(self.raw, sink, user) }))
    }
}

impl std::fmt::Debug for Loc<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Debug for Ctx<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ctx")
    }
}
