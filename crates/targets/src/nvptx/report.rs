//! What `ptxas -v` says about kernels, as data.

use std::collections::BTreeMap;
use std::fmt;

/// The resources of one kernel (or of a device function that was not inlined) on one chip.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// The mangled name.
    pub name: String,
    /// The chip, as in `sm_80`; empty for device functions.
    pub arch: String,
    /// Whether it is a kernel.
    pub is_kernel: bool,
    /// Registers per thread (0: not said, as for device functions).
    pub registers: u32,
    /// Those of them that are accumulators of matrix instructions (AMD).
    #[serde(default)]
    pub accumulators: u32,
    /// Registers of a warp (AMD).
    #[serde(default)]
    pub scalar_registers: u32,
    /// Registers of a warp that had to be kept elsewhere (AMD).
    #[serde(default)]
    pub scalar_spills: u32,
    /// Bytes stored for want of registers.
    pub spill_stores: u32,
    /// Bytes loaded back.
    pub spill_loads: u32,
    /// Bytes of stack of its own.
    pub stack_frame: u32,
    /// Bytes of stack with all that it calls, where known.
    pub cumulative_stack: u32,
    /// Bytes of static shared memory.
    pub shared: u32,
    /// Bytes of constant memory, by bank.
    pub constant: BTreeMap<u32, u32>,
    /// Barriers in use.
    pub barriers: u32,
}

impl Report {
    /// The heading above rows of reports.
    pub fn heading() -> String {
        format!(
            "{:<8} {:>9} {:>12} {:>11} {:>6} {:>7} {:>8} {:>8}  {}",
            "arch", "registers", "spill stores", "spill loads", "stack", "shared", "constant", "barriers", "kernel"
        )
    }

    /// Whether it spills registers to memory.
    pub fn spills(&self) -> bool {
        self.spill_stores > 0 || self.spill_loads > 0
    }
}

/// A row under [`Report::heading`].
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arch = if self.is_kernel { self.arch.as_str() } else { "-" };
        let constant: u32 = self.constant.values().sum();
        write!(
            f,
            "{arch:<8} {:>9} {:>12} {:>11} {:>6} {:>7} {constant:>8} {:>8}  {}",
            self.registers,
            self.spill_stores,
            self.spill_loads,
            self.stack_frame.max(self.cumulative_stack),
            self.shared,
            self.barriers,
            self.name
        )
    }
}

/// Reads the output of `ptxas -v`: one report for each kernel and device function, in its order.
pub fn parse(output: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let mut current: Option<usize> = None;
    for line in output.lines() {
        let text = line.split_once("info").map_or(line, |(_, rest)| rest.trim_start().trim_start_matches(':')).trim();
        if let Some(rest) = text.strip_prefix("Compiling entry function '") {
            let mut quoted = rest.split('\'');
            let name = quoted.next().unwrap_or_default().to_string();
            let arch = quoted.nth(1).unwrap_or_default().to_string();
            reports.push(Report { name, arch, is_kernel: true, ..Report::default() });
            current = Some(reports.len() - 1);
        } else if let Some(name) = text.strip_prefix("Function properties for ") {
            if !reports.iter().any(|report| report.name == name) {
                reports.push(Report { name: name.into(), ..Report::default() });
            }
            current = reports.iter().position(|report| report.name == name);
        } else if let Some(report) = current.and_then(|index| reports.get_mut(index)) {
            text.split(',').for_each(|item| read_item(report, item.trim()));
        }
    }
    reports
}

/// Reads one item of a list, as in `180 bytes spill stores`, `Used 64 registers`, `372 bytes cmem[0]`.
fn read_item(report: &mut Report, item: &str) {
    let item = item.strip_prefix("Used ").or_else(|| item.strip_prefix("used ")).unwrap_or(item);
    let Some((number, what)) = item.split_once(' ') else { return };
    let Ok(number) = number.parse::<u32>() else { return };
    let what = what.strip_prefix("bytes ").unwrap_or(what);
    match what {
        "registers" => report.registers = number,
        "barriers" => report.barriers = number,
        "stack frame" => report.stack_frame = number,
        "cumulative stack size" => report.cumulative_stack = number,
        "spill stores" => report.spill_stores = number,
        "spill loads" => report.spill_loads = number,
        "smem" => report.shared = number,
        _ => {
            let bank = what.strip_prefix("cmem[").and_then(|rest| rest.strip_suffix(']'));
            if let Some(bank) = bank.and_then(|bank| bank.parse().ok()) {
                report.constant.insert(bank, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by ptxas 12.9 for a kernel, a recursive function and a spilling kernel.
    const SAMPLE: &str = "\
ptxas info    : Overriding maximum register limit 256 for '_Z5recurPi' with  24 of maxrregcount option
ptxas info    : 28 bytes gmem, 64 bytes cmem[3], 16 bytes cmem[4]
ptxas info    : Compiling entry function '_Z1kPfPKfi' for 'sm_80'
ptxas info    : Function properties for _Z1kPfPKfi
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 19 registers, used 1 barriers, 1024 bytes smem, 372 bytes cmem[0], 8 bytes cmem[2]
ptxas info    : Compile time = 8.732 ms
ptxas info    : Function properties for _Z4facti
    24 bytes stack frame, 24 bytes spill stores, 20 bytes spill loads
ptxas info    : Compiling entry function '_Z5spillPf' for 'sm_90a'
ptxas info    : Function properties for _Z5spillPf
    104 bytes stack frame, 180 bytes spill stores, 196 bytes spill loads
ptxas info    : Used 64 registers, used 0 barriers, 112 bytes cumulative stack size, 360 bytes cmem[0]
ptxas info    : Compile time = 13.763 ms
";

    #[test]
    fn reads_kernels_and_functions() {
        let reports = parse(SAMPLE);
        let names: Vec<_> = reports.iter().map(|report| report.name.as_str()).collect();
        assert_eq!(names, ["_Z1kPfPKfi", "_Z4facti", "_Z5spillPf"]);
        let k = &reports[0];
        assert_eq!((k.arch.as_str(), k.is_kernel, k.registers, k.shared, k.barriers), ("sm_80", true, 19, 1024, 1));
        assert_eq!(k.constant, BTreeMap::from([(0, 372), (2, 8)]));
        assert!(!k.spills());
        let fact = &reports[1];
        assert_eq!((fact.is_kernel, fact.stack_frame, fact.spill_stores, fact.spill_loads), (false, 24, 24, 20));
        let spill = &reports[2];
        assert_eq!((spill.arch.as_str(), spill.registers), ("sm_90a", 64));
        assert_eq!((spill.spill_stores, spill.spill_loads), (180, 196));
        assert_eq!((spill.stack_frame, spill.cumulative_stack), (104, 112));
        assert!(spill.spills());
    }

    #[test]
    fn without_constant_banks() {
        let text = "\
ptxas info    : Compiling entry function 'k' for 'sm_100'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 19 registers, used 1 barriers, 1024 bytes smem
";
        let reports = parse(text);
        assert_eq!((reports[0].registers, reports[0].shared), (19, 1024));
        assert!(reports[0].constant.is_empty());
    }

    #[test]
    fn rows_stand_under_their_heading() {
        let row = parse(SAMPLE)[2].to_string();
        assert_eq!(row.find("_Z5spillPf"), Report::heading().find("kernel"));
        let column = Report::heading().find("registers").unwrap();
        assert_eq!(row[column..column + 9].trim(), "64");
    }

    #[test]
    fn other_text_gives_nothing() {
        assert!(parse("").is_empty());
        assert!(parse("ptxas fatal   : Unresolved extern function 'f'\n").is_empty());
    }
}
