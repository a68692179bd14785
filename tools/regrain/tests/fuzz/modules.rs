//! Modules of the tests with values, types, numbers and lines exchanged, before a pass or a pipeline of ours.

use super::random::Random;
use super::text::{Damage, changed, files};
use super::tools::tool;
use super::trial::{Case, Trial};

/// Modules, and the options of `regrain-opt` that they are tested with.
pub struct Corpus {
    modules: Vec<String>,
    options: Vec<Vec<String>>,
}

/// The options on the lines of a test that run `regrain-opt`, without those whose values have blanks in them.
fn options(text: &str) -> Vec<Vec<String>> {
    let runs = text.lines().filter_map(|line| line.split_once("RUN:")?.1.split_once("regrain-opt "));
    let words = runs.map(|(_, rest)| {
        let ours = rest.split_whitespace().take_while(|word| !["|", ">", "2>", "2>&1", "<", "&&"].contains(word));
        let ours = ours.map(|word| word.replace(['\'', '"'], "")).filter(|word| !word.contains('%'));
        ours.filter(|word| word.starts_with("--regrain-") || word.starts_with("-regrain-")).collect()
    });
    words.filter(|words: &Vec<String>| !words.is_empty()).collect()
}

impl Corpus {
    /// All of the tests.
    pub fn read() -> Self {
        let files = files("test", "mlir", 40_000);
        let modules = files.iter().flat_map(|(_, text)| text.split("// -----")).map(|text| {
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            code.join("\n")
        });
        let modules = modules.filter(|text| !text.trim().is_empty() && text.len() < 8000).collect();
        let mut options: Vec<Vec<String>> = files.iter().flat_map(|(_, text)| options(text)).collect();
        options.extend(
            ["--regrain-raise", "--regrain-optimize-parallel", "--regrain-optimize-blocks"]
                .map(|name| vec![name.to_owned()]),
        );
        options.sort();
        options.dedup();
        Self { modules, options }
    }

    /// A module and what it goes through.
    pub fn case(&self, random: &mut Random, trial: &Trial) -> Case {
        let mut text = random.one(&self.modules).clone();
        for _ in 0..random.below(4) {
            let damage = if random.chance(80) { Damage::Meaning } else { Damage::Form };
            let other: &String = random.one(&self.modules);
            text = changed(&text, other, damage, random);
        }
        trial.write("a.mlir", &text);
        let files = ["a.mlir", "-o", "b.mlir"].map(str::to_owned);
        let mut arguments = random.one(&self.options).clone();
        if random.chance(20) {
            arguments.extend(random.one(&self.options).clone());
        }
        arguments.extend(files.clone());
        let parser = (tool("regrain-opt"), files.to_vec());
        Case { tool: "regrain-opt", arguments, output: Some("b.mlir"), blamed: Some(parser) }
    }
}
