//! A nest as CUDA C++: its kernels, and the function of the host that launches them.
//!
//! ```text
//!   static __global__ void f_region0_kernel0(...) { const long t0 = ...; if (...) { ... } }
//!   extern "C" int regrain_f_region0(...) { /* 1: done; 0: nothing is done, the sequential code has to */ }
//! ```
//!
//! The function does nothing where what was assumed does not hold, where too little is to be done, where arrays overlap that may not,
//! and where the device cannot be used.

use mlir_bridge::ir::Type;
use mlir_bridge::isl::Term;
use regrain_passes::affine::Reason;
use regrain_passes::affine::accesses::Base;
use regrain_passes::affine::host::{Host, Launch, Reduces, statement_of};
use regrain_passes::affine::poly::{param_name, variable_name};
use regrain_passes::affine::reductions::Reduction;
use regrain_passes::affine::sets::{Footprint, Range, Weight};
use regrain_passes::affine::teams::{Team, places};

use super::body::Body;
use super::chip::{Writer, coordinates};
use super::combine::Part;
use super::constant::{Constants, with_constants};
use super::kernels::Kernels;
use super::nest::{Nest, product, sum, workers};
use super::parts::{self, MOST_PARTS, ROUNDS};
use super::places::linear;
use super::sums;
use super::teams;
use super::terms::{Lines, code, term};
use super::types::type_name;

/// What a nest with tiles of threads calls, where a processor's runtime has it.
pub const IS_LONG: &str = "__regrain_launch_is_long()";
/// Its declaration.
pub const DECLARED: &str = "#ifdef TILE_LINKED\nextern \"C\" void __regrain_launch_is_long();\n#endif\n";
/// The operations of a launch that others are called to at once: some hundred microseconds.
const LONG: u32 = 1_000_000;
/// The most threads of a tile: what they have of an array is in the second cache of a core.
const MOST_OF_TILE: u32 = 8192;
/// What stands in front of loops along rows.
const LOOP_ALONG_ROWS: &str = "#pragma clang loop unroll(disable) interleave_count(4)\n";
/// The most blocks in y and z.
const MOST_BLOCKS: u32 = 65_535;

/// What is written of a nest.
#[derive(Default)]
struct Output<'c> {
    kernels: Kernels,
    launches: Lines,
    /// How many launches.
    count: usize,
    /// The types of numbers that kernels hand to each other.
    slots: Vec<Type<'c>>,
}

/// Writes a nest.
///
/// # Errors
/// It has an operation that has no counterpart.
pub fn write(nest: &Nest<'_, '_>) -> Result<String, Reason> {
    let mut output = Output { launches: Lines { depth: 2, ..Lines::default() }, ..Output::default() };
    nest.host(&nest.plan.host, &mut output)?;
    let host = nest.function(&output)?;
    Ok(output.kernels.text + &host)
}

/// A kernel that is launched.
struct Kernel<'k, 'd, 'c> {
    launch: &'k Launch,
    /// What it does of reductions.
    parts: Vec<(&'d Reduction<'c>, usize, Part)>,
    /// Whether it ends with the last of these.
    ends: bool,
}

/// How it is done.
#[derive(Clone, Copy)]
enum Way<'k> {
    /// A thread for each point.
    Single,
    /// A row of threads for each.
    Rows(&'k Team),
    /// A thread for each, with arrays in constant memory.
    Constant(&'k [usize]),
}

impl Kernel<'_, '_, '_> {
    /// Whether it is one of many threads for a statement of one.
    fn is_shared(&self) -> bool {
        self.parts.last().is_some_and(|(.., part)| *part == Part::Mine)
    }
}

/// The parameters of a kernel that has a part in reductions: how many blocks there are, and where their numbers are.
fn slots(kernel: &Kernel<'_, '_, '_>) -> Result<Vec<(String, String)>, Reason> {
    let mut parameters = Vec::new();
    if !kernel.parts.is_empty() {
        parameters.push(("const long".to_owned(), "parts".to_owned()));
    }
    for (reduction, first, _) in &kernel.parts {
        for (slot, result) in (*first..).zip(reduction.op.results()) {
            let ty = type_name(result.ty()).ok_or(Reason::Operation)?;
            parameters.push((format!("{ty} *"), format!("R{slot}")));
        }
    }
    Ok(parameters)
}

/// The grid and the block of a kernel with a thread for each point.
fn configuration(kernel: &Kernel<'_, '_, '_>, part_threads: u32) -> String {
    let launch = kernel.launch;
    let blocks = launch.threads.iter().zip(&launch.block).rev();
    let grid: Vec<String> = blocks
        .map(|(Range { name, .. }, size)| format!("(unsigned)((last_{name} - first_{name}) / {size} + 1)"))
        .collect();
    let block: Vec<String> = launch.block.iter().rev().map(u32::to_string).collect();
    match launch.threads.len() {
        1 if launch.is_tiled => "(unsigned)(apart / width + 1), 1".to_owned(),
        0 if kernel.is_shared() => format!("(unsigned)parts, {part_threads}"),
        0 => "1, 1".to_owned(),
        _ => format!("dim3({}), dim3({})", grid.join(", "), block.join(", ")),
    }
}

/// How many threads a tile has ([`Launch::is_tiled`]): as many tiles as there are workers, or a multiple of that where they would have more than a cache
/// keeps of each array; whole lines of it.
fn tile_width(Range { name, .. }: &Range, lines: &mut Lines) {
    workers(lines);
    lines.line(&format!(
        "const long apart = last_{name} - first_{name}, tiles = workers * (apart / ({MOST_OF_TILE}L * workers) + 1);"
    ));
    lines.line("const long width = (apart / tiles / 8 + 1) * 8;");
}

/// Loops along rows of memory as LLVM is to have them: by vectors, several at a time, without writing out what is left behind these, which would take most of
/// the time that it has for such a kernel.
fn along_rows(text: &str) -> String {
    let of = |line: &str| {
        let hint = if line.trim_start().starts_with("for (") { LOOP_ALONG_ROWS } else { "" };
        format!("{hint}{line}\n")
    };
    text.lines().map(of).collect()
}

/// Has other workers come at once to a launch of few long blocks: it would be over before the first of them has shown how long they take.
fn call_others(lines: &mut Lines) {
    lines.line("#ifdef TILE_LINKED");
    lines.line(&format!("if (operations > {LONG}.0 * launches)"));
    lines.line("  __regrain_launch_is_long();");
    lines.line("#endif");
}

impl<'d, 'c> Nest<'d, 'c> {
    /// The parameters of a kernel: what it only reads nobody changes meanwhile, for arrays of which one is written are apart.
    fn kernel_parameters(&self, launch: &Launch) -> Result<Vec<(String, String)>, Reason> {
        let mut parameters = self.parameters("A")?;
        let statements =
            places(&launch.code).into_iter().filter_map(|(number, _)| self.description.statements.get(number));
        let accesses = statements.flat_map(|statement| &self.description.accesses[statement.accesses.clone()]);
        let written: Vec<String> =
            accesses.filter(|access| access.writes).map(|access| format!("A{}", access.array)).collect();
        for (ty, name) in &mut parameters {
            if let Some(element) = ty.strip_suffix(" *").filter(|_| !written.contains(name)) {
                *ty = format!("const {element} *__restrict__");
            }
        }
        sums::parameters(launch, &mut parameters);
        Ok(parameters)
    }

    /// The further ones of kernels.
    fn numbers(&self, launch: &Launch) -> Vec<String> {
        let params = (0..self.description.numbers.params.len()).map(param_name);
        let firsts = launch.threads.iter().map(|range| format!("first_{}", range.name));
        let tiled = launch.threads.iter().filter(|_| launch.is_tiled);
        let tiled = tiled.flat_map(|range| [format!("last_{}", range.name), "width".into()]);
        params.chain(launch.around.iter().cloned()).chain(firsts).chain(tiled).chain(sums::numbers(launch)).collect()
    }

    fn host(&self, host: &Host, output: &mut Output<'c>) -> Result<(), Reason> {
        match host {
            Host::Sequence(parts) => parts.iter().try_for_each(|part| self.host(part, output)),
            Host::Loop(Range { name, first, last, exists }, body) => {
                let lines = &mut output.launches;
                lines.open(&format!("if (fine && {})", term(exists)));
                let (first, last) = (term(first), term(last));
                lines.line(&format!("const long last_{name} = {last};"));
                lines.open(&format!("for (long {name} = {first}; fine && {name} <= last_{name}; {name}++)"));
                self.host(body, output)?;
                output.launches.close();
                output.launches.close();
                Ok(())
            }
            Host::Launch(launch) => match &launch.reduces {
                Some(reduces) => self.reduction(launch, reduces, output),
                None => self.launch(&Kernel { launch, parts: Vec::new(), ends: false }, output),
            },
            Host::Waves(waves) => {
                output.kernels.text += &self.wave_kernels(waves)?;
                self.wave_launches(waves, &mut output.launches)
            }
        }
    }

    /// The kernels of a statement with reductions: parts and the whole of each, the last of which goes on with the statement.
    fn reduction(&self, launch: &Launch, reduces: &Reduces, output: &mut Output<'c>) -> Result<(), Reason> {
        let reductions = &self.description.statements[reduces.statement].reductions;
        output.launches.open("");
        let rounds = product(&Weight { ranges: reduces.rounds.clone(), cost: 1 });
        output.launches.line(&format!("const double rounds = {rounds};"));
        output.launches.line(&format!(
            "const long parts = rounds < {ROUNDS}.0 * {MOST_PARTS} ? (long)(rounds / {ROUNDS}) + 1 : {MOST_PARTS};"
        ));
        let mut known: Vec<(&Reduction<'c>, usize, Part)> = Vec::new();
        for (number, reduction) in reductions.iter().enumerate() {
            let first = output.slots.len();
            output.slots.extend(reduction.op.results().into_iter().map(|result| result.ty()));
            for part in [Part::Mine, Part::Whole] {
                let parts = [&known[..], &[(reduction, first, part)]].concat();
                let ends = part == Part::Mine || number + 1 < reductions.len();
                self.launch(&Kernel { launch, parts, ends }, output)?;
            }
            known.push((reduction, first, Part::Known));
        }
        output.launches.close();
        Ok(())
    }

    fn launch(&self, kernel: &Kernel<'_, 'd, 'c>, output: &mut Output<'c>) -> Result<(), Reason> {
        let name = format!("{}_kernel{}", self.name, output.count);
        output.count += 1;
        let launch = kernel.launch;
        let lines = &mut output.launches;
        lines.open(&format!("if (fine && {})", term(&launch.exists)));
        for Range { name, first, last, .. } in &launch.threads {
            lines.line(&format!("const long first_{name} = {}, last_{name} = {};", term(first), term(last)));
        }
        if let [thread] = &launch.threads[..]
            && launch.is_tiled
        {
            if launch.sums.is_empty() {
                tile_width(thread, lines)
            } else {
                sums::memory(self.description, launch, lines)?
            }
            call_others(lines);
            if !launch.sums.is_empty() {
                lines.line("if (fine)");
            }
        }
        let (mut is_needed, mut is_open) = (true, false);
        if let Some(team) = teams::team_of(launch) {
            let (name, arguments) =
                self.kernel(&format!("{name}_rows"), kernel, Way::Rows(team), &mut output.kernels)?;
            is_open = teams::launch(lines, launch, team, &name, &arguments);
            is_needed = is_open;
        }
        if is_needed {
            let constants = self.constants.of_launch(self.description, self.plan, launch);
            let configuration = configuration(kernel, self.part_threads);
            if !constants.is_empty() {
                let (name, way) = (format!("{name}_constant"), Way::Constant(&constants));
                let (name, arguments) = self.kernel(&name, kernel, way, &mut output.kernels)?;
                lines.open("if (constant)");
                Constants::refill(self.plan, &constants, lines);
                lines.line("if (fine)");
                lines.line(&format!("  {name}<<<{configuration}>>>({arguments});"));
                lines.close();
                lines.line("else");
            }
            let (name, arguments) = self.kernel(&name, kernel, Way::Single, &mut output.kernels)?;
            let indent = if constants.is_empty() { "" } else { "  " };
            lines.line(&format!("{indent}{name}<<<{configuration}>>>({arguments});"));
        }
        if is_open {
            lines.close();
        }
        sums::launch(self.description, launch, &name, &mut output.kernels, lines)?;
        lines.line("fine = cudaGetLastError() == cudaSuccess && fine;");
        lines.line("started = started || fine;");
        lines.close();
        Ok(())
    }

    /// The parameters that a kernel may use, with what the arguments of its launch are called too.
    fn all_parameters(
        &self,
        kernel: &Kernel<'_, 'd, 'c>,
        constants: &[usize],
    ) -> Result<Vec<(String, String)>, Reason> {
        let mut parameters = self.kernel_parameters(kernel.launch)?;
        with_constants(&mut parameters, constants);
        parameters.extend(self.numbers(kernel.launch).into_iter().map(|name| ("long".to_owned(), name)));
        parameters.extend(slots(kernel)?);
        Ok(parameters)
    }

    /// Adds a kernel. Gives what it is called, and the arguments of its launch.
    fn kernel(
        &self,
        name: &str,
        kernel: &Kernel<'_, 'd, 'c>,
        way: Way<'_>,
        kernels: &mut Kernels,
    ) -> Result<(String, String), Reason> {
        let constants = if let Way::Constant(arrays) = way { arrays } else { &[] };
        let parameters = self.all_parameters(kernel, constants)?;
        let mut lines = Lines { depth: 1, ..Lines::default() };
        self.body(kernel, way, constants, &mut lines)?;
        if kernel.launch.is_tiled {
            lines.text = along_rows(&lines.text);
        }
        let (name, arguments) = kernels.add(name, &parameters, &lines.text);
        Ok((name, arguments.join(", ")))
    }

    /// What a thread of a kernel does.
    fn body(
        &self,
        kernel: &Kernel<'_, 'd, 'c>,
        way: Way<'_>,
        constants: &[usize],
        lines: &mut Lines,
    ) -> Result<(), Reason> {
        Constants::names(self.description, constants, lines)?;
        let launch = kernel.launch;
        let writer = Writer { description: self.description, fuses: self.fuses, launch, constants };
        if let Way::Rows(team) = way {
            return writer.team(lines, team);
        }
        sums::order(self.description, launch, lines);
        coordinates(launch, lines);
        if kernel.parts.is_empty() {
            return writer.write(lines);
        }
        let shared = kernel.parts.last().filter(|(.., part)| *part == Part::Mine);
        if let Some((reduction, first, _)) = shared {
            parts::start(lines, reduction, *first, self.part_threads).ok_or(Reason::Operation)?;
        }
        code(lines, &launch.code, &mut |lines: &mut Lines, name: &str, place: &[Term]| {
            self.statement(lines, name, place, kernel)
        })?;
        if let Some((reduction, first, _)) = shared {
            parts::finish(lines, reduction, *first, self.part_threads).ok_or(Reason::Operation)?;
        }
        Ok(())
    }

    fn statement(
        &self,
        lines: &mut Lines,
        name: &str,
        place: &[Term],
        kernel: &Kernel<'_, 'd, 'c>,
    ) -> Result<(), Reason> {
        let number = statement_of(name);
        let statement = number.and_then(|number| self.description.statements.get(number)).ok_or(Reason::Operation)?;
        let numbers = &self.description.numbers;
        lines.open("");
        for (variable, place) in statement.scope.variables.iter().zip(place) {
            let ty = type_name(numbers.variables[*variable].ty()).ok_or(Reason::Operation)?;
            lines.line(&format!("const {ty} {} = ({ty}){};", variable_name(*variable), term(place)));
        }
        let last = kernel.parts.last().filter(|_| kernel.ends);
        let end = last.and_then(|(last, ..)| statement.ops.iter().position(|op| *op == last.op));
        let ops = &statement.ops[..end.map_or(statement.ops.len(), |end| end + 1)];
        let mut body = Body::of(self.description, self.fuses).with_parts(kernel.parts.clone(), self.part_threads);
        let written = body.operations(lines, ops, |body, lines| match last {
            Some((reduction, first, Part::Whole)) => parts::hand_on(body, lines, reduction, *first),
            _ => Some(()),
        });
        lines.close();
        written.ok_or(Reason::Operation)
    }

    fn function(&self, output: &Output<'c>) -> Result<String, Reason> {
        let mut lines = Lines::default();
        let parameters = self.parameters("host_A")?.into_iter().map(|(ty, name)| format!("{ty} {name}"));
        let parameters = parameters.collect::<Vec<String>>().join(", ");
        if self.may_stay {
            lines.open(&format!("static int {}_launches({parameters})", self.name));
        } else {
            lines.open(&format!("extern \"C\" int regrain_{}({parameters})", self.name));
        }
        for (number, value) in self.description.numbers.params.iter().enumerate() {
            let text = Body::of(self.description, false).value(&mut lines, *value).ok_or(Reason::Operation)?;
            lines.line(&format!("const long {} = (long){text};", param_name(number)));
        }
        self.ranges(&mut lines);
        lines.line(&format!("if (!{})", term(&self.plan.holds)));
        lines.line("  return 0;");
        match &self.plan.host {
            Host::Waves(waves) => self.waves_worthwhile(waves, &mut lines),
            _ => self.worthwhile(&mut lines),
        }
        let footprints = &self.plan.footprints;
        for (number, footprint) in footprints.iter().enumerate() {
            self.ends(number, footprint, &mut lines)?;
        }
        self.overlaps(&mut lines);
        lines.line("int device = 0, shares = 0;");
        lines.line("cudaGetLastError();");
        lines.line("if (cudaGetDevice(&device) != cudaSuccess ||");
        lines.line("    cudaDeviceGetAttribute(&shares, cudaDevAttrPageableMemoryAccess, device) != cudaSuccess)");
        lines.line("  return 0;");
        if let Host::Waves(waves) = &self.plan.host {
            self.tile_sizes(waves, &mut lines);
        }
        if footprints.iter().any(|footprint| !footprint.is_certain) {
            lines.line("// What is accessed under conditions may not all be there to be copied.");
            lines.line("if (!shares)");
            lines.line("  return 0;");
        }
        self.expect(&mut lines);
        lines.line("bool fine = true, started = false, copied = false;");
        for (number, array) in self.description.arrays.iter().enumerate() {
            let ty = type_name(array.element).ok_or(Reason::Element)?;
            self.copy_in(number, ty, &mut lines);
        }
        self.constants.fill(self.plan, &mut lines);
        self.memory_of_slots(&output.slots, &mut lines)?;
        lines.open("if (fine)");
        lines.text += &output.launches.text;
        lines.line("fine = cudaDeviceSynchronize() == cudaSuccess && fine;");
        if let Host::Waves(waves) = &self.plan.host {
            self.tiles_took(waves, &mut lines);
        }
        lines.close();
        self.constants.leave(&mut lines);
        for (number, footprint) in footprints.iter().enumerate() {
            if footprint.writes {
                lines.line(&format!("copied = copied || (fine && memory_A{number});"));
                lines.line(&format!("if (fine && memory_A{number})"));
                lines.line(&format!(
                    "  fine = cudaMemcpy(host_A{number} + first_A{number}, memory_A{number}, (end_A{number} - first_A{number}) * \
                     sizeof *A{number}, cudaMemcpyDeviceToHost) == cudaSuccess;"
                ));
            }
        }
        for number in 0..footprints.len() {
            lines.line(&format!("cudaFree(memory_A{number});"));
        }
        if !output.slots.is_empty() {
            lines.line("cudaFree(memory_R);");
        }
        let copied = if self.may_stay { "copied || (started && resident.loops > 0)" } else { "copied" };
        lines.line(&format!("if (!fine && (shares ? started : {copied}))"));
        lines.line("  abort(); // Part of it is done: neither way leads to what the program means.");
        lines.line("return fine;");
        lines.close();
        if self.may_stay {
            let arguments: Vec<String> = self.parameters("host_A")?.into_iter().map(|(_, name)| name).collect();
            lines.text.push('\n');
            lines.open(&format!("extern \"C\" int regrain_{}({parameters})", self.name));
            lines.line(&format!("if ({}_launches({}))", self.name, arguments.join(", ")));
            lines.line("  return 1;");
            lines.line("resident_leave(); // The host goes on alone.");
            lines.line("return 0;");
            lines.close();
        }
        Ok(lines.text + "\n")
    }

    /// What is computed of sizes has room where these are of 64 bits, too.
    fn ranges(&self, lines: &mut Lines) {
        let numbers = &self.description.numbers;
        for (number, _) in numbers.params.iter().enumerate().filter(|(_, value)| value.ty().is_int(64)) {
            let ((low, high), name) = (numbers.range(number), param_name(number));
            lines.line(&format!("if ({name} < {low}L || {name} > {high}L)"));
            lines.line("  return 0;");
        }
    }

    /// The memory of numbers that kernels hand to each other.
    fn memory_of_slots(&self, slots: &[Type<'c>], lines: &mut Lines) -> Result<(), Reason> {
        if slots.is_empty() {
            return Ok(());
        }
        let each = 8 * (MOST_PARTS + 1);
        lines.line("void *memory_R = 0;");
        lines.line(&format!("fine = fine && cudaMalloc(&memory_R, {}) == cudaSuccess;", slots.len() as u32 * each));
        for (slot, ty) in slots.iter().enumerate() {
            let ty = type_name(*ty).ok_or(Reason::Operation)?;
            lines.line(&format!("{ty} *R{slot} = ({ty} *)((char *)memory_R + {});", slot as u32 * each));
        }
        Ok(())
    }

    fn worthwhile(&self, lines: &mut Lines) {
        let least_work = self.least_work.unwrap_or_else(|| self.calibration.least_work());
        lines.line(&format!("const double operations = {};", sum(&self.plan.work)));
        lines.line(&format!("const double launches = {};", sum(&self.plan.launches)));
        lines.line(&format!("if (operations < {least_work}.0 * launches || launches < 1.0)"));
        lines.line("  return 0;");
        for (Weight { ranges, .. }, block) in &self.plan.grids {
            for (Range { first, last, exists, .. }, size) in ranges.iter().zip(block).rev().skip(1) {
                let most = u64::from(MOST_BLOCKS) * u64::from(*size);
                lines.line(&format!("if ({} && {} - {} >= {most}L)", term(exists), term(last), term(first)));
                lines.line("  return 0;");
            }
        }
    }

    /// The first element of an array that is accessed, and the one behind the last.
    fn ends(&self, number: usize, footprint: &Footprint, lines: &mut Lines) -> Result<(), Reason> {
        lines.line(&format!("long first_A{number} = 0, end_A{number} = 0;"));
        if footprint.first.is_empty() {
            return Ok(());
        }
        let place =
            |subscripts: &[Term]| linear(self.description, number, &subscripts.iter().map(term).collect::<Vec<_>>());
        lines.open(&format!("if ({})", term(&footprint.exists)));
        let (first, last) = (place(&footprint.first), place(&footprint.last));
        lines.line(&format!("first_A{number} = {};", first.ok_or(Reason::Shape)?));
        lines.line(&format!("end_A{number} = {} + 1L;", last.ok_or(Reason::Shape)?));
        lines.close();
        Ok(())
    }

    fn overlaps(&self, lines: &mut Lines) {
        let arrays = &self.description.arrays;
        for left in 0..arrays.len() {
            for right in left + 1..arrays.len() {
                let writes = self.plan.footprints[left].writes || self.plan.footprints[right].writes;
                let both_variables =
                    matches!((arrays[left].base, arrays[right].base), (Base::Variable(_), Base::Variable(_)));
                if !writes || both_variables || self.apart.contains(&(left, right)) {
                    continue;
                }
                let (a, b) = (left, right);
                lines.line(&format!(
                    "if (first_A{a} < end_A{a} && first_A{b} < end_A{b} && (char *)(host_A{a} + first_A{a}) < (char *)(host_A{b} + \
                     end_A{b}) &&"
                ));
                lines.line(&format!("    (char *)(host_A{b} + first_A{b}) < (char *)(host_A{a} + end_A{a}))"));
                lines.line("  return 0;");
            }
        }
    }

    fn copy_in(&self, number: usize, ty: &str, lines: &mut Lines) {
        lines.line(&format!("{ty} *A{number} = host_A{number};"));
        lines.line(&format!("void *memory_A{number} = 0;"));
        lines.open(&format!("if (fine && !shares && first_A{number} < end_A{number})"));
        lines.line(&format!("const unsigned long bytes = (end_A{number} - first_A{number}) * sizeof *A{number};"));
        if self.may_stay {
            let writes = self.plan.footprints[number].writes;
            lines.line(&format!(
                "char *stays = resident_at((char *)(host_A{number} + first_A{number}), bytes, {writes});"
            ));
            lines.line("if (stays)");
            lines.line(&format!("  A{number} = ({ty} *)stays - first_A{number};"));
            lines.open("else");
        }
        lines.line(&format!("fine = cudaMalloc(&memory_A{number}, bytes) == cudaSuccess &&"));
        lines.line(&format!(
            "    cudaMemcpy(memory_A{number}, host_A{number} + first_A{number}, bytes, cudaMemcpyHostToDevice) == cudaSuccess;"
        ));
        lines.line(&format!("A{number} = ({ty} *)memory_A{number} - first_A{number};"));
        if self.may_stay {
            lines.close();
        }
        lines.close();
    }
}
