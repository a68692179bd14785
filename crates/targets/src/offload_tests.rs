//! Offload binaries are read back by us and by LLVM's own tools, from objects and linked programs.

use std::path::{Path, PathBuf};
use std::process::Command;

use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::targets::{FileType, RelocMode, TargetMachineOptions};
use object::{Object as _, ObjectSection as _};

use super::*;

const NVPTX: &str = "nvptx64-nvidia-cuda";

fn images<'a>(unit: &'a str, listing: &'a str) -> [OffloadImage<'a>; 3] {
    [
        OffloadImage {
            kind: ImageKind::None,
            triple: "x86_64-unknown-linux-gnu",
            arch: "cpu",
            unit,
            options: "",
            bytes: listing.as_bytes(),
        },
        OffloadImage {
            kind: ImageKind::Cubin,
            triple: NVPTX,
            arch: "sm_80",
            unit,
            options: "",
            bytes: b"\x7fELF cubin",
        },
        OffloadImage {
            kind: ImageKind::Ptx,
            triple: NVPTX,
            arch: "sm_80",
            unit,
            options: "level=3",
            bytes: b".version 8.8\n\0",
        },
    ]
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("LLVM's tools run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn llvm(tool: &str) -> Command {
    let prefix = option_env!("LLVM_SYS_221_PREFIX").unwrap_or("/usr/lib/llvm-22");
    Command::new(Path::new(prefix).join("bin").join(tool))
}

/// What `llvm-objdump` lists: kind and chip of each image.
fn listed(file: &Path) -> Vec<(String, String)> {
    let text = run(llvm("llvm-objdump").arg("--offloading").arg(file));
    let after = |line: &str, word: &str| line.trim().strip_prefix(word).map(|rest| rest.trim().to_string());
    let kinds = text.lines().filter_map(|line| after(line, "kind"));
    kinds.zip(text.lines().filter_map(|line| after(line, "arch"))).collect()
}

fn expected(units: usize) -> Vec<(String, String)> {
    let one = [("<none>", "cpu"), ("cubin", "sm_80"), ("ptx", "sm_80")];
    (0..units).flat_map(|_| one).map(|(kind, arch)| (kind.to_string(), arch.to_string())).collect()
}

/// An object file of a unit as clang makes it, with a set of images that `main` of the test reads.
fn object(folder: &Path, unit: &str, kernel: &str) -> PathBuf {
    let context = Context::create();
    let text = format!(
        "@0 = private constant [1 x i8] c\"x\", section \".nv_fatbin\", align 8\n\
         @__cuda_fatbin_wrapper = internal constant {{ i32, i32, ptr, ptr }} {{ i32 1180844977, i32 1, ptr @0, ptr null }}, \
         section \".nvFatBinSegment\", align 8\n\
         @wrapper_{unit} = global ptr @__cuda_fatbin_wrapper\n\
         @__regrain_cpu_image.{unit} = constant i64 7\n\0"
    );
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "host");
    let host = context.create_module_from_ir(buffer).expect("valid IR");
    let (triple, target) = crate::machines::host_target().expect("a target");
    let options = TargetMachineOptions::new().set_reloc_mode(RelocMode::PIC);
    let machine = target.create_target_machine_from_options(&triple, options).expect("a target machine");
    host.set_triple(&machine.get_triple());
    host.set_data_layout(&machine.get_target_data().get_data_layout());
    let listing = cpu_listing([kernel]);
    assert!(embed_set(&host, None, &write(&images(unit, &listing))).expect("embedded"));
    host.verify().expect("a valid module");
    let path = folder.join(format!("{unit}.o"));
    machine.write_to_file(&host, FileType::Object, &path).expect("written");
    path
}

/// Walks both image sets as a runtime does.
const MAIN: &str = r#"
#include <stdint.h>
#include <string.h>
struct set { uint64_t magic; void *cpu; const unsigned char *offload; uint64_t size; };
struct wrapper { int magic, version; const struct set *set; void *rest; };
extern const struct wrapper *wrapper_a, *wrapper_b;
static int images(const struct wrapper *w) {
  const struct set *s = w->set;
  if (s->magic != 0x3130544553475252 || s->cpu || (uintptr_t)s->offload % 8) return 100;
  int count = 0;
  for (uint64_t at = 0; at < s->size; ++count) {
    uint64_t size;
    if (memcmp(s->offload + at, "\x10\xff\x10\xad\1\0\0\0", 8)) return 100;
    memcpy(&size, s->offload + at + 8, 8);
    at += size;
  }
  return count;
}
int main(void) { return images(wrapper_a) == 3 && images(wrapper_b) == 3 ? 0 : 1; }
"#;

#[test]
fn we_read_back_what_we_write() {
    let listing = cpu_listing(["_Z1kPf", "k2"]);
    let images = images("1a2b", &listing);
    let bytes = write(&images);
    assert_eq!(bytes.len() % 8, 0);
    assert_eq!(parse(&bytes).expect("images"), images);
    assert_eq!(listed_kernels(&listing).collect::<Vec<_>>(), ["_Z1kPf", "k2"]);
    let padded = [&bytes[..], &[0; 16]].concat();
    assert_eq!(parse(&padded).expect("images").len(), 3);
}

#[test]
fn broken_binaries_are_an_error() {
    let listing = cpu_listing(["k"]);
    let bytes = write(&images("1a2b", &listing));
    for length in 1..bytes.len() {
        if let Ok(images) = parse(&bytes[..length]) {
            assert!(images.len() < 3, "{length}");
        }
    }
    for at in [0, 5, 8, 16, 32] {
        let mut broken = bytes.clone();
        broken[at] = 0xee;
        assert!(parse(&broken).is_err(), "byte {at}");
    }
}

#[test]
fn llvm_reads_what_we_write() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, cubin) = (folder.path().join("images"), folder.path().join("cubin"));
    let listing = cpu_listing(["k"]);
    std::fs::write(&file, write(&images("1a2b", &listing)[1..2])).expect("written");
    let wanted = format!("--image=file={},triple={NVPTX},arch=sm_80", cubin.display());
    run(llvm("llvm-offload-binary").arg(&file).arg(wanted));
    assert_eq!(std::fs::read(&cubin).expect("an image"), b"\x7fELF cubin");
}

#[test]
fn images_of_several_objects_stay_readable_when_linked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let objects = [object(folder.path(), "a", "k"), object(folder.path(), "b", "another_kernel")];
    assert_eq!(listed(&objects[0]), expected(1));
    std::fs::write(path("main.c"), MAIN).expect("written");
    for linker in ["lld", "bfd"] {
        let program = path(linker);
        run(llvm("clang").arg(format!("-fuse-ld={linker}")).arg(path("main.c")).args(&objects).arg("-o").arg(&program));
        run(&mut Command::new(&program));
        let bytes = std::fs::read(&program).expect("a program");
        let file = object::File::parse(&*bytes).expect("an ELF file");
        let section = file.section_by_name(SECTION).expect("the section is kept").data().expect("its bytes");
        let units: Vec<&str> = parse(section).expect("images").iter().map(|image| image.unit).collect();
        assert_eq!(units, ["a", "a", "a", "b", "b", "b"], "{linker}");
        assert_eq!(listed(&program), expected(2), "{linker}");
    }
}

#[test]
fn do_not_touch_a_module_without_device_code() {
    let context = Context::create();
    let host = context.create_module("host");
    assert!(!embed_set(&host, Some("image"), b"").expect("nothing to do"));
    assert_eq!(host.get_globals().count(), 0);
}

#[test]
fn a_set_refers_to_the_cpus_table() {
    let context = Context::create();
    let text =
        "@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1, i32 1, ptr null, ptr null }\n\0";
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "host");
    let host = context.create_module_from_ir(buffer).expect("valid IR");
    assert!(embed_set(&host, Some("__regrain_cpu_image.a"), b"").expect("embedded"));
    let made = host.print_to_string().to_string();
    let set = "{ i64, ptr, ptr, i64 } { i64 3544425563467240018, ptr @__regrain_cpu_image.a, ptr null, i64 0 }";
    assert!(made.contains(set), "{made}");
}

#[test]
fn a_listing_is_kept_and_changes_no_registration() {
    let context = Context::create();
    let text = "@__cuda_fatbin_wrapper = internal constant { i32, i32, ptr, ptr } { i32 1, i32 1, ptr @image, ptr null }\n\
                @image = external global i8\n\
                @kept = internal global i8 0\n\
                @llvm.used = appending global [1 x ptr] [ptr @kept], section \"llvm.metadata\"\n\0";
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "host");
    let host = context.create_module_from_ir(buffer).expect("valid IR");
    embed_listing(&host, &write(&images("a", &cpu_listing(["k"]))));
    host.verify().expect("valid IR");
    let made = host.print_to_string().to_string();
    assert!(made.contains("{ i32 1, i32 1, ptr @image, ptr null }"), "{made}");
    let used = "@llvm.used = appending global [2 x ptr] [ptr @kept, ptr @__regrain_offload], section \"llvm.metadata\"";
    assert!(made.contains(used), "{made}");
}
