//! The table of classes: what is kept, who tries, who is counted.

use regrain_tuning::Database;

use super::*;
use crate::adaptive::settle::{MOST_LAUNCHES, Part};

const LAUNCH: Launch = Launch { grid: [8, 1, 1], block: [64, 1, 1], shared: 0 };

fn kernel(grains: &[&str], target: &str) -> Kernel {
    let grains = grains.iter().map(|text| text.parse().expect("a grain")).collect();
    let [kernel, hash, version] = ["k", "h", "1"].map(str::to_owned);
    Kernel::new(Identity { kernel, hash, target: target.into(), version, grains }, 0, true)
}

fn key(grid: [u32; 3], block: [u32; 3], shared: u64, device: i32) -> ClassKey {
    ClassKey::of(&Launch { grid, block, shared }, device).expect("a class")
}

/// One launch of a class; version `n` takes `times[n]`. Gives what ran, and whether it was settled.
fn launch(kernel: &Kernel, launch: Launch, times: &[u64], known: &[Shape]) -> (usize, bool) {
    let key = ClassKey::of(&launch, 0).expect("a class");
    if let Some((version, _)) = kernel.settled(key) {
        return (version, true);
    }
    let (trial, place) = kernel.choose(launch, key, |_| known.to_vec()).expect("a place");
    kernel.with(place, |class| class.add(trial, times[trial.version]));
    (trial.version, false)
}

#[test]
fn launches_share_a_class_where_they_are_alike() {
    let one = key([1000, 1, 1], [64, 1, 1], 0, 0);
    assert_eq!(one, key([20, 50, 1], [64, 1, 1], 0, 0));
    for other in [
        key([1024, 1, 1], [64, 1, 1], 0, 0),
        key([1000, 1, 1], [32, 2, 1], 0, 0),
        key([1000, 1, 1], [64, 1, 1], 1, 0),
        key([1000, 1, 1], [64, 1, 1], 0, 1),
    ] {
        assert_ne!(one, other);
    }
    assert_eq!(key([1, 1, 1], [1, 1, 1], 4096, 0), key([1, 1, 1], [1, 1, 1], 5000, 0));
    let largest = key([u32::MAX, u32::MAX, u32::MAX], [1024, 1024, 64], u64::from(u32::MAX), 255);
    assert!(largest.0 < 1 << CLASS_BITS);
    assert_eq!(ClassKey::of(&LAUNCH, 256), None);
    assert_eq!(ClassKey::of(&LAUNCH, -1), None);
    assert_eq!(ClassKey::of(&Launch { block: [2048, 1, 1], ..LAUNCH }, 0), None);
}

#[test]
fn a_settled_class_needs_no_lock() {
    let kernel = kernel(&["original", "b2x1x1"], "cpu:x");
    let ran: Vec<_> = (0..40).map(|_| launch(&kernel, LAUNCH, &[100, 50], &[])).collect();
    assert_eq!(ran[..2], [(0, false), (1, false)]);
    assert!(ran[20..].iter().all(|ran| *ran == (1, true)), "{ran:?}");
    let _held = lock(&kernel.slots[kernel.settled(key([8, 1, 1], [64, 1, 1], 0, 0)).expect("settled").1].met);
    assert_eq!(launch(&kernel, LAUNCH, &[100, 50], &[]), (1, true));
}

#[test]
fn each_class_settles_by_itself() {
    let kernel = kernel(&["original", "b2x1x1"], "cpu:x");
    let large = Launch { grid: [8000, 1, 1], ..LAUNCH };
    for _ in 0..40 {
        launch(&kernel, LAUNCH, &[100, 200], &[]);
        launch(&kernel, large, &[100, 50], &[]);
    }
    assert_eq!(launch(&kernel, LAUNCH, &[], &[]), (0, true));
    assert_eq!(launch(&kernel, large, &[], &[]), (1, true));
}

#[test]
fn a_new_class_begins_with_what_is_the_fastest_for_grids_like_it() {
    let kernel = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
    for _ in 0..200 {
        launch(&kernel, LAUNCH, &[100, 50, 130], &[]);
    }
    let larger = Launch { grid: [16, 1, 1], ..LAUNCH };
    let ran: Vec<_> = (0..6).map(|_| launch(&kernel, larger, &[100, 50, 130], &[]).0).collect();
    assert!(ran[0] == 1 && !ran.contains(&2), "{ran:?}");
    // Other blocks are another matter.
    assert_eq!(launch(&kernel, Launch { block: [32, 1, 1], ..larger }, &[100, 50, 130], &[]).0, 0);
}

#[test]
fn devices_settle_by_themselves() {
    let kernel = kernel(&["original", "b2x1x1"], "sm_80");
    for device in 0..2 {
        let key = ClassKey::of(&LAUNCH, device).expect("a class");
        for _ in 0..40 {
            let (trial, place) = kernel.choose(LAUNCH, key, |_| Vec::new()).expect("a place");
            kernel.with(place, |class| class.add(trial, [[100, 50], [50, 100]][device as usize][trial.version]));
        }
        assert_eq!(kernel.settled(key).expect("settled").0, [1, 0][device as usize]);
    }
}

#[test]
fn more_classes_than_there_is_room_for_run_what_the_compiler_chose() {
    let kernel = kernel(&["original", "b2x1x1"], "cpu:x");
    let all = (1..=1024).map(|x| ClassKey::of(&Launch { block: [x, 1, 1], ..LAUNCH }, 0).expect("a class"));
    let placed = all.filter(|key| kernel.choose(LAUNCH, *key, |_| Vec::new()).is_some()).count();
    assert!((MOST_CLASSES / 2..=MOST_CLASSES).contains(&placed), "{placed}");
}

#[test]
fn what_was_settled_on_is_remembered() {
    let mut database = Database::default();
    let before = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
    for _ in 0..200 {
        launch(&before, LAUNCH, &[100, 50, 130], &[]);
    }
    for record in before.records() {
        assert_eq!(record.settled, Some("b2x1x1".parse().expect("a grain")));
        assert_eq!(record.launches, 200);
        database.insert(Record { run: "a".into(), ..record });
    }
    let known = database.shapes();
    let after = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
    assert_eq!(launch(&after, LAUNCH, &[100, 50, 1000], &known), (1, false));
    assert_eq!(launch(&after, LAUNCH, &[100, 50, 1000], &known), (1, true));
    // Nothing is new.
    assert!(after.records().is_empty());
    // A version that was never measured is reason to look again.
    let other = kernel(&["original", "b2x1x1", "b8x1x1"], "cpu:x");
    launch(&other, LAUNCH, &[100, 50, 10], &known);
    assert_eq!(launch(&other, LAUNCH, &[100, 50, 10], &known), (1, false));
    assert_eq!(launch(&other, LAUNCH, &[100, 50, 10], &known), (2, false));
}

#[test]
fn one_launch_in_a_run_settles_over_runs() {
    let mut database = Database::default();
    let mut ran = Vec::new();
    for run in 0..12 {
        let kernel = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
        ran.push(launch(&kernel, LAUNCH, &[100, 50, 1000], &database.shapes()).0);
        for record in kernel.records() {
            database.insert(Record { run: run.to_string(), ..record });
        }
    }
    // Each in turn, what is clearly slower twice, and then the fastest.
    assert_eq!(ran, [0, 1, 2, 0, 1, 2, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn threads_run_one_trial_at_a_time() {
    let kernel = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
    let key = ClassKey::of(&LAUNCH, 0).expect("a class");
    let running = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        for _ in 0..200 {
            if kernel.settled(key).is_some() {
                continue;
            }
            let (trial, place) = kernel.choose(LAUNCH, key, |_| Vec::new()).expect("a place");
            if trial.part == Part::Untimed {
                continue;
            }
            assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
            std::thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
            kernel.with(place, |class| class.add(trial, [100, 50, 70][trial.version]));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
    let mut launches = 0;
    kernel.each(|seen| launches = seen.launches);
    assert!(launches <= MOST_LAUNCHES && kernel.settled(key).is_some());
}

#[test]
fn where_nothing_is_remembered_few_launches_try_nothing() {
    let Kernel { identity, .. } = kernel(&["original", "b2x1x1", "b4x1x1"], "cpu:x");
    let kernel = Kernel::new(identity, 1, false);
    // First the compiler's choice, then the original, then the better of the two.
    let ran: Vec<_> = (0..200).map(|_| launch(&kernel, LAUNCH, &[100, 50, 130], &[]).0).collect();
    assert_eq!(ran[..2], [1, 0]);
    assert!(!ran[..30].contains(&2) && ran.contains(&2), "{ran:?}");
    assert!(ran[100..].iter().all(|version| *version == 1), "{ran:?}");
}
