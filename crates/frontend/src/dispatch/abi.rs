//! How calls of `cudaLaunchKernel` pass the sizes of grid and block: the only place that knows the ABI of `dim3`.

use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::types::{BasicMetadataTypeEnum, FunctionType};
use inkwell::values::{BasicMetadataValueEnum, BasicValueEnum, FunctionValue, IntValue};

/// How a `dim3` is passed by value.
#[derive(Clone, Copy)]
pub(super) enum Abi {
    /// x86-64: x and y in an i64, z in an i32.
    Words,
    /// AArch64: `[2 x i64]`.
    Array,
}

impl Abi {
    /// What the type of `cudaLaunchKernel(handle, grid, block, args, shared, stream)` says.
    pub(super) fn of(launch: FunctionType<'_>) -> Option<Self> {
        use BasicMetadataTypeEnum::{ArrayType, IntType, PointerType};
        let wide = |ty: inkwell::types::IntType<'_>, bits| ty.get_bit_width() == bits;
        // With `-fshort-enums` an error is narrower than the launchers take it to be.
        launch.get_return_type().filter(|ty| ty.is_int_type() && wide(ty.into_int_type(), 32))?;
        match launch.get_param_types()[..] {
            [
                PointerType(_),
                IntType(a),
                IntType(b),
                IntType(c),
                IntType(d),
                PointerType(_),
                IntType(_),
                PointerType(_),
            ] if wide(a, 64) && wide(b, 32) && wide(c, 64) && wide(d, 32) => Some(Self::Words),
            [PointerType(_), ArrayType(a), ArrayType(b), PointerType(_), IntType(_), PointerType(_)]
                if a.len() == 2 && b.len() == 2 =>
            {
                Some(Self::Array)
            }
            _ => None,
        }
    }

    /// How many parameters a `dim3` takes.
    fn width(self) -> u32 {
        match self {
            Self::Words => 2,
            Self::Array => 1,
        }
    }

    /// A `dim3` as it is passed.
    pub(super) fn pack<'ctx>(
        self,
        context: ContextRef<'ctx>,
        builder: &Builder<'ctx>,
        dim: &[IntValue<'ctx>],
    ) -> Result<Vec<BasicMetadataValueEnum<'ctx>>, BuilderError> {
        let long = context.i64_type();
        let x = builder.build_int_z_extend(dim[0], long, "")?;
        let y = builder.build_int_z_extend(dim[1], long, "")?;
        let xy = builder.build_or(x, builder.build_left_shift(y, long.const_int(32, false), "")?, "")?;
        Ok(match self {
            Abi::Words => vec![xy.into(), dim[2].into()],
            Abi::Array => {
                let z = builder.build_int_z_extend(dim[2], long, "")?;
                let array = long.array_type(2).get_undef();
                let array = builder.build_insert_value(array, xy, 0, "")?;
                vec![builder.build_insert_value(array, z, 1, "")?.into_array_value().into()]
            }
        })
    }

    /// The parameters of a function of `cudaLaunchKernel`'s type.
    pub(super) fn unpack<'ctx>(
        self,
        context: ContextRef<'ctx>,
        builder: &Builder<'ctx>,
        function: FunctionValue<'ctx>,
    ) -> Result<LaunchCall<'ctx>, BuilderError> {
        let (word, long) = (context.i32_type(), context.i64_type());
        let parameters = function.get_params();
        let mut sizes = Vec::new();
        for dim in 0..2 {
            let first = (1 + dim * self.width()) as usize;
            let (xy, z) = match self {
                Abi::Words => (parameters[first].into_int_value(), parameters[first + 1].into_int_value()),
                Abi::Array => {
                    let array = parameters[first].into_array_value();
                    let xy = builder.build_extract_value(array, 0, "")?.into_int_value();
                    let z = builder.build_extract_value(array, 1, "")?.into_int_value();
                    (xy, builder.build_int_truncate(z, word, "")?)
                }
            };
            let y = builder.build_right_shift(xy, long.const_int(32, false), false, "")?;
            sizes.extend([builder.build_int_truncate(xy, word, "")?, builder.build_int_truncate(y, word, "")?, z]);
        }
        let rest = (1 + 2 * self.width()) as usize;
        let shared = parameters[rest + 1].into_int_value();
        Ok(LaunchCall { handle: parameters[0], sizes, args: parameters[rest], shared, stream: parameters[rest + 2] })
    }
}

/// The parameters of a launch.
pub(super) struct LaunchCall<'ctx> {
    pub(super) handle: BasicValueEnum<'ctx>,
    /// Grid and block, i32.
    pub(super) sizes: Vec<IntValue<'ctx>>,
    pub(super) args: BasicValueEnum<'ctx>,
    pub(super) shared: IntValue<'ctx>,
    pub(super) stream: BasicValueEnum<'ctx>,
}
