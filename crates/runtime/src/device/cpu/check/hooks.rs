//! The checker as the runtime sees it.

use std::ffi::c_void;

use super::asked::How;
use super::between;
use super::callers::{Call, Caller};
use super::kinds::Kind;
use super::local::{self, Local};
use super::memory::{self, Owner};
use super::orders;
use super::reports::{Report, Runs, say, summarise};
use super::sites::Spot;
use super::wrong::{self, running};
use crate::device::cpu::checks::{self, Checker, Meeting, Order, Scope};
use crate::device::cpu::heap;
use crate::device::cpu::state::Worker;
use crate::device::cpu::streams::Stream;
use crate::device::cpu::{failure, report};
use crate::error::{self, CudaError};
use crate::types::{DEVICE_TO_HOST, HOST_TO_DEVICE};

struct Checks;

static CHECKS: Checks = Checks;

/// Begins to check.
pub fn begin() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        between::begin();
        checks::install(&CHECKS);
        error::tell_failures(failed_call);
        // SAFETY: a function without parameters that does not unwind.
        unsafe { libc::atexit(end) };
    });
}

/// The program ends.
extern "C" fn end() {
    CHECKS.leaks();
    if Kind::Api.is_on()
        && let Some(code) = failure::unseen()
    {
        say((Kind::Api, usize::MAX, code.0 as usize), || Report {
            kind: Kind::Api,
            title: format!("A kernel failed with {}, and the program did not ask", error::name(code)),
            spot: Spot::default(),
            runs: None,
            notes: Vec::new(),
        });
    }
    if let Some(status) = summarise() {
        // SAFETY: what the program has written leaves its buffers; other handlers of its end have run.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status);
        }
    }
}

/// Functions whose failures are the program's mistakes, by how their names begin.
const MINDED: [&str; 12] = [
    "cudaMemcpy",
    "cudaMemset",
    "cudaFree",
    "cudaLaunch",
    "cudaHostUnregister",
    "cudaEvent",
    "cudaStreamSynchronize",
    "cudaStreamDestroy",
    "cudaStreamQuery",
    "cudaStreamWaitEvent",
    "cudaDestroyTextureObject",
    "cudaDestroySurfaceObject",
];

/// A function of the runtime's has failed.
fn failed_call(function: &'static str, code: CudaError) {
    let is_mistake = [
        CudaError::INVALID_VALUE,
        CudaError::INVALID_CONFIGURATION,
        CudaError::INVALID_PITCH,
        CudaError::INVALID_SYMBOL,
        CudaError::INVALID_MEMCPY_DIRECTION,
        CudaError::INVALID_RESOURCE_HANDLE,
    ]
    .contains(&code);
    if !Kind::Api.is_on() || !is_mistake || !MINDED.iter().any(|start| function.starts_with(start)) {
        return;
    }
    let Call { spot, .. } = Caller::current().look_up();
    let spot = spot.unwrap_or_default();
    let line = spot.line as usize;
    // Where lines are not known, each function says so once.
    let key = (Kind::Api, function.as_ptr() as usize, line << 16 | code.0 as usize);
    say(key, || Report {
        kind: Kind::Api,
        title: format!("Program hit {} (error {}) in {function}", error::name(code), code.0),
        spot,
        runs: None,
        notes: freed_notes(),
    });
}

thread_local! {
    /// The last pointer that could not be freed.
    static NOT_FREED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// What is known of what could not be freed.
fn freed_notes() -> Vec<String> {
    match NOT_FREED.take() {
        0 => Vec::new(),
        address => match memory::at(address) {
            Some(record) => {
                let freed = record.freed.map_or(String::new(), |freed| format!(", by {}", freed.in_words()));
                vec![format!("Address {address:#x} was freed before{freed}")]
            }
            None => vec![format!("Address {address:#x} is not the beginning of an allocation")],
        },
    }
}

/// Says that a copy's direction does not fit its memory.
fn wrong_direction(kind: u32, side: &str) {
    let spot = Caller::current().look_up().spot.unwrap_or_default();
    say((Kind::Api, kind as usize, spot.line as usize), || Report {
        kind: Kind::Api,
        title: format!(
            "A copy {} the host has memory of the device as its {side}",
            if kind == DEVICE_TO_HOST { "to" } else { "from" }
        ),
        spot,
        runs: None,
        notes: Vec::new(),
    });
}

impl Checker for Checks {
    fn copies(&self, to: usize, from: usize, kind: u32) {
        let is_device =
            |address: usize| heap::find(address as *const c_void).is_some_and(|found| found.kind == heap::Kind::Device);
        match kind {
            _ if !Kind::Api.is_on() => (),
            DEVICE_TO_HOST if is_device(to) => wrong_direction(kind, "destination"),
            HOST_TO_DEVICE if is_device(from) => wrong_direction(kind, "source"),
            _ => (),
        }
    }

    fn allocate(&self, size: usize, kind: heap::Kind) -> Option<Option<usize>> {
        let minds = Kind::Memory.is_on() || Kind::Init.is_on() || Kind::Leak.is_on() || between::is_on();
        minds.then(|| memory::allocate(size, Owner::Host(kind), Some(Caller::current())))
    }

    fn release(&self, start: usize) {
        memory::release(start, Some(Caller::current()));
    }

    fn not_released(&self, start: usize) {
        NOT_FREED.set(start);
    }

    fn written(&self, to: usize, from: usize, count: usize) {
        if memory::minds_writes() {
            memory::written(to, from, count);
        }
        if between::is_on() {
            for (address, how) in [(from, How::Load), (to, How::Store)] {
                if let Some(found) = between::host_accesses(address, count, how != How::Load) {
                    wrong::race_of_blocks(None, how, &found);
                }
            }
        }
    }

    fn begins_work(&self, stream: &Stream) {
        if between::is_on() {
            orders::begin(stream);
        }
    }

    fn ends_work(&self, stream: &Stream, waits: bool) {
        if between::is_on() {
            orders::end(stream, waits);
        }
    }

    fn orders(&self, order: Order<'_>) {
        if between::is_on() {
            orders::order(order);
        }
    }

    fn begins_grid(&self, number: u32, blocks: u64) {
        if between::is_on() {
            between::begin_grid(number, blocks);
        }
    }

    fn ends_grid(&self, number: u32) {
        if between::is_on() {
            between::end_grid(number);
        }
    }

    fn leaks(&self) {
        // What is allocated when a kernel has failed cannot be freed any more.
        if !Kind::Leak.is_on() || failure::sticky().is_some() {
            return;
        }
        for record in memory::live() {
            let call = record.made.as_ref().map(Caller::look_up);
            let by = call.as_ref().map_or(String::new(), |call| format!(" made by {}", call.in_words()));
            let spot = call.and_then(|call| call.spot).unwrap_or_default();
            say((Kind::Leak, record.start, 0), || Report {
                kind: Kind::Leak,
                title: format!("Leaked {} bytes at {:#x}{by}", record.size, record.start),
                spot,
                runs: None,
                notes: Vec::new(),
            });
        }
    }

    fn allocate_in_kernel(&self, size: usize) -> Option<usize> {
        memory::allocate(size.max(1), Owner::Kernel, None)
    }

    fn release_in_kernel(&self, start: usize) {
        if start == 0 || memory::release(start, None) || !Kind::Memory.is_on() {
            return;
        }
        // SAFETY: null or this OS thread's own.
        let worker = unsafe { local::current().as_ref().and_then(|local| local.worker.as_ref()) };
        let runs = worker.map(|worker| running(worker, true));
        say((Kind::Memory, usize::MAX - 1, start), || Report {
            kind: Kind::Memory,
            title: "A kernel frees what it has not allocated, or has freed".to_owned(),
            spot: Spot::default(),
            runs,
            notes: vec![format!("Address {start:#x}")],
        });
    }

    fn unchecked(&self) {
        memory::forget_writes();
    }

    unsafe fn begins(&self, worker: *mut Worker) {
        // SAFETY: by contract.
        unsafe {
            Local::begin(local::get_or_make(), worker);
        }
    }

    fn arrives(&self, thread: usize, scope: Scope) {
        // SAFETY: null or this OS thread's own.
        if let Some(local) = unsafe { local::current().as_mut() }
            && Kind::Race.is_on()
        {
            local.races.arrives(thread, scope);
            if scope == Scope::Grid {
                local.here.arrives();
            }
        }
    }

    fn leaves(&self, thread: usize, scope: Scope) {
        // SAFETY: null or this OS thread's own.
        if let Some(local) = unsafe { local::current().as_mut() }
            && Kind::Race.is_on()
        {
            local.races.leaves(thread, scope);
            if scope == Scope::Grid {
                local.here.leaves();
            }
        }
    }

    fn minds_meetings(&self) -> bool {
        Kind::Sync.is_on()
    }

    fn meets_badly(&self, worker: &Worker, meeting: &Meeting<'_>) {
        say((Kind::Sync, meeting.site as usize, meeting.what.len()), || {
            let (file, line, function) = report::parts(meeting.site);
            let with_thread = meeting.is_of_thread;
            let runs: Runs = running(worker, with_thread);
            let spot = Spot { file, line, column: 0, function };
            Report {
                kind: Kind::Sync,
                title: meeting.what.clone(),
                spot,
                runs: Some(runs),
                notes: meeting.notes.to_vec(),
            }
        });
    }
}
