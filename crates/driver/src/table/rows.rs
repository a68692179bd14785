//! The rows of the table, sorted by the first name.
//!
//! `names: value, scope, disposition, help`, as [`super::Opt`] has them. An option that two drivers take in different ways has a row
//! for each.

use super::Does::*;
use super::Scope::*;
use super::{Opt, Value};
use crate::{nvcc, ours};

macro_rules! options {
    ($($first:literal $(, $other:literal)*: $value:ident $($meta:literal)?, $scope:expr, $does:expr, $help:literal;)*) => {
        /// All options that the drivers know.
        pub static TABLE: &[Opt] = &[$(Opt {
            names: &[$first $(, $other)*],
            value: Value::$value,
            meta: concat!($($meta)?),
            scope: $scope,
            does: $does,
            help: $help,
        }),*];
    };
}

options! {
    "-###": None, Regrain, Sets(ours::dry_run), "show the commands, run none";
    "-A", "--analyzer-output", "-cxx-isystem", "-D", "-F", "-I", "-iapinotes-modules", "-idirafter", "-iframework",
        "-iframeworkwithsysroot", "-imacros", "-include", "-interface-stub-version=", "-iprefix", "-iquote",
        "-isysroot", "-isystem", "-isystem-after", "-ivfsoverlay", "-iwithprefix", "-iwithprefixbefore",
        "-iwithsysroot", "-stdlib++-isystem", "-U", "-V", "-vfsoverlay": Either "<value>",
        Regrain, Compile, "as clang has it";
    "-alias_list", "-allowable_client", "-arch_only", "-bundle_loader", "-darwin-target-variant",
        "-darwin-target-variant-triple", "--dyld-prefix", "-dylib_file", "-e", "-exported_symbols_list", "-filelist",
        "--for-linker", "--force-link", "-force_load", "-framework", "-image_base", "-init", "-install_name",
        "-lazy_framework", "-lazy_library", "--library-directory", "-multiply_defined", "-multiply_defined_unused",
        "-read_only_relocs", "-reexport_framework", "-rpath", "--rtlib", "-seg_addr_table", "-seg_addr_table_filename",
        "-segs_read_only_addr", "-segs_read_write_addr", "-soname", "-specs", "-umbrella", "-unexported_symbols_list",
        "--unwindlib", "-weak_framework", "-weak_library", "-weak_reference_mismatches", "-Xlinker", "-Xoffload-linker",
        "-z", "-Zlinker-input": Separate "<value>", Regrain, Link, "as clang has it";
    "-allow-unsupported-compiler", "--allow-unsupported-compiler": None, Both, Means(""),
        "accepted: clang 22 compiles the host side";
    "--analyze", "-ccc-print-bindings", "-ccc-print-phases", "-dumpmachine", "-dumpversion", "-E", "-emit-ast",
        "-extract-api", "-fdriver-only", "-fsyntax-only", "-module-file-info", "--precompile", "--preprocess",
        "-print-diagnostic-options",
        "--print-diagnostic-options", "-print-effective-triple", "--print-effective-triple", "-print-libgcc-file-name",
        "--print-libgcc-file-name", "-print-library-module-manifest-path",
        "-print-multi-directory", "-print-multi-flags-experimental", "-print-multi-lib", "--print-multi-lib",
        "-print-multiarch", "--print-multiarch", "-print-resource-dir", "--print-resource-dir", "-print-runtime-dir",
        "--print-runtime-dir", "-print-search-dirs", "--print-search-dirs", "--print-supported-cpus",
        "-print-supported-cpus", "--print-supported-extensions", "-print-target-triple", "--print-target-triple",
        "-print-targets", "--print-targets", "-rewrite-objc", "-verify-pch", "--version": None,
        Regrain, Clang, "as clang has it";
    "-arbin", "--archiver-binary": Equals "<path>", NvccElse("the archiver itself"), Sets(nvcc::archiver),
        "what makes archives (-lib)";
    "-arch", "--gpu-architecture": Equals "<arch>", Both, Sets(nvcc::arch),
        "sm_NN, compute_NN, lto_NN, native, all, all-major";
    "-arch-ls", "--list-gpu-arch": None, Both, Sets(nvcc::list_archs), "the architectures that are known";
    "--assert", "-aux-info", "--define-macro", "-dependency-dot", "-dependency-file", "-dumpbase", "-dumpbase-ext",
        "-dumpdir", "-fdebug-compilation-dir", "-fexperimental-openacc-macro-override", "-fmodule-implementation-of",
        "-fmodules-user-build-path", "-fnew-alignment", "-ftrapv-handler", "-gen-cdb-fragment-path", "--imacros",
        "-imultilib", "--include", "--include-directory", "--include-directory-after", "--include-pch", "-include-pch",
        "--include-prefix", "--include-with-prefix", "--include-with-prefix-after", "--include-with-prefix-before",
        "-meabi", "--mhwdiv", "-mllvm", "-mmlir", "-module-dependency-dir", "-mthread-model",
        "--no-system-header-prefix", "-object-file-name", "--param", "--resource", "--serialize-diagnostics",
        "-serialize-diagnostics", "--std", "--system-header-prefix", "--undefine-macro", "-working-directory",
        "-Xanalyzer", "-Xarch_device", "-Xarch_host", "-Xassembler", "-Xclang", "-Xclangas", "-Xopenmp-target",
        "-Xpreprocessor": Separate "<value>", Regrain, Compile, "as clang has it";
    "-astoolspatch", "--compile-as-tools-patch": None, NvccElse("nothing"),
        Refused("patches of NVIDIA's tools are not made"),
        "for NVIDIA's tools";
    "-aug-hls", "--augment-host-linker-script": None, NvccElse("-T"),
        Refused("give the linker a script by -Xlinker -T"),
        "for large objects";
    "--autocomplete=", "-print-file-name=", "--print-file-name=", "-print-prog-name=", "--print-prog-name=": Joined "<value>", Regrain,
        Clang,
        "as clang has it";
    "-B": Either "<dir>", Regrain, CompileAndLink, "where clang looks for its programs";
    "-b", "-client_name", "-compatibility_version", "-current_version", "-dsym-dir", "-dylinker_install_name", "-L",
        "-l", "-pagezero_size", "-reexport_library", "-seg1addr", "-sub_library", "-sub_umbrella", "-T", "-u",
        "-undefined": Either "<value>", Regrain, Link, "as clang has it";
    "-brief-diag", "--brief-diagnostics": Equals "<true|false>", NvccElse("-fno-caret-diagnostics"), Sets(nvcc::brief),
        "diagnostics without the line itself";
    "-c": None, Regrain, Sets(ours::object), "compile, do not link";
    "-c", "--compile": None, Nvcc, Sets(ours::object), "compile, do not link";
    "-ccbin", "--compiler-bindir": Equals "<path>", Both, Means(""),
        "accepted: clang 22 compiles the host side";
    "-ccc-gcc-name", "-ccc-install-dir", "--config", "--prefix", "-resource-dir", "--stdlib", "--sysroot", "-target": Separate "<value>",
        Regrain, CompileAndLink, "as clang has it";
    "-clean", "--clean-targets": None, NvccElse("rm"), Sets(nvcc::clean), "delete what would be made";
    "-code", "--gpu-code": Equals "<codes>", Both, Sets(nvcc::code), "which cubins and PTX, with -arch=compute_NN";
    "-code-ls", "--list-gpu-code": None, Both, Sets(nvcc::list_codes), "the chips that are known";
    "--completions=": Joined "<shell>", Both, Ours(ours::completions), "a script for bash, zsh or fish";
    "-compress-mode", "--compress-mode": Equals "<mode>", NvccElse("nothing: fat binaries are not compressed"),
        Means(""),
        "accepted: fat binaries are not compressed";
    "-coverage", "--coverage", "-noprofilelib", "-pg", "-pthread", "-pthreads": None, Regrain, CompileAndLink,
        "as clang has it";
    "-cubin", "--cubin": None, Both, Sets(nvcc::cubin), "one cubin of the device side";
    "--cuda", "-cuda": None, NvccElse("-E"),
        Refused("there is no .cu.cpp.ii file: both sides are compiled by clang; -E gives the preprocessed source"),
        "only as far as .cu.cpp.ii";
    "--cuda-compile-host-device", "--offload-host-device": None, Regrain, Sets(ours::both_sides), "compile both sides";
    "--cuda-device-only", "--offload-device-only": None, Regrain, Sets(ours::device_only),
        "compile the device side alone";
    "--cuda-host-only", "--offload-host-only": None, Regrain, Sets(ours::host_only), "compile the host side alone";
    "--cuda-include-ptx=": Joined "<arch>", Regrain, Sets(ours::include_ptx), "PTX of this architecture too, or of all";
    "--cuda-noopt-device-debug": None, Regrain, Sets(ours::debug_device), "device code for a debugger";
    "--cuda-path=": Joined "<dir>", Both, Ours(ours::cuda_path),
        "the CUDA toolkit; else CUDA_PATH, .toolchain/cuda, /usr/local/cuda";
    "-cudadevrt", "--cudadevrt": Equals "<none|static>", Both, Means(""),
        "accepted: no runtime for device code is linked";
    "-cudart", "--cudart": Equals "<none|shared|static>", Both, Sets(nvcc::cudart), "which CUDA runtime is linked";
    "-D", "--define-macro": Any "<macros>", Nvcc, Means("-D{}"), "define macros";
    "-dc", "--device-c": None, Both, Sets(nvcc::device_c), "-rdc=true -c";
    "-ddp", "--dependency-drive-prefix": Equals "<prefix>", NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-default-stream", "--default-stream": Equals "<legacy|null|per-thread>", Both, Sets(nvcc::default_stream),
        "what the stream 0 is";
    "--dependencies": None, Regrain, Clang, "only the rule for make";
    "-device-entity-has-hidden-visibility", "--device-entity-has-hidden-visibility": Equals "<true|false>", NvccElse("nothing"),
        Means(""),
        "accepted";
    "-device-stack-protector", "--device-stack-protector": Equals "<true|false>", NvccElse("nothing: device code has no canaries"),
        Sets(nvcc::stack_protector),
        "canaries in device code";
    "-diag-error", "--diag-error": Equals "<numbers>", NvccElse("-W, -Wno- or -Werror= with clang's name"), Means(""),
        "accepted: no warning of clang's has these numbers";
    "-diag-suppress", "--diag-suppress": Equals "<numbers>", NvccElse("-W, -Wno- or -Werror= with clang's name"),
        Means(""),
        "accepted: no warning of clang's has these numbers";
    "-diag-warn", "--diag-warn": Equals "<numbers>", NvccElse("-W, -Wno- or -Werror= with clang's name"), Means(""),
        "accepted: no warning of clang's has these numbers";
    "-dlink", "--device-link": None, Both, Sets(nvcc::device_link), "an object with the linked device code of objects";
    "-dlto", "--dlink-time-opt", "-lto", "--lto": None, NvccElse("-fgpu-rdc, which optimises device code when it links"),
        Means(""),
        "accepted: -rdc=true optimises device code when it links";
    "-dopt", "--dopt": Equals "<on>", NvccElse("--cuda-noopt-device-debug, or not"), Sets(nvcc::device_opt),
        "with -G, optimised device code all the same";
    "-dp", "--drive-prefix": Equals "<prefix>", NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-dryrun", "--dryrun": None, Both, Sets(ours::dry_run), "show the commands, run none";
    "-dw", "--device-w": None, Both, Sets(nvcc::device_w), "-rdc=false -c";
    "-E", "--preprocess": None, Nvcc, Sets(nvcc::preprocess), "preprocess";
    "-e", "--entries": Equals "<names>", Nvcc, Refused("all kernels are compiled"), "these kernels alone";
    "-emit-llvm": None, Regrain, Sets(ours::emit_llvm), "LLVM IR in place of objects and assembly";
    "-err-no", "--display-error-number": None, NvccElse("nothing: warnings have names"), Means(""),
        "accepted: warnings have names";
    "-ewp", "--extensible-whole-program": None, NvccElse("-fgpu-rdc"), Means("-fgpu-rdc"),
        "device code that others may be linked to";
    "-expt-relaxed-constexpr", "--expt-relaxed-constexpr": None, Both, Means("-D__CUDACC_RELAXED_CONSTEXPR__"),
        "constexpr functions on both sides, as always here";
    "-extended-lambda", "--extended-lambda", "-expt-extended-lambda", "--expt-extended-lambda": None, Both,
        Means("-D__REGRAIN_EXTENDED_LAMBDA__"),
        "lambdas of either side, as always here";
    "-extra-device-vectorization", "--extra-device-vectorization": None, NvccElse("nothing"), Means(""),
        "accepted: device code is vectorised where it pays";
    "-fatbin", "--fatbin": None, Both, Sets(nvcc::fatbin), "a fat binary of the device side";
    "-fcoverage-mapping", "-fprofile-", "-fsplit-stack", "-fxray-instrument", "--gcc-install-dir=",
        "--gcc-toolchain=", "-resource-dir=": Joined "<value>", Regrain, CompileAndLink, "as clang has it";
    "-fdevice-syntax-only", "--fdevice-syntax-only": None, NvccElse("-fsyntax-only --cuda-device-only"),
        Means("-fsyntax-only --cuda-device-only"),
        "only look for errors in device code";
    "-fdevice-time-trace", "--fdevice-time-trace": Equals "<file>", NvccElse("-ftime-trace="), Means("-ftime-trace={}"),
        "where time goes, for chrome://tracing";
    "-fgpu-rdc": None, Regrain, Sets(ours::relocatable), "device code that is linked with that of other sources";
    "-flto": Joined "<value>", Regrain, CompileAndLink, "optimise when linking";
    "-fmad", "--fmad": Equals "<true|false>", Both, Sets(nvcc::fuse),
        "products and sums of device code become one operation";
    "-fminimize-whitespace": None, Nvcc, Means("-fminimize-whitespace"),
        "with -E, as clang has it: compiler caches ask for it";
    "-fmodule-header": Joined "=<kind>", Regrain, Clang, "as clang has it";
    "-fno-gpu-rdc": None, Regrain, Sets(ours::whole), "each source is a program of its own on the device";
    "-fno-lto": Joined "<value>", Regrain, CompileAndLink, "not so";
    "-fno-regrain-adaptive": None, Both, Ours(ours::no_adaptive), "not so";
    "-fno-sanitize": Joined "<value>", Regrain, CompileAndLink, "fewer checks of the host code";
    "-fno-save-optimization-record": None, Regrain, Sets(ours::no_record), "not so";
    "-fopenmp": Joined "<value>", Regrain, CompileAndLink, "OpenMP on the host";
    "-foptimization-record-file=": Joined "<file>", Regrain, Sets(ours::record_file), "where that record goes";
    "--for-linker=", "-fuse-ld=", "--ld-path=", "--library-directory=", "-rpath=", "-rtlib=", "--rtlib=", "-specs=",
        "--specs=", "-unwindlib=", "--unwindlib=", "-Wl,": Joined "<value>", Regrain, Link, "as clang has it";
    "-force-cl-env-setup", "--force-cl-env-setup": None, NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-forward-unknown-opts", "--forward-unknown-opts": None, NvccElse("nothing: unknown options go to clang"),
        Sets(nvcc::forward_to_both),
        "what is not known here goes to both";
    "-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler": None, NvccElse("nothing: unknown options go to clang"),
        Sets(nvcc::forward_to_compiler),
        "what is not known here goes to the host side";
    "-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker": None, NvccElse("nothing: unknown options go to clang"),
        Sets(nvcc::forward_to_linker),
        "what is not known here goes to the linker";
    "-frandom-seed", "--frandom-seed": Equals "<seed>", Nvcc, Means("-frandom-seed={}"),
        "accepted: names are the same each time";
    "-fregrain-", "-fno-regrain-": Joined "<name>", Both, Unknown, "an error: no other option of ours begins so";
    "-fregrain-adaptive": None, Both, Ours(ours::adaptive), "a program that chooses among versions by its own launches";
    "-fregrain-alternatives=": Joined "<set>", Both, Ours(ours::alternatives),
        "grains to try: none, default, blocks=1,2,4:threads=1,2:tasks=auto";
    "-fregrain-check=": Joined "<kinds>", Both, Ours(ours::checks),
        "with --offload-arch=cpu: a program that checks its kernels: memory, race, init, sync, leak; all";
    "-fregrain-coarsen-blocks=": Joined "<n>", Both, Ours(ours::coarsen_blocks),
        "this grain of blocks for every kernel: N or X,Y,Z";
    "-fregrain-coarsen-threads=": Joined "<factors>", Both, Ours(ours::coarsen_threads),
        "this grain of threads for every kernel: N or X,Y,Z";
    "-fregrain-cpu=": Joined "<name>", Both, Ours(ours::cpu),
        "processor for device code on the CPU (default: this one)";
    "-fregrain-dump-ir=": Joined "<dir>", Both, Ours(ours::dump_ir), "one readable file for each stage";
    "-fregrain-emit-cuda=": Joined "<file>", Both, Ours(ours::emit_cuda),
        "with -fregrain-parallelize: what loops became, as CUDA C++";
    "-fregrain-emulate=": Joined "<arch>", Both, Ours(ours::emulate),
        "with --offload-arch=cpu: run what is shipped for this GPU";
    "-fregrain-parallelize": None, Both, Ours(ours::parallelize), "make launches of loops in C and C++";
    "-fregrain-parallelize-from=": Joined "<operations>", Both, Ours(ours::parallelize_from),
        "the operations that such a launch is to have, else the loop runs as it was (20000)";
    "-fregrain-parallelize-schedule=": Joined "<kind>", Both, Ours(ours::parallelize_schedule),
        "single, or superposed: threads of a row share a loop that combines numbers (auto: by a model of memory)";
    "-fregrain-parallelize-tiles=": Joined "<sizes>", Both, Ours(ours::parallelize_tiles),
        "the iterations of a tile in each dimension, where iterations wait for one another: N or N,M and so on";
    "-fregrain-profile-generate": None, Both, Ours(ours::profile_generate),
        "a program that times the alternatives (REGRAIN_TUNING_DB)";
    "-fregrain-profile-use=": Joined "<file>", Both, Ours(ours::profile_use),
        "choose by the times in a tuning database";
    "-fregrain-report=": Joined "<file>", Both, Ours(ours::report), "append what was decided about each grain, as JSON";
    "-fregrain-resource-usage": None, Both, Ours(ours::resource_usage),
        "registers, spills, stack and memory of each kernel";
    "-fregrain-round-trip": None, Both, Ours(ours::round_trip),
        "code from the parallel form even where nothing was changed";
    "-fregrain-search-budget=": Joined "<s>", Both, Ours(ours::search_budget),
        "the most seconds that a search takes; none, default (a quarter of clang's)";
    "-fregrain-specialize": None, Both, Ours(ours::specialize),
        "on NVIDIA, a version of a kernel for each constant block shape";
    "-fsanitize": Joined "<value>", Regrain, CompileAndLink, "checks of the host code";
    "-fsave-optimization-record": Joined "=<yaml|bitstream>", Regrain, Sets(ours::save_record),
        "a record of optimisation, for llvm-remarkutil";
    "-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit": Equals "<n>", Nvcc,
        Means("-ftemplate-backtrace-limit={}"),
        "as clang has it";
    "-ftemplate-depth", "--ftemplate-depth": Equals "<n>", Nvcc, Means("-ftemplate-depth={}"), "as clang has it";
    "-ftime-report": None, Regrain, Ours(ours::time_report), "where time goes, clang's and ours";
    "-ftime-report", "--ftime-report": None, Nvcc, Sets(ours::time_report), "where time goes, clang's and ours";
    "-ftime-trace": Joined "=<path>", Regrain, Sets(ours::time_trace), "where time goes, for chrome://tracing";
    "-ftime-trace-granularity=", "-ftime-trace-verbose": Joined "<value>", Regrain, Compile, "how much of it";
    "-ftz", "--ftz": Equals "<true|false>", Both, Sets(nvcc::flush), "denormals of device code are zero";
    "-G", "--device-debug": None, Both, Sets(nvcc::device_debug), "device code for a debugger, not optimised";
    "-g", "--debug": None, Nvcc, Sets(nvcc::debug), "debug information of the host code";
    "-gen-opt-lto", "--gen-opt-lto": None, NvccElse("-fgpu-rdc"), Means(""),
        "accepted: -rdc=true optimises device code when it links";
    "-gencode", "--generate-code": Equals "<specification>", Both, Sets(nvcc::generate),
        "arch=compute_NN,code=[sm_NN,compute_NN]";
    "-h": None, Nvcc, Sets(ours::help), "this list";
    "--help", "-help": None, Both, Ours(ours::help), "this list";
    "--help-all", "--help-hidden": None, Both, Ours(ours::help_all), "all options";
    "-hls", "--host-linker-script": Equals "<kind>", NvccElse("-T"), Refused("give the linker a script by -Xlinker -T"),
        "for large objects";
    "-I", "--include-path": Any "<paths>", Nvcc, Means("-I{}"), "where headers are";
    "-idp", "--input-drive-prefix": Equals "<prefix>", NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-include", "--pre-include": Equals "<files>", Nvcc, Means("-include {}"), "headers that are included first";
    "-isystem", "--system-include": Equals "<paths>", Nvcc, Means("-isystem {}"),
        "where headers are whose warnings do not count";
    "-jobserver", "--jobserver": None, NvccElse("nothing: make's jobserver is always asked"), Means(""),
        "accepted: make's jobserver is always asked";
    "-jtd", "--jump-table-density": Equals "<n>", NvccElse("nothing"), Means(""), "accepted: LLVM decides";
    "-keep", "--keep": None, NvccElse("-save-temps"), Sets(nvcc::keep), "keep what is made on the way";
    "-keep-device-functions", "--keep-device-functions": None, NvccElse("-fgpu-rdc"), Means(""),
        "accepted: -rdc=true keeps them";
    "-keep-dir", "--keep-dir": Equals "<dir>", NvccElse("-save-temps=obj"), Sets(nvcc::keep_dir),
        "keep what is made on the way in this folder";
    "-l", "--library": Any "<libraries>", Nvcc, Means("-l{}"), "libraries to link";
    "-L", "--library-path": Any "<paths>", Nvcc, Means("-L{}"), "where libraries are";
    "--language": Separate "<language>", Regrain, Sets(ours::language), "the language of the files behind it";
    "-ldir", "--libdevice-directory": Equals "<dir>", NvccElse("--cuda-path="),
        Refused("the toolkit's libdevice is used; --cuda-path= names the toolkit"),
        "where libdevice is";
    "-lib", "--lib": None, NvccElse("-c and llvm-ar; -l ib links a library of the name ib"), Sets(nvcc::library),
        "an archive of the objects";
    "-lineinfo", "--generate-line-info": None, Both, Sets(nvcc::line_info), "source lines of device code";
    "-link", "--link": None, NvccElse("nothing; -l ink links a library of the name ink"), Sets(nvcc::whole_link),
        "compile and link";
    "-ltoir", "--ltoir": None, Both,
        Refused("device code waits as LLVM bitcode; --cuda-device-only -emit-llvm -c with -fgpu-rdc gives it"),
        "IR for linking";
    "-m": Joined "<value>", Regrain, CompileAndLink, "what processor the host code is for";
    "-M": None, Regrain, Clang, "only the rule for make";
    "-M", "--generate-dependencies": None, Nvcc, Sets(nvcc::dependencies), "only the rule for make";
    "-m", "--machine": Equals "<64>", Nvcc, Sets(nvcc::machine), "64";
    "-m64", "--m64": None, Nvcc, Means("-m64"), "64 bits";
    "--man-page": None, Both, Ours(ours::man_page), "the manual page, for man -l -";
    "-maxrregcount", "--maxrregcount": Equals "<n>", Both, Sets(nvcc::max_registers),
        "the most registers of a thread, on NVIDIA";
    "-mcode-object-version=": Joined "<n>", Both, Ours(ours::code_object),
        "4, 5 or 6: the form of code for AMD's GPUs (default: 4)";
    "-MD", "-MG", "-MMD", "-MP", "-MV", "--write-dependencies", "--write-user-dependencies": None,
        Regrain, Dependency, "the rule for make";
    "-MD", "--generate-dependencies-with-compile": None, Nvcc, Means("-MD"), "the rule for make too";
    "-MF", "-MQ", "-MT": Either "<value>", Regrain, Dependency, "the rule for make";
    "-MF", "--dependency-output": Equals "<file>", Nvcc, Means("-MF {}"), "where the rule goes";
    "-MJ": Either "<file>", Regrain, Compile, "an entry of compile_commands.json";
    "-MM": None, Regrain, Clang, "only the rule for make";
    "-MM", "--generate-nonsystem-dependencies": None, Nvcc, Sets(nvcc::user_dependencies),
        "only the rule for make, without system headers";
    "-MMD", "--generate-nonsystem-dependencies-with-compile": None, Nvcc, Means("-MMD"),
        "the rule for make too, without system headers";
    "-mno-wavefrontsize64": None, Both, Ours(ours::wave32), "waves of 32 threads on AMD's chips that have both";
    "-MP", "--generate-dependency-targets": None, Nvcc, Means("-MP"), "a rule for each header";
    "-MT", "--dependency-target-name": Equals "<target>", Nvcc, Means("-MT {}"), "the target of the rule";
    "-mwavefrontsize64": None, Both, Ours(ours::wave64), "waves of 64 threads on AMD's chips that have both";
    "-no-align-double", "--no-align-double": None, NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-no-compress", "--no-compress": None, NvccElse("nothing: fat binaries are not compressed"), Means(""),
        "accepted: fat binaries are not compressed";
    "--no-cuda-include-ptx=": Joined "<arch>", Regrain, Sets(ours::exclude_ptx),
        "no PTX of this architecture, or of any (all)";
    "-no-err-no", "--no-display-error-number": None, NvccElse("nothing: warnings have names"), Means(""),
        "accepted: warnings have names";
    "--no-offload-arch=", "--no-cuda-gpu-arch=": Joined "<list>", Regrain, Sets(ours::no_offload_arch),
        "not these of the architectures before";
    "-no-pie", "--no-standard-libraries", "-nodefaultlibs", "-nolibc", "-nopie", "-nostartfiles", "-nostdlib",
        "-nostdlib++", "-pie", "-r", "-rdynamic", "--rdynamic", "-s", "-shared", "--shared", "-shared-libgcc",
        "-startfiles", "-static", "--static", "-static-libgcc", "-static-libstdc++", "-static-openmp", "-static-pie",
        "--static-pie", "-t", "-X", "-Z": None, Regrain, Link, "as clang has it";
    "-nodlink", "--no-device-link": None, NvccElse("nothing"), Sets(nvcc::no_device_link),
        "device code of objects is not linked";
    "-noeh", "--no-exceptions": None, NvccElse("-fno-exceptions"), Means("-fno-exceptions"),
        "no exceptions on the host";
    "-nohdinitlist", "--no-host-device-initializer-list": None, Both,
        Refused("clang takes constexpr functions on both sides; -Xclang -fno-cuda-host-device-constexpr switches that off"),
        "fewer functions for both sides";
    "-nohdmoveforward", "--no-host-device-move-forward": None, Both,
        Refused("clang takes constexpr functions on both sides; -Xclang -fno-cuda-host-device-constexpr switches that off"),
        "fewer functions for both sides";
    "-noprof", "--dont-use-profile": None, NvccElse("nothing"), Means(""), "accepted: there is no nvcc.profile";
    "-o": Either "<file>", Regrain, Sets(ours::output), "where the result goes";
    "-O": Joined "<level>", Regrain, Sets(ours::level), "how far code is optimised";
    "-o", "--output-file": Equals "<file>", Nvcc, Sets(ours::output), "where the result goes";
    "-O", "--optimize": Any "<level>", Nvcc, Sets(nvcc::host_level), "how far host code is optimised";
    "-objtemp", "--objdir-as-tempdir": None, NvccElse("-save-temps=obj"), Means(""),
        "accepted: temporary files have names of their own";
    "-odir", "--output-directory": Equals "<dir>", NvccElse("-o"), Sets(nvcc::output_directory),
        "the folder of results";
    "-Ofc", "--Ofast-compile": Equals "<level>", NvccElse("-Xarch_device -O1"), Sets(nvcc::fast_compile),
        "device code that compiles faster: max, mid, min, 0";
    "--offload-arch=", "--cuda-gpu-arch=": Joined "<list>", Both, Ours(ours::offload_arch),
        "cpu, sm_NN, gfxNNN, native; lists of any of them";
    "-opt-info", "--optimization-info": Equals "<kind>", NvccElse("-Rpass=inline"), Means("-Rpass={}"),
        "remarks of the kind inline";
    "-optf", "--options-file": Equals "<files>", NvccElse("@file"), Sets(nvcc::options_file), "options from files";
    "-optix-ir", "--optix-ir": None, Both, Refused("OptiX takes the IR of NVIDIA's compiler alone"), "IR for OptiX";
    "--output": Separate "<file>", Regrain, Sets(ours::output), "where the result goes";
    "--output=": Joined "<file>", Regrain, Sets(ours::output), "where the result goes";
    "-pg", "--profile": None, Nvcc, Sets(nvcc::gprof), "for gprof";
    "-prec-div", "--prec-div": Equals "<true|false>", Both, Sets(nvcc::precise_division),
        "exact division of floats in device code, on NVIDIA";
    "-prec-sqrt", "--prec-sqrt": Equals "<true|false>", Both, Sets(nvcc::precise_root),
        "exact square roots of floats in device code, on NVIDIA";
    "--print-file-name", "--print-prog-name": Separate "<value>", Regrain, Clang, "as clang has it";
    "-print-regrain-inputs": None, Both, Ours(ours::inputs), "what code depends on beside files, for compiler caches";
    "-ptx", "--ptx": None, Both, Sets(nvcc::ptx), "PTX of the device side";
    "-qpp-config", "--qpp-config": Equals "<configuration>", NvccElse("nothing: clang 22 compiles the host side"),
        Refused("clang 22 compiles the host side"),
        "for q++";
    "-r", "--relocatable-link": None, Nvcc, Means("-r"), "one object of several";
    "-rdc", "--relocatable-device-code": Equals "<true|false>", Both, Sets(nvcc::relocatable),
        "device code that is linked with that of other sources";
    "-reloc-ptx", "--relocatable-ptx": None, NvccElse("-fgpu-rdc"), Refused("device code waits as LLVM bitcode"),
        "PTX of objects goes into the program";
    "-res-usage", "--resource-usage": None, Both, Sets(nvcc::resource_usage),
        "registers and memory of each kernel, as ptxas -v";
    "-restrict", "--restrict": None, NvccElse("__restrict__ in the source"),
        Refused("write __restrict__ where it is true"),
        "kernels' pointers are restrict pointers";
    "-Rno-pass": None, Both, Sets(ours::no_remarks), "no such remarks";
    "-Rno-pass-analysis": None, Both, Sets(ours::no_remarks_analysis), "no such remarks";
    "-Rno-pass-missed": None, Both, Sets(ours::no_remarks_missed), "no such remarks";
    "--rocm-device-lib-path=": Joined "<dir>", Both, Ours(ours::device_lib_path), "the folder of ocml.bc";
    "--rocm-path=": Joined "<dir>", Both, Ours(ours::rocm_path),
        "ROCm, for its device libraries; else ROCM_PATH, /opt/rocm";
    "-Rpass": Joined "=<regex>", Both, Ours(ours::remarks),
        "what was done: regrain, regrain-vectorize-threads, clang's passes";
    "-Rpass-analysis": Joined "=<regex>", Both, Ours(ours::remarks_analysis),
        "the numbers behind the choice; how rows access memory";
    "-Rpass-missed": Joined "=<regex>", Both, Ours(ours::remarks_missed),
        "why a kernel was not raised, not split, or kept from a grain";
    "-run", "--run": None, NvccElse("nothing that runs the program"), Sets(nvcc::run), "run the program";
    "-run-args", "--run-args": Equals "<arguments>", NvccElse("nothing that runs the program"), Sets(nvcc::run_args),
        "arguments of the program that runs";
    "-S": None, Regrain, Sets(ours::assembly), "compile to assembly";
    "-sanitize", "--sanitize": Equals "<tool>", NvccElse("-fsanitize="),
        Refused("REGRAIN_CPU_CHECK=1 checks barriers on the CPU; -Xcompiler -fsanitize= checks the host side"),
        "for compute-sanitizer";
    "--save-temps", "-save-temps": None, Regrain, Sets(ours::save_temps), "keep what is made on the way";
    "-save-temps", "--save-temps": None, Nvcc, Sets(nvcc::keep), "keep what is made on the way";
    "-save-temps=", "--save-temps=": Joined "<cwd|obj>", Regrain, Sets(ours::save_temps_in),
        "keep what is made on the way, here or beside the output";
    "-shared", "--shared": None, Nvcc, Means("-shared"), "a shared library";
    "-shared-libsan": Joined "<value>", Regrain, CompileAndLink, "the runtime of the checks";
    "-split-compile", "--split-compile", "-split-compile-extended", "--split-compile-extended": Equals "<n>", NvccElse("nothing: all processors are used, or make's share"),
        Sets(nvcc::threads),
        "the most threads; 0 for all processors";
    "-src-in-ptx", "--source-in-ptx": None, NvccElse("-lineinfo"),
        Refused("PTX names the lines of the source with -lineinfo"),
        "the source between the lines of PTX";
    "-static-global-template-stub", "--static-global-template-stub": Equals "<true|false>", NvccElse("nothing"),
        Means(""),
        "accepted: kernels are told apart by their code";
    "-static-libsan": Joined "<value>", Regrain, CompileAndLink, "the runtime of the checks";
    "-std", "--std": Equals "<dialect>", Nvcc, Sets(nvcc::standard), "c++03, c++11, c++14, c++17, c++20 or c++23";
    "-stdlib=": Joined "<value>", Regrain, CompileAndLink, "the C++ library";
    "--sysroot=": Joined "<value>", Regrain, CompileAndLink, "where the host's headers and libraries are";
    "-t", "--threads": Any "<n>", Nvcc, Sets(nvcc::threads), "the most threads; 0 for all processors";
    "-target-dir", "--target-directory": Equals "<name>", NvccElse("--cuda-path="),
        Refused("name the toolkit by --cuda-path="),
        "a folder below targets";
    "--target=": Joined "<value>", Regrain, CompileAndLink, "the host";
    "-time", "--time": Equals "<file>", Nvcc, Refused("-ftime-report says where time goes"), "where time goes";
    "-U", "--undefine-macro": Any "<macros>", Nvcc, Means("-U{}"), "undefine macros";
    "-use-local-env", "--use-local-env": None, NvccElse("nothing: it is for Windows"), Means(""),
        "accepted: nothing to do here";
    "-use_fast_math", "--use_fast_math": None, Both, Sets(nvcc::fast_math),
        "fast functions of device code, -ftz=true -prec-div=false";
    "--user-dependencies": None, Regrain, Clang, "only the rule for make";
    "-v", "--verbose": None, Both, Sets(ours::verbose), "show the commands";
    "-V", "--version": None, Nvcc, Sets(nvcc::version), "the version";
    "-w", "--disable-warnings": None, Nvcc, Means("-w"), "no warnings";
    "-Wdefault-stream-launch", "--Wdefault-stream-launch": None, Both, Means(""), "accepted: there is no such warning";
    "-Werror", "--Werror": Equals "<kinds>", Nvcc, Sets(nvcc::warnings_as_errors),
        "all-warnings, reorder, deprecated-declarations and others";
    "-Wext-lambda-captures-this", "--Wext-lambda-captures-this": None, Both, Means(""),
        "accepted: there is no such warning";
    "-Wmissing-launch-bounds", "--Wmissing-launch-bounds": None, Both, Means(""), "accepted: there is no such warning";
    "-Wno-deprecated-declarations", "--Wno-deprecated-declarations": None, Nvcc, Means("-Wno-deprecated-declarations"),
        "as clang has it";
    "-Wno-deprecated-gpu-targets", "--Wno-deprecated-gpu-targets": None, Both, Means(""),
        "accepted: there is no such warning";
    "-Wp,-M": Joined "<value>", Regrain, Dependency, "the rule for make";
    "-Wreorder", "--Wreorder": None, Nvcc, Means("-Wreorder"), "as clang has it";
    "-x", "--language=": Either "<language>", Regrain, Sets(ours::language), "the language of the files behind it";
    "-x", "--x": Equals "<c|c++|cu>", Nvcc, Sets(nvcc::language), "the language of all files";
    "-Xarchive", "--archive-options": Equals "<options>", NvccElse("the archiver itself"), Sets(nvcc::archive_options),
        "options of the archiver (-lib)";
    "-Xcicc", "--Xcicc", "-Xnvvm", "--Xnvvm": Equals "<options>", NvccElse("clang's options, or -mllvm"),
        Refused("there is no cicc"),
        "options of cicc";
    "-Xcompiler", "--compiler-options": Equals "<options>", NvccElse("the options themselves, or -Xarch_host"),
        Sets(nvcc::host_options),
        "options of the host side, as clang has them";
    "-Xcuda-fatbinary": Separate "<option>", Regrain,
        Refused("fat binaries are written without a tool that takes options"),
        "an option for fatbinary";
    "-Xcuda-ptxas": Separate "<option>", Regrain, Sets(ours::ptxas), "an option for ptxas";
    "-Xcudafe", "--Xcudafe": Equals "<options>", NvccElse("clang's warning options"), Means(""),
        "accepted: there is no cudafe++";
    "-Xlinker", "--linker-options": Equals "<options>", Nvcc, Means("-Xlinker {}"), "options of the linker";
    "-Xnvlink", "--nvlink-options": Equals "<options>", Both, Sets(nvcc::nvlink_options),
        "accepted with a warning: nvlink is not used";
    "-Xptxas", "--ptxas-options": Equals "<options>", Both, Sets(nvcc::ptxas_options), "options of ptxas";
}
