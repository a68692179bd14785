//! What clang is told once more after it has rejected a source that nvcc may take.
//!
//! In this order, each only where the source has it: what texture functions call is there, which takes clang a third of its time and
//! is left out of sources that do not seem to call them (`TEXTURES`); the host side is compiled as a part of a linked program where
//! device code launches kernels (`linked_registration`); brackets of launches are closed up (`launch_tokens`), objects in shared
//! memory are left uninitialised (`shared_objects`), signs in inline PTX doubled (`asm_escapes`), templates of dependent classes called so
//! (`dependent_templates`), empty braces given a type (`empty_braces`) and operands of inline PTX separated (`asm_operands`) in the files
//! that clang finds errors in, which it then gets under their own names
//! (an overlay of its file system); and `__NVCC__` is defined where a file of the user's asks for it. Sources that clang takes as
//! they are never come here: they are compiled once, and see no `__NVCC__`.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::clang::Clang;
use crate::error::Error;
use crate::unit::TranslationUnit;
use crate::{
    asm_escapes, asm_operands, dependent_templates, empty_braces, launch_tokens, linked_registration, shared_objects,
};

/// What has been conceded to one source so far.
pub struct Concessions {
    /// Files that clang reads otherwise, and where their text is.
    files: Vec<(PathBuf, PathBuf)>,
    /// How often files were read otherwise.
    rounds: usize,
    /// Whether device code launches kernels, of which the host side must know.
    launches: bool,
    /// Whether texture functions may be called.
    textures: bool,
    /// Whether `__NVCC__` is defined.
    names_nvcc: bool,
}

/// What all texture functions of CUDA's headers call; clang's own header defines it.
const TEXTURES: &str = "'__nv_tex_surf_handler'";
/// Beginnings of their names.
const FETCHES: &[&str] = &["tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D", "surfCubemap"];

/// clang stops at the twentieth error: a file that has many takes several rounds.
const MOST_ROUNDS: usize = 20;

impl Concessions {
    /// What a source needs that is seen at once. What it includes is not looked at.
    pub fn of(unit: &TranslationUnit) -> Self {
        let text = std::fs::read(unit.stdin.as_ref().unwrap_or(&unit.input)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let textures = FETCHES.iter().any(|name| text.contains(name));
        Self { files: Vec::new(), rounds: 0, launches: false, textures, names_nvcc: false }
    }

    /// Options for all commands that compile the source.
    ///
    /// # Errors
    /// The overlay cannot be written.
    pub fn options(&self, scratch: &Path) -> Result<Vec<OsString>, Error> {
        let mut options = Vec::new();
        if !self.files.is_empty() {
            let path = scratch.join("overlay.yaml");
            write(&path, &overlay(&self.files))?;
            options.extend(["-ivfsoverlay".into(), path.into_os_string()]);
        }
        if self.names_nvcc {
            options.push("-D__NVCC__=1".into());
        }
        if !self.textures {
            options.push("-D__REGRAIN_NO_TEXTURES__".into());
        }
        Ok(options)
    }

    /// Options for the command that compiles the host side.
    pub fn host_options(&self, unit: &TranslationUnit) -> Vec<OsString> {
        if self.launches { linked_registration::options(unit) } else { Vec::new() }
    }

    /// Concedes to a source that was rejected with `stderr` what has not been conceded yet. `false`: there is nothing left.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn concede(
        &mut self,
        clang: &Clang,
        unit: &TranslationUnit,
        scratch: &Path,
        stderr: &str,
    ) -> Result<bool, Error> {
        if !self.textures && stderr.contains(TEXTURES) {
            self.textures = true;
            return Ok(true);
        }
        if self.names_nvcc {
            return Ok(false);
        }
        let mut changed = unit.relocatable && !self.launches && stderr.contains(linked_registration::ERROR);
        self.launches |= changed;
        for (file, errors) in errors_by_file(stderr) {
            changed |= self.rounds < MOST_ROUNDS && self.change(file, &errors, scratch)?;
        }
        self.rounds += 1;
        if !changed {
            self.names_nvcc = asks_for_nvcc(clang, unit)?;
        }
        Ok(changed || self.names_nvcc)
    }

    /// Whether `__NVCC__` was the last that could be conceded: what clang says then is of a source that its user did not write.
    pub fn is_last(&self) -> bool {
        self.names_nvcc
    }

    /// Changes the text of a file in which clang found `errors`, where that may help.
    fn change(&mut self, file: PathBuf, errors: &[Located<'_>], scratch: &Path) -> Result<bool, Error> {
        let known = self.files.iter().position(|(name, _)| *name == file);
        let now = known.map_or(&file, |index| &self.files[index].1);
        let Some(text) = std::fs::read(now).ok().and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(false);
        };
        let places = |what: &str| -> Vec<(usize, usize)> {
            errors.iter().filter(|error| error.message.starts_with(what)).map(|error| error.place).collect()
        };
        // Places are those of the text as clang saw it; closing brackets up moves none of them, each of the others does.
        let closed = launch_tokens::close_up(&text);
        let seen = closed.as_deref().unwrap_or(&text);
        let reserved = shared_objects::leave_uninitialized(seen, &places(shared_objects::ERROR));
        let reserved = reserved.or_else(|| asm_escapes::double(seen, &places(asm_escapes::ERROR)));
        let templates = dependent_templates::ERRORS.map(places).concat();
        let reserved = reserved.or_else(|| dependent_templates::say(seen, &templates));
        let types = errors.iter().map(|error| (error.place, empty_braces::assigned_type(error.message)));
        let braces: Vec<_> = types.filter_map(|(place, of_type)| Some((place, of_type?))).collect();
        let reserved = reserved.or_else(|| empty_braces::say(seen, &braces));
        let reserved = reserved.or_else(|| asm_operands::separate(seen, &places(asm_operands::ERROR)));
        let Some(changed) = reserved.or(closed) else { return Ok(false) };
        let path = scratch.join(format!("changed-{}", known.unwrap_or(self.files.len())));
        write(&path, &changed)?;
        if known.is_none() {
            self.files.push((file, path));
        }
        Ok(true)
    }
}

/// An error of clang's in a file.
struct Located<'e> {
    /// Line and column, from 1.
    place: (usize, usize),
    message: &'e str,
}

/// The files that errors in `stderr` are about, as clang names them.
fn errors_by_file(stderr: &str) -> Vec<(PathBuf, Vec<Located<'_>>)> {
    let mut files: Vec<(PathBuf, Vec<Located<'_>>)> = Vec::new();
    for line in stderr.lines() {
        let Some((place, message)) = line.split_once(": error: ").or_else(|| line.split_once(": fatal error: ")) else {
            continue;
        };
        let mut parts = place.rsplitn(3, ':');
        let (column, line) = (parts.next().and_then(|n| n.parse().ok()), parts.next().and_then(|n| n.parse().ok()));
        let (Some(column), Some(line), Some(file)) = (column, line, parts.next().map(PathBuf::from)) else { continue };
        let error = Located { place: (line, column), message };
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, errors)) => errors.push(error),
            None => files.push((file, vec![error])),
        }
    }
    files
}

/// An overlay of clang's file system in which each file has the text of the other.
fn overlay(files: &[(PathBuf, PathBuf)]) -> String {
    let quoted = |path: &Path| {
        let text = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    let entries: Vec<String> = files
        .iter()
        .map(|(name, text)| {
            let (name, text) = (quoted(&without_dots(name)), quoted(text));
            format!(r#"{{"type": "file", "name": {name}, "external-contents": {text}}}"#)
        })
        .collect();
    format!(r#"{{"version": 0, "use-external-names": false, "roots": [{}]}}"#, entries.join(", "))
}

/// The whole path, without `.` and `..`, as the overlay looks it up.
fn without_dots(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Whether a file of the user's names `__NVCC__`.
fn asks_for_nvcc(clang: &Clang, unit: &TranslationUnit) -> Result<bool, Error> {
    let mut command = clang.cuda_command(unit)?;
    command.args(["--cuda-host-only", "-MM"]).arg(&unit.input);
    let Ok(output) = command.output() else { return Ok(false) };
    let rule = String::from_utf8_lossy(&output.stdout).replace("\\\n", " ");
    let files = rule.split_once(": ").map_or("", |(_, files)| files).split_whitespace();
    let names =
        |file: &str| std::fs::read(file).is_ok_and(|bytes| bytes.windows(8).any(|window| window == b"__NVCC__"));
    Ok(files.into_iter().any(names))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|source| Error::Io { path: path.display().to_string(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_their_files() {
        let stderr = "a.cu:3:4: error: expected expression\n  k<< <1>>>\n./b c.h:1:2: fatal error: x\na.cu:9:1: error: y\nerror: z\n";
        let found = errors_by_file(stderr);
        let names: Vec<_> = found.iter().map(|(file, errors)| (file.display().to_string(), errors.len())).collect();
        assert_eq!(names, [("a.cu".to_owned(), 2), ("./b c.h".to_owned(), 1)]);
        assert_eq!((found[0].1[1].place, found[0].1[1].message), ((9, 1), "y"));
    }

    #[test]
    fn an_overlay_has_whole_paths() {
        let text = overlay(&[("/x/./y/../a \"b\".cu".into(), "/tmp/0".into())]);
        assert!(text.contains(r#""name": "/x/a \"b\".cu", "external-contents": "/tmp/0""#), "{text}");
    }
}
