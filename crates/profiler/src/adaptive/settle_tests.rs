//! Settling, fed with times.

use super::*;

fn start(versions: usize) -> Start {
    Start { cold: (0..versions).collect(), out: vec![false; versions], alone: true, seed: 7, ..Start::default() }
}

/// A source of noise, from 0 to 1.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Launches a class; `time` says what the launch of this number takes with a version. Gives the versions that ran.
fn run(class: &mut Class, launches: usize, mut time: impl FnMut(usize, usize) -> f64) -> Vec<usize> {
    let one = |number: usize| {
        let trial = class.choose();
        class.add(trial, (1000.0 * time(number, trial.version)) as u64);
        trial.version
    };
    (0..launches).map(one).collect()
}

/// By how much launches took longer than with the original alone.
fn excess(ran: &[usize], times: &[f64]) -> f64 {
    ran.iter().map(|version| times[*version]).sum::<f64>() / (ran.len() as f64 * times[0]) - 1.0
}

#[test]
fn the_fastest_version_is_settled_on() {
    let times = [100.0, 60.0, 70.0, 101.0];
    let mut class = Class::new(&start(4));
    let ran = run(&mut class, 60, |_, version| times[version]);
    assert_eq!(class.settled(), Some(1));
    assert_eq!(ran[..4], [0, 1, 2, 3]);
    // Five rounds are enough to see it.
    assert!(ran[24..].iter().all(|version| *version == 1), "{ran:?}");
}

#[test]
fn the_compilers_choice_runs_first_and_stays_where_there_is_no_second_launch() {
    let mut class = Class::new(&Start { first: 2, cold: vec![2, 0, 1], ..start(3) });
    assert_eq!(class.choose(), Trial { version: 2, part: Part::Cold });
    assert_eq!(class.settled(), None);
    // What comes while the first is not over runs the same.
    assert_eq!(class.choose(), Trial { version: 2, part: Part::Untimed });
}

#[test]
fn the_original_stays_where_nothing_is_faster_beyond_doubt() {
    for seed in 0..20 {
        let mut noise = Noise(seed);
        let mut class = Class::new(&Start { seed: seed * 31 + 1, ..start(3) });
        // A little slower, beneath the noise.
        let ran = run(&mut class, 200, |_, version| 100.0 * (1.0 + 0.02 * version as f64) * (1.0 + 0.5 * noise.next()));
        assert!(class.settled().is_some());
        // One of twenty may look faster for a moment; it is no slower than the noise then.
        let wrong = ran.last() != Some(&0);
        assert!(!wrong || class.rounds >= 5, "{ran:?}");
    }
}

#[test]
fn noise_hides_no_large_difference() {
    let wins = (0..50).filter(|seed| {
        let mut noise = Noise(seed * 977);
        let mut class = Class::new(&Start { seed: seed * 17 + 3, ..start(2) });
        run(&mut class, 60, |_, version| [100.0, 60.0][version] * (1.0 + 0.3 * noise.next() * noise.next()));
        class.settled() == Some(1)
    });
    assert_eq!(wins.count(), 50);
}

#[test]
fn one_wild_sample_decides_nothing() {
    let mut class = Class::new(&start(2));
    run(&mut class, 60, |number, version| if number == 5 { 1e6 } else { [100.0, 80.0][version] });
    assert_eq!(class.settled(), Some(1));
}

#[test]
fn the_first_launch_of_all_speaks_against_no_version() {
    let mut class = Class::new(&Start { first: 1, cold: vec![1, 0, 2], ..start(3) });
    let ran = run(&mut class, 60, |number, version| if number == 0 { 1e6 } else { [100.0, 60.0, 80.0][version] });
    assert_eq!(class.settled(), Some(1));
    assert!(ran[18..].iter().all(|version| *version == 1), "{ran:?}");
}

#[test]
fn a_rhythm_of_the_program_favours_no_version() {
    // Launches do more and less by turns; the versions are alike.
    for period in 2..6 {
        let mut class = Class::new(&start(2));
        run(&mut class, 400, |number, _| 100.0 + 50.0 * (number % period) as f64);
        assert!(class.settled().is_some());
        let mut class = Class::new(&Start { seed: period as u64, ..start(2) });
        run(&mut class, 400, |number, version| {
            (100.0 + 50.0 * (number % period) as f64) * if version == 1 { 2.0 } else { 1.0 }
        });
        assert_eq!(class.settled(), Some(0), "period {period}");
    }
}

#[test]
fn work_that_grows_less_hides_no_difference() {
    let mut class = Class::new(&start(2));
    run(&mut class, 60, |number, version| 1e6 * 0.9_f64.powi(number as i32) * [1.0, 0.5][version]);
    assert_eq!(class.settled(), Some(1));
}

#[test]
fn bad_versions_cost_little() {
    for slow in [2.0, 10.0, 100.0] {
        let times = [1.0, slow, slow, slow];
        let mut class = Class::new(&start(4));
        let ran = run(&mut class, 5000, |_, version| times[version]);
        assert_eq!(class.settled(), Some(0));
        // The first trial of each is free, the rest is a tenth at most, and a last trial of each.
        let first_trials = 2.0 * 3.0 * (slow - 1.0) / 5000.0;
        assert!(excess(&ran, &times) <= LOSS_SHARE + first_trials, "{slow}: {}", excess(&ran, &times));
    }
}

#[test]
fn a_good_version_does_not_wait_for_a_bad_one() {
    let times = [1.0, 0.5, 50.0];
    let mut class = Class::new(&start(3));
    let ran = run(&mut class, 100, |_, version| times[version]);
    assert_eq!(ran.iter().filter(|version| **version == 2).count(), 1);
    assert!(ran[20..].iter().filter(|version| **version == 1).count() > 70, "{ran:?}");
}

#[test]
fn what_is_slower_elsewhere_is_not_tried_for_nothing() {
    let times = [100.0, 130.0, 90.0];
    let mut class = Class::new(&Start { ratios: vec![1.0, 1.3, 0.9], cold: vec![0], ..start(3) });
    let ran = run(&mut class, 40, |_, version| times[version]);
    // Twelve launches pay for one that takes 0.3 longer, where each of two may have half of a twentieth.
    assert!(ran[..11].iter().all(|version| *version != 1) && ran.contains(&1), "{ran:?}");
    assert!((class.known_ratios()[1] - 1.3).abs() < 1e-9);
    // Where a first launch is all there is, it stays out.
    let mut class = Class::new(&Start { ratios: vec![1.0, 1.3, 0.9], cold: vec![0, 1, 2], ..start(3) });
    assert_eq!(run(&mut class, 2, |_, version| times[version]), [0, 2]);
}

#[test]
fn trials_end() {
    let mut noise = Noise(3);
    let mut class = Class::new(&start(4));
    let wild = |noise: &mut Noise| (20.0 * noise.next()).exp2();
    run(&mut class, MOST_LAUNCHES as usize + 1, |_, _| wild(&mut noise));
    assert!(class.settled().is_some());
    // Where nothing can be timed it ends too.
    let mut class = Class::new(&Start { first: 1, cold: vec![1, 0], ..start(2) });
    for _ in 0..=MOST_LAUNCHES {
        let trial = class.choose();
        class.again(trial);
    }
    assert_eq!(class.settled(), Some(1));
}

#[test]
fn a_disturbed_trial_is_made_again() {
    let mut class = Class::new(&start(2));
    let trial = class.choose();
    class.again(trial);
    assert_eq!(class.choose(), trial);
    class.void(trial);
    assert_ne!(class.choose(), trial);
}

#[test]
fn what_cannot_be_launched_is_never_tried_again() {
    let mut class = Class::new(&start(3));
    let mut tried = 0;
    for _ in 0..60 {
        let trial = class.choose();
        if trial.version == 1 {
            tried += 1;
            class.fail(1);
            class.void(trial);
        } else {
            class.add(trial, [100, 0, 50][trial.version]);
        }
    }
    assert_eq!((tried, class.settled()), (1, Some(2)));
    // Also when it fails later, for a launch that is larger.
    class.fail(2);
    assert_eq!(class.settled(), Some(0));
    class.fail(0);
    assert_eq!(class.choose().version, 0);
}

#[test]
fn a_device_that_is_behind_gets_one_round_at_a_time() {
    let mut class = Class::new(&Start { alone: false, ..start(3) });
    let mut all: Vec<Trial> = (0..50).map(|_| class.choose()).filter(|trial| trial.part != Part::Untimed).collect();
    assert_eq!(all.len(), 3);
    for round in 0..5 {
        all.drain(..).for_each(|trial| class.add(trial, [100, 50, 60][trial.version]));
        assert_eq!(class.settled(), None);
        all = (0..50).map(|_| class.choose()).filter(|trial| trial.part != Part::Untimed).collect();
        assert!(all.len() == 3 && all.iter().all(|trial| trial.part == Part::Round(round)), "{all:?}");
    }
    all.drain(..).for_each(|trial| class.add(trial, [100, 50, 60][trial.version]));
    assert_eq!(class.settled(), Some(1));
}

#[test]
fn a_late_time_changes_nothing() {
    let mut class = Class::new(&Start { alone: false, ..start(2) });
    let trial = class.choose();
    for _ in 0..=MOST_LAUNCHES {
        class.choose();
    }
    let settled = class.settled();
    assert!(settled.is_some());
    class.add(trial, 1);
    assert_eq!(class.settled(), settled);
}

#[test]
fn the_sign_test_is_exact() {
    assert!((chance(5, 0) - 1.0 / 32.0).abs() < 1e-12);
    assert!((chance(8, 1) - 9.0 / 256.0).abs() < 1e-12);
    assert!((chance(16, 4) - 2517.0 / 65536.0).abs() < 1e-12);
    assert!((chance(9, 9) - 1.0).abs() < 1e-12 && (chance(0, 0) - 1.0).abs() < 1e-12);
}
