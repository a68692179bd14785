//! Types as C.

use mlir_bridge::ir::Type;

/// C's name of a type that values have.
pub fn type_name(ty: Type<'_>) -> Option<&'static str> {
    Some(match (ty.int_width(), ty.float_width().filter(|_| ty.is_float())) {
        (Some(1), _) => "bool",
        (Some(8), _) => "signed char",
        (Some(16), _) => "short",
        (Some(32), _) => "int",
        (Some(64), _) => "long",
        (_, Some(32)) => "float",
        (_, Some(64)) => "double",
        _ => return None,
    })
}

/// That of the type without a sign.
pub fn unsigned_name(ty: Type<'_>) -> Option<&'static str> {
    Some(match ty.int_width()? {
        1 => "bool",
        8 => "unsigned char",
        16 => "unsigned short",
        32 => "unsigned",
        64 => "unsigned long",
        _ => return None,
    })
}
