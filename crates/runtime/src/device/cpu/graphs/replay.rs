//! Graphs that are launched again: small kernels that follow one another run in a row, on one OS thread and one stack, and what a launch makes for
//! each is made once.
//!
//! A kernel is small where its launches before say that one thread is through with it before another one would come. The first launches of a
//! graph find that out. A row that takes far longer than it was to take is run as single launches the next time, which look anew.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, TryLockError};
use std::time::Instant;

use super::graph::Node;
use super::work::Work;
use crate::device::cpu::calling::nanoseconds;
use crate::device::cpu::failure::device_ok;
use crate::device::cpu::job::Job;
use crate::device::cpu::pool::{self, Way};
use crate::device::seam::Stream;
use crate::error::{CudaError, Result};

/// The most nanoseconds of a kernel in a row.
const SMALL: u64 = 20_000;
/// What a row may take beyond what it was to take, which is that and this.
const MORE: u64 = 20_000;

/// For each step its grid, where it may go in a row; nothing before the first launch.
#[derive(Default)]
pub struct Prepared {
    jobs: Mutex<Vec<Option<Box<Job>>>>,
    /// The next launch is to look how long things take.
    looks: AtomicBool,
}

impl Clone for Prepared {
    fn clone(&self) -> Self {
        Self::default()
    }
}

fn prepare(node: &Node) -> Option<Box<Job>> {
    match &node.work {
        Work::Kernel(launch) if !node.is_off => launch.small().map(Box::new),
        _ => None,
    }
}

/// Nanoseconds of a grid that is small now.
fn small(job: Option<&Job>) -> Option<u64> {
    let job = job?;
    let time = job.kernel.pace.of(job.total, job.threads())?;
    let waits = job.kernel.waits.load(Ordering::Relaxed);
    (time < SMALL && !waits && (job.total <= job.chunk || !pool::pays(time))).then_some(time)
}

impl Prepared {
    /// Runs the steps of a graph one after the other.
    pub fn run(&self, steps: &[Node], stream: Stream, way: Way) -> Result {
        let plainly = |steps: &[Node]| steps.iter().try_for_each(|node| node.run(stream, way));
        let mut jobs = match self.jobs.try_lock() {
            Ok(jobs) => jobs,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Another launch of the same graph is at work.
            Err(TryLockError::WouldBlock) => return plainly(steps),
        };
        if self.looks.swap(false, Ordering::Relaxed) {
            return plainly(steps);
        }
        if jobs.len() != steps.len() {
            jobs.extend(steps.iter().map(prepare));
        }
        let mut at = 0;
        while at < steps.len() {
            let (mut end, mut expected) = (at, 0);
            while let Some(time) = jobs.get(end).and_then(|job| small(job.as_deref())) {
                (end, expected) = (end + 1, expected + time);
            }
            if end - at < 2 {
                Self::run_alone(&steps[at], jobs[at].as_deref(), stream, way)?;
                at += 1;
            } else {
                self.run_row(&mut jobs[at..end], expected, way)?;
                at = end;
            }
        }
        Ok(())
    }

    /// Runs a step. What may be small is timed now and then: where there is no other stream nobody else needs to know.
    fn run_alone(step: &Node, job: Option<&Job>, stream: Stream, way: Way) -> Result {
        let timed = job.filter(|job| job.total <= job.chunk && job.kernel.pace.times_next());
        let timed = timed.map(|job| (job, Instant::now()));
        step.run(stream, way)?;
        if let Some((job, start)) = timed {
            job.kernel.pace.learn(nanoseconds(start.elapsed()), job.total, job.threads());
        }
        Ok(())
    }

    fn run_row(&self, jobs: &mut [Option<Box<Job>>], expected: u64, way: Way) -> Result {
        device_ok()?;
        let start = Instant::now();
        let mut row: Vec<&mut Job> = Vec::with_capacity(jobs.len());
        row.extend(jobs.iter_mut().flatten().map(|job| &mut **job));
        let refused = pool::run_row(&mut row, way);
        if nanoseconds(start.elapsed()) > 2 * expected + MORE {
            self.looks.store(true, Ordering::Relaxed);
        }
        if refused { Err(CudaError::NOT_SUPPORTED) } else { Ok(()) }
    }
}
