//! `regrain-describe-affine`: says of each function what it is to isl, or why it is nothing.
//!
//! ```text
//! remark: parameters: n0 is argument 0
//! remark: array A0 is argument 1, strides 8
//! remark: statement S0: { S0[i0] : 0 <= i0 < n0 }
//! remark: S0 reads A0[i0], writes A0[i0]
//! ```
//!
//! The function is raised before: loops are `scf.for`. It stays as it is. With `schedule=true` what would be done in parallel is said too.

use mlir_bridge::{
    ir::Op,
    isl::Context,
    lift,
    pass::{Anchor, PassInfo, PassOption, PassResult, PassRun},
};

use crate::affine::{
    Description, describe,
    patience::Patience,
    plan::{Wishes, plan},
    teams::Superposition,
    waves::Tiling,
};

/// The pass.
pub const PASS: PassInfo = PassInfo {
    name: "regrain-describe-affine",
    summary: "say what affine loop nests are to isl",
    anchor: Anchor::Any,
    options: &[SCHEDULE, STEPS],
    dialects: lift::DIALECTS,
    run,
};

const SCHEDULE: PassOption =
    PassOption { name: "schedule", default: "false", description: "say what would be done in parallel, too" };

const STEPS: PassOption =
    PassOption { name: "steps", default: "1000000", description: "the steps that isl may take for a function" };

fn run(pass: &PassRun<'_>, root: Op<'_>) -> PassResult {
    let schedules = pass.option_bool(SCHEDULE.name)?;
    let steps = u64::try_from(pass.option_int(STEPS.name)?).map_err(|_| "expected a number of steps")?;
    let is_made = |op: &Op<'_>| op.is("llvm.func") && !op.region(0).is_empty();
    for function in root.find_named("llvm.func").into_iter().filter(is_made) {
        match describe(function) {
            Ok(description) => say(function, &description, schedules.then_some(steps)),
            Err(reason) => function.remark(format!("not affine: {reason}")),
        }
    }
    Ok(())
}

fn say(function: Op<'_>, description: &Description<'_>, schedules: Option<u64>) {
    for line in description.lines() {
        function.remark(line);
    }
    let Some(steps) = schedules else { return };
    let patience = Patience::default();
    let wishes = Wishes { for_processors: false, tiling: &Tiling::Never, superposition: Superposition::Single };
    match plan(&Context::new(steps), description, wishes, &patience.limits()) {
        Ok(plan) => plan.tree.lines().for_each(|line| function.remark(format!("schedule: {line}"))),
        Err(reason) => function.remark(format!("not parallel: {reason}")),
    }
}
