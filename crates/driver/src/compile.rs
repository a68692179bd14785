//! Compiling the sources of an invocation.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use regrain_compiler::{Kept, Record, SideFiles, Source, compile as compiler};

use crate::args::{Driver, Input, Keep, Output, Records};
use crate::database;
use crate::dependencies;
use crate::device_linker;
use crate::session::Session;

/// Compiles every source; gives the objects to link in place of the sources, in the order of the inputs.
pub fn all(session: &Session) -> Result<HashMap<usize, PathBuf>> {
    let mut objects = HashMap::new();
    for (index, input) in session.args.inputs.iter().enumerate() {
        if !input.source {
            continue;
        }
        let output = match session.args.kind {
            Output::Linked | Output::DeviceLinked => session.scratch(&format!("{index}.o")),
            Output::Archive => session.scratch(&member_name(input, index)),
            Output::Assembly => {
                let usual = compiler::text_extension(&session.args.options, &session.archs);
                session.default_output(input, session.args.extra.extension.unwrap_or(usual))
            }
            _ => {
                let usual = if session.args.options.emit.llvm { "bc" } else { "o" };
                session.default_output(input, session.args.extra.extension.unwrap_or(usual))
            }
        };
        if input.cuda {
            cuda(session, input, index, &output)?;
        } else {
            plain(session, input, &output)?;
        }
        objects.insert(index, output);
    }
    Ok(objects)
}

/// The name of a member of an archive: the source's, where no other source has it.
fn member_name(input: &Input, index: usize) -> String {
    let stem = input.path.file_stem().unwrap_or("a".as_ref()).to_string_lossy().into_owned();
    format!("{index}-{stem}.o")
}

/// A source that is not CUDA: clang's. The toolkit's headers are found after all others, as nvcc's users expect.
fn plain(session: &Session, input: &Input, output: &Path) -> Result<()> {
    let mut command = Command::new(session.clang.path());
    command.args(&session.args.records.words);
    match &session.args.keep {
        Some(Keep::BesideOutput) if session.args.kind != Output::Linked => drop(command.arg("-save-temps=obj")),
        Some(_) => drop(command.arg("-save-temps")),
        None => {}
    }
    command.args(&session.args.compile).args(&session.args.compile_host);
    command.arg(if session.args.kind == Output::Assembly { "-S" } else { "-c" });
    if session.args.options.emit.llvm {
        command.arg("-emit-llvm");
    }
    if let Ok(toolchain) = session.toolchain() {
        command.arg("-idirafter").arg(&toolchain.toolkit.include);
    }
    if let Some(language) = &input.language {
        command.args(["-x", language]);
    }
    if let Some(dialect) = session.args.extra.standard.as_ref().filter(|_| !is_c(input)) {
        command.arg(format!("-std={dialect}"));
    }
    command.arg(&input.path).arg("-o").arg(output);
    session.run(&mut command)
}

fn is_c(input: &Input) -> bool {
    let extension = input.path.extension().map(|extension| extension.to_string_lossy().into_owned());
    input.language.as_deref().map_or(extension.as_deref() == Some("c"), |language| language == "c")
}

fn cuda(session: &Session, input: &Input, index: usize, output: &Path) -> Result<()> {
    if let Some(made) = device_linker::linked_for(&input.path, &session.args.compile) {
        return std::fs::copy(&made, output).map(drop).with_context(|| format!("cannot copy '{}'", made.display()));
    }
    let (_, options) = dependencies::divide(&session.args.compile);
    let mut unit = session.unit(input)?;
    if input.path == Path::new("-") {
        unit.stdin = Some(standard_input(session)?);
    }
    let object = match session.args.kind {
        Output::Linked => Path::new(input.path.file_stem().unwrap_or("stdin".as_ref())).with_extension("o"),
        _ => output.to_path_buf(),
    };
    if let Some(to) = database::file(&session.args.compile).filter(|_| !session.args.dry_run) {
        database::write(session, &unit, &object, &to)?;
    }
    let scratch = session.scratch(&index.to_string());
    std::fs::create_dir(&scratch).context("cannot make a temporary folder")?;
    // The finished file is moved into place, so that a failure leaves nothing half done behind.
    Ok(regrain_compiler::compile(&Source {
        toolchain: session.toolchain()?,
        options: &session.args.options,
        unit,
        dependencies: dependencies::complete(options, &object),
        archs: &session.archs,
        output: output.to_path_buf(),
        scratch,
        side_files: side_files(session, input, &object),
        sequential: input.sequential.clone(),
    })?)
}

/// Each side of a source is compiled by itself, so what comes on standard input is kept.
fn standard_input(session: &Session) -> Result<PathBuf> {
    let path = session.scratch("standard-input.cu");
    let mut file = std::fs::File::create(&path).context("cannot make a temporary file")?;
    std::io::copy(&mut std::io::stdin(), &mut file).context("cannot read standard input")?;
    Ok(path)
}

/// What is made beside `object`, by clang's names.
fn side_files(session: &Session, input: &Input, object: &Path) -> SideFiles {
    let Records { optimisation, file, trace, .. } = &session.args.records;
    let record = optimisation.map(|bitstream| {
        let extension = if bitstream { "opt.bitstream" } else { "opt.yaml" };
        Record { path: file.clone().unwrap_or_else(|| object.with_extension(extension)), bitstream }
    });
    let json = object.with_extension("json");
    let trace = trace.clone().map(|path| match path {
        Some(folder) if folder.is_dir() => folder.join(json.file_name().unwrap_or_default()),
        Some(path) => path,
        None => json,
    });
    let folder = match session.args.keep.clone() {
        Some(Keep::Here) => Some(PathBuf::new()),
        Some(Keep::BesideOutput) => Some(object.parent().unwrap_or(Path::new("")).to_path_buf()),
        Some(Keep::Folder(path)) => Some(path),
        None => None,
    };
    let as_nvcc = session.args.driver == Driver::Nvcc;
    let kept = folder.filter(|_| input.cuda).map(|folder| Kept { folder, as_nvcc });
    SideFiles { record, trace, kept }
}
