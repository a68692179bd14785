//! What was decided about each grain of each kernel: as remarks, and as rows of a report.

use std::io::Write;
use std::path::Path;

use regrain_passes::launch::launch_function::described;
use regrain_tuning::Grain;
use regrain_tuning::model::Prediction;
use regrain_tuning::occupancy::{Occupancy, Resources};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::options::Remarks;
use crate::side_files::note_remark;

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
            Self::Passed => "-Rpass-analysis=regrain",
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
            resources: None,
            occupancy: None,
            rank: None,
            prediction: None,
        }
    }

    /// One line; the numbers are in the report.
    fn remark(&self) -> String {
        let kernel = described(&self.kernel, self.block);
        let mut text = format!(
            "{}: remark: {kernel} on {}: grain {} is {}",
            self.source,
            self.target,
            self.grain,
            self.decision.text()
        );
        if let Some(reason) = &self.reason {
            text += &format!(": {reason}");
        }
        if let (None, Some(rank)) = (&self.reason, self.rank) {
            text += &format!(", rank {rank} of the model");
        }
        text + &format!(" [{}]", self.decision.option())
    }
}

/// A row in the words in which it is given to the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    decision: Decision,
    remark: String,
    row: String,
}

impl Statement {
    /// The row as a remark and as a line of the report.
    pub fn new(row: &Row) -> Result<Self> {
        let line =
            serde_json::to_string(row).map_err(|error| Error::internal(format!("a row of the report: {error}")))?;
        Ok(Self { decision: row.decision, remark: row.remark(), row: line })
    }
}

/// Gives the remarks that were asked for, and appends the rows to the report as JSON, one on a line.
pub fn publish(statements: &[Statement], remarks: &Remarks, report: Option<&Path>) -> Result<()> {
    for statement in statements {
        note_remark(&statement.remark);
        if remarks.shows(&statement.remark) {
            eprintln!("{}", statement.remark);
        }
    }
    let Some(path) = report.filter(|_| !statements.is_empty()) else { return Ok(()) };
    let text: String = statements.iter().map(|statement| format!("{}\n", statement.row)).collect();
    // One write, so that compilations side by side do not mix their lines.
    let file = std::fs::File::options().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(Error::io("write", path))
}
