//! Kernels that copy a piece of memory to a tile that the block shares, with what is around it, and read the tile in some pattern.

use proptest::collection::vec;
use proptest::prelude::*;

use super::ast::Kernel;

/// Such a kernel. Numbers are taken modulo how many choices there are.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Threads in x and y.
    pub block: [u8; 2],
    /// Elements to the left, to the right, above and below.
    margins: [u8; 4],
    /// Threads without an element of their own, in x and y.
    cut: [u8; 2],
    fill: u8,
    beyond: u8,
    index: u8,
    leave: bool,
    /// The result replaces what was copied.
    in_place: bool,
    /// What is read around a thread's own place, and times what.
    reads: Vec<(u8, u8, u8)>,
    window: bool,
    /// Whether a read depends on data.
    chosen: bool,
    march: Option<March>,
}

/// A tile that is filled again for each of several planes.
#[derive(Clone, Debug)]
struct March {
    /// The fewest planes.
    planes: u8,
    /// Elements from one plane to the next.
    step: u8,
    /// A thread's own elements are loaded a plane ahead, and handed on from plane to plane.
    handed_on: bool,
}

/// Any kernel of this kind.
pub fn tile() -> impl Strategy<Value = Tile> {
    let block = prop::sample::select(&[[16, 8], [8, 8], [32, 4], [64, 1], [128, 1], [5, 7], [16, 1], [1, 16]][..]);
    let margins = prop::array::uniform4(prop_oneof![2 => Just(0u8), 3 => Just(1u8), 1 => Just(2u8)]);
    let cut = prop::array::uniform2(prop_oneof![1 => Just(0u8), 1 => any::<u8>()]);
    let how = (any::<u8>(), any::<u8>(), any::<u8>());
    let reads = vec((any::<u8>(), any::<u8>(), 1..10u8), 1..6);
    let march = (0..3u8, 1..40u8, any::<bool>());
    let march = march.prop_map(|(planes, step, handed_on)| March { planes, step, handed_on });
    let march = prop::option::weighted(0.4, march);
    let whether = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    (block, margins, cut, how, reads, whether, march).prop_map(
        |(block, margins, cut, (fill, beyond, index), reads, (leave, in_place, window, chosen), march)| Tile {
            block,
            margins: if in_place { [0; 4] } else { margins },
            cut,
            fill,
            beyond,
            index,
            // Nobody may leave before the last plane.
            leave: leave && (in_place || march.is_none()),
            in_place,
            reads,
            window,
            chosen,
            march: march.filter(|_| !in_place),
        },
    )
}

/// The kernel as CUDA C++.
pub fn kernel(name: &str, k: &Kernel, tile: &Tile) -> String {
    let [left, right, up, down] = tile.margins.map(i64::from);
    let [width, height] = tile.block.map(i64::from);
    let overlapped = tile.fill % 3 == 2 && width > left + right && height > up + down;
    // Threads that have a result, and elements of the tile.
    let [own_x, own_y] = if overlapped { [width - left - right, height - up - down] } else { [width, height] };
    let [across, along] = if overlapped { [width, height] } else { [width + left + right, height + up + down] };
    let [cut_x, cut_y] = [i64::from(tile.cut[0]) % own_x, i64::from(tile.cut[1]) % own_y];
    let ty = ["int", "unsigned", "long long"][usize::from(tile.index % 3)];
    let mut lines = vec![
        format!("__shared__ unsigned tile[{along}][{across}];"),
        format!("const {ty} cols = gridDim.x * {own_x} - {cut_x}, rows = gridDim.y * {own_y} - {cut_y};"),
        "const int tx = threadIdx.x, ty = threadIdx.y;".to_owned(),
    ];
    let [off_x, off_y] = if overlapped { [left, up] } else { [0, 0] };
    lines.push(format!("const {ty} col = ({ty})blockIdx.x * {own_x} + tx - {off_x};"));
    lines.push(format!("const {ty} row = ({ty})blockIdx.y * {own_y} + ty - {off_y};"));
    let inside = "r >= 0 && r < rows && c >= 0 && c < cols";
    // In place other blocks have written beyond the own one.
    let found = match tile.beyond % if tile.in_place { 2 } else { 3 } {
        0 => format!("{inside} ? plane[r * cols + c] : 0u"),
        1 => format!("plane[max(min(r, rows - 1), ({ty})0) * cols + max(min(c, cols - 1), ({ty})0)]"),
        _ => format!("{inside} ? plane[r * cols + c] : plane[(r + rows + c + cols) % cols]"),
    };
    lines.push(format!("const auto in_plane = [&](const unsigned *plane, {ty} r, {ty} c) {{ return {found}; }};"));
    if let Some(march) = &tile.march {
        lines.extend(march.begin(ty));
    } else {
        lines.push(format!("const auto at = [&]({ty} r, {ty} c) {{ return in_plane(all_global, r, c); }};"));
    }
    if overlapped {
        lines.push("tile[ty][tx] = at(row, col);".to_owned());
    } else if tile.fill % 3 == 1 {
        let (threads, elements) = (width * height, across * along);
        lines.push(format!("for (int e = ty * {width} + tx; e < {elements}; e += {threads})"));
        lines.push(format!(
            "  tile[e / {across}][e % {across}] = at(row - ty + e / {across} - {up}, col - tx + e % {across} - {left});"
        ));
    } else {
        lines.extend(tile.edges());
    }
    if tile.march.as_ref().is_some_and(|march| march.handed_on) && !overlapped && tile.fill.is_multiple_of(3) {
        lines.push(format!("tile[ty + {up}][tx + {left}] = here;"));
    }
    lines.push("__syncthreads();".to_owned());
    lines.extend(tile.results(overlapped));
    if let Some(march) = &tile.march {
        lines.extend(march.end());
    }
    let body: String = lines.into_iter().map(|line| format!("  {line}\n")).collect();
    let restrict = if k.restrict && !tile.in_place { "__restrict__ " } else { "" };
    format!("__global__ void {name}(PARAMETERS({restrict})) {{\n{body}}}\n")
}

impl March {
    fn begin(&self, ty: &str) -> Vec<String> {
        let Self { planes, step, handed_on } = self;
        let mut lines = vec![format!("const int planes = (n & 3) + {planes};")];
        if *handed_on {
            lines.push("unsigned below = 3u, here = in_plane(all_global, row, col);".to_owned());
            lines.push(format!("unsigned ahead = in_plane(all_global + {step}, row, col);"));
        }
        lines.push("for (int z = 0; z < planes; ++z) {".to_owned());
        lines.push(format!(
            "const auto at = [&]({ty} r, {ty} c) {{ return in_plane(all_global + z * {step}, r, c); }};"
        ));
        lines
    }

    fn end(&self) -> Vec<String> {
        let mut lines = vec!["__syncthreads();".to_owned()];
        if self.handed_on {
            lines.push("below = here; here = ahead;".to_owned());
            lines
                .push(format!("if (z + 1 < planes) ahead = in_plane(all_global + (z + 2) * {}, row, col);", self.step));
        }
        lines.push("}".to_owned());
        lines
    }
}

impl Tile {
    /// Each thread copies its own element, those at the edges what is beyond.
    fn edges(&self) -> Vec<String> {
        let [left, right, up, down] = self.margins;
        let [width, height] = self.block;
        let side = |before: u8, behind: u8, size: u8, thread: &str| {
            let before = (1..=before).map(move |by| (format!("{thread} == 0"), -i64::from(by)));
            let thread = thread.to_owned();
            let behind = (1..=behind).map(move |by| (format!("{thread} == {}", size - 1), i64::from(by)));
            std::iter::once((String::new(), 0)).chain(before).chain(behind).collect::<Vec<_>>()
        };
        let mut lines = Vec::new();
        for (of_row, down_by) in side(up, down, height, "ty") {
            for (of_column, right_by) in side(left, right, width, "tx") {
                let conditions: Vec<_> = [&of_row, &of_column].into_iter().filter(|text| !text.is_empty()).collect();
                let texts: Vec<_> = conditions.iter().map(|text| text.as_str()).collect();
                let guard = if texts.is_empty() { String::new() } else { format!("if ({}) ", texts.join(" && ")) };
                let slot = format!("tile[ty + {}][tx + {}]", i64::from(up) + down_by, i64::from(left) + right_by);
                lines.push(format!("{guard}{slot} = at(row + {down_by}, col + {right_by});"));
            }
        }
        lines
    }

    /// What the threads that have a result make of the tile.
    fn results(&self, overlapped: bool) -> Vec<String> {
        let [left, right, up, down] = self.margins;
        let [width, height] = self.block;
        let mut guard = "row >= 0 && row < rows && col >= 0 && col < cols".to_owned();
        if overlapped {
            let ends = [(left, width - right, "tx"), (up, height - down, "ty")];
            guard += &ends.map(|(from, to, thread)| format!(" && {thread} >= {from} && {thread} < {to}")).concat();
        }
        let mut lines = vec!["unsigned sum = 0;".to_owned()];
        if self.leave {
            lines.push(format!("if (!({guard})) return;"));
        } else {
            lines.push(format!("if ({guard}) {{"));
        }
        let [back_x, back_y] = if overlapped { [left, up] } else { [0, 0] };
        let slot = |dy: &str, dx: &str| match self.in_place {
            true => format!("tile[(ty + {dy}) % {height}][(tx + {dx}) % {width}]"),
            false => format!("tile[ty + {dy} - {back_y}][tx + {dx} - {back_x}]"),
        };
        let [most_y, most_x] = if self.in_place { [7, 7] } else { [up + down, left + right] };
        if self.window {
            lines.push(format!("for (int i = 0; i <= {most_y}; ++i) for (int j = 0; j <= {most_x}; ++j)"));
            lines.push(format!("  sum = sum * 3u + {};", slot("i", "j")));
        }
        for (dy, dx, times) in &self.reads {
            let read = slot(&(dy % (most_y + 1)).to_string(), &(dx % (most_x + 1)).to_string());
            let guard = if self.chosen { "if (sum % 3u != 1u) " } else { "" };
            lines.push(format!("{guard}sum += {times}u * {read};"));
        }
        if self.march.as_ref().is_some_and(|march| march.handed_on) {
            lines.push("sum += 5u * below + here + 7u * ahead;".to_owned());
        }
        let place = match (self.in_place, &self.march) {
            (true, _) => "all_global[row * cols + col]",
            (false, None) => "all_out[row * cols + col]",
            (false, Some(_)) => "all_out[row * cols + col + z * rows * cols]",
        };
        lines.push(format!("{place} = sum;"));
        if !self.leave {
            lines.push("}".to_owned());
        }
        lines
    }
}
