//! Command lines of both drivers, of any of their options with any values, over a source, an object or a file of neither kind.

use std::process::Command;

use super::random::Random;
use super::tools::tool;
use super::trial::{Case, Trial};

/// Options that are known, as `--help-all` lists them, with whether they take a value.
pub struct Corpus([(&'static str, Vec<(String, bool)>); 2]);

const SOURCE: &str = "__global__ void k(int *p) { p[threadIdx.x] = 1; }\nint main() { k<<<1, 32>>>(nullptr); }\n";
const VALUES: [&str; 34] = [
    "",
    "0",
    "1",
    "-1",
    "x",
    "cpu",
    "sm_80",
    "sm_999",
    "gfx90a",
    "gfx1",
    "compute_80",
    "native",
    "all",
    "none",
    "true",
    "false",
    "b.o",
    "a.cu",
    "nowhere/file",
    ".",
    "18446744073709551616",
    "1e999",
    "1,2,3",
    "blocks=1,2:threads=0",
    "blocks=1,2:threads=2",
    "arch=compute_80,code=sm_80",
    "arch=compute_80,code=[sm_80,compute_80]",
    "[",
    "c++17",
    "%s",
    "\u{e4}",
    "=",
    ",",
    "-c",
];
const FILES: [&str; 8] = ["a.cu", "a.cu", "a.cu", "b.cpp", "empty.cu", "garbage.o", "garbage.cu", "missing.cu"];
/// What would wait for somebody, or runs what is not ours; modes in which nothing goes to `-o`.
const LEFT_OUT: [&str; 6] = ["-run", "-wrapper", "-B", "-clean", "--clean-targets", "-ccc-"];

fn listed(name: &'static str) -> Vec<(String, bool)> {
    let output = Command::new(tool(name)).arg("--help-all").output().expect("the driver runs");
    let text = String::from_utf8(output.stdout).expect("help is UTF-8");
    let words = text.lines().filter_map(|line| line.strip_prefix("  -")?.split("  ").next().map(str::to_owned));
    let options = words.map(|word| {
        let (name, value) = word.split_at(word.find(['<', ' ', '[']).unwrap_or(word.len()));
        (format!("-{name}"), !value.is_empty())
    });
    let known: Vec<_> = options.filter(|(name, _)| !LEFT_OUT.iter().any(|out| name.starts_with(out))).collect();
    assert!(known.len() > 60, "{} options of {name}", known.len());
    known
}

impl Corpus {
    /// What the drivers say of themselves.
    pub fn read() -> Self {
        Self(["regrain", "regrain-nvcc"].map(|name| (name, listed(name))))
    }

    /// A command line.
    pub fn case(&self, random: &mut Random, trial: &Trial) -> Case {
        trial.write("a.cu", SOURCE);
        trial.write("b.cpp", "int b() { return 1; }\n");
        trial.write("empty.cu", "");
        trial.write("garbage.o", [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 9, 9, 9]);
        trial.write("garbage.cu", (0..=255_u8).rev().collect::<Vec<_>>());
        let (tool, known) = random.one(&self.0);
        let mut arguments = Vec::new();
        for _ in 0..=random.below(4) {
            let (name, takes_value) = random.one(known);
            if *takes_value || random.chance(5) {
                let value = random.one(&VALUES);
                match random.below(8) {
                    0 => arguments.extend([name.trim_end_matches('=').to_owned(), (*value).to_owned()]),
                    1 => arguments.push(name.clone()),
                    _ => arguments.push(format!("{}{value}", name)),
                }
            } else {
                arguments.push(name.clone());
            }
        }
        for _ in 0..random.below(3) {
            arguments.insert(random.below(arguments.len() + 1), (*random.one(&FILES)).to_owned());
        }
        if random.chance(50) {
            arguments.push("-###".to_owned());
        } else if random.chance(60) {
            arguments.push("-c".to_owned());
        }
        if random.chance(30) {
            arguments.push(format!("--offload-arch={}", random.one(&["cpu", "sm_80", "gfx90a", "cpu,sm_80"])));
        }
        Case { tool, arguments, output: None, blamed: None }
    }
}
