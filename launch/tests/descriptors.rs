//! A job leaves no descriptor open and no file. One test, alone in its process: the descriptors of
//! another one would show.
#![allow(clippy::unwrap_used)] // Helpers of tests are tests, too.

use std::collections::BTreeSet;
use std::fs;

use weft_launch::{JobSpec, OutputPlan, Settings, Verdict, run};

#[test]
fn a_job_leaves_no_descriptor_open_and_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let output = OutputPlan { label: false, directory: Some(directory.path().into()) };
    let exe = env!("CARGO_BIN_EXE_weft-launch-testee");
    let mut spec = JobSpec::new(Settings::new(3), exe);
    (spec.starter, spec.output) = (exe.into(), output);
    let files = || (names("."), names("/dev/shm"));
    let before = (names("/proc/self/fd"), files());
    for (behaviour, verdict) in [("leave", Some(Verdict::Completed)), ("kill=9", None)] {
        spec.arguments = vec![behaviour.into()];
        let outcome = run(&spec, || {}).unwrap();
        if let Some(verdict) = verdict {
            assert_eq!(outcome.verdict, verdict);
        }
        assert!(outcome.stuck.is_empty());
        assert_eq!((names("/proc/self/fd"), files()), before);
    }
    spec.program = "/no/such/program".into();
    assert!(run(&spec, || {}).is_err());
    spec.program = exe.into();
    spec.starter = "/no/such/starter".into();
    assert!(run(&spec, || {}).is_err());
    assert_eq!((names("/proc/self/fd"), files()), before);
}

fn names(directory: &str) -> BTreeSet<String> {
    let names = fs::read_dir(directory).unwrap();
    names.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
