//! `regrain-share-constant-tables`: a local array that only holds a copy of a constant table is that table.
//!
//! Before:
//! ```mlir
//! %table = llvm.alloca %one x !llvm.array<5 x f32>
//! llvm.intr.memcpy(%table, %constants, %size)          // %constants = llvm.mlir.addressof @weights, a constant
//! %element = llvm.getelementptr %table[0, %i]
//! %weight = llvm.load %element
//! ```
//! After:
//! ```mlir
//! %element = llvm.getelementptr %constants[0, %i]
//! %weight = llvm.load %element
//! ```
//! `constexpr float weights[] = {...}` in a function comes so from clang. A thread would copy it each time that it comes there, and a loop
//! that copies never looks as if it only read. Reading before the copy gives an undefined value, so the order does not matter. Declined where
//! the array is written or its address kept, where another size is copied than that of the whole array, and for memory of another space.

use mlir_bridge::{
    ir::{Builder, Op, Value},
    pass::{Anchor, PassInfo, PassResult, PassRun},
};

use crate::analysis::{
    facts::constant,
    objects::{is_constant_global, only_read},
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-share-constant-tables",
    summary: "read constant tables where they are, not in copies on the stack",
    anchor: Anchor::Any,
    options: &[],
    dialects: &[],
    run,
};

fn run(_pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    for alloca in root.find_named("llvm.alloca") {
        if let Some(copy) = Copy::of(alloca) {
            copy.share(alloca);
        }
    }
    Ok(())
}

/// How a local array becomes a table.
#[derive(Default)]
struct Copy<'c> {
    /// The address of the table.
    table: Option<Value<'c>>,
    /// What fills the array, and says how long it lives.
    fills: Vec<Op<'c>>,
}

impl<'c> Copy<'c> {
    fn of(alloca: Op<'c>) -> Option<Self> {
        let element = alloca.attr("elem_type")?.as_type()?;
        let size = constant(alloca.operand(0))?.checked_mul(i64::try_from(element.layout(alloca).0).ok()?)?;
        let mut found = Self::default();
        for used in alloca.result(0).uses() {
            let whole = || constant(used.owner.operand(2)) == Some(size);
            match used.owner.name() {
                "llvm.intr.lifetime.start" | "llvm.intr.lifetime.end" => found.fills.push(used.owner),
                "llvm.intr.memcpy" if used.operand == 0 && whole() => {
                    let source = used.owner.operand(1);
                    let same = found.table.is_none_or(|table| is_same_table(table, source));
                    let fits = same && is_table(source) && source.ty() == alloca.result(0).ty();
                    found.table = Some(source).filter(|_| fits);
                    found.table?;
                    found.fills.push(used.owner);
                }
                "llvm.load" if !used.owner.has_attr("volatile_") => (),
                "llvm.getelementptr" if used.operand == 0 && only_read(used.owner.result(0)) => (),
                _ => return None,
            }
        }
        found.table.map(|_| found)
    }

    fn share(self, alloca: Op<'c>) {
        let Some(address) = self.table.and_then(Value::defining_op) else { return };
        let b = Builder::before(alloca);
        let table = b.clone_op(address, &mut mlir_bridge::ir::Mapping::new());
        for op in self.fills {
            op.erase();
        }
        alloca.replace_with(&[table.result(0)]);
    }
}

/// Whether a value is the address of a constant.
fn is_table(address: Value<'_>) -> bool {
    address.defining_op().is_some_and(|op| op.num_operands() == 0 && is_constant_global(op))
}

/// Whether two addresses are of one constant.
fn is_same_table(one: Value<'_>, other: Value<'_>) -> bool {
    let name = |address: Value<'_>| {
        address.defining_op().and_then(|op| op.attr("global_name")?.as_symbol().map(str::to_owned))
    };
    name(one).is_some() && name(one) == name(other)
}
