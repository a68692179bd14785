//! What a matrix instruction is, by its mnemonic; and the mnemonic that an intrinsic stands for.

/// A type of matrix elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Element {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "f16" => Self::F16,
            "bf16" => Self::Bf16,
            "tf32" => Self::Tf32,
            "f32" => Self::F32,
            "f64" => Self::F64,
            "e4m3" => Self::E4m3,
            "e5m2" => Self::E5m2,
            "s8" => Self::S8,
            "u8" => Self::U8,
            "s4" => Self::S4,
            "u4" => Self::U4,
            "b1" => Self::B1,
            "s32" => Self::S32,
            _ => return None,
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Tf32 | Self::S32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::E4m3 | Self::E5m2 | Self::S8 | Self::U8 => 8,
            Self::S4 | Self::U4 => 4,
            Self::B1 => 1,
        }
    }

    /// Bits of a register that holds it.
    pub fn word(self) -> u32 {
        if self == Self::F64 { 64 } else { 32 }
    }

    pub fn is_integer(self) -> bool {
        matches!(self, Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::B1)
    }

    pub fn is_byte_with_exponent(self) -> bool {
        matches!(self, Self::E4m3 | Self::E5m2)
    }

    /// Whether a product may have it on one side and `other` on the other.
    pub fn goes_with(self, other: Self) -> bool {
        let integers = self.is_integer() && other.is_integer() && self.bits() == other.bits();
        self == other || integers || (self.is_byte_with_exponent() && other.is_byte_with_exponent())
    }

    /// The type in the names of the library's products.
    pub fn name(self) -> &'static str {
        match self {
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::Tf32 => "tf32",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::E4m3 => "e4m3",
            Self::E5m2 => "e5m2",
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S4 => "s4",
            Self::U4 => "u4",
            Self::B1 => "b1",
            Self::S32 => "s32",
        }
    }
}

/// Rows and columns of the result, and how many products each sum has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub m: u32,
    pub n: u32,
    pub k: u32,
}

impl Shape {
    fn parse(text: &str) -> Option<Self> {
        let (m, rest) = text.strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some(Self { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
    }

    /// Whether the columns of the result are held as its rows are elsewhere: where there are more of them.
    pub fn is_turned(self) -> bool {
        self.n > self.m
    }
}

/// Which matrix a fragment is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    A,
    B,
    /// Also D.
    Sum,
}

/// A product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Product {
    pub shape: Shape,
    pub a: Element,
    pub b: Element,
    pub c: Element,
    pub d: Element,
    pub saturates: bool,
    /// Whether bits are joined by `and`, not `xor`.
    pub and: bool,
    /// Whether A is given by columns, and B by rows.
    pub columns: (bool, bool),
    /// Whether it is of `wmma`, whose fragments of halves have each element twice.
    pub wmma: bool,
}

/// A fragment of `wmma` and how its matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fragment {
    pub shape: Shape,
    pub part: Part,
    pub element: Element,
    /// Whether rows are contiguous.
    pub rows: bool,
}

const SHAPES: &[(&str, &[Element])] = &[
    ("mma m8n8k4", &[Element::F16, Element::F64]),
    ("mma m16n8k4", &[Element::Tf32, Element::F64]),
    ("mma m16n8k8", &[Element::F16, Element::Bf16, Element::Tf32, Element::F64]),
    (
        "mma m16n8k16",
        &[Element::F16, Element::Bf16, Element::F64, Element::E4m3, Element::E5m2, Element::S8, Element::U8],
    ),
    ("mma m8n8k16", &[Element::S8, Element::U8]),
    ("mma m16n8k32", &[Element::E4m3, Element::E5m2, Element::S8, Element::U8, Element::S4, Element::U4]),
    ("mma m8n8k32", &[Element::S4, Element::U4]),
    ("mma m16n8k64", &[Element::S4, Element::U4]),
    ("mma m8n8k128", &[Element::B1]),
    ("mma m16n8k128", &[Element::B1]),
    ("mma m16n8k256", &[Element::B1]),
    ("wmma m16n16k16", &[Element::F16, Element::Bf16, Element::S8, Element::U8]),
    ("wmma m32n8k16", &[Element::F16, Element::Bf16, Element::S8, Element::U8]),
    ("wmma m8n32k16", &[Element::F16, Element::Bf16, Element::S8, Element::U8]),
    ("wmma m16n16k8", &[Element::Tf32]),
    ("wmma m8n8k4", &[Element::F64]),
    ("wmma m8n8k32", &[Element::S4, Element::U4]),
    ("wmma m8n8k128", &[Element::B1]),
];

fn has_shape(kind: &str, shape: &str, elements: &[Element]) -> bool {
    let known = SHAPES.iter().find(|(name, _)| name.split_once(' ') == Some((kind, shape)));
    known.is_some_and(|(_, all)| elements.iter().all(|element| all.contains(element)))
}

/// The product that a mnemonic names, split at its dots: `mma.sync...` or `wmma.mma.sync...`.
pub(super) fn product(opcode: &[String]) -> Option<Product> {
    let wmma = opcode[0] == "wmma";
    let (mut shape, mut elements, mut layouts) = (None, Vec::new(), Vec::new());
    let (mut saturates, mut and) = (false, None);
    for word in &opcode[1..] {
        match word.as_str() {
            "sync" | "aligned" | "popc" | "rn" => (),
            "mma" if wmma => (),
            "row" | "col" => layouts.push(word == "col"),
            "satfinite" => saturates = true,
            "and" | "xor" => and = Some(word == "and"),
            other => match (Shape::parse(other), Element::parse(other)) {
                (Some(found), _) => shape = Some((other, found)),
                (_, Some(element)) => elements.push(element),
                _ => return None,
            },
        }
    }
    let (text, shape) = shape?;
    let [d, a, b, c] = match elements[..] {
        // Of halves `wmma` names D and C alone.
        [d, c] if wmma => [d, Element::F16, Element::F16, c],
        [d, a, b, c] => [d, a, b, c],
        _ => return None,
    };
    let [a_columns, b_columns] = layouts[..] else { return None };
    let sums: &[Element] = match a {
        Element::F16 | Element::E4m3 | Element::E5m2 => &[Element::F16, Element::F32],
        Element::F64 => &[Element::F64],
        _ if a.is_integer() => &[Element::S32],
        _ => &[Element::F32],
    };
    let plain = wmma || (a == Element::F16 && shape.k == 4) || (!a_columns && b_columns);
    let pairs = if wmma { a == b } else { a.goes_with(b) };
    let fits = has_shape(&opcode[0], text, &[a, b]) && sums.contains(&c) && sums.contains(&d) && plain && pairs;
    let whole = !saturates || a.is_integer() && a != Element::B1;
    let joined = and.is_some() == (a == Element::B1);
    (fits && whole && joined).then_some(Product {
        shape,
        a,
        b,
        c,
        d,
        saturates,
        and: and == Some(true),
        columns: (a_columns, !b_columns),
        wmma,
    })
}

/// The fragment that a mnemonic loads or stores: `wmma.load.a.sync.aligned.row.m16n16k16.f16`.
pub(super) fn fragment(opcode: &[String]) -> Option<Fragment> {
    let (mut shape, mut element, mut rows) = (None, None, None);
    for word in &opcode[3..] {
        match word.as_str() {
            "sync" | "aligned" | "global" | "shared" | "shared::cta" => (),
            "row" | "col" => rows = Some(word == "row"),
            other => match (Shape::parse(other), Element::parse(other)) {
                (Some(found), _) => shape = Some((other, found)),
                (_, Some(found)) => element = Some(found),
                _ => return None,
            },
        }
    }
    let part = match opcode[2].as_str() {
        "a" => Part::A,
        "b" => Part::B,
        "c" | "d" => Part::Sum,
        _ => return None,
    };
    let ((text, shape), element) = (shape?, element?);
    let fits = match part {
        Part::Sum => matches!(element, Element::F16 | Element::F32 | Element::F64 | Element::S32),
        _ => has_shape("wmma", text, &[element]),
    };
    fits.then_some(Fragment { shape, part, element, rows: rows? })
}

/// The mnemonic that an intrinsic stands for: what follows `llvm.nvvm.` in its name, and its words.
pub(super) fn mnemonic(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('.').filter(|part| !is_pointer(part)).collect();
    match parts[..] {
        ["ldmatrix" | "stmatrix", ..] => Some(parts.join(".")),
        ["wmma", shape, "load" | "store", part, layout, ref rest @ ..] => {
            let element = rest.last()?;
            Some(format!("wmma.{}.{part}.sync.aligned.{layout}.{shape}.{element}", parts[2]))
        }
        ["wmma", shape, "mma", ref rest @ ..] => product_mnemonic("wmma.mma", shape, rest),
        ["mma", "and" | "xor", "popc", shape, ref rest @ ..] => {
            let rest: Vec<&str> = [parts[1], "popc"].iter().chain(rest).copied().collect();
            product_mnemonic("mma", shape, &rest)
        }
        ["mma", shape, ref rest @ ..] => product_mnemonic("mma", shape, rest),
        _ => None,
    }
}

/// Intrinsics name the types of a product only as far as they differ.
fn product_mnemonic(start: &str, shape: &str, rest: &[&str]) -> Option<String> {
    let (types, words): (Vec<&str>, Vec<&str>) = rest.iter().partition(|word| Element::parse(word).is_some());
    let types = match types[..] {
        [sum @ ("f16" | "f32"), c] if start == "wmma.mma" => format!("{sum}.{c}"),
        [d @ ("f16" | "f32"), c] => format!("{d}.f16.f16.{c}"),
        ["f64"] => "f64.f64.f64.f64".into(),
        [one @ ("bf16" | "tf32")] => format!("f32.{one}.{one}.f32"),
        [one] => format!("s32.{one}.{one}.s32"),
        [a, b] => format!("s32.{a}.{b}.s32"),
        [_, _, _, _] => types.join("."),
        _ => return None,
    };
    Some(format!("{start}.sync.aligned.{shape}.{}.{types}", words.join(".")))
}

fn is_pointer(part: &str) -> bool {
    part.strip_prefix('p').is_some_and(|number| number.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product_of(mnemonic: &str) -> Option<Product> {
        product(&mnemonic.split('.').map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn intrinsics_are_mnemonics() {
        let of = |name| mnemonic(name).unwrap_or_default();
        assert_eq!(of("mma.m16n8k16.row.col.f32.f32"), "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
        assert_eq!(
            of("mma.m16n8k32.row.col.satfinite.s8.u8"),
            "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32"
        );
        assert_eq!(of("mma.xor.popc.m8n8k128.row.col.b1"), "mma.sync.aligned.m8n8k128.xor.popc.row.col.s32.b1.b1.s32");
        assert_eq!(of("wmma.m16n16k16.mma.row.col.f32.f16"), "wmma.mma.sync.aligned.m16n16k16.row.col.f32.f16");
        assert_eq!(of("wmma.m16n16k16.load.a.row.stride.f16.p0"), "wmma.load.a.sync.aligned.row.m16n16k16.f16");
        assert_eq!(of("ldmatrix.sync.aligned.m8n8.x4.b16.p3"), "ldmatrix.sync.aligned.m8n8.x4.b16");
        assert_eq!(of("mma.m16n8k32.row.col.f32.e4m3.e5m2.f32"), "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32");
        assert_eq!(mnemonic("wgmma.fence.sync.aligned"), None);
    }

    #[test]
    fn only_what_ptx_has_is_a_product() {
        let turned = product_of("wmma.mma.sync.aligned.row.row.m8n32k16.f32.f16").expect("a product");
        assert!(turned.shape.is_turned() && turned.columns == (false, true) && turned.a == Element::F16);
        for wrong in [
            "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.s8.f32",
            "mma.sync.aligned.m16n8k32.row.col.s32.e4m3.e4m3.s32",
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32",
            "mma.sync.aligned.m16n8k16.row.col.s32.s8.s4.s32",
            "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",
            "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite",
            "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64",
        ] {
            assert_eq!(product_of(wrong), None, "{wrong}");
        }
    }
}
