//! Programs of tests, as they are recorded, split and run.

use super::modules::{Module, group, modules};
use super::*;

/// A program that is a script of `sh`, and its folder.
fn script(text: &str) -> (tempfile::TempDir, Recorded) {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), &["/bin/sh", "-c", text, "sh"].map(Into::into)).unwrap();
    let program = Recorded::read(&folder.path().join("0000")).unwrap();
    (folder, program)
}

fn module(name: &str, tests: &[&str]) -> Module {
    Module { name: name.into(), tests: tests.iter().map(|test| test.to_string()).collect() }
}

/// Root of the repository, and the folder of this crate in it.
fn here() -> (std::path::PathBuf, &'static str) {
    (std::env::current_dir().unwrap().parent().unwrap().to_path_buf(), "xtask")
}

/// Tests of three modules, of which one is ignored as a whole, and of none.
const LISTS: &str = "[ \"$1 $2 $3\" = '--list --format terse' ] || exit 1
echo 'across::many::a_test: test'
echo 'soak::a_test: test'
[ \"$4\" = --ignored ] && exit
echo 'across::kills::a_test: test'
echo 'kills::a_test: test'
echo 'a_measure: benchmark'
echo 'alone: test'";

#[test]
fn a_program_runs_as_it_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["/bin/sh", "-c", "pwd; echo \"$CARGO_PKG_NAME $0\"; exit 3", "two words"];
    record(folder.path(), &words.map(Into::into)).unwrap();
    let program = Recorded::read(&folder.path().join("0000")).unwrap();
    let output = program.command(&[]).output().unwrap();
    let here = std::env::current_dir().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("{}\nxtask two words\n", here.display()));
    assert_eq!(output.status.code(), Some(3));
    std::fs::write(folder.path().join("0001"), "no program").unwrap();
    assert!(Recorded::read(&folder.path().join("0001")).is_err());
}

#[test]
fn closing_lines_are_added_up() {
    let text = "running 2 tests\n..\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\
                test result: FAILED. 3 passed; 1 failed; 0 ignored\n";
    assert_eq!(passed(text), 5);
    assert_eq!(passed("no test"), 0);
}

#[test]
fn tests_are_grouped_by_the_first_part_of_their_path() {
    let tests = ["b::one", "a::b::two", "top", "b::c::three", "a::four"];
    let groups = group(tests.map(str::to_owned).into());
    let a = module("a", &["a::b::two", "a::four"]);
    let b = module("b", &["b::one", "b::c::three"]);
    assert_eq!(groups, [module("", &["top"]), a.clone(), b]);
    // A filter of `b::` would choose a test of `a`.
    assert_eq!(a.words().collect::<Vec<_>>(), ["--exact", "a::b::two", "a::four"]);
    assert_eq!(group(Vec::new()), []);
}

#[test]
fn ignored_tests_are_in_no_module() {
    let (_folder, program) = script(LISTS);
    let across = module("across", &["across::kills::a_test"]);
    let all = [module("", &["alone"]), across, module("kills", &["kills::a_test"])];
    assert_eq!(modules(&program).unwrap(), all);
    let (_folder, program) = script("echo 'a::test: test'; echo broken >&2; exit 1");
    assert!(modules(&program).unwrap_err().to_string().ends_with("its tests: broken\n"));
}

#[test]
fn a_module_is_a_job_that_runs_its_own_tests() {
    let (_folder, program) = script(&format!("[ $1 = --exact ] && exec echo \"$@\"\n{LISTS}"));
    let (root, own) = here();
    let jobs = Job::split(&program).unwrap();
    let names: Vec<_> = jobs.iter().map(|job| job.name(&root)).collect();
    assert_eq!(names, ["sh of xtask", "sh of xtask: across", "sh of xtask: kills"]);
    let are: Vec<_> = jobs.iter().map(|job| job.is(&root, (own, "across"))).collect();
    assert_eq!(are, [false, true, false]);
    assert!(jobs.iter().all(|job| !job.is(&root, (own, "sh")) && !job.is(&root, ("cli", "kills"))));
    let output = jobs[1].command(&root).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--exact across::kills::a_test\n");
    let whole = Job::whole(program);
    assert!(whole.is(&root, (own, "sh")) && whole.name(&root) == "sh of xtask");
}

#[test]
fn a_command_runs_beside_tests_at_the_lowest_priority() {
    let (root, _) = here();
    let mut report = Report::default();
    let tests = || Job::whole(script("echo 'test result: ok. 2 passed;'").1);
    let command = ["sh", "-c", "[ $(nice) = 19 ] && pwd | grep -Fx \"$0\"", root.to_str().unwrap()];
    let queues = vec![(vec![tests(), tests()], 2), (vec![Job::Beside(&command)], 1)];
    run_some(&root, queues, &mut report).unwrap();
    assert_eq!((report.jobs, report.passed, report.failed), (3, 4, vec![]));
    let fails = vec![(vec![Job::Beside(&["sh", "-c", "exit 1"])], 1)];
    let mut report = Report::default();
    run_some(&root, fails, &mut report).unwrap();
    assert_eq!(report.failed, ["sh -c exit 1"]);
}

#[test]
fn a_job_may_have_shared_memory_of_its_own() {
    if !can_own_shared_memory() {
        eprintln!("SKIPPED, because nothing can be mounted here");
        return;
    }
    let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    let (_folder, program) = script("ls -A /dev/shm; echo $$ > /dev/shm/own; cat /dev/shm/own");
    let mut job = Job::whole(program);
    job.own_shared_memory();
    let child = job.command(&here().0).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let process = child.id();
    let output = child.wait_with_output().unwrap();
    // It sees none of the others' files, and is the process that was started.
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{process}\n"));
    assert!(file.path().exists() && !Path::new("/dev/shm/own").exists());
}
