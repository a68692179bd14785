//! Tuning databases and reports with bytes, words and lines exchanged, before every command that reads them.

use std::process::Command;

use super::random::Random;
use super::text::{Damage, changed};
use super::tools::tool;
use super::trial::{Case, Trial};

/// A database and a report that are as they should be.
pub struct Corpus {
    database: String,
    report: String,
}

/// The program that the database is of.
const PROGRAM: &str = "
__global__ void increment(int *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += 1;
}
int main() {
  int *data;
  cudaMalloc(&data, 1 << 16);
  for (int i = 0; i < 40; i++) increment<<<128, 128>>>(data, 1 << 14);
  return cudaDeviceSynchronize();
}
";

const COMMANDS: [(&str, &[&str], Option<&str>); 11] = [
    ("regrain-tune", &["show", "a.db"], None),
    ("regrain-tune", &["show", "--summary", "a.db", "whole.db"], None),
    ("regrain-tune", &["show", "--kernel", "*[a", "a.db"], None),
    ("regrain-tune", &["report", "a.jsonl"], None),
    ("regrain-tune", &["merge", "-o", "b.db", "a.db", "whole.db"], Some("b.db")),
    ("regrain-tune", &["export", "--format=csv", "a.db"], None),
    ("regrain-tune", &["export", "--format=json", "a.db"], None),
    ("regrain-tune", &["prune", "--older-than", "30d", "a.db"], None),
    ("regrain-tune", &["prune", "--incomplete", "--target", "sm_80", "a.db"], None),
    ("regrain-tune", &["prune", "--version-other", "a.db"], None),
    ("regrain", &["--offload-arch=cpu", "-O2", "-fregrain-profile-use=a.db", "-c", "a.cu", "-o", "a.o"], Some("a.o")),
];

impl Corpus {
    /// What a program of ours writes when it is measured, and what the compiler says of it.
    pub fn read() -> Self {
        let trial = Trial::new();
        trial.write("a.cu", PROGRAM);
        let driver = tool("regrain");
        let run = |program: &std::path::Path, arguments: &[&str]| {
            let done = Command::new(program)
                .args(arguments)
                .current_dir(trial.work())
                .env("REGRAIN_TUNING_DB", "a.db")
                .status()
                .expect("it starts");
            assert!(done.success(), "{} {arguments:?}", program.display());
        };
        let common =
            ["--offload-arch=cpu", "-O2", "-fregrain-report=a.jsonl", "-fregrain-alternatives=blocks=1,2:threads=1,2"];
        run(&driver, &[&common[..], &["-fregrain-profile-generate", "a.cu", "-o", "a"]].concat());
        run(&trial.work().join("a"), &[]);
        run(&driver, &[&common[..], &["-c", "a.cu", "-o", "a.o"]].concat());
        let text = |name: &str| std::fs::read_to_string(trial.work().join(name)).expect("it is written");
        Self { database: text("a.db"), report: text("a.jsonl") }
    }

    /// A damaged database or report, and who reads it.
    pub fn case(&self, random: &mut Random, trial: &Trial) -> Case {
        let (tool, arguments, output) = *random.one(&COMMANDS);
        let damaged = |whole: &str, random: &mut Random| {
            let mut text = whole.to_owned();
            for _ in 0..=random.below(3) {
                let damage = if random.chance(60) { Damage::Meaning } else { Damage::Form };
                text = changed(&text, whole, damage, random);
            }
            let mut bytes = text.into_bytes();
            if random.chance(30) && !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] = random.below(256) as u8;
            }
            bytes
        };
        trial.write("a.cu", PROGRAM);
        trial.write("whole.db", &self.database);
        trial.write("a.db", damaged(&self.database, random));
        trial.write("a.jsonl", damaged(&self.report, random));
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Case { tool, arguments, output, blamed: None }
    }
}
