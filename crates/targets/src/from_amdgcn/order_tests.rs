//! Small functions, run lane by lane: which lanes are together where they stop.

use super::*;

/// A function as its blocks' successors and the blocks in which lanes stop, and the way that each lane takes: which
/// successor at each branch, in the order in which the lane comes to them.
struct Function<'f> {
    successors: &'f [&'f [usize]],
    stops: &'f [usize],
    lanes: &'f [&'f [usize]],
}

impl Function<'_> {
    fn order(&self) -> Vec<Place> {
        let successors: Vec<Vec<usize>> = self.successors.iter().map(|next| next.to_vec()).collect();
        let stops: Vec<bool> = (0..successors.len()).map(|block| self.stops.contains(&block)).collect();
        order(&successors, &stops)
    }

    /// The block and the lanes of each stop but those at ends of rounds, in the order in which they happen.
    fn run(&self) -> Vec<(usize, Vec<usize>)> {
        let order = self.order();
        let mut events = Vec::new();
        let mut lanes: Vec<_> = self.lanes.iter().map(|way| Lane { block: 0, past: None, way }).collect();
        loop {
            let stopped: Vec<(usize, usize)> =
                lanes.iter_mut().enumerate().filter_map(|(n, lane)| Some((self.next_stop(&order, lane)?, n))).collect();
            let Some(first) = stopped.iter().map(|(place, _)| *place).min() else { return events };
            let group: Vec<usize> = stopped.iter().filter(|(place, _)| *place == first).map(|(_, n)| *n).collect();
            for lane in &group {
                lanes[*lane].past = Some(first);
            }
            if let Place::Block(block) = order[first] {
                events.push((block, group));
            }
        }
    }

    /// Lets a lane go on to the next place at which it stops; `None` when it has returned.
    fn next_stop(&self, order: &[Place], lane: &mut Lane<'_>) -> Option<usize> {
        loop {
            let block = lane.block;
            let own = order.iter().position(|place| *place == Place::Block(block)).expect("ordered");
            let ends = |place: &Place| matches!(place, Place::Round(latches) if latches.contains(&block));
            let rounds = (0..order.len()).filter(|at| ends(&order[*at]));
            let stops = self.stops.contains(&block).then_some(own).into_iter().chain(rounds);
            if let Some(next) = stops.into_iter().find(|at| lane.past.is_none_or(|past| *at > past)) {
                return Some(next);
            }
            let next = match self.successors[block] {
                [] => return None,
                [one] => *one,
                several => {
                    let (first, rest) = lane.way.split_first().expect("a way for each branch");
                    lane.way = rest;
                    several[*first]
                }
            };
            (lane.block, lane.past) = (next, None);
        }
    }
}

/// Where a lane stands: a block, the last place in it that it is past, and the ways that it will take.
struct Lane<'f> {
    block: usize,
    past: Option<usize>,
    way: &'f [usize],
}

/// The blocks of an order, and the ends of rounds.
fn parts(order: &[Place]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let blocks = order.iter().filter_map(|place| if let Place::Block(block) = place { Some(*block) } else { None });
    let rounds =
        order.iter().filter_map(|place| if let Place::Round(ends) = place { Some(ends.clone()) } else { None });
    (blocks.collect(), rounds.collect())
}

#[test]
fn sides_of_a_branch_meet_behind_it() {
    // 0: a branch to 1 or 2, which both stop; 3 stops too.
    let function =
        Function { successors: &[&[1, 2], &[3], &[3], &[]], stops: &[1, 2, 3], lanes: &[&[0], &[1], &[0], &[1]] };
    let mut events = function.run();
    assert_eq!(events.pop(), Some((3, vec![0, 1, 2, 3])));
    events.sort();
    assert_eq!(events, [(1, vec![0, 2]), (2, vec![1, 3])]);
}

#[test]
fn nested_ifs_meet_one_after_the_other() {
    // if (a) { if (b) 2; 3 } 4
    let function = Function {
        successors: &[&[1, 4], &[2, 3], &[3], &[4], &[]],
        stops: &[2, 3, 4],
        lanes: &[&[0, 0], &[0, 1], &[1], &[0, 0]],
    };
    assert_eq!(function.run(), [(2, vec![0, 3]), (3, vec![0, 1, 3]), (4, vec![0, 1, 2, 3])]);
}

#[test]
fn a_loop_is_left_by_all_before_what_follows() {
    // 1 is the loop: it stops, then goes on or leaves to 2, which stops.
    let function = Function { successors: &[&[1], &[1, 2], &[]], stops: &[1, 2], lanes: &[&[0, 0, 1], &[1], &[0, 1]] };
    assert_eq!(parts(&function.order()).1, [[1]]);
    let rounds = [(1, vec![0, 1, 2]), (1, vec![0, 2]), (1, vec![0]), (2, vec![0, 1, 2])];
    assert_eq!(function.run(), rounds);
}

#[test]
fn lanes_in_different_rounds_do_not_meet() {
    // for (...) { if (c) stop } : lane 0 stops in the first and third round, lane 1 in the second and third.
    let function = Function {
        successors: &[&[1], &[2, 3], &[3], &[1, 4], &[]],
        stops: &[2],
        lanes: &[&[0, 0, 1, 0, 0, 1], &[1, 0, 0, 0, 0, 1]],
    };
    assert_eq!(parts(&function.order()).1, [[3]]);
    assert_eq!(function.run(), [(2, vec![0]), (2, vec![1]), (2, vec![0, 1])]);
}

#[test]
fn who_breaks_out_waits_for_the_others() {
    // loop { if (c) break (2: stop, then 5) ; 3: stop; 4: latch } 5: stop
    let function = Function {
        successors: &[&[1], &[2, 3], &[5], &[4], &[1, 5], &[]],
        stops: &[2, 3, 5],
        lanes: &[&[0], &[1, 0, 0], &[1, 0, 1, 1]],
    };
    assert_eq!(
        function.run(),
        [(3, vec![1, 2]), (3, vec![2]), (2, vec![0, 1]), (5, vec![0, 1, 2])],
        "the block of the break is outside the loop"
    );
}

#[test]
fn a_continue_waits_at_the_end_of_the_round() {
    // 1: header; to 2 (a latch of its own: continue) or 3 (stop), then 4: latch or exit 5
    let function = Function {
        successors: &[&[1], &[2, 3], &[1], &[4], &[1, 5], &[]],
        stops: &[3],
        lanes: &[&[0, 1, 1], &[1, 0, 1, 1]],
    };
    let mut ends = parts(&function.order()).1;
    ends[0].sort_unstable();
    assert_eq!(ends, [[2, 4]], "one place for both");
    // Lane 0 skips the first round's stop and meets lane 1 in the second.
    assert_eq!(function.run(), [(3, vec![1]), (3, vec![0, 1])]);
}

#[test]
fn who_returns_early_is_waited_for_by_nobody() {
    let function = Function { successors: &[&[1, 2], &[], &[]], stops: &[2], lanes: &[&[0], &[1], &[1]] };
    assert_eq!(function.run(), [(2, vec![1, 2])]);
}

#[test]
fn loops_are_contiguous_and_inner_ones_within_outer_ones() {
    // 1: outer header; 2: inner loop of itself; 3: outer latch; 4: exit; 5: a side that leads to the exit
    let successors = [vec![1, 5], vec![2], vec![2, 3], vec![1, 4], vec![], vec![4]];
    let made = order(&successors, &[false, false, true, false, false, false]);
    let (blocks, rounds) = parts(&made);
    assert_eq!(rounds, [[2], [3]]);
    let place = |block| blocks.iter().position(|other| *other == block).expect("ordered");
    assert_eq!((place(2), place(3)), (place(1) + 1, place(1) + 2));
    assert_eq!((place(0), place(4)), (0, 5));
}

#[test]
fn loops_in_which_nobody_stops_have_no_latches() {
    let made = order(&[vec![1], vec![1, 2], vec![]], &[false, false, true]);
    assert_eq!(made, [Place::Block(0), Place::Block(1), Place::Block(2)]);
}

#[test]
fn loops_of_two_entries_have_an_order_too() {
    let made = order(&[vec![1, 2], vec![2], vec![1, 3], vec![], vec![3]], &[true; 5]);
    let (mut blocks, rounds) = parts(&made);
    blocks.sort_unstable();
    assert_eq!(blocks, [0, 1, 2, 3], "the last cannot be reached");
    assert_eq!(rounds.len(), 1);
}
