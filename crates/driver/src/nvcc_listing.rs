//! What `regrain-nvcc` prints with `-v` and `-dryrun` before the commands: the variables of nvcc's profile, and a line of `regrain`
//! for each compilation and for the link that does the same.
//!
//! CMake reads where the toolkit is from `TOP`, the chip from `-arch compute_NN`, and from the link's line, which it knows by the value
//! of `LIBRARIES`, the program that links and the libraries that it adds. No other line may have that value in it.

use std::path::Path;

use regrain_targets::toolkit::SmArch;

use crate::args::{Args, Cudart, Output};

/// The lines for `args`, where code is made for `chips`; the toolkit's folder, and what CMake is to take for it.
pub fn lines(args: &Args, [toolkit, view]: [&Path; 2], regrain: &Path, chips: &[SmArch]) -> String {
    let (root, real) = (view.display(), toolkit.display());
    let libraries = format!("\"-L{root}/lib64/stubs\" \"-L{root}/lib64\"");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut lines = vec![
        "_NVVM_BRANCH_=nvvm".into(),
        "_SPACE_= ".into(),
        format!("TOP={root}"),
        format!("NVVMIR_LIBRARY_DIR={real}/nvvm/libdevice"),
        format!("PATH={root}/bin:{path}"),
        format!("INCLUDES=\"-I{root}/include\""),
        format!("LIBRARIES=  {libraries}"),
    ];
    for input in args.inputs.iter().filter(|input| input.cuda) {
        for chip in chips {
            let (number, name) = (chip.number, input.path.display());
            let codes = format!("-code sm_{number},compute_{number}");
            lines.push(format!("\"{}\" -arch compute_{number} {codes} -c \"{name}\"", regrain.display()));
        }
    }
    if args.kind == Output::Linked {
        let runtime = match args.cudart {
            Cudart::Static => "-lcudadevrt -lcudart_static -lrt -lpthread -ldl",
            Cudart::Shared => "-lcudadevrt -lcudart",
            Cudart::None => "",
        };
        let stems = args.inputs.iter().map(|input| {
            let object = if input.source { input.path.with_extension("o") } else { input.path.clone() };
            format!("\"{}\" ", object.display())
        });
        let output = args.output.as_deref().unwrap_or(Path::new("a.out")).display();
        lines.push(format!(
            "\"{}\" -o \"{output}\" {}{libraries} {runtime}",
            regrain.display(),
            stems.collect::<String>()
        ));
    }
    lines.iter().map(|line| format!("#$ {line}\n")).collect()
}
