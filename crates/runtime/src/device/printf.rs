//! What kernels print: CUDA's `vprintf(format, packed arguments)`, and the message of `assert`.
//!
//! Arguments lie in a buffer with natural alignment. Each conversion is formatted by libc with exactly the program's
//! specification, and the whole line goes to C's `stdout` with one `fwrite`, so that it mixes rightly with the host's
//! own `printf`.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Whether kernels have printed since the last flush.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Flushes C's `stdout` if kernels have printed, as CUDA does with the device's print buffer at synchronisation.
pub fn flush() {
    if HAS_PRINTED.load(Ordering::Relaxed) {
        HAS_PRINTED.store(false, Ordering::Relaxed);
        flush_all();
    }
}

/// Flushes what the host has printed, too.
fn flush_all() {
    // SAFETY: `stdout` is C's stream, open for the life of the program.
    unsafe { libc::fflush(stdout) };
}

/// Writes to C's `stdout`.
pub fn write(bytes: &[u8]) {
    // SAFETY: as in `flush_all`; the length is the slice's.
    unsafe { libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stdout) };
    HAS_PRINTED.store(true, Ordering::Relaxed);
}

/// Prints a failed `assert` as CUDA does, behind what was printed before.
pub fn assertion(message: &str, file: &str, line: u32, function: &str, block: [u32; 3], thread: [u32; 3]) {
    let ([bx, by, bz], [tx, ty, tz]) = (block, thread);
    flush_all();
    eprintln!(
        "{file}:{line}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] Assertion `{message}` failed."
    );
}

/// Where the texts of `%s` are.
pub enum Texts<'a> {
    /// Where the arguments point to; they are touched by this before they are read.
    InPlace(fn(*const c_char)),
    /// Here, in the order of the arguments, whose pointers mean nothing on the host.
    Apart(std::slice::Iter<'a, std::ffi::CString>),
}

/// Reader of the packed arguments.
pub struct Args<'a> {
    next: usize,
    end: usize,
    texts: Texts<'a>,
}

impl<'a> Args<'a> {
    /// The arguments at an address, as many as the format names.
    pub fn at(address: *const c_void, reach: fn(*const c_char)) -> Self {
        Self { next: address as usize, end: usize::MAX, texts: Texts::InPlace(reach) }
    }

    /// The arguments in a slice, with their texts. What lies beyond its end is not there.
    pub fn within(bytes: &'a [u8], texts: &'a [std::ffi::CString]) -> Self {
        let range = bytes.as_ptr_range();
        Self { next: range.start as usize, end: range.end as usize, texts: Texts::Apart(texts.iter()) }
    }

    /// # Safety
    /// The buffer holds another argument of type `T`, or ends.
    unsafe fn take<T: Copy>(&mut self) -> Option<T> {
        let at = self.next.checked_next_multiple_of(align_of::<T>())?;
        let next = at.checked_add(size_of::<T>()).filter(|next| *next <= self.end)?;
        self.next = next;
        // SAFETY: by contract.
        Some(unsafe { (at as *const T).read() })
    }

    /// The text of a `%s`.
    ///
    /// # Safety
    /// As [`Args::take`].
    unsafe fn text(&mut self) -> Option<*const c_char> {
        // SAFETY: by contract.
        let pointer = unsafe { self.take::<*const c_char>() }?;
        let text = match &mut self.texts {
            Texts::InPlace(reach) => {
                if !pointer.is_null() {
                    reach(pointer);
                }
                pointer
            }
            Texts::Apart(texts) => texts.next()?.as_ptr(),
        };
        Some(if text.is_null() { c"(null)".as_ptr() } else { text })
    }
}

/// One `%` conversion, split from the format.
struct Spec {
    /// Flags, width and precision, with `*` resolved.
    head: Vec<u8>,
    long: bool,
    length: Vec<u8>,
    conversion: u8,
}

/// Splits the conversion after `%`; returns it and the number of bytes it takes.
///
/// # Safety
/// As [`Args::take`] for each `*`.
unsafe fn split(text: &[u8], args: &mut Args) -> Option<(Spec, usize)> {
    let mut at = 0;
    let mut head = Vec::new();
    while let Some(&c) = text.get(at) {
        match c {
            b'-' | b'+' | b' ' | b'#' | b'.' | b'0'..=b'9' => head.push(c),
            // SAFETY: by contract.
            b'*' => head.extend(unsafe { args.take::<i32>() }?.to_string().bytes()),
            _ => break,
        }
        at += 1;
    }
    let start = at;
    while matches!(text.get(at), Some(b'h' | b'l' | b'L' | b'z' | b'j' | b't' | b'q')) {
        at += 1;
    }
    let length = text[start..at].to_vec();
    let long = length.iter().any(|c| matches!(c, b'l' | b'z' | b'j' | b't' | b'q'));
    let conversion = *text.get(at)?;
    Some((Spec { head, long, length, conversion }, at + 1))
}

/// Formats one value with libc.
///
/// # Safety
/// The format takes exactly one argument, of the value's type.
unsafe fn format_one<T: Copy>(
    out: &mut Vec<u8>,
    format: &CStr,
    value: T,
    print: unsafe fn(&mut [u8], &CStr, T) -> i32,
) {
    let mut small = [0u8; 128];
    // SAFETY: by contract.
    let len = unsafe { print(&mut small, format, value) }.max(0) as usize;
    if len < small.len() {
        out.extend_from_slice(&small[..len]);
    } else {
        let mut large = vec![0u8; len + 1];
        // SAFETY: by contract.
        unsafe { print(&mut large, format, value) };
        out.extend_from_slice(&large[..len]);
    }
}

/// `snprintf` for one type of argument.
///
/// # Safety
/// The format takes exactly one argument of type `T`.
unsafe fn print<T: Vararg>(buffer: &mut [u8], format: &CStr, value: T) -> i32 {
    // SAFETY: by contract; the size is the buffer's.
    unsafe { value.print(buffer, format) }
}

/// Types that can be passed to a C variadic function.
trait Vararg: Copy {
    /// # Safety
    /// The format takes exactly one argument of this type.
    unsafe fn print(self, buffer: &mut [u8], format: &CStr) -> i32;
}

macro_rules! varargs {
    ($($ty:ty)*) => {$(
        impl Vararg for $ty {
            unsafe fn print(self, buffer: &mut [u8], format: &CStr) -> i32 {
                // SAFETY: by the trait's contract; the size is the buffer's.
                unsafe { libc::snprintf(buffer.as_mut_ptr().cast(), buffer.len(), format.as_ptr(), self) }
            }
        }
    )*};
}
varargs! { i32 u32 i64 u64 f64 *const c_char *const c_void }

/// # Safety
/// The arguments match the conversion.
unsafe fn convert(out: &mut Vec<u8>, spec: &Spec, args: &mut Args) -> Option<()> {
    let mut format = vec![b'%'];
    format.extend(&spec.head);
    let float = matches!(spec.conversion, b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A');
    if !float && !matches!(spec.conversion, b's' | b'c' | b'p') {
        format.extend(&spec.length);
    }
    format.extend([spec.conversion, 0]);
    let format = CStr::from_bytes_with_nul(&format).ok()?;
    // SAFETY: by contract.
    unsafe {
        match spec.conversion {
            b'd' | b'i' if spec.long => format_one(out, format, args.take::<i64>()?, print),
            b'd' | b'i' | b'c' => format_one(out, format, args.take::<i32>()?, print),
            b'u' | b'x' | b'X' | b'o' if spec.long => format_one(out, format, args.take::<u64>()?, print),
            b'u' | b'x' | b'X' | b'o' => format_one(out, format, args.take::<u32>()?, print),
            _ if float => format_one(out, format, args.take::<f64>()?, print),
            b'p' => format_one(out, format, args.take::<*const c_void>()?, print),
            b's' => format_one(out, format, args.text()?, print),
            _ => return None,
        }
    }
    Some(())
}

/// Formats all of `format`. Returns the bytes and the number of conversions.
///
/// # Safety
/// `args` holds what the conversions name, or ends.
pub unsafe fn render(format: &[u8], mut args: Args) -> (Vec<u8>, i32) {
    let mut out = Vec::with_capacity(format.len() + 32);
    let (mut at, mut count) = (0, 0);
    while at < format.len() {
        let rest = &format[at..];
        if rest[0] != b'%' {
            let plain = rest.iter().position(|c| *c == b'%').unwrap_or(rest.len());
            out.extend_from_slice(&rest[..plain]);
            at += plain;
        } else if rest.get(1) == Some(&b'%') {
            out.push(b'%');
            at += 2;
        } else {
            // SAFETY: by contract.
            let done = unsafe {
                split(&rest[1..], &mut args).and_then(|(spec, len)| convert(&mut out, &spec, &mut args).map(|()| len))
            };
            match done {
                Some(len) => {
                    at += 1 + len;
                    count += 1;
                }
                None => {
                    out.push(b'%');
                    at += 1;
                }
            }
        }
    }
    (out, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Packed {
        a: i32,
        b: f64,
        c: *const c_char,
        d: i64,
        e: u32,
        f: i32,
        g: *const c_void,
    }

    #[test]
    fn formats_all_kinds_of_arguments() {
        let args = Packed {
            a: -7,
            b: 1.5,
            c: c"hey".as_ptr(),
            d: 1 << 40,
            e: 0xbeef,
            f: 65,
            g: std::ptr::without_provenance(16),
        };
        // SAFETY: the arguments match the format.
        let (bytes, count) =
            unsafe { render(b"%5d|%.3f|%-5s|%lld|%#x|%c|%p|100%%", Args::at((&raw const args).cast(), |_| ())) };
        assert_eq!(String::from_utf8(bytes).as_deref(), Ok("   -7|1.500|hey  |1099511627776|0xbeef|A|0x10|100%"));
        assert_eq!(count, 7);
    }

    #[test]
    fn keeps_what_it_does_not_know() {
        // SAFETY: no argument is read.
        let (bytes, _) = unsafe { render(b"50%! and %", Args::at(std::ptr::null(), |_| ())) };
        assert_eq!(bytes, b"50%! and %");
    }

    #[test]
    fn reads_texts_apart_and_nothing_beyond_the_end() {
        let texts = [c"one".to_owned(), c"two".to_owned()];
        let words = [7_u64, 0, 0];
        // SAFETY: plain numbers.
        let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 24) };
        // SAFETY: the slice ends before the last argument.
        let (out, count) = unsafe { render(b"%d %s-%s %d|", Args::within(bytes, &texts)) };
        assert_eq!((out.as_slice(), count), (&b"7 one-two %d|"[..], 3));
    }
}
