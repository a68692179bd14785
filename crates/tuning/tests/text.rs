//! Grains, search spaces and records as text: what is written is read.

use proptest::prelude::*;
use regrain_tuning::space::Product;
use regrain_tuning::{Factors, Grain, Record, Space};

const MOST_TASKS: u32 = 1 << 20;

fn factors() -> impl Strategy<Value = [i64; 3]> {
    (1..9_i64, 1..5_i64, 1..3_i64).prop_map(|(x, y, z)| [x, y, z])
}

fn tasks() -> impl Strategy<Value = Option<u32>> {
    prop::option::of(prop_oneof![1..=64_u32, 1..=MOST_TASKS])
}

fn products() -> impl Strategy<Value = Product> {
    let each = || prop_oneof![(1..65_i64).prop_map(Factors::Total), factors().prop_map(Factors::Each)];
    let list = || prop::collection::vec(each(), 1..4);
    (list(), list(), prop::collection::vec(tasks(), 1..4)).prop_map(|(blocks, threads, tasks)| Product {
        blocks,
        threads,
        tasks,
    })
}

proptest! {
    #[test]
    fn grains_are_read_as_they_are_written(blocks in factors(), threads in factors(), tasks in tasks()) {
        let grain = Grain { blocks, threads, tasks };
        prop_assert_eq!(grain.to_string().parse(), Ok(grain));
    }

    #[test]
    fn different_grains_are_written_differently(a in (factors(), factors(), tasks()), b in (factors(), factors(), tasks())) {
        let [a, b] = [a, b].map(|(blocks, threads, tasks)| Grain { blocks, threads, tasks });
        prop_assert_eq!(a == b, a.to_string() == b.to_string());
    }

    #[test]
    fn no_text_breaks_the_reader(text in "[btpx0-9a-z:=,+]{0,24}") {
        if let Ok(grain) = text.parse::<Grain>() {
            prop_assert_eq!(grain.to_string().parse(), Ok(grain));
        }
        if let Ok(space) = text.parse::<Space>() {
            prop_assert_eq!(space.to_string().parse(), Ok(space));
        }
    }

    #[test]
    fn spaces_are_read_as_they_are_written(products in prop::collection::vec(products(), 1..4)) {
        let text = products.iter().map(ToString::to_string).collect::<Vec<_>>().join("+");
        let space: Space = text.parse().map_err(TestCaseError::fail)?;
        prop_assert_eq!(space.to_string(), text);
        let count: usize = products.iter().map(|p| p.blocks.len() * p.threads.len() * p.tasks.len()).sum();
        prop_assert!(space.points().count() <= count);
        prop_assert_eq!(space.sets_tasks(), products.iter().any(|p| p.tasks.iter().any(Option::is_some)));
    }
}

#[test]
fn records_from_before_tasks_are_read() {
    let line = r#"{"kernel":"_Z6smoothPfPKfi","hash":"60a5","block":[64,1,1],"grid":[1563,1,1],"shared":0,"target":"cpu:znver3x2",
        "version":"0.1.0","run":"b2f1","date":1763750000,"launches":40,"space":"8b1f","candidates":
        {"original":{"warm":[100,200]},"b2x1x1":{"warm":[70],"cold":[90]},"b2x1x1t2x1x1":{"failed":true}}}"#;
    let record: Record = serde_json::from_str(line).expect("a record");
    let grains: Vec<Grain> = record.candidates.keys().copied().collect();
    assert_eq!(grains.len(), 3);
    assert!(grains.iter().all(|grain| grain.tasks.is_none()));
    assert_eq!(record.candidates[&Grain::ORIGINAL].warm, [100, 200]);
}
