//! A command line, word by word, by the table of options.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::args::{Args, Driver, Output};
use crate::table::{self, Does, Found, Scope};

/// Options that stand behind those of every command line, as a shell would split them, in `regrain`'s spelling.
pub const APPEND_FLAGS: &str = "REGRAIN_APPEND_FLAGS";

/// The command line of this process, with what the environment adds.
pub fn of_process(driver: Driver) -> Result<Args> {
    let own = std::env::args_os().skip(1);
    let mut args = Args { driver, ..Args::default() };
    match driver {
        Driver::Regrain => args.take(own)?,
        // As nvcc has it.
        Driver::Nvcc => {
            let (before, after) = (from_environment("NVCC_PREPEND_FLAGS")?, from_environment("NVCC_APPEND_FLAGS")?);
            args.take(before.into_iter().chain(own).chain(after))?;
            // gcc's warnings, and its options that do nothing here, need not mean anything to clang.
            args.compile_host.push("-Wno-unknown-warning-option".into());
            args.compile.push("-Wno-unused-command-line-argument".into());
            args.link.push("-Wno-unused-command-line-argument".into());
        }
    }
    args.driver = Driver::Regrain;
    args.take(from_environment(APPEND_FLAGS)?)?;
    args.driver = driver;
    args.complete()?;
    Ok(args)
}

fn from_environment(name: &str) -> Result<Vec<OsString>> {
    let text = std::env::var(name).unwrap_or_default();
    let words = shlex::split(&text).with_context(|| format!("unbalanced quotes in {name}"))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// Parses a command line, `@file`s included.
pub fn parse(driver: Driver, raw: impl IntoIterator<Item = OsString>) -> Result<Args> {
    let mut args = Args { driver, ..Args::default() };
    args.take(raw)?;
    args.complete()?;
    Ok(args)
}

impl Args {
    /// Takes words of the driver's own command line.
    pub(crate) fn take(&mut self, raw: impl IntoIterator<Item = OsString>) -> Result<()> {
        let mut rest = expand(raw)?.into_iter();
        while let Some(word) = rest.next() {
            let text = word.to_string_lossy().into_owned();
            if text == "-" || !text.starts_with('-') {
                self.add_input(PathBuf::from(word));
                continue;
            }
            match table::find(self.driver, &text) {
                Some(found) => self.take_option(found, word, &mut rest)?,
                None if self.driver == Driver::Nvcc => self.extra.unknown.push(text),
                // What we do not know is clang's.
                None => self.forward(Does::Compile, &[word]),
            }
        }
        Ok(())
    }

    fn take_option(&mut self, found: Found, word: OsString, rest: &mut impl Iterator<Item = OsString>) -> Result<()> {
        let name = found.name;
        let mut words = vec![word];
        if found.wants_next() {
            let next = rest.next();
            words.push(next.with_context(|| format!("argument to '{name}' is missing (expected 1 value)"))?);
        }
        let value = match found.joined {
            Some(value) => value,
            None => words.get(1).map_or(String::new(), |value| value.to_string_lossy().into_owned()),
        };
        if let (Scope::NvccElse(instead), Driver::Regrain) = (found.option.scope, self.driver) {
            bail!("'{name}' is an option of nvcc's, which regrain-nvcc takes; in clang's spelling: {instead}");
        }
        let is_ours = matches!(found.option.does, Does::Ours(_) | Does::Sets(_) | Does::Means(_));
        if is_ours && words.iter().any(|word| word.to_str().is_none()) {
            bail!("value of '{name}' is not UTF-8: '{value}'");
        }
        match found.option.does {
            Does::Ours(set) => set(self, &value).map_err(|reason| in_option(&words, reason)),
            Does::Sets(set) => {
                set(self, &value).map_err(|reason| in_option(&words, reason))?;
                if found.option.scope == Scope::Regrain || matches!(name, "-v" | "--verbose") {
                    self.clang.extend(words);
                }
                Ok(())
            }
            Does::Means(meaning) => self.take_meaning(meaning, &value),
            Does::Unknown => bail!("unknown argument: '{}'", words[0].to_string_lossy()),
            Does::Refused(advice) => bail!("'{name}' is not supported: {advice}"),
            does => {
                self.forward(does, &words);
                Ok(())
            }
        }
    }

    /// Takes clang's words for an option of nvcc's, once for each value.
    fn take_meaning(&mut self, meaning: &str, value: &str) -> Result<()> {
        for one in commas(value) {
            let words = meaning.split_whitespace().map(|word| word.replace("{}", &one).into());
            self.clang_words(words.collect())?;
        }
        Ok(())
    }

    /// Takes words in clang's spelling.
    pub(crate) fn clang_words(&mut self, words: Vec<OsString>) -> Result<()> {
        let driver = std::mem::replace(&mut self.driver, Driver::Regrain);
        let taken = self.take(words);
        self.driver = driver;
        taken
    }

    /// Takes words for the host compiler. What concerns the code of a side alone must not reach device code.
    pub(crate) fn host_words(&mut self, words: &[String]) -> Result<()> {
        let (host, both): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| is_for_host_code(word));
        self.clang.extend(host.iter().map(OsString::from));
        self.compile_host.extend(host.iter().map(OsString::from));
        // nvcc gives them to the host compiler where it links too, which then judges those that nobody knows.
        let is_unknown = |word: &&&String| word.starts_with('-') && table::find(Driver::Regrain, word).is_none();
        self.link.extend(host.iter().chain(both.iter().filter(is_unknown)).map(OsString::from));
        self.clang_words(both.into_iter().map(OsString::from).collect())
    }

    /// Hands words to clang.
    fn forward(&mut self, does: Does, words: &[OsString]) {
        self.clang.extend_from_slice(words);
        if matches!(does, Does::Link | Does::CompileAndLink) {
            self.link.extend_from_slice(words);
        }
        match does {
            Does::Link => {}
            Does::Clang => self.kind = Output::ClangOnly,
            _ => self.compile.extend_from_slice(words),
        }
    }
}

/// Whether an option of a host compiler is about the code that it makes, or what it says of it.
fn is_for_host_code(word: &str) -> bool {
    let both = ["-fopenmp", "-fsanitize", "-flto", "-fprofile", "-fuse-ld", "-Wl,", "-Wp,", "-Wa,"];
    let host = ["-O", "-g", "-W", "-w", "-f"];
    host.iter().any(|start| word.starts_with(start)) && !both.iter().any(|start| word.starts_with(start))
}

fn in_option(words: &[OsString], reason: anyhow::Error) -> anyhow::Error {
    let option: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let (option, reason) = (option.join(" "), reason.to_string());
    if reason.contains(&option) { anyhow!(reason) } else { anyhow!("in '{option}': {reason}") }
}

/// Replaces `@file` by the file's words, as clang does.
fn expand(raw: impl IntoIterator<Item = OsString>) -> Result<Vec<OsString>> {
    let mut out = Vec::new();
    for arg in raw {
        let text = arg.to_string_lossy().into_owned();
        match text.strip_prefix('@').filter(|name| Path::new(name).exists()) {
            Some(name) => out.extend(expand(words_of_file(name, "response file")?)?),
            None => out.push(arg),
        }
    }
    Ok(out)
}

/// The words of a file of options.
pub(crate) fn words_of_file(name: &str, what: &str) -> Result<Vec<OsString>> {
    let content = std::fs::read_to_string(name).with_context(|| format!("cannot read {what} '{name}'"))?;
    let words = shlex::split(&content).with_context(|| format!("unbalanced quotes in {what} '{name}'"))?;
    Ok(words.into_iter().map(OsString::from).collect())
}

/// The parts of nvcc's lists: what stands between commas, but for those behind a backslash or within quotes.
pub(crate) fn commas(list: &str) -> Vec<String> {
    let unquoted = |part: &String| shlex::split(part).map_or_else(|| part.clone(), |words| words.join(" "));
    parts(list).iter().map(unquoted).collect()
}

/// The words of nvcc's lists of options for another tool, whose parts a shell splits.
pub(crate) fn tool_words(list: &str) -> Vec<String> {
    let words = |part: &String| shlex::split(part).unwrap_or_else(|| vec![part.clone()]);
    parts(list).iter().flat_map(words).collect()
}

fn parts(list: &str) -> Vec<String> {
    let (mut parts, mut part, mut quote) = (Vec::new(), String::new(), None);
    let mut rest = list.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, quote) {
            ('\\', _) if rest.peek() == Some(&',') => part.extend(rest.next()),
            ('\\', _) => {
                part.push(character);
                part.extend(rest.next());
            }
            (',', None) => parts.push(std::mem::take(&mut part)),
            (character, open) => {
                quote = match open {
                    Some(open) if open == character => None,
                    None if matches!(character, '"' | '\'') => Some(character),
                    open => open,
                };
                part.push(character);
            }
        }
    }
    parts.push(part);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Args {
        parse(Driver::Regrain, line.split_whitespace().map(OsString::from)).expect("a valid command line")
    }

    fn nvcc(line: &str) -> Result<Args> {
        parse(Driver::Nvcc, line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn separates_compiling_from_linking() {
        let args = parsed("a.cu b.o -O3 -Iinc -I inc2 -lm -L lib -o app -DX=1 -std=c++17 -fopenmp");
        assert_eq!(args.compile, ["-O3", "-Iinc", "-I", "inc2", "-DX=1", "-std=c++17", "-fopenmp"]);
        assert_eq!(args.link, ["b.o", "-lm", "-L", "lib", "-fopenmp"]);
        assert_eq!(args.output.as_deref(), Some(Path::new("app")));
        assert!(args.inputs[0].cuda && !args.inputs[1].source);
    }

    #[test]
    fn takes_lists_of_architectures() {
        let args = parsed("--offload-arch=cpu,sm_80 --offload-arch=sm_90 --no-offload-arch=sm_80 a.cu");
        assert_eq!(args.gpu.named, ["cpu", "sm_90"]);
    }

    #[test]
    fn language_option_makes_cuda() {
        let args = parsed("-x cuda a.cpp -x none b.cpp -c");
        assert!(args.inputs[0].cuda && !args.inputs[1].cuda);
        assert_eq!(args.kind, Output::Object);
    }

    #[test]
    fn unknown_option_of_ours_is_an_error() {
        for driver in [Driver::Regrain, Driver::Nvcc] {
            assert!(parse(driver, ["-fregrain-nonsense".into()]).is_err());
        }
    }

    #[test]
    fn options_of_nvcc_are_never_taken_for_others() {
        let args = parsed("-use_fast_math -lineinfo -dryrun -rdc=true -arch=sm_80 a.cu");
        assert!(args.arithmetic.fast && args.options.lines && args.dry_run && args.options.relocatable);
        assert!(args.link.is_empty(), "{:?}", args.link);
        let error = parse(Driver::Regrain, ["-lib".into()]).expect_err("clang would take it for a library");
        assert!(error.to_string().contains("'-lib' is an option of nvcc's"), "{error}");
    }

    #[test]
    fn options_of_the_host_compiler_do_not_reach_device_code() {
        let args = nvcc("-Xcompiler -O0,-fPIC,-pthread,-fopenmp -g a.cu").expect("a command line");
        assert_eq!(args.compile, ["-pthread", "-fopenmp"]);
        assert_eq!(args.compile_host, ["-O0", "-fPIC", "-g"]);
        assert!(!args.options.lines);
        assert_eq!(args.link, ["-O0", "-fPIC", "-pthread", "-fopenmp", "-g"]);
        assert!(nvcc("-fPIC a.cu").is_err() && nvcc("-fPIC -forward-unknown-to-host-compiler a.cu").is_ok());
    }

    #[test]
    fn no_option_panics_whatever_stands_behind_it() {
        let values = ["", "=", "=x", "x", "é", "=é,[", "=arch=,code=", ",,\\", "=\"", "=18446744073709551616"];
        for (driver, name) in [Driver::Regrain, Driver::Nvcc]
            .into_iter()
            .flat_map(|driver| table::TABLE.iter().flat_map(|option| option.names).map(move |name| (driver, name)))
        {
            for value in values {
                let word = OsString::from(format!("{name}{value}"));
                let _ = parse(driver, [word.clone()]);
                let _ = parse(driver, [word, value.into()]);
            }
        }
    }

    #[test]
    fn lists_end_at_commas_that_nothing_protects() {
        assert_eq!(commas("-Wall,-DX=a\\,b"), ["-Wall", "-DX=a,b"]);
        assert_eq!(commas("\"-Wall,-O2\",-g"), ["-Wall,-O2", "-g"]);
        assert_eq!(tool_words("-O2 -g,'-DX=a b',\"-DY=1,2\""), ["-O2", "-g", "-DX=a b", "-DY=1,2"]);
    }
}
