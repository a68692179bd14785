//! `-MD` and its kin: the rule for make.
//!
//! A CUDA source is compiled once for each side, to bitcode in a temporary folder. The rule must name neither: one side
//! alone writes it, and the target and the file are those of the object that the user asked for. `-MJ` is the driver's own affair
//! for the same reason ([`crate::database`]).

use std::ffi::OsString;
use std::path::Path;

/// Options that take no value.
const PLAIN: &[&str] = &["-MD", "-MMD", "-MP", "-MG", "-MV"];

/// Options whose value is the next argument, or joined on.
const WITH_VALUE: &[&str] = &["-MF", "-MT", "-MQ"];

/// Divides `options` into those for every compilation and those about dependencies.
pub fn divide(options: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut compile, mut dependencies) = (Vec::new(), Vec::new());
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let text = option.to_string_lossy();
        if text.starts_with("-MJ") {
            if text == "-MJ" {
                rest.next();
            }
            continue;
        }
        let list = if is_about_dependencies(&text) { &mut dependencies } else { &mut compile };
        list.push(option.clone());
        let value_follows = WITH_VALUE.contains(&text.as_ref()) || text == "-Xclang";
        if value_follows {
            list.extend(rest.next().cloned());
        }
    }
    (compile, dependencies)
}

fn is_about_dependencies(option: &str) -> bool {
    PLAIN.contains(&option) || WITH_VALUE.iter().any(|name| option.starts_with(name)) || option.starts_with("-Wp,-M")
}

/// Completes the options of [`divide`] with what clang would have derived from the object's name.
pub fn complete(mut options: Vec<OsString>, object: &Path) -> Vec<OsString> {
    let has = |names: &[&str]| options.iter().any(|o| names.iter().any(|name| o.to_string_lossy().starts_with(name)));
    if !has(&["-MD", "-MMD", "-Wp,-MD", "-Wp,-MMD"]) {
        return options;
    }
    let (named, target) = (has(&["-MF", "-Wp,"]), has(&["-MT", "-MQ"]));
    if !named {
        options.extend(["-MF".into(), object.with_extension("d").into_os_string()]);
    }
    if !target {
        options.extend(["-MQ".into(), object.as_os_str().to_owned()]);
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn the_rule_is_about_the_object() {
        let (compile, dependencies) =
            divide(&words("-O2 -MD -I inc -MJ a.json -MF x.d -MJb.json -MTy -Xclang -MD -DM"));
        assert_eq!(compile, words("-O2 -I inc -Xclang -MD -DM"));
        assert_eq!(complete(dependencies, Path::new("a.o")), words("-MD -MF x.d -MTy"));
        assert_eq!(complete(words("-MMD"), Path::new("d/a.o")), words("-MMD -MF d/a.d -MQ d/a.o"));
        assert!(complete(Vec::new(), Path::new("a.o")).is_empty());
    }
}
