//! The command as its users meet it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

fn weft(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Asserts that a command fails with this status and one line that contains this.
fn assert_refused(words: &str, status: i32, said: &str) {
    let output = weft(words);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(status), "{words}: {err}");
    assert_eq!(err.lines().count(), 1, "{words}: {err}");
    assert!(err.starts_with("weft: ") && err.contains(said), "{words}: {err}");
    assert_eq!(text(&output.stdout), "");
}

#[test]
fn a_weft_program_is_found_by_name_beside_weft_and_runs() {
    let output = weft("run -n 3 -- weft doctor-rank");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""));
}

#[test]
fn the_first_line_says_what_runs_unless_it_is_to_be_quiet() {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.env_remove("WEFT_QUIET").args(["run", "-n", "3", "--preset", "nrx-hmc"]);
        let output = command.args(words).args(["--", "weft", "doctor-rank"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stderr)
    };
    let said = run(&[]);
    assert!(said.starts_with("weft: 3 ranks on 1 host, shm, nrx-hmc, "), "{said}");
    assert!(said.contains(": waiting ") || said.contains(": a quota "), "{said}");
    assert_eq!(said.lines().count(), 1);
    assert_eq!((run(&["-q"]), run(&["--quiet"])), (String::new(), String::new()));
}

#[test]
fn what_is_no_weft_program_is_said() {
    let line = "weft: true exited without joining the job: is it a Weft program?\n";
    let output = weft("run -n 2 -- true");
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), line));
}

#[test]
fn mistakes_are_one_line_each() {
    assert_refused("run -n 0 -- true", 2, "a job has 1 to 1024 ranks");
    assert_refused("run -n 1025 -- true", 2, "a job has 1 to 1024 ranks");
    assert_refused("run -n 2", 2, "<PROGRAM>");
    assert_refused("run --lable true", 2, "--label");
    assert_refused("walk", 2, "walk");
    assert_refused("run --preset irx-imc -- true", 2, "shared memory loses nothing");
    assert_refused("run -n 2 --window 100 -- true", 2, "a power of two, 2 to 4096");
    assert_refused(
        "run -n 2 -- no-such-program",
        127,
        "cannot find the program \"no-such-program\"",
    );
    assert_refused("run -n 2 -- /no/such/program", 127, "there is no such file");
    assert_refused("run -n 2 --output-dir /dev/null -- true", 1, "cannot write the output to");
}

#[test]
fn a_message_to_a_port_that_nobody_made_is_always_told() {
    for _ in 0..50 {
        let program = env!("CARGO_BIN_EXE_weft-testee");
        let output = weft(&format!("run -n 2 -- {program} misspelt"));
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        assert!(
            err.contains("rank 0 sent 1 message to a port that this rank never created"),
            "{err}"
        );
    }
}

#[test]
fn the_status_of_a_rank_is_passed_on() {
    let output = weft("run -n 1 -- weft doctor --no-such-option");
    assert_eq!(output.status.code(), Some(2));
    let err = text(&output.stderr);
    let line = err.lines().last().unwrap();
    assert!(line.starts_with("weft: rank 0 of 1 (pid "), "{err}");
    assert!(
        line.contains("exited with status 2; its last words: \"weft: unexpected argument"),
        "{err}"
    );
}

#[test]
fn output_is_labelled_or_kept_in_files() {
    let labelled = weft("run -n 2 --label -- echo hello");
    let mut lines: Vec<_> = text(&labelled.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["[0] hello", "[1] hello"]);
    let directory = tempfile::tempdir().unwrap();
    weft(&format!("run -n 2 --output-dir {} -- echo hello", directory.path().display()));
    for name in ["rank-0.out", "rank-1.out"] {
        assert_eq!(std::fs::read_to_string(directory.path().join(name)).unwrap(), "hello\n");
    }
}

#[test]
fn ranks_of_one_job_run_several_programs() {
    let output = weft("run -q -n 1 --label -- echo one : -n 2 -- echo two : -n 1 printf three\\n");
    let mut lines: Vec<_> = text(&output.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["[0] one", "[1] two", "[2] two", "[3] three"]);
    let failed = weft("run -q -n 2 -- true : -n 1 -- false");
    let err = text(&failed.stderr);
    let end = "exited with status 1; the other 2 ranks ended\n";
    assert!(err.starts_with("weft: rank 2 of 3 (pid ") && err.ends_with(end), "{err}");
    let missing = weft("run -q -n 1 -- true : -n 1 -- /no/such/program");
    let err = "weft: cannot find the program \"/no/such/program\": there is no such file\n";
    assert_eq!((missing.status.code(), text(&missing.stderr)), (Some(127), err.into()));
}

/// A full disk is said at once, and is never a success.
#[test]
fn output_that_cannot_be_written_is_not_lost_in_silence() {
    const FULL: &str = "/dev/full";
    let run = |words: &str, stdout: Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.args(words.split(' ')).stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let lost = |name: &str| {
        let line = "No space left on device (os error 28); what ranks write there is lost";
        format!("weft: cannot write to {name}: {line}\n")
    };
    let full = || std::fs::File::options().write(true).open(FULL).unwrap().into();
    let (status, err) = run("run -n 2 -- weft-example hello", full());
    assert_eq!((status, err), (Some(1), lost("standard output")));
    let (status, err) = run("doctor", full());
    let line = "weft: cannot write to standard output: No space left on device (os error 28)\n";
    assert_eq!((status, err.as_str()), (Some(1), line));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rank-0.out");
    std::os::unix::fs::symlink(FULL, &file).unwrap();
    let words =
        format!("run -n 2 --output-dir {} -- weft-example hello", directory.path().display());
    let (status, err) = run(&words, Stdio::null());
    assert_eq!((status, err), (Some(1), lost(&file.display().to_string())));
}

#[test]
fn a_command_that_is_not_built_is_named_with_what_builds_it() {
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("weft");
    std::fs::copy(env!("CARGO_BIN_EXE_weft"), &alone).unwrap();
    for name in ["sim", "bench", "compare", "application", "ps", "why", "top", "kill", "report"] {
        let output = Command::new(&alone)
            .args([name, "--help"])
            .env("PATH", "/proc/nowhere")
            .output()
            .unwrap();
        let err = text(&output.stderr);
        assert_eq!((output.status.code(), err.lines().count()), (Some(1), 1), "{err}");
        assert!(err.starts_with(&format!("weft: weft {name} is a program of its own")), "{err}");
        assert!(err.ends_with(" in a checkout make build builds it\n"), "{err}");
    }
}

#[test]
fn help_teaches_by_example() {
    for words in [
        "--help",
        "run --help",
        "doctor --help",
        "bench --help",
        "help compare",
        "top --help",
        "help why",
    ] {
        let output = weft(words);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("Examples:\n  weft "), "{words}");
    }
}

#[test]
fn the_doctor_finds_the_default_link_working_here() {
    let output = weft("doctor --json");
    let out = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{out}");
    let rows: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of_kind = |kind: &str| rows.iter().filter(|row| row["doctor"] == kind).collect::<Vec<_>>();
    assert_eq!(of_kind("link")[0]["name"], "shm");
    assert!(of_kind("need").iter().all(|need| need["status"] == "ok"), "{out}");
    let ranks: Vec<_> = of_kind("memory").iter().map(|row| row["ranks"].clone()).collect();
    assert_eq!(ranks, [2, 8, 64, 256, 1024]);
    assert!(of_kind("cost").iter().all(|cost| cost["unit"] == "ns"), "{out}");
}

/// The rank leaves like a library in a program of somebody else's, which may never take anything.
#[test]
fn a_rank_that_leaves_does_not_wait_for_ever_for_one_that_is_stopped() {
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["run", "-n", "2", "--link", "udp", "--silence", "600", "--"])
        .args([env!("CARGO_BIN_EXE_weft-testee"), "stopped"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(launcher.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let mut complaint = String::new();
    BufReader::new(launcher.stderr.take().unwrap()).read_line(&mut complaint).unwrap();
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    assert_eq!(said, "rank 0 has left\n");
    assert_eq!(
        complaint,
        "weft: rank 0 leaves with packets under way that nobody has taken for 0.1 s: does a rank stand still?\n"
    );
}
