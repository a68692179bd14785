//! The functions that device code calls without their bodies: libdevice, and a few of C.

/// Beginning of the names of libdevice's functions.
const LIBDEVICE: &str = "__nv_";
/// Beginnings of the names of what accesses textures and surfaces where a target has no instructions for it.
const OBJECTS: &[&str] = &["__regrain_texture_", "__regrain_surface_"];

/// The function that puts the pointer together of a 32-bit address of shared memory.
pub const SHARED_POINTER: &str = "__regrain_shared_pointer";

/// What kind of work a function or an intrinsic does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A few integer instructions.
    Integer,
    /// One floating-point instruction.
    Arithmetic,
    /// A division or a root.
    Division,
    /// A function that takes several instructions.
    Function,
    /// From one type of numbers to another, or rounding.
    Conversion,
    /// Something else.
    Other,
}

/// Whether a function only computes: it does not synchronise, knows nothing of its thread, and writes at most through the
/// pointers that it is given.
pub fn is_pure(name: &str) -> bool {
    name.starts_with(LIBDEVICE)
}

/// Whether a function that no module holds neither synchronises nor knows its thread.
pub fn is_known_external(name: &str) -> bool {
    matches!(
        name,
        "vprintf"
            | "printf"
            | "malloc"
            | "free"
            | "__assertfail"
            | "__assert_fail"
            | "__regrain_lacks"
            | SHARED_POINTER
            | "memcpy"
            | "memset"
            | "memmove"
    ) || is_pure(name)
        || name.starts_with("llvm.")
        || is_for_the_rest(name)
        || is_told_its_thread(name)
        || super::matrices::is_together(name)
}

/// Whether a function of the device library is for what the code around its calls leaves over.
pub fn is_for_the_rest(name: &str) -> bool {
    OBJECTS.iter().any(|start| name.starts_with(start))
}

/// How the names of the runtime's functions for device code begin.
pub const DEVICE_RUNTIME: &str = "__regrain_cuda_";

/// Whether a function is of the runtime for device code, which is told by whom it is called. One of them waits.
fn is_told_its_thread(name: &str) -> bool {
    name.strip_prefix(DEVICE_RUNTIME).is_some_and(|function| function != "DeviceSynchronize")
}

/// Objects that clang's headers declare and nobody defines: only their members are read, by functions that do not look at the
/// object. Without optimisation their addresses stay in the code.
pub const BUILTIN_OBJECTS: &[&str] = &["threadIdx", "blockIdx", "blockDim", "gridDim"];

/// Functions of C and C++ that some targets have for device code; others say that they lack them.
const OF_SOME: &[&str] = &["calloc", "memcmp", "_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm"];

/// Whether device code may name `name` without any unit defining it: a target may have it, and will say so if not. Names that begin
/// with two underscores are not the program's to give.
pub fn is_provided(name: &str) -> bool {
    let known = is_known_external(name) || never_returns(name) || name.starts_with("__");
    known || OF_SOME.contains(&name) || BUILTIN_OBJECTS.contains(&name) || name == "warpSize"
}

/// Whether a function that no module holds does not return.
pub fn never_returns(name: &str) -> bool {
    matches!(name, "__assertfail" | "__assert_fail" | "__nv_abort" | "abort" | "__cxa_pure_virtual")
}

/// The operation of the arith dialect that an integer function is.
pub fn integer_operation(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix(LIBDEVICE)? {
        "min" | "llmin" => "minsi",
        "max" | "llmax" => "maxsi",
        "umin" | "ullmin" => "minui",
        "umax" | "ullmax" => "maxui",
        _ => return None,
    })
}

/// What a function computes that is a few operations on the bits of its arguments; the result is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exact {
    /// An operation of the arith dialect on the arguments, or a conversion by one.
    Operation(&'static str),
    /// The absolute value; of the least number itself.
    Absolute,
    /// How many bits are set; also of 64 bits a number of 32.
    SetBits,
    /// How many zero bits are above the highest one.
    LeadingZeros,
    /// The number of the lowest bit that is set, from 1; 0 if none is.
    FirstSetBit,
    /// The bits from the last to the first.
    ReversedBits,
    /// The upper 32 bits of a product of numbers of 32.
    UpperHalf { signed: bool },
    /// The product of the lower 24 bits.
    Product24 { signed: bool },
    /// The distance of two numbers, and a third one added.
    Distance { signed: bool },
}

/// What a function computes, if it is [`Exact`].
pub fn exact(name: &str) -> Option<Exact> {
    if let Some(operation) = integer_operation(name) {
        return Some(Exact::Operation(operation));
    }
    Some(match name.strip_prefix(LIBDEVICE)? {
        "abs" | "llabs" => Exact::Absolute,
        "popc" | "popcll" => Exact::SetBits,
        "clz" | "clzll" => Exact::LeadingZeros,
        "ffs" | "ffsll" => Exact::FirstSetBit,
        "brev" | "brevll" => Exact::ReversedBits,
        "mulhi" => Exact::UpperHalf { signed: true },
        "umulhi" => Exact::UpperHalf { signed: false },
        "mul24" => Exact::Product24 { signed: true },
        "umul24" => Exact::Product24 { signed: false },
        "sad" => Exact::Distance { signed: true },
        "usad" => Exact::Distance { signed: false },
        "float_as_int" | "int_as_float" | "float_as_uint" | "uint_as_float" | "double_as_longlong"
        | "longlong_as_double" => Exact::Operation("bitcast"),
        "int2double_rn" | "ll2double_rn" | "ll2float_rn" => Exact::Operation("sitofp"),
        "uint2double_rn" | "ull2double_rn" | "uint2float_rn" | "ull2float_rn" => Exact::Operation("uitofp"),
        "double2float_rn" => Exact::Operation("truncf"),
        _ => return None,
    })
}

/// The operation of the llvm dialect that a floating-point function is, on scalars and on vectors alike.
pub fn elementwise_intrinsic(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix(LIBDEVICE)? {
        "fmaxf" | "fmax" => "llvm.intr.maxnum",
        "fminf" | "fmin" => "llvm.intr.minnum",
        "fabsf" | "fabs" => "llvm.intr.fabs",
        "sqrtf" | "sqrt" => "llvm.intr.sqrt",
        "floorf" | "floor" => "llvm.intr.floor",
        "ceilf" | "ceil" => "llvm.intr.ceil",
        "truncf" | "trunc" => "llvm.intr.trunc",
        "rintf" | "rint" => "llvm.intr.rint",
        "nearbyintf" | "nearbyint" => "llvm.intr.nearbyint",
        "copysignf" | "copysign" => "llvm.intr.copysign",
        "fmaf" | "fma" => "llvm.intr.fma",
        _ => return None,
    })
}

include!(concat!(env!("OUT_DIR"), "/vector_forms.rs"));

/// Beginning of the names of vector forms.
pub const VECTOR_FORM: &str = "_ZGV_LLVM_N";

/// The function that does for vectors of `lanes` elements, each for itself, what `callee` (of libdevice, or an intrinsic) does for numbers,
/// with the same bits: its arguments and result are vectors where those of `callee` are numbers. The CPU target has it.
pub fn vector_form(callee: &str, lanes: u32) -> Option<String> {
    let form = form(callee)?;
    LANES.contains(&lanes).then(|| format!("{VECTOR_FORM}{lanes}{form}"))
}

/// Whether there are vector forms of `callee`.
pub fn has_vector_form(callee: &str) -> bool {
    form(callee).is_some()
}

/// What the names of the vector forms of `callee` end in.
fn form(callee: &str) -> Option<&'static str> {
    FORMS.binary_search_by_key(&callee, |&(name, _)| name).ok().map(|place| FORMS[place].1)
}

/// What kind of work a function does, of floating-point numbers or not; `None` for one that nobody looks into.
pub fn work(name: &str, of_floats: bool) -> Option<Work> {
    let name = name.strip_prefix(LIBDEVICE)?;
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    const ARITHMETIC: &[&str] = &[
        "fma", "fabs", "fmax", "fmin", "copysign", "fadd", "fsub", "fmul", "dadd", "dmul", "saturate", "isnan", "isinf",
    ];
    Some(match () {
        () if !of_floats => Work::Integer,
        () if starts(ARITHMETIC) => Work::Arithmetic,
        () if starts(&["sqrt", "fsqrt", "dsqrt", "fdiv", "ddiv", "frcp", "drcp", "rsqrt", "fdividef"]) => {
            Work::Division
        }
        () if name.contains('2') && !starts(&["exp2", "log2", "atan2"]) => Work::Conversion,
        () if starts(&["floor", "ceil", "trunc", "round", "rint"]) => Work::Conversion,
        () => Work::Function,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_told_by_name() {
        assert!(is_pure("__nv_sinf") && !is_pure("sinf"));
        assert!(
            is_known_external("__regrain_cuda_LaunchDevice") && !is_known_external("__regrain_cuda_DeviceSynchronize")
        );
        assert!(is_known_external("__nv_sinf") && is_known_external("vprintf") && !is_known_external("_Z1fv"));
        assert!(never_returns("__nv_abort") && !never_returns("__nv_sinf"));
        assert_eq!([integer_operation("__nv_ullmax"), integer_operation("max")], [Some("maxui"), None]);
        assert_eq!(exact("__nv_umulhi"), Some(Exact::UpperHalf { signed: false }));
        assert_eq!([exact("__nv_ullmax"), exact("popc")], [Some(Exact::Operation("maxui")), None]);
    }

    #[test]
    fn vector_forms_are_found_by_name() {
        assert_eq!(vector_form("__nv_expf", 16).as_deref(), Some("_ZGV_LLVM_N16v___nv_expf"));
        assert_eq!(vector_form("__nv_fast_expf", 8), vector_form("__nv_expf", 8));
        assert_eq!(vector_form("__nv_powf", 4).as_deref(), Some("_ZGV_LLVM_N4vv___nv_powf"));
        assert_eq!(vector_form("llvm.nvvm.ex2.approx.f", 32), vector_form("__nv_exp2f", 32));
        assert_eq!(
            [vector_form("__nv_expf", 3), vector_form("__nv_tgammaf", 8), vector_form("", 8)],
            [None, None, None]
        );
        assert!(FORMS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn work_is_told_by_name() {
        let of = |name| work(name, true);
        assert_eq!([of("__nv_fmaf"), of("__nv_sqrt")], [Some(Work::Arithmetic), Some(Work::Division)]);
        assert_eq!([of("__nv_float2int_rn"), of("__nv_exp2f")], [Some(Work::Conversion), Some(Work::Function)]);
        assert_eq!([of("_Z1ff"), work("__nv_abs", false)], [None, Some(Work::Integer)]);
    }
}
