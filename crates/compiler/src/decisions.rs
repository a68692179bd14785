//! What was decided about each grain of each kernel: as remarks, and as rows of a report.

use std::io::Write;
use std::path::Path;

use regrain_passes::launch::launch_function::described;
use regrain_tuning::Grain;
use regrain_tuning::model::Prediction;
use regrain_tuning::occupancy::{Occupancy, Resources};
use serde::{Deserialize, Serialize};

use crate::diagnostics::RemarkLog;
use crate::error::{Error, Result};

/// The option that shows numbers.
const ANALYSIS: &str = "-Rpass-analysis=regrain";

/// What became of a grain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It is what launches run, by the model.
    ChosenByModel,
    /// It is what launches run, by measured times.
    ChosenByProfile,
    /// It is in the program, which chooses among all that are.
    Profiled,
    /// It is in the program, which settles on one of those that are by itself.
    Adaptive,
    /// Another is better, or not enough worse.
    Passed,
    /// It needs too much of something.
    Pruned,
    /// It is not proven right, or cannot be made.
    Declined,
}

impl Decision {
    fn text(self) -> &'static str {
        match self {
            Self::ChosenByModel => "chosen by the model",
            Self::ChosenByProfile => "chosen by the profile",
            Self::Profiled => "to be timed",
            Self::Adaptive => "left to the program to choose",
            Self::Passed => "passed over",
            Self::Pruned => "pruned",
            Self::Declined => "declined",
        }
    }

    fn option(self) -> &'static str {
        match self {
            Self::ChosenByModel | Self::ChosenByProfile | Self::Profiled | Self::Adaptive => "-Rpass=regrain",
            Self::Passed => ANALYSIS,
            Self::Pruned | Self::Declined => "-Rpass-missed=regrain",
        }
    }
}

/// One grain of one kernel on one target.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Source file.
    pub source: String,
    /// Mangled name.
    pub kernel: String,
    /// Block shape that the launch has, where it is constant.
    pub block: Option<[u32; 3]>,
    /// As in `sm_80` or `cpu`.
    pub target: String,
    /// As in `b4x2x1`.
    pub grain: String,
    /// What became of it.
    pub decision: Decision,
    /// Why, where that is not the model's rank.
    pub reason: Option<String>,
    /// Grids of fewer blocks run the original.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_blocks: Option<u64>,
    /// By the assembler's report.
    pub resources: Option<Resources>,
    /// How full a multiprocessor gets.
    pub occupancy: Option<Occupancy>,
    /// 1 for the best by the model, among those that were ranked.
    pub rank: Option<usize>,
    /// What the model says.
    pub prediction: Option<Prediction>,
}

impl Row {
    /// A row about which nothing is known yet but the decision.
    pub fn new(
        source: &str,
        kernel: &str,
        block: Option<[u32; 3]>,
        target: &str,
        grain: Grain,
        decision: Decision,
    ) -> Self {
        Self {
            source: source.to_owned(),
            kernel: kernel.to_owned(),
            block,
            target: target.to_owned(),
            grain: grain.to_string(),
            decision,
            reason: None,
            least_blocks: None,
            resources: None,
            occupancy: None,
            rank: None,
            prediction: None,
        }
    }

    /// A line that says the decision and why; with one that says its numbers where these are another option's.
    fn remarks(&self) -> Vec<String> {
        let kernel = described(&self.kernel, self.block);
        let begin = format!("{}: remark: {kernel} on {}: grain {}", self.source, self.target, self.grain);
        let reason = self.reason.clone().or_else(|| self.plain_reason());
        let why = reason.map_or(String::new(), |reason| format!(": {reason}"));
        let option = self.decision.option();
        let decided = format!("{begin} is {}{why}", self.decision.text());
        match (self.rank.filter(|_| self.reason.is_none()), &self.prediction) {
            (Some(rank), _) if option == ANALYSIS => vec![format!("{decided}, rank {rank} of the model [{option}]")],
            (Some(rank), Some(Prediction { time, bound, .. })) => vec![
                format!("{decided} [{option}]"),
                format!(
                    "{begin} has rank {rank} of the model: {time:.1} cycles per original block, bound by {bound} [{ANALYSIS}]"
                ),
            ],
            _ => vec![format!("{decided} [{option}]")],
        }
    }

    /// Why the model chooses it.
    fn plain_reason(&self) -> Option<String> {
        if self.decision != Decision::ChosenByModel {
            return None;
        }
        if self.grain == Grain::ORIGINAL.to_string() {
            return Some("no other is predicted to be clearly faster".into());
        }
        let grids = self.least_blocks.map_or(String::new(), |blocks| {
            format!(" in grids of {blocks} blocks and more; smaller ones run the original")
        });
        Some(format!("it is predicted to be clearly faster than the original{grids}"))
    }
}

/// A row in the words in which it is given to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    decision: Decision,
    remarks: Vec<String>,
    row: String,
}

impl Statement {
    /// The row as a remark and as a line of the report.
    pub fn new(row: &Row) -> Result<Self> {
        let line =
            serde_json::to_string(row).map_err(|error| Error::internal(format!("a row of the report: {error}")))?;
        Ok(Self { decision: row.decision, remarks: row.remarks(), row: line })
    }
}

/// Gives the remarks that were asked for, and appends the rows to the report as JSON, one on a line.
pub fn publish(statements: &[Statement], remarks: &RemarkLog, report: Option<&Path>) -> Result<()> {
    for remark in statements.iter().flat_map(|statement| &statement.remarks) {
        remarks.show(remark);
    }
    let Some(path) = report.filter(|_| !statements.is_empty()) else { return Ok(()) };
    let text: String = statements.iter().map(|statement| format!("{}\n", statement.row)).collect();
    // One write, so that compilations side by side do not mix their lines.
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::io("write", path))
}
