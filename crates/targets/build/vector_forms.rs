//! The vector forms of mathematical functions: bitcode for each number of elements, and the table of what has forms.
//!
//! `device-lib/lanes/functions.def` says what there is. C passes large vectors in ways that depend on the processor, so each function takes
//! them from memory there; a wrapper has the vectors themselves as arguments and result, under the name that the Vector Function ABI
//! gives it (with LLVM's own token for the instruction set): `_ZGV_LLVM_N16v___nv_expf`.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{FLAGS, adapt, run};

/// The numbers of elements that there are forms for.
const LANES: &[u32] = &[4, 8, 16, 32];

/// What is left of clang's optimisation: nothing that would look at the processor of this build.
const PASSES: &str = "always-inline,function(sroa,early-cse,instcombine,simplifycfg,gvn,instcombine,adce),globaldce";

/// A function that has vector forms.
struct Form<'t> {
    /// The type of the result, then those of the arguments.
    types: Vec<&'static str>,
    name: &'t str,
}

impl Form<'_> {
    /// The name of the function of so many elements.
    fn symbol(&self, lanes: &str) -> String {
        format!("_ZGV_LLVM_N{lanes}{}_{}", "v".repeat(self.types.len() - 1), self.name)
    }
}

/// The rows of `functions.def`: its forms, and what shares them.
fn read(table: &str) -> (Vec<Form<'_>>, Vec<(&str, &str)>) {
    let (mut forms, mut same) = (Vec::new(), Vec::new());
    for line in table.lines() {
        let Some((kind, rest)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) else { continue };
        let fields: Vec<&str> = rest.split(", ").collect();
        match (kind, &fields[..]) {
            ("FORM" | "VECTOR", [signature, name, _]) => {
                let types = signature.bytes().filter(|&letter| letter != b'_').map(llvm_type).collect();
                forms.push(Form { types, name });
            }
            ("SAME", [name, other]) => same.push((*name, *other)),
            _ => panic!("not a row of the table: '{line}'"),
        }
    }
    (forms, same)
}

fn llvm_type(letter: u8) -> &'static str {
    match letter {
        b'f' => "float",
        b'd' => "double",
        b'i' => "i32",
        _ => panic!("not a letter for a type: '{}'", letter as char),
    }
}

/// The function that others call, over the one that C made.
fn wrapper(form: &Form<'_>, lanes: u32) -> String {
    let vector = |place: usize| format!("<{lanes} x {}>", form.types[place]);
    let places: Vec<usize> = (1..form.types.len()).collect();
    let declared: Vec<String> = places.iter().map(|&place| format!("{} %a{place}", vector(place))).collect();
    let passed: String = places.iter().map(|place| format!(", ptr %p{place}")).collect();
    let result = vector(0);
    let mut text = format!(
        "\ndefine {result} @{}({}) nounwind inlinehint {{\n",
        form.symbol(&lanes.to_string()),
        declared.join(", ")
    );
    writeln!(text, "  %r = alloca {result}").expect("a string takes all");
    for &place in &places {
        let of = vector(place);
        writeln!(text, "  %p{place} = alloca {of}\n  store {of} %a{place}, ptr %p{place}").expect("a string takes all");
    }
    let name = form.name;
    text += &format!(
        "  call void @__regrain_form_{name}(ptr %r{passed}) alwaysinline\n  %v = load {result}, ptr %r\n  ret {result} %v\n}}\n"
    );
    text
}

/// What C made is inlined into the wrappers and gone.
fn internal(line: &str) -> String {
    let is_form = line.starts_with("define ") && line.contains("@__regrain_form_");
    if is_form { line.replacen("define ", "define internal ", 1).replace("dso_local ", "") } else { line.to_owned() }
}

/// Makes the bitcode of one number of elements.
fn compile(forms: &[Form<'_>], lanes: u32, llvm: &Path, out_dir: &Path) {
    let file = |ending: &str| out_dir.join(format!("lanes_{lanes}.{ending}"));
    run(Command::new(llvm.join("clang"))
        .args(FLAGS)
        .args(["-fPIC", "-Wno-psabi", "-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm"])
        .arg(format!("-DLANES={lanes}"))
        .arg("device-lib/lanes/forms.c")
        .arg("-o")
        .arg(file("c.ll")));
    let text = fs::read_to_string(file("c.ll")).expect("clang wrote the module");
    let mut whole: String = text.lines().flat_map(|line| [internal(line), "\n".into()]).collect();
    whole.extend(forms.iter().map(|form| wrapper(form, lanes)));
    fs::write(file("whole.ll"), whole).expect("OUT_DIR is writable");
    run(Command::new(llvm.join("opt"))
        .arg(format!("-passes={PASSES}"))
        .arg("-S")
        .arg(file("whole.ll"))
        .arg("-o")
        .arg(file("short.ll")));
    let text = fs::read_to_string(file("short.ll")).expect("opt wrote the module");
    let adapted: String = text.lines().flat_map(|line| [adapt(line), "\n".into()]).collect();
    fs::write(file("ll"), adapted).expect("OUT_DIR is writable");
    run(Command::new(llvm.join("llvm-as")).arg(file("ll")).arg("-o").arg(file("bc")));
}

/// The table in Rust: for each function that has forms, what comes before and after the number of elements in their names, by name.
fn table(forms: &[Form<'_>], same: &[(&str, &str)]) -> String {
    let of = |name: &str| forms.iter().find(|form| form.name == name);
    let mut rows: Vec<(&str, &Form<'_>)> = forms.iter().map(|form| (form.name, form)).collect();
    rows.extend(same.iter().map(|&(name, other)| (name, of(other).unwrap_or_else(|| panic!("{other} has no forms")))));
    rows.sort_by_key(|&(name, _)| name);
    let mut text = format!(
        "/// The numbers of elements that there are vector forms for.\npub const LANES: &[u32] = &{LANES:?};\n\n"
    );
    text += "/// Functions that have vector forms, and the names of these after the number of elements; sorted.\n";
    text += "pub(crate) const FORMS: &[(&str, &str)] = &[\n";
    for (name, form) in rows {
        let symbol = form.symbol("");
        let after = symbol.strip_prefix("_ZGV_LLVM_N").expect("the beginning of every form");
        writeln!(text, "    ({name:?}, {after:?}),").expect("a string takes all");
    }
    text += "];\n";
    text
}

/// Makes all of it.
pub(super) fn build(llvm: &Path, out_dir: &Path) {
    let text = fs::read_to_string("device-lib/lanes/functions.def").expect("the table is part of this crate");
    let (forms, same) = read(&text);
    for &lanes in LANES {
        compile(&forms, lanes, llvm, out_dir);
    }
    let sources: String = LANES
        .iter()
        .map(|lanes| format!("    ({lanes}, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/lanes_{lanes}.bc\"))),\n"))
        .collect();
    fs::write(out_dir.join("vector_forms.rs"), table(&forms, &same)).expect("OUT_DIR is writable");
    let bitcode = format!("&[\n{sources}]\n");
    fs::write(out_dir.join("vector_bitcode.rs"), bitcode).expect("OUT_DIR is writable");
}
