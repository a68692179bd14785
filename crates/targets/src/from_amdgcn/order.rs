//! The order in which the lanes of a wave go on that went apart.
//!
//! Hardware without a program counter for each lane runs the sides of a branch one after the other and meets again
//! behind it; lanes that have left a loop wait for those that have not. A linear order of the blocks says the same,
//! if each loop is contiguous in it: of lanes that have stopped in different blocks those in the first go on. So that
//! lanes in different rounds of a loop do not overtake each other, they also stop where a round ends, all at one
//! place behind the loop's blocks.
//!
//! ```text
//! entry: br %c, a, b       0 entry
//! a:     stop; br join     1 b        two sides, in any order
//! b:     stop; br loop     2 loop     contiguous, although `exit` of another side could be put between
//! loop:  br %d, loop, join 3 a
//! join:  stop; ret         4 join     behind all that lead to it
//! ```

/// A place in the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// What stands in a block.
    Block(usize),
    /// The end of a round of a loop in which lanes may stop: the ends of these blocks.
    Round(Vec<usize>),
}

/// The order of the blocks that can be reached. `successors` are those of each block, of which the first is the
/// entry; `stops` says in which of them lanes stop.
pub(super) fn order(successors: &[Vec<usize>], stops: &[bool]) -> Vec<Place> {
    let mut made = Vec::new();
    if !successors.is_empty() {
        let mut graph = Graph { successors: successors.to_vec(), inside: vec![true; successors.len()] };
        region(&mut graph, 0, stops, &mut made);
    }
    made
}

/// The part of a control flow graph that is looked at; edges back to the headers of loops around it are gone.
struct Graph {
    successors: Vec<Vec<usize>>,
    inside: Vec<bool>,
}

impl Graph {
    fn next(&self, block: usize) -> impl Iterator<Item = usize> {
        self.successors[block].iter().copied().filter(|next| self.inside[*next])
    }

    /// What can be reached from `entry`, in reverse post-order: the sides of a branch are not mixed.
    fn reverse_post_order(&self, entry: usize) -> Vec<usize> {
        let mut seen = vec![false; self.successors.len()];
        let (mut stack, mut found) = (vec![(entry, 0)], Vec::new());
        seen[entry] = true;
        while let Some((block, edge)) = stack.pop() {
            match self.next(block).nth(edge) {
                None => found.push(block),
                Some(next) => {
                    stack.push((block, edge + 1));
                    if !std::mem::replace(&mut seen[next], true) {
                        stack.push((next, 0));
                    }
                }
            }
        }
        found.reverse();
        found
    }

    /// The blocks from which each block is reached.
    fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new(); self.successors.len()];
        for block in (0..all.len()).filter(|block| self.inside[*block]) {
            for next in self.next(block) {
                all[next].push(block);
            }
        }
        all
    }
}

/// Adds what is reached from `entry` to `made`, loops after one another, and their inner loops within them.
fn region(graph: &mut Graph, entry: usize, stops: &[bool], made: &mut Vec<Place>) {
    let blocks = graph.reverse_post_order(entry);
    let predecessors = graph.predecessors();
    let mut open = vec![false; graph.successors.len()];
    blocks.iter().for_each(|block| open[*block] = true);
    // Kosaraju: the strongly connected parts, in topological order.
    for header in blocks {
        if !open[header] {
            continue;
        }
        let (mut part, mut work) = (Vec::new(), vec![header]);
        open[header] = false;
        while let Some(block) = work.pop() {
            part.push(block);
            for before in &predecessors[block] {
                if std::mem::replace(&mut open[*before], false) {
                    work.push(*before);
                }
            }
        }
        let latches: Vec<usize> =
            part.iter().copied().filter(|block| graph.next(*block).any(|n| n == header)).collect();
        if latches.is_empty() {
            made.push(Place::Block(header));
            continue;
        }
        // The loop by itself, without its back edges.
        let outside: Vec<bool> = std::mem::replace(&mut graph.inside, vec![false; graph.successors.len()]);
        part.iter().for_each(|block| graph.inside[*block] = outside[*block]);
        for latch in &latches {
            graph.successors[*latch].retain(|next| *next != header);
        }
        region(graph, header, stops, made);
        graph.inside = outside;
        if part.iter().any(|block| stops[*block]) {
            made.push(Place::Round(latches));
        }
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
