//! Device code that waits in objects and archives (`-fgpu-rdc`): which of it a program takes, and the object that comes of it.
//!
//! What objects hold is taken. What archives hold is taken where the host's linker takes the member, which a link with a stand-in
//! for the images shows, and where other device code wants what it defines.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use regrain_compiler::Program;
use regrain_targets::Error;
use regrain_targets::listing::Member;
use regrain_targets::units::{self, Unit};

use crate::session::Session;

/// The units whose device code waits in the files of a link.
#[derive(Default)]
pub struct Waiting {
    /// Of objects.
    taken: Vec<Unit>,
    /// Of members of archives.
    at_hand: Vec<Unit>,
}

impl Waiting {
    /// Takes note of a member of the file `file`: of an archive, or the file itself. An archive may be named twice, or hold an object
    /// that is linked by itself; what is linked by itself counts.
    pub fn note(&mut self, file: &str, member: &Member<'_>) {
        let units = units::waiting(&member.name, &member.bytes);
        if member.name == file { self.taken.extend(units) } else { self.at_hand.extend(units) }
    }

    /// The object with the images of all units, and of those of archives too: which of these the program takes is not known.
    pub fn link_all(self, session: &Session) -> Result<PathBuf> {
        let Self { mut taken, at_hand } = self;
        taken.extend(at_hand);
        let mut known = HashSet::new();
        taken.retain(|unit| known.insert(unit.name.clone()));
        let scratch = session.scratch("program");
        std::fs::create_dir(&scratch).context("cannot make a temporary folder")?;
        let step = Program { toolchain: session.toolchain()?, options: &session.args.options, scratch: &scratch };
        if taken.is_empty() { Ok(step.stand_in()?) } else { Ok(step.object(taken, Vec::new())?) }
    }

    /// Whether there are any.
    pub fn is_some(&self) -> bool {
        !self.taken.is_empty() || !self.at_hand.is_empty()
    }

    /// The object with the images of the units that the program takes; none where it takes none. `program` is the command that
    /// links it, with an object in the place of that one, to an output.
    pub fn link(self, session: &Session, program: impl Fn(&Path, &Path) -> Result<Command>) -> Result<Option<PathBuf>> {
        if !self.is_some() {
            return Ok(None);
        }
        let scratch = session.scratch("program");
        std::fs::create_dir(&scratch).context("cannot make a temporary folder")?;
        let step = Program { toolchain: session.toolchain()?, options: &session.args.options, scratch: &scratch };
        let Self { mut taken, mut at_hand } = self;
        let mut known = HashSet::new();
        for units in [&mut taken, &mut at_hand] {
            units.retain(|unit| known.insert(unit.name.clone()));
        }
        if !at_hand.is_empty() {
            let linked = scratch.join("linked");
            session.run(&mut program(&step.stand_in()?, &linked)?)?;
            let bytes =
                std::fs::read(&linked).map_err(|source| Error::Io { path: linked.display().to_string(), source })?;
            let registered = units::registered(&bytes)?;
            let (more, rest) = at_hand.into_iter().partition(|unit| registered.contains(&unit.name));
            taken.extend::<Vec<Unit>>(more);
            at_hand = rest;
        }
        if taken.is_empty() {
            return Ok(None);
        }
        Ok(Some(step.object(taken, at_hand)?))
    }
}
