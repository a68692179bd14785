//! Random loop nests, as `-fregrain-parallelize` compiles them, do what the sequential program does, byte by byte.
//!
//! Each program has nests of arrays of `int` or `double` with bounds, steps, conditions, sums and subscripts of chance, which may hand out a number, and
//! of each a twin that no optimisation touches. Some are between `#pragma scop` and `#pragma endscop`. Numbers that are none count as equal: their sign is
//! not C's, and clang's own optimisation changes it. Every second program has waves of tiles of small sizes of chance. `REGRAIN_NESTS` sets how many
//! programs of ten nests are tried, `REGRAIN_NESTS_SEED` the first one's number; `REGRAIN_NESTS_EMULATE=sm_80` runs what is shipped for that chip, `REGRAIN_NESTS_SCHEDULE=superposed` has threads go by loops of their own
//! wherever they may.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Nests of a program.
const TOGETHER: usize = 10;
/// Elements of a row: the largest subscript is of two variables.
const ROW: usize = 68;

/// Numbers of chance, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        // Of the 64 bits of this generator the upper ones are as good as any.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    fn variable(&mut self, variables: &[String]) -> String {
        variables[self.below(variables.len())].clone()
    }
}

/// A nest in the making.
struct Nest<'c> {
    chance: &'c mut Chance,
    integers: bool,
    next: usize,
}

impl Nest<'_> {
    fn subscript(&mut self, variables: &[String]) -> String {
        if variables.is_empty() {
            return format!("{}", self.chance.below(9));
        }
        let (variable, offset) = (self.chance.variable(variables), self.chance.below(7) + 1);
        match self.chance.below(8) {
            0 => format!("n - {variable} + {offset}"),
            1 => format!("{variable} + {} + {offset}", self.chance.variable(variables)),
            2 => format!("2 * {variable} + {offset}"),
            3 => format!("{offset}"),
            _ => format!("{variable} + {offset}"),
        }
    }

    fn element(&mut self, variables: &[String]) -> String {
        let array = self.chance.of(&["A", "A", "A", "B", "B", "C", "D"]);
        let first = self.subscript(variables);
        match array {
            "A" | "B" => format!("{array}[{first}][{}]", self.subscript(variables)),
            _ => format!("{array}[{first}]"),
        }
    }

    fn expression(&mut self, variables: &[String], depth: usize) -> String {
        match self.chance.below(6) {
            2 if depth < 3 => format!("{}", self.chance.below(9) + 1),
            3 if depth < 3 && !variables.is_empty() => self.chance.variable(variables),
            4 | 5 if depth < 3 => {
                let sign = self.chance.of(if self.integers { &["+", "-", "^", "*"] } else { &["+", "-", "*"] });
                let (left, right) = (self.expression(variables, depth + 1), self.expression(variables, depth + 1));
                match self.integers {
                    true => format!("(int)((unsigned)({left}) {sign} (unsigned)({right}))"),
                    false => format!("({left} {sign} {right}) * 0.25"),
                }
            }
            _ => self.element(variables),
        }
    }

    fn loop_head(&mut self, variables: &[String]) -> (String, String) {
        let variable = format!("i{}", self.next);
        self.next += 1;
        let around = (!variables.is_empty()).then(|| self.chance.variable(variables));
        let low = match (self.chance.below(5), &around) {
            (3, Some(around)) => around.clone(),
            (4, _) => format!("{}", self.chance.below(4)),
            _ => "0".into(),
        };
        let high = match (self.chance.below(8), &around) {
            (4, Some(around)) => format!("{around} + 1"),
            (5, Some(around)) => format!("n - {around}"),
            (6, _) => "m".into(),
            (7, _) => "n - 1".into(),
            _ => "n".into(),
        };
        let step = self.chance.of(&["++", "++", "++", " += 2"]);
        (format!("for (int {variable} = {low}; {variable} < {high}; {variable}{step})"), variable)
    }

    fn condition(&mut self, variables: &[String]) -> String {
        let variable = self.chance.variable(variables);
        match self.chance.below(4) {
            0 => format!("{variable} > {}", self.chance.below(5)),
            1 => format!("{variable} != m"),
            2 => format!("{variable} < n - 2 && {} >= 1", self.chance.variable(variables)),
            _ => format!("{} > {}", self.element(variables), self.element(variables)),
        }
    }

    /// A statement that combines what is in `name` with another number.
    fn combination(&mut self, name: &str, variables: &[String]) -> String {
        let value = self.expression(variables, 1);
        let plain = match (self.chance.below(5), self.integers) {
            (0, _) => format!("{name} = {name} < ({value}) ? ({value}) : {name};"),
            (1, true) => format!("{name} ^= {value};"),
            (2, true) => format!("{name} = (int)((unsigned){name} * ((unsigned)({value}) | 1u));"),
            (3, true) => format!("{name} = (int)((unsigned){name} - (unsigned)({value}));"),
            (_, true) => format!("{name} = (int)((unsigned){name} + (unsigned)({value}));"),
            (_, false) => format!("{name} = {name} * 0.5 + {value};"),
        };
        match self.chance.below(4) {
            0 => format!("if ({}) {plain}", self.condition(variables)),
            _ => plain,
        }
    }

    /// Loops that do nothing else.
    fn reduction(&mut self, name: &str, variables: &[String]) -> String {
        let (head, variable) = self.loop_head(variables);
        let inner = [variables, &[variable]].concat();
        let body = match self.chance.below(3) {
            0 if variables.is_empty() => self.reduction(name, &inner),
            _ => self.combination(name, &inner),
        };
        format!("{head}\n{body}")
    }

    fn block(&mut self, text: &mut String, variables: &[String], depth: usize) {
        for _ in 0..=self.chance.below(if depth == 0 { 3 } else { 2 }) {
            match self.chance.below(11) {
                10 if depth == 0 => {
                    let reduction = self.reduction("r", variables);
                    let _ = writeln!(text, "{reduction}");
                }
                9 if depth == 0 => {
                    let kind = if self.integers { "int" } else { "double" };
                    let start = self.expression(variables, 0);
                    let (reduction, element) = (self.reduction("s", variables), self.element(variables));
                    let _ = writeln!(text, "{{ {kind} s = {start};\n{reduction}\n{element} = s; }}");
                }
                8 if depth > 0 => {
                    let kind = if self.integers { "int" } else { "double" };
                    let start = self.expression(variables, 0);
                    let (reduction, element) = (self.reduction("s", variables), self.element(variables));
                    let _ = writeln!(text, "{{ {kind} s = {start};\n{reduction}\n{element} = s; }}");
                }
                kind if depth < 3 && (kind < 6 || depth == 0) => {
                    let (head, variable) = self.loop_head(variables);
                    let _ = writeln!(text, "{head} {{");
                    self.block(text, &[variables, &[variable]].concat(), depth + 1);
                    text.push_str("}\n");
                }
                6 if depth > 0 => {
                    let _ = writeln!(text, "if ({}) {{", self.condition(variables));
                    self.block(text, variables, 3);
                    text.push_str("} else {\n");
                    self.block(text, variables, 3);
                    text.push_str("}\n");
                }
                7 if depth > 0 => {
                    let kind = if self.integers { "int" } else { "double" };
                    let start = self.expression(variables, 0);
                    let (head, variable) = self.loop_head(variables);
                    let next = self.expression(&[variables, &[variable]].concat(), 1);
                    let _ = writeln!(
                        text,
                        "{{ {kind} s = {start};\n{head} s = {next} - s;\n{} = s; }}",
                        self.element(variables)
                    );
                }
                _ => {
                    let (element, value) = (self.element(variables), self.expression(variables, 0));
                    let _ = writeln!(text, "{element} = {value};");
                }
            }
        }
    }
}

/// Makes all numbers that are none one.
const ONE_NAN: &str = "static __attribute__((noinline, optnone)) void one_nan(double *v, int n) {
for (int i = 0; i < n; i++) if (v[i] != v[i]) v[i] = __builtin_nan(\"\");
}
";

/// A program of nests.
fn program(seed: u64) -> String {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let (open, close) = if chance.below(3) == 0 { ("#pragma scop\n", "#pragma endscop\n") } else { ("", "") };
    let (mut text, mut calls) = (format!("#include <stdio.h>\n#include <string.h>\n{ONE_NAN}"), String::new());
    for number in 0..TOGETHER {
        let integers = chance.below(2) == 0;
        let sizes = chance.below(3) == 0;
        let mut body = String::new();
        Nest { chance: &mut chance, integers, next: 0 }.block(&mut body, &[], 0);
        let kind = if integers { "int" } else { "double" };
        let (row, apart) = if sizes { ("w".to_owned(), "") } else { (ROW.to_string(), "restrict") };
        let parameters = format!(
            "(int w, int n, int m, {kind} A[{row}][{row}], {kind} B[{row}][{row}], {kind} *{apart} C, {kind} *{apart} D)"
        );
        for (name, attributes) in [("k", "noinline"), ("twin", "noinline, optnone")] {
            let _ = writeln!(
                text,
                "static __attribute__(({attributes})) {kind} {name}{number}{parameters} {{\n{kind} r = 3;\n{open}{body}{close}return r;\n}}"
            );
        }
        let _ = writeln!(text, "static {kind} r{number}[2];");
        let _ = writeln!(text, "static {kind} x{number}[2][2][{ROW}][{ROW}], y{number}[2][2][{ROW}];");
        let _ = writeln!(
            calls,
            "for (int v = 0; v < 2; v++) for (int i = 0; i < {}; i++) {{ (&x{number}[v][0][0][0])[i] = i * 7919 % 101; \
             if (i < {}) (&y{number}[v][0][0])[i] = i % 13; }}",
            2 * ROW * ROW,
            2 * ROW
        );
        for (version, name) in ["k", "twin"].iter().enumerate() {
            let arrays =
                ["x", "y"].map(|array| format!("{array}{number}[{version}][0], {array}{number}[{version}][1]"));
            let _ = writeln!(calls, "r{number}[{version}] = {name}{number}({ROW}, n, m, {});", arrays.join(", "));
        }
        if !integers {
            let _ = writeln!(calls, "one_nan(&x{number}[0][0][0][0], {});", 4 * ROW * ROW);
            let _ = writeln!(calls, "one_nan(&y{number}[0][0][0], {});", 4 * ROW);
            let _ = writeln!(calls, "one_nan(r{number}, 2);");
        }
        let _ = writeln!(
            calls,
            "if (memcmp(x{number}[0], x{number}[1], sizeof x{number}[0]) || memcmp(y{number}[0], y{number}[1], sizeof y{number}[0]) || \
             memcmp(&r{number}[0], &r{number}[1], sizeof r{number}[0])) {{ bad++; printf(\"nest {number} differs for n = %d, m = %d\\n\", n, m); }}"
        );
    }
    let sizes = "for (int n = 0; n < 24; n += n < 3 ? 1 : 7)\nfor (int m = 0; m <= n; m += 4)";
    text + &format!("int main(void) {{\nint bad = 0;\n{sizes} {{\n{calls}}}\nreturn bad != 0;\n}}\n")
}

/// Compiles and runs a program; how many of its loops run in parallel.
fn run(folder: &Path, seed: u64) -> usize {
    let (source, made) = (folder.join(format!("{seed}.c")), folder.join("nests"));
    std::fs::write(&source, program(seed)).expect("a source");
    let mut command = Command::new(env!("CARGO_BIN_EXE_regrain"));
    command.args(["-w", "-O2", "--offload-arch=cpu", "-fregrain-search-budget=none", "-fregrain-parallelize"]);
    command.args(["-fregrain-parallelize-from=0", "-Rpass=regrain-parallelize"]);
    if let Ok(chip) = std::env::var("REGRAIN_NESTS_EMULATE") {
        command.arg(format!("-fregrain-emulate={chip}"));
    }
    if let Ok(kind) = std::env::var("REGRAIN_NESTS_SCHEDULE") {
        command.arg(format!("-fregrain-parallelize-schedule={kind}"));
    }
    if seed % 2 == 1 {
        let mut chance = Chance(seed);
        let [first, second, piece] = [12, 12, 6].map(|most| chance.below(most) + 1);
        command.arg(format!("-fregrain-parallelize-tiles={first},{second},{piece}"));
    }
    let output = command.arg(&source).arg("-o").arg(&made).output().expect("the driver");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "seed {seed}: {said}\n{}", program(seed));
    let output = Command::new(&made).output().expect("the program");
    let wrong = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "seed {seed}: {} {wrong}\n{}", output.status, program(seed));
    said.matches("loop runs in parallel").count()
}

#[test]
fn nests_do_what_they_did() {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let folder = tempfile::tempdir().expect("a folder");
    let (first, count) = (number("REGRAIN_NESTS_SEED", 1), number("REGRAIN_NESTS", 4));
    let parallel: usize = (first..first + count).map(|seed| run(folder.path(), seed)).sum();
    println!("{parallel} loops of {count} programs run in parallel");
    assert!(parallel > 0, "nothing runs in parallel");
}
