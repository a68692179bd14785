//! Compiling device modules side by side, each of them only if the cache does not have it.
//!
//! Under a `make` that shares out its jobs as many modules are compiled at once as make gives tokens for, and one more, which
//! is what make counts this process as. Where make's tokens cannot be had (it closes them for commands that it does not take
//! for a make of their own), one at a time. Without such a make all processors take part.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use jobserver::{Acquired, Client, FromEnvErrorKind};
use rayon::prelude::*;

use crate::cache::{Cache, Key};
use crate::{Error, extract};

/// How a target compiles a device module, with all options.
pub trait ImageCompiler: Sync {
    /// What comes out.
    type Image: Send;

    /// Where the cache has the image of `bitcode`.
    fn key(&self, bitcode: &[u8]) -> Key;

    /// Compiles a module, which is of no use afterwards.
    fn compile(&self, module: &Module<'_>) -> Result<Self::Image, Error>;

    /// An image as it is kept in the cache; `None` if it cannot be kept.
    fn encode(&self, image: &Self::Image) -> Option<Vec<u8>>;

    /// The image that [`ImageCompiler::encode`] made `bytes` of.
    fn decode(&self, bytes: &[u8]) -> Option<Self::Image>;
}

/// A device module that waits to be compiled, or one kernel of it by itself.
#[derive(Clone, Debug)]
pub struct Job<C> {
    /// The module as bitcode.
    pub bitcode: Arc<[u8]>,
    /// The kernel that is taken out of it; `None` for all that is there.
    pub kernel: Option<String>,
    /// What compiles it.
    pub compiler: C,
    /// Whether nothing comes of it where no time is left.
    pub is_optional: bool,
}

/// An image, and where the cache has it.
#[derive(Clone, Debug)]
pub struct Compiled<I> {
    /// The key in the cache that it was looked up in.
    pub key: Key,
    /// The image.
    pub image: I,
}

impl<C: ImageCompiler> Job<C> {
    /// Compiles it, unless the cache has what comes out.
    ///
    /// # Errors
    /// What the compiler refuses.
    pub fn compile(&self, cache: &Cache) -> Result<Compiled<C::Image>, Error> {
        let alone = self.kernel.as_ref().map(|kernel| extract(&self.bitcode, kernel)).transpose()?;
        let bitcode = alone.as_deref().unwrap_or(&self.bitcode);
        let key = self.compiler.key(bitcode);
        if let Some(image) = cache.read(key).and_then(|bytes| self.compiler.decode(&bytes)) {
            return Ok(Compiled { key, image });
        }
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "device");
        let module = Module::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|error| Error::internal("reading a device module", error.to_string()))?;
        let image = self.compiler.compile(&module)?;
        if let Some(bytes) = self.compiler.encode(&image) {
            cache.write(key, &bytes);
        }
        Ok(Compiled { key, image })
    }
}

/// Compiles device modules side by side. Results are in the order of the jobs; `None` for an optional one that was not begun
/// before the `deadline`.
pub fn compile_all<C: ImageCompiler>(
    jobs: &[Job<C>],
    cache: &Cache,
    deadline: Option<Instant>,
) -> Vec<Option<Result<Compiled<C::Image>, Error>>> {
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    side_by_side(jobs, share(), |job| (!(job.is_optional && is_late())).then(|| job.compile(cache)))
}

/// How much of the machine is ours.
enum Share {
    /// All of it.
    All,
    /// One processor.
    One,
    /// One processor, and one for each token that make gives.
    Tokens(Client),
}

static SHARE: OnceLock<Share> = OnceLock::new();

/// Takes part in the jobs of the `make` that runs this process. To be called before the process opens any file: make passes
/// its tokens by the numbers of open files.
pub fn join_make() {
    SHARE.get_or_init(|| match mlir_bridge::jobserver_of_make().client {
        Ok(client) => Share::Tokens(client),
        Err(error) => match error.kind() {
            FromEnvErrorKind::NoEnvVar | FromEnvErrorKind::NoJobserver => Share::All,
            _ => Share::One,
        },
    });
}

/// What [`join_make`] found; without it make's tokens are left alone.
fn share() -> &'static Share {
    SHARE.get_or_init(|| {
        let shared_out = std::env::var("MAKEFLAGS").is_ok_and(|flags| flags.contains("jobserver"));
        if shared_out { Share::One } else { Share::All }
    })
}

/// The stack of a thread that runs LLVM's passes, which go down expressions: as much as the first thread of a process may have.
const STACK: usize = 64 << 20;

/// The results of `work`, for which LLVM's passes run, for each item, in their order, with the part of the machine that is ours.
pub(crate) fn beside_one_another<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    match rayon::ThreadPoolBuilder::new().stack_size(STACK).build() {
        Ok(threads) => threads.install(|| side_by_side(items, share(), work)),
        Err(_) => items.iter().map(work).collect(),
    }
}

/// The results of `work` for each item, in their order, in which the items are begun too.
fn side_by_side<T: Sync, R: Send>(items: &[T], share: &Share, work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    let client = match share {
        Share::All if items.len() > 1 => return in_order(items, work),
        Share::Tokens(client) if items.len() > 1 => client,
        _ => return items.iter().map(work).collect(),
    };
    let permits = Arc::new(Permits::new(items.len()));
    let workers = rayon::current_num_threads().min(items.len());
    let given = permits.clone();
    let helper = client.clone().into_helper_thread(move |token| {
        if let Ok(token) = token {
            given.put(Some(token));
        }
    });
    let Ok(helper) = helper else { return items.iter().map(work).collect() };
    (1..workers).for_each(|_| helper.request_token());
    let with_permit = |item: &T| {
        let _held = permits.take();
        work(item)
    };
    in_order(items, with_permit)
}

/// Begins the items one after the other, on all processors.
fn in_order<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        items.get(at).map(|item| (at, work(item)))
    };
    let workers = 0..rayon::current_num_threads().min(items.len());
    let done = workers.into_par_iter().flat_map_iter(|_| std::iter::from_fn(&take));
    let mut done: Vec<(usize, R)> = done.collect();
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Permits to work: this process's own (`None`), and make's tokens.
struct Permits {
    free: Mutex<Vec<Option<Acquired>>>,
    more: Condvar,
    /// Items that nobody has begun.
    waiting: AtomicUsize,
}

impl Permits {
    fn new(items: usize) -> Self {
        Self { free: Mutex::new(vec![None]), more: Condvar::new(), waiting: AtomicUsize::new(items) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Option<Acquired>>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a permit to begin an item.
    fn take(&self) -> Held<'_> {
        let mut free = self.lock();
        loop {
            if let Some(permit) = free.pop() {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                return Held { permits: self, permit };
            }
            free = self.more.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Gives a permit to whoever waits; a token that nobody will want goes back to make.
    fn put(&self, permit: Option<Acquired>) {
        let mut free = self.lock();
        if self.waiting.load(Ordering::Relaxed) > 0 {
            free.push(permit);
            self.more.notify_one();
        }
    }
}

/// A permit while it is used.
struct Held<'p> {
    permits: &'p Permits,
    permit: Option<Acquired>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.permits.put(self.permit.take());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The most items at work at once, and the results.
    fn busiest(items: usize, share: &Share) -> (usize, Vec<usize>) {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let numbers: Vec<usize> = (0..items).collect();
        let results = side_by_side(&numbers, share, |number| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(5));
            now.fetch_sub(1, Ordering::SeqCst);
            number * 2
        });
        (most.into_inner(), results)
    }

    #[test]
    fn results_are_in_order() {
        let expected: Vec<usize> = (0..20).map(|number| number * 2).collect();
        for share in [Share::All, Share::One, Share::Tokens(Client::new(3).expect("a jobserver"))] {
            assert_eq!(busiest(20, &share).1, expected);
        }
    }

    #[test]
    fn one_processor_is_one() {
        assert_eq!(busiest(10, &Share::One).0, 1);
    }

    #[test]
    fn tokens_are_never_exceeded_and_all_go_back() {
        for tokens in [0, 1, 2] {
            let client = Client::new(tokens).expect("a jobserver");
            let (most, results) = busiest(30, &Share::Tokens(client.clone()));
            assert!((1..=tokens + 1).contains(&most), "{most} at work with {tokens} tokens");
            assert_eq!(results.len(), 30);
            assert_eq!(client.available().expect("a count"), tokens, "what was taken is given back");
        }
    }

    #[test]
    fn a_token_is_used() {
        if rayon::current_num_threads() < 2 {
            return;
        }
        let client = Client::new(1).expect("a jobserver");
        assert_eq!(busiest(40, &Share::Tokens(client)).0, 2);
    }
}
