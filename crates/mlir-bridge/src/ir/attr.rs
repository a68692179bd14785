//! Attributes.

use super::{Ctx, Type, handle};
use crate::ffi;
use std::fmt;

handle!(
    /// An attribute.
    Attr, MlirAttribute
);

impl<'c> Ctx<'c> {
    /// An integer attribute `value : ty` (an integer or index type).
    pub fn int_attr(self, ty: Type<'c>, value: i64) -> Attr<'c> {
        // SAFETY: the type is live.
        Attr::wrap(unsafe { mlir_sys::mlirIntegerAttrGet(ty.raw, value) })
    }

    pub fn i32_attr(self, value: i32) -> Attr<'c> {
        self.int_attr(self.int(32), value.into())
    }

    pub fn i64_attr(self, value: i64) -> Attr<'c> {
        self.int_attr(self.int(64), value)
    }

    pub fn index_attr(self, value: i64) -> Attr<'c> {
        self.int_attr(self.index(), value)
    }

    pub fn float_attr(self, ty: Type<'c>, value: f64) -> Attr<'c> {
        // SAFETY: context and type are live.
        Attr::wrap(unsafe { mlir_sys::mlirFloatAttrDoubleGet(self.raw, ty.raw, value) })
    }

    pub fn bool_attr(self, value: bool) -> Attr<'c> {
        // SAFETY: the context is live.
        Attr::wrap(unsafe { mlir_sys::mlirBoolAttrGet(self.raw, value.into()) })
    }

    pub fn unit_attr(self) -> Attr<'c> {
        // SAFETY: the context is live.
        Attr::wrap(unsafe { mlir_sys::mlirUnitAttrGet(self.raw) })
    }

    pub fn str_attr(self, text: &str) -> Attr<'c> {
        // SAFETY: MLIR copies the text.
        Attr::wrap(unsafe { mlir_sys::mlirStringAttrGet(self.raw, ffi::string(text)) })
    }

    /// A flat symbol reference `@name`.
    pub fn symbol_attr(self, name: &str) -> Attr<'c> {
        // SAFETY: MLIR copies the name.
        Attr::wrap(unsafe { mlir_sys::mlirFlatSymbolRefAttrGet(self.raw, ffi::string(name)) })
    }

    pub fn type_attr(self, ty: Type<'c>) -> Attr<'c> {
        // SAFETY: the type is live.
        Attr::wrap(unsafe { mlir_sys::mlirTypeAttrGet(ty.raw) })
    }

    pub fn array_attr(self, items: &[Attr<'c>]) -> Attr<'c> {
        let raw: Vec<_> = items.iter().map(|item| item.raw).collect();
        // SAFETY: the array is read during the call.
        Attr::wrap(unsafe { mlir_sys::mlirArrayAttrGet(self.raw, raw.len() as isize, raw.as_ptr()) })
    }

    pub fn dict_attr(self, items: &[(&str, Attr<'c>)]) -> Attr<'c> {
        let raw: Vec<_> = items.iter().map(|(name, attr)| self.named(name, *attr)).collect();
        // SAFETY: the array is read during the call.
        Attr::wrap(unsafe { mlir_sys::mlirDictionaryAttrGet(self.raw, raw.len() as isize, raw.as_ptr()) })
    }

    /// `array<i32: ...>`, as in `operandSegmentSizes`.
    pub fn i32_array_attr(self, values: &[i32]) -> Attr<'c> {
        // SAFETY: the array is read during the call.
        Attr::wrap(unsafe { mlir_sys::mlirDenseI32ArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    /// `array<i64: ...>`.
    pub fn i64_array_attr(self, values: &[i64]) -> Attr<'c> {
        // SAFETY: the array is read during the call.
        Attr::wrap(unsafe { mlir_sys::mlirDenseI64ArrayGet(self.raw, values.len() as isize, values.as_ptr()) })
    }

    pub(crate) fn named(self, name: &str, attr: Attr<'c>) -> mlir_sys::MlirNamedAttribute {
        // SAFETY: MLIR interns the name.
        unsafe {
            let name = mlir_sys::mlirIdentifierGet(self.raw, ffi::string(name));
            mlir_sys::mlirNamedAttributeGet(name, attr.raw)
        }
    }
}

impl<'c> Attr<'c> {
    pub fn ctx(self) -> Ctx<'c> {
        // SAFETY: attributes live as long as their context.
        Ctx::wrap(unsafe { mlir_sys::mlirAttributeGetContext(self.raw) })
    }

    /// The value of an integer attribute of at most 64 bits (sign-extended when signless).
    pub fn as_int(self) -> Option<i64> {
        // SAFETY: asked of integer attributes only.
        unsafe {
            if !mlir_sys::mlirAttributeIsAInteger(self.raw) {
                return None;
            }
            let ty = Type::wrap(mlir_sys::mlirAttributeGetType(self.raw));
            if ty.int_width().is_some_and(|width| width > 64) {
                return None;
            }
            if ty.int_width().is_some() && mlir_sys::mlirIntegerTypeIsUnsigned(ty.raw) {
                return Some(mlir_sys::mlirIntegerAttrGetValueUInt(self.raw) as i64);
            }
            if ty.int_width().is_some() && mlir_sys::mlirIntegerTypeIsSigned(ty.raw) {
                return Some(mlir_sys::mlirIntegerAttrGetValueSInt(self.raw));
            }
            Some(mlir_sys::mlirIntegerAttrGetValueInt(self.raw))
        }
    }

    pub fn as_bool(self) -> Option<bool> {
        // SAFETY: asked of bool attributes only.
        unsafe { mlir_sys::mlirAttributeIsABool(self.raw).then(|| mlir_sys::mlirBoolAttrGetValue(self.raw)) }
    }

    pub fn as_float(self) -> Option<f64> {
        // SAFETY: asked of float attributes only.
        unsafe { mlir_sys::mlirAttributeIsAFloat(self.raw).then(|| mlir_sys::mlirFloatAttrGetValueDouble(self.raw)) }
    }

    /// The value of a string attribute.
    pub fn as_str(self) -> Option<&'c str> {
        // SAFETY: asked of string attributes only; the string lives with the context.
        unsafe {
            mlir_sys::mlirAttributeIsAString(self.raw).then(|| ffi::to_str(mlir_sys::mlirStringAttrGetValue(self.raw)))
        }
    }

    /// LLVM's number of the calling convention that the attribute is.
    pub fn as_calling_convention(self) -> Option<u32> {
        // SAFETY: the attribute is live; others give -1.
        u32::try_from(unsafe { ffi::regrainCallingConvention(self.raw) }).ok()
    }

    /// The name in a symbol reference without nesting.
    pub fn as_symbol(self) -> Option<&'c str> {
        // SAFETY: asked of flat symbol references only; the string lives with the context.
        unsafe {
            mlir_sys::mlirAttributeIsAFlatSymbolRef(self.raw)
                .then(|| ffi::to_str(mlir_sys::mlirFlatSymbolRefAttrGetValue(self.raw)))
        }
    }

    pub fn as_type(self) -> Option<Type<'c>> {
        // SAFETY: asked of type attributes only.
        unsafe {
            mlir_sys::mlirAttributeIsAType(self.raw).then(|| Type::wrap(mlir_sys::mlirTypeAttrGetValue(self.raw)))
        }
    }

    pub fn as_array(self) -> Option<Vec<Attr<'c>>> {
        // SAFETY: asked of array attributes only, with indices in range.
        unsafe {
            mlir_sys::mlirAttributeIsAArray(self.raw).then(|| {
                (0..mlir_sys::mlirArrayAttrGetNumElements(self.raw))
                    .map(|i| Attr::wrap(mlir_sys::mlirArrayAttrGetElement(self.raw, i)))
                    .collect()
            })
        }
    }

    /// One entry of a dictionary attribute.
    pub fn get(self, name: &str) -> Option<Attr<'c>> {
        // SAFETY: asked of dictionary attributes only.
        unsafe {
            if !mlir_sys::mlirAttributeIsADictionary(self.raw) {
                return None;
            }
            Attr::wrap_option(mlir_sys::mlirDictionaryAttrGetElementByName(self.raw, ffi::string(name)))
        }
    }

    /// The entries of a dictionary attribute.
    pub fn as_dict(self) -> Option<Vec<(&'c str, Attr<'c>)>> {
        // SAFETY: asked of dictionary attributes only, with indices in range.
        unsafe {
            mlir_sys::mlirAttributeIsADictionary(self.raw).then(|| {
                (0..mlir_sys::mlirDictionaryAttrGetNumElements(self.raw))
                    .map(|i| {
                        let item = mlir_sys::mlirDictionaryAttrGetElement(self.raw, i);
                        let name = ffi::to_str(mlir_sys::mlirIdentifierStr(item.name));
                        (name, Attr::wrap(item.attribute))
                    })
                    .collect()
            })
        }
    }

    pub fn as_i32_array(self) -> Option<Vec<i32>> {
        // SAFETY: asked of dense i32 arrays only, with indices in range.
        unsafe {
            mlir_sys::mlirAttributeIsADenseI32Array(self.raw).then(|| {
                (0..mlir_sys::mlirDenseArrayGetNumElements(self.raw))
                    .map(|i| mlir_sys::mlirDenseI32ArrayGetElement(self.raw, i))
                    .collect()
            })
        }
    }

    pub fn as_i64_array(self) -> Option<Vec<i64>> {
        // SAFETY: asked of dense i64 arrays only, with indices in range.
        unsafe {
            mlir_sys::mlirAttributeIsADenseI64Array(self.raw).then(|| {
                (0..mlir_sys::mlirDenseArrayGetNumElements(self.raw))
                    .map(|i| mlir_sys::mlirDenseI64ArrayGetElement(self.raw, i))
                    .collect()
            })
        }
    }
}

impl fmt::Display for Attr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirAttributePrint(self.raw, sink, user) }))
    }
}

impl fmt::Debug for Attr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
