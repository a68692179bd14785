//! Databases as files: merging in any order, many writers at once, and content that is not as it should be.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use proptest::prelude::*;
use regrain_tuning::Grain;
use regrain_tuning::database::{Database, Error};
use regrain_tuning::record::{Key, Record, Times, space_checksum};

const PATIENCE: Duration = Duration::from_secs(60);

fn record(run: &str, grid: u32, warm: &[u64]) -> Record {
    let key = Key {
        hash: "h".into(),
        block: [64, 1, 1],
        grid: [grid, 1, 1],
        shared: 0,
        target: "sm_80".into(),
        version: "1".into(),
    };
    let candidates = BTreeMap::from([(Grain::ORIGINAL, Times { warm: warm.to_vec(), ..Times::default() })]);
    let space = space_checksum(candidates.keys());
    Record {
        kernel: "k\"\\\n\u{e9}".into(),
        key,
        run: run.into(),
        date: 7,
        launches: 1,
        space,
        candidates,
        settled: None,
    }
}

fn grains() -> impl Strategy<Value = Grain> {
    let factors = || (1..5_i64, 1..3_i64, 1..2_i64).prop_map(|(x, y, z)| [x, y, z]);
    let tasks = prop::option::of(1..=1_u32 << 20);
    (factors(), factors(), tasks).prop_map(|(blocks, threads, tasks)| Grain { blocks, threads, tasks })
}

fn times() -> impl Strategy<Value = Times> {
    let samples = || prop::collection::vec(0..1000_u64, 0..4);
    (samples(), samples(), prop::bool::weighted(0.1)).prop_map(|(warm, cold, failed)| Times { warm, cold, failed })
}

/// Few runs and few keys, so that they meet.
fn records() -> impl Strategy<Value = Record> {
    let candidates = prop::collection::btree_map(grains(), times(), 0..4);
    ("[ab]", 1..3_u32, 0..3_u64, 0..4_u64, candidates).prop_map(|(run, grid, date, launches, candidates)| {
        let space = space_checksum(candidates.keys());
        Record { date, launches, candidates, space, ..record(&run, grid, &[]) }
    })
}

fn databases() -> impl Strategy<Value = Database> {
    let damaged = prop::collection::vec("[a-z{\":]{1,6}", 0..3);
    (prop::collection::vec(records(), 0..6), damaged).prop_map(|(records, damaged)| {
        let mut database = Database::default();
        records.into_iter().for_each(|record| database.insert(record));
        let mut bytes = database.to_bytes();
        for line in damaged {
            bytes.extend(line.bytes().chain([b'\n']));
        }
        Database::parse(&bytes, Path::new("db")).expect("a database")
    })
}

fn merged(a: &Database, b: &Database) -> Database {
    let mut all = a.clone();
    all.merge(b.clone());
    all
}

proptest! {
    #[test]
    fn merging_is_a_union(a in databases(), b in databases(), c in databases()) {
        prop_assert!(merged(&a, &b) == merged(&b, &a));
        prop_assert!(merged(&merged(&a, &b), &c) == merged(&a, &merged(&b, &c)));
        prop_assert!(merged(&a, &a) == a);
        prop_assert!(merged(&a, &Database::default()) == a);
    }

    #[test]
    fn no_record_is_lost(a in databases(), b in databases()) {
        let all = merged(&a, &b);
        let name = |record: &Record| (record.key.clone(), record.run.clone());
        let known: BTreeMap<_, _> = all.records().map(|record| (name(record), record.samples())).collect();
        for record in a.records().chain(b.records()) {
            prop_assert!(known.get(&name(record)).is_some_and(|samples| *samples >= record.samples()));
        }
        // What different runs measured of a shape adds up.
        for shape in all.shapes() {
            let samples: usize = all.records().filter(|record| record.key == shape.key).map(Record::samples).sum();
            prop_assert_eq!(shape.candidates.values().map(Times::samples).sum::<usize>(), samples);
        }
    }

    #[test]
    fn what_is_written_is_read(a in databases()) {
        let bytes = a.to_bytes();
        let read = Database::parse(&bytes, Path::new("db")).unwrap();
        prop_assert!(read == a);
        prop_assert_eq!(read.to_bytes(), bytes);
    }

    #[test]
    fn damage_costs_only_the_lines_it_hits(a in databases(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = a.to_bytes();
        let start = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        prop_assume!(start < bytes.len());
        let at = start + at.index(bytes.len() - start);
        bytes[at] = byte;
        let read = Database::parse(&bytes, Path::new("db")).unwrap();
        let unhurt = a.records().filter(|record| read.records().any(|other| other == *record)).count();
        // A damaged newline joins two lines.
        prop_assert!(unhurt + 2 >= a.records().count());
        let again = Database::parse(&read.to_bytes(), Path::new("db")).unwrap();
        prop_assert!(again == read, "what could not be read is still there");
    }
}

#[test]
fn a_damaged_line_is_passed_over_with_its_place_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let mut bytes = Database::default().to_bytes();
    bytes.extend(b"{\"kernel\":\n\n\xff\xfe\n");
    std::fs::write(&path, &bytes).unwrap();
    let database = Database::update(&path, PATIENCE, |database| database.insert(record("r", 1, &[5]))).unwrap();
    let warnings: Vec<String> = database.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(warnings.len(), 2);
    assert!(warnings[0].contains("db:2: warning: damaged record passed over: EOF while parsing"), "{warnings:?}");
    assert!(warnings[1].contains("db:4: warning: "), "{warnings:?}");
    let written = std::fs::read(&path).unwrap();
    assert!(
        written.windows(3).any(|window| window == b"\xff\xfe\n")
            && written.windows(11).any(|window| window == b"{\"kernel\":\n")
    );
    assert_eq!(Database::open(&path).unwrap().records().count(), 1);
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    for (content, expected) in [
        ("root:x:0:0\n", "db:1: not a tuning database"),
        ("{\"format\":\"other\",\"version\":1}\n", "db:1: not a tuning database"),
        (
            "{\"format\":\"regrain-tuning\",\"version\":2,\"more\":[]}\n",
            "db:1: tuning database of format version 2, expected at most 1",
        ),
    ] {
        std::fs::write(&path, content).unwrap();
        let error = Database::update(&path, PATIENCE, |database| database.insert(record("r", 1, &[5]))).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    assert!(matches!(Database::open(&folder.path().join("none")), Err(Error::Io { what: "read", .. })));
    assert!(matches!(Database::update(folder.path(), PATIENCE, |_| ()), Err(Error::Io { .. })));
}

#[test]
fn links_and_permissions_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("db"), folder.path().join("link"));
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("db", &link).unwrap();
    Database::update(&link, PATIENCE, |database| database.insert(record("r", 1, &[5]))).unwrap();
    assert!(link.is_symlink());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(Database::open(&path).unwrap().records().count(), 1);
}

#[test]
fn who_waits_too_long_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let file = std::fs::File::create(&path).unwrap();
    file.lock().unwrap();
    let error = Database::update(&path, Duration::from_millis(20), |_| ()).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
}

const WRITERS: usize = 4;
const WRITES: u32 = 25;

fn write_all(path: &Path, name: &str) {
    for grid in 0..WRITES {
        let put = |database: &mut Database| database.insert(record(name, grid, &[u64::from(grid)]));
        Database::update(path, PATIENCE, put).unwrap();
    }
}

/// Does nothing by itself: the next test runs it in processes of its own.
#[test]
fn a_writing_process() {
    if let Ok(path) = std::env::var("REGRAIN_TEST_DATABASE") {
        let name = std::process::id().to_string();
        std::thread::scope(|scope| {
            for thread in 0..WRITERS {
                let (path, name) = (Path::new(&path), format!("{name}.{thread}"));
                scope.spawn(move || write_all(path, &name));
            }
        });
    }
}

#[test]
fn processes_and_threads_that_write_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("db");
    let start = |_| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "a_writing_process"])
            .env("REGRAIN_TEST_DATABASE", &path)
            .stdout(std::process::Stdio::null());
        command.spawn().unwrap()
    };
    for mut child in (0..WRITERS).map(start).collect::<Vec<_>>() {
        assert!(child.wait().unwrap().success());
    }
    let database = Database::open(&path).unwrap();
    assert!(database.warnings().is_empty());
    assert_eq!(database.records().count(), WRITERS * WRITERS * WRITES as usize);
    assert_eq!(folder.path().read_dir().unwrap().count(), 1, "no lock file and no temporary file is left");
}
