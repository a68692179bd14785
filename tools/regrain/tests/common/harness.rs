//! Compiles random kernels and runs them in every form that the driver makes; the forms must agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::ast::Kernel;
use super::grains::{Grain, Refused};
use super::place::root;
use super::print;
use super::tools::tool;

/// One executable and how it is run.
struct Form {
    name: String,
    options: Vec<String>,
    coroutines: bool,
    coarse: bool,
}

const REMARKS: &str = "-Rpass-missed=regrain$";
const ORIGINAL: &str = "-fregrain-alternatives=none";

/// Which forms are tried beside clang's IR untransformed, by `REGRAIN_PROPTEST_FORMS`.
#[derive(PartialEq, Eq)]
enum Choice {
    /// All.
    All,
    /// `original`: those at the program's own grain, split and as kernels that a GPU would get. So many kernels are tried in little time.
    Original,
    /// `coarse`: those at other grains.
    Coarse,
    /// `outlined`: the kernels that a GPU would get at other grains, run as coroutines. These compile fastest.
    Outlined,
    /// `emulated`, `emulated=gfx90a,sm_80`: what is shipped for each of these chips, at the original grain and at others.
    Emulated(Vec<String>),
}

/// The chips of `emulated` alone: waves of 64, waves of 32, and NVIDIA's.
const EMULATED: [&str; 3] = ["gfx90a", "gfx1030", "sm_80"];

impl Choice {
    fn get() -> Self {
        match std::env::var("REGRAIN_PROPTEST_FORMS").as_deref() {
            Ok("original") => Self::Original,
            Ok("coarse") => Self::Coarse,
            Ok("outlined") => Self::Outlined,
            Ok("all") | Err(_) => Self::All,
            Ok("emulated") => Self::Emulated(EMULATED.map(str::to_owned).to_vec()),
            Ok(other) => match other.strip_prefix("emulated=") {
                Some(chips) => Self::Emulated(chips.split(',').map(str::to_owned).collect()),
                None => panic!("REGRAIN_PROPTEST_FORMS={other}: expected all, original, coarse, outlined or emulated"),
            },
        }
    }
}

/// The first is clang's IR untransformed, which the others are measured by.
fn forms(grains: &[Grain]) -> Vec<Form> {
    let form = |name: &str, options: &[&str], coroutines| Form {
        name: name.to_owned(),
        options: options.iter().map(|option| (*option).to_owned()).collect(),
        coroutines,
        coarse: false,
    };
    let coarser = |name: &str, options: &[&str], grain: &Grain| {
        let mut made = form(&format!("{name}{}", grain.name()), options, false);
        made.options.extend(grain.options());
        made.coarse = true;
        made
    };
    // The kernels that a GPU would get.
    let outlined = |grain: &Grain| coarser("round trip, ", &["-fregrain-round-trip", REMARKS], grain);
    // The kernels that a GPU would get, as its instruction selection would get them.
    let emulated = |chip: &str, grain: Option<&Grain>| {
        let option = format!("-fregrain-emulate={chip}");
        match grain {
            Some(grain) => coarser(&format!("{chip}, "), &[&option, REMARKS], grain),
            None => form(chip, &[ORIGINAL, &option], false),
        }
    };
    let mut all = vec![form("coroutine", &[ORIGINAL, REMARKS], true)];
    match Choice::get() {
        Choice::All => all.extend([
            form("split", &[ORIGINAL, REMARKS], false),
            // Whatever the model chooses.
            form("search", &[], false),
            form("round trip", &["-fregrain-round-trip", REMARKS], true),
            emulated(EMULATED[0], None),
        ]),
        Choice::Original => {
            all.extend([
                form("split", &[ORIGINAL, REMARKS], false),
                form("round trip", &["-fregrain-round-trip", REMARKS], true),
            ]);
            return all;
        }
        // Coroutine mode keeps the grain: one program less to compile.
        Choice::Coarse => all = vec![Form { coroutines: true, ..coarser("coroutine, ", &[REMARKS], &grains[0]) }],
        Choice::Outlined => {
            all.extend(grains.iter().map(outlined));
            return all;
        }
        Choice::Emulated(chips) => {
            for chip in &chips {
                all.push(emulated(chip, None));
                all.extend(grains.iter().map(|grain| emulated(chip, Some(grain))));
            }
            return all;
        }
    }
    all.extend(grains.iter().map(|grain| coarser("", &[REMARKS], grain)));
    all.extend(grains.last().map(outlined));
    all
}

/// What came of some kernels.
#[derive(Default)]
pub struct Outcome {
    /// By the number of the kernel, what differs.
    pub wrong: BTreeMap<usize, String>,
    /// Remarks that something was not raised or split.
    pub declined: Vec<String>,
    /// Remarks that a kernel did not go through the parallel form and back.
    pub kept: Vec<String>,
    /// Wrappers that were to become coarser: those of blocks, those of threads.
    pub asked: [usize; 2],
    /// Wrappers that were not made coarser.
    pub refused: Refused,
}

impl Outcome {
    /// Takes in what the compiler said of `kernels` kernels.
    fn heard(&mut self, form: &Form, kernels: usize, said: &str) -> Result<(), String> {
        if form.coarse {
            for (asked, what) in self.asked.iter_mut().zip(["blocks", "threads"]) {
                // A kernel has two wrappers: for any shape, and for the one that a launch names.
                let is_asked = form.options.iter().any(|option| option.contains(&format!("-coarsen-{what}=")));
                *asked += if is_asked { 2 * kernels } else { 0 };
            }
            return self.refused.count(said);
        }
        // A loop that stays a while loop keeps neither from it.
        let counts = |line: &&str| {
            (line.contains("remark:") || line.contains("not raised")) && !line.contains(" stays a while loop: ")
        };
        let remarks = said.lines().filter(counts).map(str::to_owned);
        if form.name == "round trip" {
            self.kept.extend(remarks)
        } else {
            self.declined.extend(remarks)
        }
        Ok(())
    }
}

/// The program that runs all of `kernels`.
pub fn program(kernels: &[&Kernel]) -> String {
    let mut text = include_str!("prelude.cuh").to_owned();
    let mut main = "int main() {\n  volatile unsigned one = 1;\n".to_owned();
    for (number, kernel) in kernels.iter().enumerate() {
        text += &format!("\n{}", print::kernel(&format!("k{number}"), kernel));
        let [gx, gy, gz] = kernel.grid;
        let more = kernel.more_bytes;
        for (launch, [x, y, z]) in kernel.blocks.into_iter().enumerate() {
            // One launch has a shape that the compiler sees, the other not.
            let seen = |size: u8| if launch == 0 { size.to_string() } else { format!("{size} * one") };
            let (x, y, z) = (seen(x), seen(y), seen(z));
            main += &format!(
                "  {{ Memory m; k{number}<<<dim3({gx}, {gy}, {gz}), dim3({x}, {y}, {z}), SLOTS * 4 + {more}>>>(m.in, m.out, m.global, m.acc, \
                 m.wide, params, 5); m.report(\"{number} {launch}\"); }}\n"
            );
        }
    }
    text + &main + "}\n"
}

fn text(output: &Output) -> String {
    format!("{}\n{}{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Compiles one form, unless another was compiled alike; says what the compiler said.
fn compile(
    folder: &Path,
    form: &Form,
    made: &mut BTreeMap<Vec<String>, PathBuf>,
) -> Result<(PathBuf, Option<String>), String> {
    if let Some(program) = made.get(&form.options) {
        return Ok((program.clone(), None));
    }
    let program = folder.join(format!("program{}", made.len()));
    let driver = tool("regrain");
    let mut command = Command::new(&driver);
    command.args(["-w", "-O2", "--offload-arch=cpu"]).args(&form.options);
    command.arg(folder.join("random.cu")).arg("-o").arg(&program).current_dir(root());
    let output = command.output().map_err(|e| format!("cannot run '{}': {e}", driver.display()))?;
    if !output.status.success() {
        return Err(format!("{}: does not compile: {}", form.name, text(&output)));
    }
    made.insert(form.options.clone(), program.clone());
    Ok((program, Some(String::from_utf8_lossy(&output.stderr).into_owned())))
}

/// Runs one form; a line for each launch.
fn digests(form: &Form, program: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new("timeout");
    command.arg("120").arg(program).env("REGRAIN_CPU_THREADS", "2").env_remove("REGRAIN_CPU_MODE");
    if form.coroutines {
        command.env("REGRAIN_CPU_MODE", "coroutine");
    }
    if form.coarse {
        // What large launches do.
        command.env("REGRAIN_CPU_STREAM_BYTES", "1");
    }
    let output = command.output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("{}: does not run: {}", form.name, text(&output)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Compiles and runs; `Err` when a form does not compile or does not run to its end.
pub fn run(kernels: &[&Kernel], grains: &[Grain]) -> Result<Outcome, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    std::fs::write(folder.path().join("random.cu"), program(kernels)).map_err(|e| e.to_string())?;
    let mut made = BTreeMap::new();
    let (mut expected, mut outcome) = (Vec::new(), Outcome::default());
    for form in forms(grains) {
        let (program, said) = compile(folder.path(), &form, &mut made)?;
        if let Some(said) = said {
            outcome.heard(&form, kernels.len(), &said)?;
        }
        let got = digests(&form, &program)?;
        if expected.is_empty() {
            expected = got;
            continue;
        }
        if got.len() != expected.len() {
            return Err(format!("{}: {} lines instead of {}", form.name, got.len(), expected.len()));
        }
        for (line, (got, wanted)) in got.iter().zip(&expected).enumerate().filter(|(_, (got, wanted))| got != wanted) {
            let note = format!("{}: '{got}' instead of '{wanted}'\n", form.name);
            outcome.wrong.entry(line / 2).or_default().push_str(&note);
        }
    }
    Ok(outcome)
}
