//! What a driver says of itself: help, completions of shells, the manual page, version.

use std::fmt::Write as _;
use std::process::Command;

use anyhow::{Result, bail};
use regrain_frontend::Clang;
use regrain_targets::toolkit::Toolkit;

use crate::args::{Args, Driver, Inform};
use crate::table::{Does, Opt, TABLE, Value};
use crate::{archs, inputs};

/// Prints what was asked for.
///
/// # Errors
/// A shell that nobody knows.
pub fn inform(args: &Args, what: &Inform) -> Result<()> {
    match what {
        Inform::Help { all: false } => print!("{}", help(args.driver, &Opt::is_ours, "")),
        Inform::Help { all: true } => {
            print!("{}", help(args.driver, &|option| is_described(option, args.driver), ""));
            if args.driver == Driver::Regrain {
                println!("\nEverything else is clang's:\n");
                let status = Command::new(Clang::find()?.path()).arg("--help").status();
                status.map_err(|cause| anyhow::anyhow!("cannot run clang: {cause}"))?;
            }
        }
        Inform::Completions(shell) => print!("{}", completions(args.driver, shell)?),
        Inform::ManPage => print!("{}", man_page(args.driver)),
        Inform::Version => print!("{}", version(Toolkit::find(args.cuda_path.as_deref()).ok().as_ref())),
        Inform::Inputs => print!("{}", inputs::lines(args)),
        Inform::Chips { prefix } => {
            let toolkit = Toolkit::find(args.cuda_path.as_deref()).ok();
            archs::chips(toolkit.as_ref(), false).iter().for_each(|chip| println!("{prefix}{chip}"));
        }
    }
    Ok(())
}

/// Whether the table says more of an option than that clang has it.
fn is_described(option: &Opt, driver: Driver) -> bool {
    option.is_for(driver) && option.help != "as clang has it"
}

fn name(driver: Driver) -> &'static str {
    match driver {
        Driver::Regrain => "regrain",
        Driver::Nvcc => "regrain-nvcc",
    }
}

/// An option with its value.
fn spelled(option: &Opt, name: &str) -> String {
    let between = match option.value {
        Value::None | Value::Joined => "",
        Value::Separate | Value::Either => " ",
        Value::Equals | Value::Any => "=",
    };
    format!("{name}{between}{}", option.meta)
}

fn help(driver: Driver, shown: &dyn Fn(&Opt) -> bool, more: &str) -> String {
    let name = name(driver);
    let overview = match driver {
        Driver::Regrain => "Regrain, clang for CUDA at any grain",
        Driver::Nvcc => "Regrain with nvcc's command line",
    };
    let mut text = format!("OVERVIEW: {overview}\n\nUSAGE: {name} [options] file...\n\nOPTIONS OF REGRAIN:\n");
    for option in TABLE.iter().filter(|option| option.is_for(driver) && shown(option)) {
        let head = spelled(option, option.names[0]);
        let gap = if head.len() > 28 { format!("\n{:31}", "") } else { " ".repeat(29 - head.len()) };
        let _ = writeln!(text, "  {head}{gap}{}", option.help);
    }
    text.push_str(more);
    text.push_str(match driver {
        Driver::Regrain => "\nREGRAIN_APPEND_FLAGS in the environment has options that stand behind all others.\nAll else is clang's: --help-all lists it.\n",
        Driver::Nvcc => {
            "\nNVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS in the environment have further options.\nnvcc's options are listed by --help-all.\n"
        }
    });
    text
}

/// nvcc's words about its version, with our name. CMake knows nvcc by the first line, and the version by what follows `V`.
fn version(toolkit: Option<&Toolkit>) -> String {
    let release = toolkit.map_or("12.9".into(), |toolkit| toolkit.version.to_string());
    let build = toolkit.and_then(Toolkit::ptxas_version).unwrap_or_else(|| format!("{release}.0"));
    format!(
        "regrain-nvcc: NVIDIA (R) Cuda compiler driver's command line, by Regrain {}\nCuda compilation tools, release {release}, V{build}\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// All names of options that a driver lists, with their help.
fn listed(driver: Driver) -> impl Iterator<Item = (&'static str, &'static Opt)> {
    let seen = move |option: &&Opt| option.is_for(driver) && !matches!(option.does, Does::Refused(_) | Does::Unknown);
    TABLE.iter().filter(seen).flat_map(|option| option.names.iter().map(move |name| (*name, option)))
}

/// The script that lets `shell` complete options of `driver`.
fn completions(driver: Driver, shell: &str) -> Result<String> {
    let program = name(driver);
    let function = program.replace('-', "_");
    let words = |option: &'static Opt, name: &str| match option.value {
        Value::Equals => format!("{name}="),
        _ => name.to_owned(),
    };
    let quoted = |text: &str| text.replace('\'', "'\\''");
    let mut text = String::new();
    match shell {
        "bash" => {
            let all: Vec<String> = listed(driver).map(|(name, option)| words(option, name)).collect();
            let _ = write!(
                text,
                "_{function}() {{\n  local word=${{COMP_WORDS[COMP_CWORD]}}\n  case $word in\n    -*) COMPREPLY=($(compgen -W '{}' -- \"$word\")) ;;\n    \
                 *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n  [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace\n}}\n\
                 complete -o filenames -F _{function} {program}\n",
                all.join(" ")
            );
        }
        "zsh" => {
            let _ = writeln!(text, "#compdef {program}\n_arguments \\");
            for (name, option) in listed(driver) {
                let attached = match option.value {
                    Value::None => "",
                    Value::Joined => "-:value:_files",
                    Value::Separate => ":value:_files",
                    Value::Either | Value::Any => "+:value:_files",
                    Value::Equals => "=:value:_files",
                };
                let (sign, value) = attached.split_at(attached.find(':').unwrap_or(0));
                let help = option.help.replace('[', "(").replace(']', ")");
                let _ = writeln!(text, "  '{}{sign}[{}]{value}' \\", quoted(name).replace(':', "\\:"), quoted(&help));
            }
            text.push_str("  '*:file:_files'\n");
        }
        "fish" => {
            for (name, option) in listed(driver) {
                let (kind, name) = name.strip_prefix("--").map_or(("o", &name[1..]), |long| ("l", long));
                let value = if option.value == Value::None { "" } else { " -r" };
                let name = name.trim_end_matches('=');
                let _ = writeln!(
                    text,
                    "complete -c {program} -{kind} '{}'{value} -d '{}'",
                    quoted(name),
                    option.help.replace('\'', "\\'")
                );
            }
        }
        _ => bail!("no completions for '{shell}', expected bash, zsh or fish"),
    }
    Ok(text)
}

/// The manual page, in the language of man.
fn man_page(driver: Driver) -> String {
    let program = name(driver);
    let escaped = |text: &str| text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    let overview = match driver {
        Driver::Regrain => "clang for CUDA at any grain",
        Driver::Nvcc => "Regrain with the command line of nvcc",
    };
    let mut text = format!(
        ".TH {} 1 \"\" \"Regrain {}\"\n.SH NAME\n{} \\- {overview}\n.SH SYNOPSIS\n.B {}\n[options] file...\n.SH OPTIONS\n",
        program.to_uppercase(),
        env!("CARGO_PKG_VERSION"),
        escaped(program),
        escaped(program)
    );
    for option in TABLE.iter().filter(|option| is_described(option, driver)) {
        let heads: Vec<String> = option.names.iter().map(|name| escaped(&spelled(option, name))).collect();
        let _ = writeln!(text, ".TP\n.B {}\n{}.", heads.join(", "), escaped(option.help));
    }
    text
}

/// What clang says of its version (`--version`, `-v`), with our name and version in the first line. Build systems take the first
/// number there for clang's version, so ours stands behind.
pub fn clang_version(said: &str) -> String {
    let Some((line, rest)) = said.split_once('\n') else { return said.to_owned() };
    let Some((vendor, version)) = line.split_once("clang version ") else { return said.to_owned() };
    let (number, built) = version.split_once(' ').unwrap_or((version, ""));
    let of = format!("{}{}", vendor, built.trim_matches(['(', ')']));
    let of = of.trim();
    let of = if of.is_empty() { String::new() } else { format!(", {of}") };
    format!("Regrain clang version {number} (regrain {}{of})\n{rest}", env!("CARGO_PKG_VERSION"))
}
