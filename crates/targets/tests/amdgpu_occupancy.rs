//! The occupancy of AMD's chips against LLVM's: what its assembly says of kernels that take given registers and shared memory.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use regrain_targets::amdgpu::limits::ALL;
use regrain_tuning::limits::GpuLimits;
use regrain_tuning::occupancy::{Resources, occupancy};

/// Threads of a block and what a kernel takes.
#[derive(Clone, Copy, Debug, Default)]
struct Kernel {
    threads: u32,
    /// Vector registers.
    vector: u32,
    /// Accumulators, on chips that have them.
    accumulators: u32,
    /// Scalar registers, without those that LLVM adds.
    scalar: u32,
    /// Bytes.
    shared: u32,
}

/// What LLVM says of a kernel.
#[derive(Debug)]
struct Said {
    resources: Resources,
    /// Waves of a SIMD.
    waves: u32,
}

fn kernels(limits: &GpuLimits) -> Vec<Kernel> {
    let mut made = Vec::new();
    // One to three waves, and such numbers that each SIMD gets equally many.
    for waves in [1, 2, 3, 4, 8, 16, 32] {
        let threads = waves * limits.warp;
        if threads > limits.threads_per_block {
            continue;
        }
        let base = Kernel { threads, vector: 1, ..Kernel::default() };
        made.push(base);
        // As many as LLVM lets a block of this size have, which it refuses to exceed.
        let most = 256.min(limits.registers_per_unit / limits.warp / waves.max(4)) / 8 * 8;
        let vector = [24, 25, 32, 33, 48, 49, 64, 65, 72, 73, 84, 96, 97, 120, 128, 129, 168, 170, 192, 200, 255, 256];
        made.extend(vector.into_iter().filter(|count| *count <= most).map(|vector| Kernel { vector, ..base }));
        made.extend([16, 44, 70, 76, 80, 84, 92, 95, 98, 102].map(|scalar| Kernel { scalar, ..base }));
        // Multiples of all granules of shared memory.
        let shared = [5120, 10240, 20480, 25600, 40960, 61440, 81920, 163_840];
        made.extend(shared.into_iter().filter(|bytes| *bytes <= limits.shared_opt_in).map(|shared| Kernel {
            shared,
            vector: 33,
            ..base
        }));
        if matches!(limits.name, "gfx908" | "gfx90a" | "gfx942" | "gfx950") && waves <= 4 {
            made.extend([5, 100, 255].map(|accumulators| Kernel { vector: 41, accumulators, ..base }));
        }
    }
    made
}

/// The kernels as LLVM IR: registers are taken by name.
fn source(kernels: &[Kernel]) -> String {
    let mut text = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    for (number, kernel) in kernels.iter().enumerate() {
        let named = [('v', kernel.vector), ('a', kernel.accumulators), ('s', kernel.scalar)];
        let taken: Vec<String> = named
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| format!("~{{{name}{}}}", count - 1))
            .collect();
        let (taken, shared) = (taken.join(","), kernel.shared);
        let operand = if shared > 0 {
            writeln!(text, "@l{number} = internal addrspace(3) global [{shared} x i8] poison").expect("text");
            (format!("v,{taken}"), format!("ptr addrspace(3) @l{number}"))
        } else {
            (taken, String::new())
        };
        writeln!(
            text,
            "define amdgpu_kernel void @k{number}() \"amdgpu-flat-work-group-size\"=\"{0},{0}\" {{\n  \
             call void asm sideeffect \"\", \"{1}\"({2})\n  ret void\n}}",
            kernel.threads, operand.0, operand.1
        )
        .expect("text");
    }
    text
}

/// What LLVM says of each kernel, in their order.
fn ask(chip: &str, text: &str) -> Vec<Said> {
    let llc = Path::new(env!("LLVM_SYS_221_PREFIX")).join("bin/llc");
    let mut child = Command::new(&llc)
        .args([&format!("-mcpu={chip}"), "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", llc.display()));
    let mut input = child.stdin.take().expect("a pipe");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut input, text.as_bytes()).expect("llc reads"));
        child.wait_with_output().expect("llc ends")
    });
    assert!(output.status.success(), "{chip}");
    let text = String::from_utf8(output.stdout).expect("assembly is text");
    text.split("; Kernel info:").skip(1).map(|part| said(chip, part)).collect()
}

fn said(chip: &str, part: &str) -> Said {
    let lines = part.lines().take_while(|line| line.starts_with(';')).chain(part.lines().skip(1));
    let mut values = BTreeMap::new();
    for (name, rest) in lines.filter_map(|line| line.strip_prefix("; ")?.split_once(':')) {
        let number: String = rest.trim().chars().take_while(char::is_ascii_digit).collect();
        values.entry(name.trim().to_owned()).or_insert(number);
    }
    let value = |name: &str| -> u32 {
        values.get(name).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{chip}: no '{name}': {part}"))
    };
    let resources = Resources {
        registers: value("NumVGPRsForWavesPerEU"),
        scalar_registers: value("NumSGPRsForWavesPerEU"),
        static_shared: value("LDSByteSize"),
        ..Resources::default()
    };
    Said { resources, waves: value("Occupancy") }
}

/// LLVM's waves of a SIMD, where its table of scalar registers (`getOccupancyWithNumSGPRs`) forgets the granule that its
/// `getMaxNumSGPRs` knows: with 81 to 88 and 97 to 100 of them it is one wave too many.
fn with_scalar_granule(limits: &GpuLimits, said: &Said) -> u32 {
    match (limits.scalar_registers, said.resources.scalar_registers) {
        (Some(_), 81..=88) => said.waves.min(8),
        (Some(_), 97..=100) => said.waves.min(7),
        _ => said.waves,
    }
}

#[test]
fn occupancy_is_what_llvm_says() {
    let mut compared = 0;
    for limits in ALL {
        let kernels = kernels(limits);
        let said = ask(limits.name, &source(&kernels));
        assert_eq!(said.len(), kernels.len(), "{}", limits.name);
        for (kernel, said) in kernels.iter().zip(&said) {
            assert!(said.resources.registers >= kernel.vector, "{}: {kernel:?}, {said:?}", limits.name);
            assert!(said.resources.scalar_registers >= kernel.scalar, "{}: {kernel:?}, {said:?}", limits.name);
            assert_eq!(said.resources.static_shared, kernel.shared, "{}: {kernel:?}", limits.name);
            let found = occupancy(limits, kernel.threads, &said.resources);
            let want = with_scalar_granule(limits, said);
            let waves = kernel.threads / limits.warp;
            let context = format!("{}: {kernel:?}, {said:?}, {found:?}", limits.name);
            if waves % limits.partitions == 0 {
                // LLVM counts waves, also of a block that does not fit any more.
                assert_eq!(found.blocks, want / (waves / limits.partitions), "{context}");
            } else {
                assert_eq!(found.warps.div_ceil(limits.partitions), want, "{context}");
            }
            compared += 1;
        }
    }
    assert!(compared > 5000, "{compared}");
}
