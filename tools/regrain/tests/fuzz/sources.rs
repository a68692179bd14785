//! CUDA sources of ours with numbers, names, lines and pieces exchanged, compiled for one of the targets.

use std::path::PathBuf;

use super::place::root;
use super::random::Random;
use super::text::{Damage, changed, files};
use super::trial::{Case, Trial};

/// What sources are made of.
pub struct Corpus(Vec<(PathBuf, String)>);

/// The clang that the bootstrap installs.
const CLANG: &str = "/usr/lib/llvm-22/bin/clang++";

const TARGETS: [&str; 4] = ["cpu", "sm_80", "gfx90a", "cpu,sm_80"];
const MODES: [&[&str]; 6] = [
    &[],
    &[],
    &["-fregrain-round-trip"],
    &["-fgpu-rdc"],
    &["-fregrain-adaptive"],
    &["-g", "-fregrain-alternatives=none"],
];

impl Corpus {
    /// Our programs, and what the tests compile.
    pub fn read() -> Self {
        let all = ["rodinia", "test/integration", "test/driver"].map(|folder| files(folder, "cu", 8000));
        Self(all.concat())
    }

    /// A source and how it is compiled.
    pub fn case(&self, random: &mut Random, trial: &Trial) -> Case {
        let (path, text) = random.one(&self.0);
        let mut text = text.clone();
        let damage = if random.chance(85) { Damage::Meaning } else { Damage::Form };
        for _ in 0..=random.below(3) {
            let (_, other) = random.one(&self.0);
            text = changed(&text, other, damage, random);
        }
        trial.write("a.cu", &text);
        let include = |folder: PathBuf| format!("-I{}", folder.display());
        let common = vec![
            include(path.parent().map_or_else(root, PathBuf::from)),
            include(root().join("rodinia/common")),
            include(root().join("test/integration")),
            "-w".to_owned(),
            "-ferror-limit=3".to_owned(),
            random.one(&["-O2", "-O3", "-O1", "-O0"]).to_string(),
        ];
        let target = random.one(&TARGETS);
        let mut arguments = vec![format!("--offload-arch={target}"), "-c".to_owned(), "a.cu".to_owned()];
        arguments.extend(["-o".to_owned(), "a.o".to_owned()]);
        arguments.extend(random.one(&MODES).iter().map(|option| (*option).to_owned()));
        arguments.extend(common.clone());
        let cuda = root().join(".toolchain/cuda");
        let mut theirs = vec!["--offload-arch=sm_80".to_owned(), format!("--cuda-path={}", cuda.display())];
        theirs.extend(["-c", "a.cu", "-o", "clang.o"].map(str::to_owned));
        theirs.extend(common);
        Case { tool: "regrain", arguments, output: Some("a.o"), blamed: Some((PathBuf::from(CLANG), theirs)) }
    }
}
