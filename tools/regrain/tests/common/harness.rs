//! Compiles random kernels and runs them in every form that the driver makes; the forms must agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::ast::Kernel;
use super::print;

/// One executable and how it is run.
struct Form {
    name: &'static str,
    options: &'static [&'static str],
    coroutines: bool,
}

/// The first is clang's IR untransformed, which the others are measured by.
const FORMS: [Form; 3] = [
    Form { name: "coroutine", options: &["-Rpass-missed=regrain"], coroutines: true },
    Form { name: "split", options: &["-Rpass-missed=regrain"], coroutines: false },
    Form { name: "round trip", options: &["-fregrain-round-trip", "-Rpass-missed=regrain"], coroutines: true },
];

/// What came of some kernels.
pub struct Outcome {
    /// By the number of the kernel, what differs.
    pub wrong: BTreeMap<usize, String>,
    /// Remarks that something was not raised or split.
    pub declined: Vec<String>,
    /// Remarks that a kernel did not go through the parallel form and back.
    pub kept: Vec<String>,
}

/// The program that runs all of `kernels`.
pub fn program(kernels: &[&Kernel]) -> String {
    let mut text = include_str!("prelude.cuh").to_owned();
    let mut main = "int main() {\n  volatile unsigned one = 1;\n".to_owned();
    for (number, kernel) in kernels.iter().enumerate() {
        text += &format!("\n{}", print::kernel(&format!("k{number}"), kernel));
        let [gx, gy, gz] = kernel.grid;
        for (launch, [x, y, z]) in kernel.blocks.into_iter().enumerate() {
            // One launch has a shape that the compiler sees, the other not.
            let x = if launch == 0 { x.to_string() } else { format!("{x} * one") };
            main += &format!(
                "  {{ Memory m; k{number}<<<dim3({gx}, {gy}, {gz}), dim3({x}, {y}, {z}), SLOTS * 4>>>(m.in, m.out, m.global, m.acc, \
                 m.wide, params, 5); m.report(\"{number} {launch}\"); }}\n"
            );
        }
    }
    text + &main + "}\n"
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(output: &Output) -> String {
    format!("{}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Compiles and runs; `Err` when a form does not compile or does not run to its end.
pub fn run(kernels: &[&Kernel]) -> Result<Outcome, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let source = folder.path().join("random.cu");
    std::fs::write(&source, program(kernels)).map_err(|e| e.to_string())?;
    let driver = std::env::var("REGRAIN_TEST_DRIVER").unwrap_or_else(|_| env!("CARGO_BIN_EXE_regrain").to_owned());
    let mut made: BTreeMap<&[&str], PathBuf> = BTreeMap::new();
    let (mut expected, mut outcome) = (Vec::new(), Outcome { wrong: BTreeMap::new(), declined: Vec::new(), kept: Vec::new() });
    for form in &FORMS {
        let next = folder.path().join(format!("program{}", made.len()));
        let program = match made.get(form.options) {
            Some(program) => program.clone(),
            None => {
                let mut command = Command::new(&driver);
                command.args(["-w", "-O2", "--offload-arch=cpu"]).args(form.options).arg(&source).arg("-o").arg(&next);
                let output = command.current_dir(root()).output().map_err(|e| format!("cannot run '{driver}': {e}"))?;
                if !output.status.success() {
                    return Err(format!("{}: does not compile: {}", form.name, text(&output)));
                }
                let said = String::from_utf8_lossy(&output.stderr);
                let remarks = said.lines().filter(|line| line.contains("remark:") || line.contains("not raised")).map(str::to_owned);
                if form.coroutines && !made.is_empty() {
                    outcome.kept.extend(remarks);
                } else {
                    outcome.declined.extend(remarks);
                }
                made.insert(form.options, next.clone());
                next
            }
        };
        let mut command = Command::new("timeout");
        command.arg("120").arg(&program).env("REGRAIN_CPU_THREADS", "2");
        command.env_remove("REGRAIN_CPU_MODE");
        if form.coroutines {
            command.env("REGRAIN_CPU_MODE", "coroutine");
        }
        let output = command.output().map_err(|e| e.to_string())?;
        if !output.status.success() {
            return Err(format!("{}: does not run: {}", form.name, text(&output)));
        }
        let digests: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        if expected.is_empty() {
            expected = digests;
            continue;
        }
        if digests.len() != expected.len() {
            return Err(format!("{}: {} lines instead of {}", form.name, digests.len(), expected.len()));
        }
        for (line, (got, wanted)) in digests.iter().zip(&expected).enumerate().filter(|(_, (got, wanted))| got != wanted) {
            let note = format!("{}: '{got}' instead of '{wanted}'\n", form.name);
            outcome.wrong.entry(line / 2).or_default().push_str(&note);
        }
    }
    Ok(outcome)
}
