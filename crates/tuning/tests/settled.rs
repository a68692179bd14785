//! What programs settled on that choose by themselves, read out of their records.

use std::collections::BTreeMap;

use regrain_tuning::choice::{Policy, choose_for};
use regrain_tuning::database::Shape;
use regrain_tuning::record::{Key, Times};
use regrain_tuning::{Grain, settled};

fn shape(grid: u32, launches: u64, settled: Option<&str>, times: &[(&str, u64)]) -> Shape {
    let grain = |text: &str| text.parse::<Grain>().expect("a grain");
    let key = Key {
        hash: "h".into(),
        block: [64, 1, 1],
        grid: [grid, 1, 1],
        shared: 0,
        target: "cpu:x".into(),
        version: "1".into(),
    };
    let candidates: BTreeMap<_, _> =
        times.iter().map(|(name, time)| (grain(name), Times { warm: vec![*time], ..Times::default() })).collect();
    let settled = settled.map(grain);
    Shape { key, kernel: "k".into(), runs: 1, launches, date: 1, space: String::new(), candidates, settled }
}

fn chosen(shapes: &[Shape]) -> Option<String> {
    choose_for(shapes, &Policy::default()).ok().map(|choice| choice.grain.to_string())
}

#[test]
fn what_all_settled_on_is_chosen() {
    let times = [("original", 100), ("b2x1x1", 50), ("b4x1x1", 70)];
    let both = [shape(1, 10, Some("b2x1x1"), &times), shape(9, 10, Some("b2x1x1"), &times)];
    assert_eq!(chosen(&both).as_deref(), Some("b2x1x1"));
    // One sample of each is too little where nothing was settled.
    assert_eq!(chosen(&[shape(1, 10, None, &times)]), None);
}

#[test]
fn where_shapes_differ_the_time_decides() {
    let small = shape(1, 100, Some("original"), &[("original", 10), ("b2x1x1", 12)]);
    let large = shape(9, 100, Some("b2x1x1"), &[("original", 1000), ("b2x1x1", 500)]);
    assert_eq!(chosen(&[small.clone(), large.clone()]).as_deref(), Some("b2x1x1"));
    let often = Shape { launches: 100_000, ..small };
    assert_eq!(chosen(&[often, large]).as_deref(), Some("original"));
}

#[test]
fn what_is_seldom_launched_decides_nothing() {
    let times = [("original", 100), ("b2x1x1", 50)];
    let rare = shape(1, 1, Some("b2x1x1"), &times);
    assert_eq!(chosen(&[rare, shape(9, 10, None, &times)]), None);
}

#[test]
fn what_is_no_candidate_any_more_is_not_chosen() {
    let gone = shape(1, 10, Some("b8x1x1"), &[("original", 100), ("b8x1x1", 50)]);
    assert_eq!(settled::choose(&[gone], &[Grain::ORIGINAL]), None);
}
