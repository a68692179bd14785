//! Types.

use super::{Ctx, handle};
use crate::ffi;
use std::fmt;

handle!(
    /// A type.
    Type, MlirType
);

impl<'c> Ctx<'c> {
    /// The signless integer type `i<bits>`.
    pub fn int(self, bits: u32) -> Type<'c> {
        // SAFETY: the context is live, here and below.
        Type::wrap(unsafe { mlir_sys::mlirIntegerTypeGet(self.raw, bits) })
    }

    pub fn index(self) -> Type<'c> {
        // SAFETY: the context is live.
        Type::wrap(unsafe { mlir_sys::mlirIndexTypeGet(self.raw) })
    }

    pub fn f32(self) -> Type<'c> {
        // SAFETY: the context is live.
        Type::wrap(unsafe { mlir_sys::mlirF32TypeGet(self.raw) })
    }

    pub fn f64(self) -> Type<'c> {
        // SAFETY: the context is live.
        Type::wrap(unsafe { mlir_sys::mlirF64TypeGet(self.raw) })
    }

    /// `!llvm.ptr` or `!llvm.ptr<space>`; loads the llvm dialect.
    pub fn ptr(self, address_space: u32) -> Type<'c> {
        self.load_dialect("llvm");
        // SAFETY: the context is live and knows the llvm dialect.
        Type::wrap(unsafe { mlir_sys::mlirLLVMPointerTypeGet(self.raw, address_space) })
    }

    /// `!llvm.array<count x element>`.
    pub fn llvm_array(self, element: Type<'c>, count: u32) -> Type<'c> {
        // SAFETY: the element type is live.
        Type::wrap(unsafe { mlir_sys::mlirLLVMArrayTypeGet(element.raw, count) })
    }

    /// `!llvm.struct<(...)>`.
    pub fn llvm_struct(self, fields: &[Type<'c>], packed: bool) -> Type<'c> {
        let raw: Vec<_> = fields.iter().map(|field| field.raw).collect();
        self.load_dialect("llvm");
        // SAFETY: the array is read during the call.
        Type::wrap(unsafe {
            mlir_sys::mlirLLVMStructTypeLiteralGet(self.raw, raw.len() as isize, raw.as_ptr(), packed)
        })
    }

    /// `!llvm.void`.
    pub fn llvm_void(self) -> Type<'c> {
        self.load_dialect("llvm");
        // SAFETY: the context is live and knows the llvm dialect.
        Type::wrap(unsafe { mlir_sys::mlirLLVMVoidTypeGet(self.raw) })
    }

    /// `!llvm.func<result (inputs)>`.
    pub fn llvm_function(self, result: Type<'c>, inputs: &[Type<'c>], variadic: bool) -> Type<'c> {
        let raw: Vec<_> = inputs.iter().map(|input| input.raw).collect();
        // SAFETY: the array is read during the call.
        Type::wrap(unsafe { mlir_sys::mlirLLVMFunctionTypeGet(result.raw, raw.len() as isize, raw.as_ptr(), variadic) })
    }

    /// The builtin function type `(inputs) -> results`.
    pub fn function(self, inputs: &[Type<'c>], results: &[Type<'c>]) -> Type<'c> {
        let inputs: Vec<_> = inputs.iter().map(|input| input.raw).collect();
        let results: Vec<_> = results.iter().map(|result| result.raw).collect();
        // SAFETY: the arrays are read during the call.
        Type::wrap(unsafe {
            mlir_sys::mlirFunctionTypeGet(
                self.raw,
                inputs.len() as isize,
                inputs.as_ptr(),
                results.len() as isize,
                results.as_ptr(),
            )
        })
    }

    /// The one-dimensional `vector<lanes x element>`.
    pub fn vector(self, element: Type<'c>, lanes: u32) -> Type<'c> {
        let shape = [i64::from(lanes)];
        // SAFETY: the shape is read during the call.
        Type::wrap(unsafe { mlir_sys::mlirVectorTypeGet(1, shape.as_ptr(), element.raw) })
    }

    /// A memref with static or dynamic (`None`) sizes, identity layout, default memory space.
    pub fn memref(self, shape: &[Option<u64>], element: Type<'c>) -> Option<Type<'c>> {
        let sizes: String = shape.iter().map(|size| size.map_or("?x".into(), |size| format!("{size}x"))).collect();
        self.parse_type(&format!("memref<{sizes}{element}>"))
    }
}

impl<'c> Type<'c> {
    pub fn ctx(self) -> Ctx<'c> {
        // SAFETY: types live as long as their context.
        Ctx::wrap(unsafe { mlir_sys::mlirTypeGetContext(self.raw) })
    }

    pub fn is_index(self) -> bool {
        // SAFETY: the type is live, here and below.
        unsafe { mlir_sys::mlirTypeIsAIndex(self.raw) }
    }

    /// The width of an integer type.
    pub fn int_width(self) -> Option<u32> {
        // SAFETY: the width is asked of integer types only.
        unsafe { mlir_sys::mlirTypeIsAInteger(self.raw).then(|| mlir_sys::mlirIntegerTypeGetWidth(self.raw)) }
    }

    pub fn is_int(self, bits: u32) -> bool {
        self.int_width() == Some(bits)
    }

    pub fn is_float(self) -> bool {
        // SAFETY: the type is live.
        unsafe { mlir_sys::mlirTypeIsAFloat(self.raw) }
    }

    /// The width of a float type.
    pub fn float_width(self) -> Option<u32> {
        // SAFETY: the width is asked of float types only.
        self.is_float().then(|| unsafe { mlir_sys::mlirFloatTypeGetWidth(self.raw) })
    }

    /// The address space of an `!llvm.ptr`.
    pub fn ptr_space(self) -> Option<u32> {
        // SAFETY: the address space is asked of pointer types only.
        unsafe {
            mlir_sys::mlirTypeIsALLVMPointerType(self.raw)
                .then(|| mlir_sys::mlirLLVMPointerTypeGetAddressSpace(self.raw))
        }
    }

    /// The inputs of a builtin or llvm function type.
    pub fn function_inputs(self) -> Option<Vec<Type<'c>>> {
        // SAFETY: each accessor is called on its own kind of type, with an index in range.
        unsafe {
            if mlir_sys::mlirTypeIsAFunction(self.raw) {
                let count = mlir_sys::mlirFunctionTypeGetNumInputs(self.raw);
                return Some((0..count).map(|i| Type::wrap(mlir_sys::mlirFunctionTypeGetInput(self.raw, i))).collect());
            }
            if ffi::regrainIsLLVMFunctionType(self.raw) {
                let count = mlir_sys::mlirLLVMFunctionTypeGetNumInputs(self.raw);
                return Some(
                    (0..count).map(|i| Type::wrap(mlir_sys::mlirLLVMFunctionTypeGetInput(self.raw, i))).collect(),
                );
            }
        }
        None
    }

    /// The result of an llvm function type.
    pub fn llvm_function_result(self) -> Option<Type<'c>> {
        // SAFETY: asked of llvm function types only.
        unsafe {
            ffi::regrainIsLLVMFunctionType(self.raw)
                .then(|| Type::wrap(mlir_sys::mlirLLVMFunctionTypeGetReturnType(self.raw)))
        }
    }

    /// Whether an llvm function type ends in `...`.
    pub fn is_variadic(self) -> bool {
        // SAFETY: the type is live.
        unsafe { ffi::regrainIsVarArg(self.raw) }
    }

    /// Size (with tail padding) and ABI alignment in bytes, by the data layout that holds at `op`.
    pub fn layout(self, op: super::Op<'c>) -> (u64, u64) {
        let (mut size, mut alignment) = (0, 1);
        // SAFETY: both are live, the results are written during the call.
        unsafe { ffi::regrainTypeLayout(op.raw, self.raw, &mut size, &mut alignment) }
        (size, alignment)
    }

    /// Element type and count of an `!llvm.array`.
    pub fn llvm_array_parts(self) -> Option<(Type<'c>, u64)> {
        // SAFETY: asked of array types only.
        unsafe {
            let length = ffi::regrainLLVMArrayLength(self.raw);
            (length >= 0).then(|| {
                let element = mlir_sys::mlirLLVMArrayTypeGetElementType(self.raw);
                (Type::wrap(element), length as u64)
            })
        }
    }

    /// Element type and count of a one-dimensional `vector`.
    pub fn vector_parts(self) -> Option<(Type<'c>, u32)> {
        // SAFETY: asked of vector types only.
        unsafe {
            let plain = mlir_sys::mlirTypeIsAVector(self.raw) && mlir_sys::mlirShapedTypeGetRank(self.raw) == 1;
            plain.then(|| {
                let element = mlir_sys::mlirShapedTypeGetElementType(self.raw);
                (Type::wrap(element), mlir_sys::mlirShapedTypeGetDimSize(self.raw, 0) as u32)
            })
        }
    }

    /// The fields of an `!llvm.struct`.
    pub fn llvm_struct_fields(self) -> Option<Vec<Type<'c>>> {
        // SAFETY: asked of struct types only, with indices in range.
        unsafe {
            mlir_sys::mlirTypeIsALLVMStructType(self.raw).then(|| {
                (0..mlir_sys::mlirLLVMStructTypeGetNumElementTypes(self.raw))
                    .map(|i| Type::wrap(mlir_sys::mlirLLVMStructTypeGetElementType(self.raw, i)))
                    .collect()
            })
        }
    }

    /// Whether an llvm struct has no padding between its fields.
    pub fn is_packed_struct(self) -> bool {
        // SAFETY: asked of struct types only.
        unsafe { mlir_sys::mlirTypeIsALLVMStructType(self.raw) && mlir_sys::mlirLLVMStructTypeIsPacked(self.raw) }
    }
}

impl fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the sink gets a live Vec.
        f.write_str(&ffi::print(|sink, user| unsafe { mlir_sys::mlirTypePrint(self.raw, sink, user) }))
    }
}

impl fmt::Debug for Type<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
