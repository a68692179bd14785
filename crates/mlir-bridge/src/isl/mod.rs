//! isl made safe: integer sets and relations in parameters, schedules of statements, and code that runs them.
//!
//! Sets and relations come from text and can be printed as text, in isl's own notation. Every operation may fail, where the
//! [`Context`]'s budget is spent too; nothing here panics or ends the process.

mod code;
mod probe;
mod schedule;
mod sets;

pub use code::{Code, Kind, Term, code_of, condition, term};
pub use probe::{Computing, begin};
pub use schedule::{Node, Schedule, Step};
pub use sets::{Set, UnionMap, UnionSet};

use std::ffi::{CStr, c_char};
use std::fmt;
use std::rc::Rc;

/// isl's declarations as bindgen makes them of its headers.
#[allow(
    non_camel_case_types,
    non_upper_case_globals,
    non_snake_case,
    dead_code,
    unreachable_pub,
    clippy::all,
    clippy::pedantic
)]
pub(crate) mod raw {
    include!(concat!(env!("OUT_DIR"), "/isl.rs"));

    unsafe extern "C" {
        /// The C library's own, for text that isl allocated.
        pub(crate) fn free(memory: *mut std::ffi::c_void);
    }
}

/// Why isl gave nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The operations that the context may take are spent.
    Budget,
    /// isl's own words.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Budget => f.write_str("its dependences and schedule take too long to compute"),
            Error::Failed(words) => write!(f, "isl: {words}"),
        }
    }
}

impl std::error::Error for Error {}

/// What operations give.
pub type Result<T> = std::result::Result<T, Error>;

struct Owned(*mut raw::isl_ctx);

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the last handle of a live context; every object of it holds a handle, so none is left.
        unsafe { raw::isl_ctx_free(self.0) }
    }
}

/// Where objects live. Objects of two contexts must not meet: an operation on both panics.
#[derive(Clone)]
pub struct Context(Rc<Owned>);

impl Context {
    /// A context whose objects take at most `operations` steps together, 0 for any number.
    pub fn new(operations: u64) -> Self {
        // SAFETY: a new context, with options that it has from the start.
        let owned = unsafe {
            let context = raw::isl_ctx_alloc();
            assert!(!context.is_null(), "no memory");
            raw::isl_options_set_on_error(context, raw::ISL_ON_ERROR_CONTINUE as i32);
            // A dimension that carries no dependence comes first where there is one; else one that carries all it can.
            raw::isl_options_set_schedule_outer_coincidence(context, 1);
            // Loops are not joined where less could run in parallel then.
            raw::isl_options_set_schedule_maximize_coincidence(context, 1);
            // Larger ones are no schedules that anyone wants, and what is computed of them may leave 64 bits.
            raw::isl_options_set_schedule_max_coefficient(context, 64);
            raw::isl_ctx_set_max_operations(context, operations);
            Owned(context)
        };
        Self(Rc::new(owned))
    }

    /// Whether schedules that are computed from now on have bands that may be tiled before dimensions that carry nothing.
    pub fn prefer_tilable(&self, tilable: bool) {
        // SAFETY: a live context with an option that it has from the start.
        let _ = unsafe { raw::isl_options_set_schedule_outer_coincidence(self.raw(), i32::from(!tilable)) };
    }

    /// Whether schedules that are computed from now on have bands of all statements that have to do with one another, or of those alone that are
    /// before as well as behind one another.
    pub fn schedule_whole(&self, whole: bool) {
        // SAFETY: a live context with an option that it has from the start.
        let _ = unsafe { raw::isl_options_set_schedule_whole_component(self.raw(), i32::from(whole)) };
    }

    fn raw(&self) -> *mut raw::isl_ctx {
        self.0.0
    }

    /// The error that the last operation left, which is forgotten.
    fn error(&self) -> Error {
        // SAFETY: a live context; its words are copied at once.
        unsafe {
            let budget = raw::isl_ctx_last_error(self.raw()) == raw::isl_error_isl_error_quota;
            let words = raw::isl_ctx_last_error_msg(self.raw());
            let words =
                if words.is_null() { "failed".into() } else { CStr::from_ptr(words).to_string_lossy().into_owned() };
            raw::isl_ctx_reset_error(self.raw());
            if budget { Error::Budget } else { Error::Failed(words) }
        }
    }

    /// What a call of isl gave, if it is not null.
    fn check<T>(&self, pointer: *mut T) -> Result<*mut T> {
        if pointer.is_null() { Err(self.error()) } else { Ok(pointer) }
    }

    /// What a question was answered.
    fn answer(&self, answer: raw::isl_bool) -> Result<bool> {
        if answer < 0 { Err(self.error()) } else { Ok(answer != 0) }
    }

    /// A number that isl gave.
    fn size(&self, size: raw::isl_size) -> Result<usize> {
        usize::try_from(size).map_err(|_| self.error())
    }

    fn same(&self, other: &Self) {
        assert!(Rc::ptr_eq(&self.0, &other.0), "expected objects of one context");
    }
}

/// Text that isl allocated.
///
/// # Safety
/// `text` is null or a string from `malloc` that nobody else frees.
unsafe fn text(text: *mut c_char) -> String {
    if text.is_null() {
        return "<no text>".into();
    }
    // SAFETY: a string by contract, which is copied before it is freed.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        raw::free(text.cast());
        copy
    }
}

/// An isl object with its context: copied by reference count, freed when dropped, shown as isl's text.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident, $raw:ident, $copy:ident, $free:ident, $show:ident) => {
        $(#[$doc])*
        pub struct $name {
            context: $crate::isl::Context,
            raw: *mut $crate::isl::raw::$raw,
        }

        impl $name {
            /// Takes what isl gave, null after an error.
            fn take(context: &$crate::isl::Context, raw: *mut $crate::isl::raw::$raw) -> $crate::isl::Result<Self> {
                Ok(Self { context: context.clone(), raw: context.check(raw)? })
            }

            /// A reference that isl may take.
            #[allow(dead_code)]
            fn give(&self) -> *mut $crate::isl::raw::$raw {
                // SAFETY: a live object.
                unsafe { $crate::isl::raw::$copy(self.raw) }
            }

            /// Where it lives.
            pub fn context(&self) -> &$crate::isl::Context {
                &self.context
            }
        }

        impl Clone for $name {
            fn clone(&self) -> Self {
                Self { context: self.context.clone(), raw: self.give() }
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: our own reference, given back once.
                let _ = unsafe { $crate::isl::raw::$free(self.raw) };
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // SAFETY: a live object; the text is our own.
                f.write_str(&unsafe { $crate::isl::text($crate::isl::raw::$show(self.raw)) })
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
use object;
