//! The tool on files of every kind that it reads.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regrain_targets::nvptx::{Image, fat_binary};
use regrain_targets::offload::{self, ImageKind, OffloadImage};
use regrain_targets::toolkit::SmArch;

const PTX: &str = ".version 8.8\n.target sm_80\n.visible .entry _Z1kPf()\n{ ret; }\n";

fn llvm(tool: &str) -> Command {
    let prefix = option_env!("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22");
    Command::new(Path::new(prefix).join("bin").join(tool))
}

fn run(command: &mut Command) {
    let output = command.output().expect("LLVM's tools run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// An object file with one section.
fn object(folder: &Path, name: &str, section: &str, content: &[u8]) -> PathBuf {
    let path = |ending: &str| folder.join(format!("{name}.{ending}"));
    std::fs::write(path("bin"), content).expect("written");
    let bin = path("bin").display().to_string();
    let text = format!(".section {section},\"a\"\n.balign 8\n.incbin \"{bin}\"\n");
    std::fs::write(path("s"), text).expect("written");
    run(llvm("clang").arg("-c").arg(path("s")).arg("-o").arg(path("o")));
    path("o")
}

fn offload_object(folder: &Path, name: &str) -> PathBuf {
    let listing = offload::cpu_listing(["_Z1kPf"]);
    let (triple, unit) = ("nvptx64-nvidia-cuda", name);
    let cpu = OffloadImage {
        kind: ImageKind::None,
        triple: "x86_64-linux-gnu",
        arch: "cpu",
        unit,
        options: "",
        bytes: listing.as_bytes(),
    };
    let ptx = OffloadImage { kind: ImageKind::Ptx, triple, arch: "sm_80", unit, options: "", bytes: PTX.as_bytes() };
    object(folder, name, offload::SECTION, &offload::write(&[cpu, ptx]))
}

fn images(files: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_regrain-images")).args(files).output().expect("the tool runs")
}

/// The rows without the heading, as words.
fn rows(files: &[&Path]) -> Vec<Vec<String>> {
    let output = images(files);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().skip(1).map(|line| line.split_whitespace().skip(1).map(String::from).collect()).collect()
}

#[test]
fn offload_binaries_are_listed() {
    let folder = scratch("offload");
    let found = rows(&[&offload_object(&folder, "unit1")]);
    assert_eq!(found[0].join(" "), "unit1 cpu in the host code 14 _Z1kPf");
    assert_eq!(found[1].join(" "), format!("unit1 sm_80 PTX {} _Z1kPf", PTX.len()));
}

#[test]
fn fat_binaries_of_several_objects_are_listed() {
    let folder = scratch("fat");
    let fat = |number| fat_binary(&[Image::Ptx(SmArch { number, specific: false }, PTX)]).expect("a fat binary");
    let objects = [(80, "a"), (90, "b")].map(|(chip, name)| object(&folder, name, ".nv_fatbin", &fat(chip)));
    let library = folder.join("lib.so");
    run(llvm("clang").args(["-shared", "-nostdlib", "-fuse-ld=lld"]).args(&objects).arg("-o").arg(&library));
    let found = rows(&[&library]);
    let targets: Vec<&str> = found.iter().map(|row| row[1].as_str()).collect();
    assert_eq!(targets, ["sm_80", "sm_90"]);
    assert_eq!(found[0][0], "-", "fat binaries name no unit");
    assert_eq!(found[0].last().map(String::as_str), Some("_Z1kPf"));
}

#[test]
fn members_of_archives_are_named() {
    let folder = scratch("archive");
    let archive = folder.join("lib.a");
    let object = offload_object(&folder, "unit2");
    let _ = std::fs::remove_file(&archive);
    run(llvm("llvm-ar").arg("qc").arg(&archive).arg(&object));
    let output = images(&[&archive]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("lib.a(unit2.o)"), "{text}");
}

#[test]
fn files_without_images_are_errors() {
    let folder = scratch("none");
    let object = object(&folder, "plain", ".rodata", b"12345678");
    let output = images(&[&object, &folder.join("missing"), &offload_object(&folder, "unit3")]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("plain.o: no device images") && errors.contains("cannot read"), "{errors}");
    let listed = String::from_utf8_lossy(&output.stdout);
    assert!(listed.contains("unit3"), "what is there is listed all the same: {listed}");
}

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}
