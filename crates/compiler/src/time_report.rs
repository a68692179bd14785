//! `-ftime-report`: where our own processor time goes. clang reports on itself, and LLVM's timers of code generation print
//! beside it.

use std::collections::BTreeMap;
use std::fmt::Write;

use mlir_bridge::timing::{self, Row};

/// The most rows of a section.
const MOST: usize = 30;

/// Starts measuring, in the whole process.
pub fn start() {
    timing::start();
}

/// The report.
pub fn text() -> String {
    format(timing::rows())
}

fn format(rows: Vec<Row>) -> String {
    let mut sections: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in rows {
        sections.entry(row.section.clone()).or_default().push(row);
    }
    let mut out = String::new();
    for (section, mut rows) in sections {
        rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        let total: f64 = rows.iter().map(|row| row.seconds).sum();
        let _ = writeln!(out, "===== regrain: {section}: {total:.4} s");
        for row in rows.iter().take(MOST) {
            let percent = 100.0 * row.seconds / total.max(f64::MIN_POSITIVE);
            let _ = writeln!(out, "  {:8.4} s {percent:5.1}%  {}", row.seconds, row.name);
        }
        if let Some(left) = rows.get(MOST..).filter(|left| !left.is_empty()) {
            let seconds: f64 = left.iter().map(|row| row.seconds).sum();
            let _ = writeln!(out, "  {seconds:8.4} s         {} more", left.len());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rows_come_first_and_the_rest_is_summed() {
        let row = |number: usize| Row { section: "a".into(), name: format!("n{number}"), seconds: number as f64 };
        let text = format((1..=MOST + 2).map(row).collect());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), MOST + 2);
        assert!(lines[1].ends_with(&format!("n{}", MOST + 2)), "{}", lines[1]);
        assert!(lines[MOST + 1].contains("3.0000 s") && lines[MOST + 1].ends_with("2 more"), "{}", lines[MOST + 1]);
    }
}
