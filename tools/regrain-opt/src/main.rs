//! `mlir-opt` with Regrain's dialect and passes.
//!
//! Everything is MLIR's own `MlirOptMain`, apart from `-debug-only=<pass>[,<pass>...]` and
//! `-debug`, which the release build of MLIR lacks: they become filters of our tracing, which has
//! one target for each pass.

use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// What the arguments say about debug output, and the arguments for MLIR.
struct Arguments {
    debug: Vec<String>,
    rest: Vec<String>,
}

fn split_arguments(arguments: impl Iterator<Item = String>) -> Arguments {
    let mut debug = Vec::new();
    let mut rest = Vec::new();
    let mut arguments = arguments.peekable();
    while let Some(argument) = arguments.next() {
        let name = argument.strip_prefix("--").or(argument.strip_prefix('-')).unwrap_or("");
        if let Some(list) = name.strip_prefix("debug-only=") {
            debug.extend(list.split(',').map(str::to_owned));
        } else if name == "debug-only" {
            let list = arguments.next().unwrap_or_default();
            debug.extend(list.split(',').map(str::to_owned));
        } else if name == "debug" {
            debug.push("trace".to_owned());
        } else {
            rest.push(argument);
        }
    }
    Arguments { debug, rest }
}

/// A tracing filter that shows all of the named targets; the word `trace` shows everything.
fn filter(debug: &[String]) -> EnvFilter {
    let directives: Vec<String> = debug
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| if name == "trace" { name.clone() } else { format!("{name}=trace") })
        .collect();
    EnvFilter::new(directives.join(","))
}

fn main() -> ExitCode {
    let arguments = split_arguments(std::env::args());
    if !arguments.debug.is_empty() {
        tracing_subscriber::fmt()
            .with_env_filter(filter(&arguments.debug))
            .with_writer(std::io::stderr)
            .without_time()
            .with_ansi(false)
            .init();
    }
    regrain_dialects::register();
    regrain_passes::registry::register();
    mlir_bridge::register_upstream_passes();
    let code = mlir_bridge::tool::opt_main("Regrain optimizer driver\n", &arguments.rest);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::split_arguments;

    fn split(text: &str) -> (String, String) {
        let arguments = split_arguments(text.split(' ').map(str::to_owned));
        (arguments.debug.join(" "), arguments.rest.join(" "))
    }

    #[test]
    fn debug_only_is_taken_out() {
        let expected = ("a b".to_owned(), "regrain-opt --cse -".to_owned());
        assert_eq!(split("regrain-opt -debug-only=a,b --cse -"), expected);
        assert_eq!(split("regrain-opt --debug-only a,b --cse -"), expected);
    }

    #[test]
    fn other_switches_pass() {
        assert_eq!(split("regrain-opt --debug-counter=x a.mlir").0, "");
    }
}
