//! Mistakes on the command line: each gets one line that says what to do, and a status that shells
//! know, and nothing is started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A folder with programs that are none.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str, text: &str, mode| {
        let file = folder.path().join(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    };
    place("badshebang", "#!/no/such/shell\n", 0o755);
    place("noexec", "#!/bin/sh\n", 0o644);
    place("hello-here", "#!/bin/sh\necho here\n", 0o755);
    for name in ["kmeans.c", "kmeans.rs", "kmeans.orca", "kmeans.py"] {
        place(name, "", 0o644);
    }
    place("hostfile", "nc-a slots=2 max_slots=4\n", 0o644);
    folder
}

/// Status and standard error of `weft` with these words, in that folder.
pub fn weft(folder: &Path, words: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).current_dir(folder).stdin(Stdio::null());
    let output = command.env_remove("WEFT_QUIET").output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Words, status, and the line, of which `...` stands for anything.
const MISTAKES: [(&str, i32, &str); 25] = [
    (
        "run --rank 4 -- ./p",
        2,
        "unexpected argument '--rank' found; a similar argument exists: '--ranks' (weft run --help shows examples)",
    ),
    (
        "run -np 4 ./p",
        2,
        "invalid value 'p' for '--ranks <P>': mpirun's -np is -n here: weft run -n 4 ./program...",
    ),
    ("run -n four -- ls", 2, "...'four'...: that is no number; a job has 1 to 1024 ranks..."),
    ("run -n -1 -- ls", 2, "invalid value '-1' for '--ranks <P>': a job has 1 to 1024 ranks..."),
    ("run -n 0 -- ls", 2, "invalid value '0' for '--ranks <P>': a job has 1 to 1024 ranks..."),
    ("run -n 4", 2, "...required arguments...<PROGRAM>... (weft run --help shows examples)"),
    (
        "run -- ./badshebang",
        126,
        "cannot run \"./badshebang\": its first line names the interpreter \"/no/such/shell\", and there is no such file",
    ),
    ("run -- .", 126, "cannot run \".\": it is a directory"),
    ("run -- /tmp", 126, "cannot run \"/tmp\": it is a directory"),
    ("run -- /dev/null", 126, "cannot run \"/dev/null\": it is not a file"),
    (
        "run -- ./noexec",
        126,
        "cannot run \"./noexec\": it is not executable (chmod +x makes it so)",
    ),
    ("run -- ./nothing", 127, "cannot find the program \"./nothing\": there is no such file"),
    (
        "run -- nothing-at-all",
        127,
        "cannot find the program \"nothing-at-all\": looked beside weft ...",
    ),
    (
        "run --trace out.weft -- ls",
        127,
        "cannot find the program \"out.weft\"...; if that is to be the file of the trace, write --trace=out.weft",
    ),
    (
        "run -n 2 --window 5 -- ls",
        2,
        "...'5'...: it is a number of packets: a power of two, 2 to 4096 (weft run --help shows examples)",
    ),
    (
        "run --link udp --silence soon -- ls",
        2,
        "invalid value 'soon' for '--silence <S>': it is a time from 500ms to 1h, such as 500ms, 5s or 2min...",
    ),
    (
        "run --link udp --silence 100ms -- ls",
        2,
        "...it is a time from 500ms to 1h, such as 500ms, 5s or 2min...",
    ),
    ("run --join-limit never -- ls", 2, "...it is a time, such as 500ms, 5s or 2min..."),
    (
        "run --progress-limit 2days -- ls",
        2,
        "...it is a time from 0s to 1h, such as 500ms, 5s or 2min...",
    ),
    (
        "run --hostfile hostfile -- ls",
        1,
        "hostfile: max_slots=4: of a host only slots=N is understood",
    ),
    (
        "run --door door -- ls",
        2,
        "--door is for ranks that come later: say with --room how many there may be...",
    ),
    (
        "rum",
        2,
        "unrecognized subcommand 'rum'; a similar subcommand exists: 'run' (weft --help shows examples)",
    ),
    (
        "sim storm --loss much",
        2,
        "invalid value 'much' for '--loss <PART>': it is 0 to 1, such as 0.01, or 1%...",
    ),
    (
        "sim ./hello-here",
        1,
        "weft sim runs what comes with it, and './hello-here' is a file: a program of your own simulates itself, in C by weft_simulate(3), in Rust by weft_simulator::Simulation, as those that weft new makes do (docs/guide/simulating-your-own.md)",
    ),
    (
        "top --for 2",
        2,
        "the following required arguments were not provided: --record <FILE> (weft top --help shows examples)",
    ),
];

/// True if a line is so.
pub fn is_like(line: &str, pattern: &str) -> bool {
    let mut parts = pattern.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        (rest, last) = (behind, Some(part));
    }
    rest.is_empty() || last == Some("")
}

#[test]
fn each_mistake_has_a_line_that_says_what_to_do() {
    are_told(&MISTAKES);
}

/// Checks that each of these words has this status, and this line on standard error, alone.
pub fn are_told(mistakes: &[(&str, i32, &str)]) {
    let folder = folder();
    for &(words, status, line) in mistakes {
        let (code, said) = weft(folder.path(), words);
        let is_one = said.lines().count() == 1 && said.ends_with('\n');
        let is_so = said.strip_prefix("weft: ").is_some_and(|said| is_like(said.trim_end(), line));
        assert!(is_one && is_so && code == Some(status), "weft {words}: {code:?}, {said}");
    }
}

#[test]
fn a_program_in_the_working_directory_is_run_if_it_is_nowhere_else() {
    let folder = folder();
    let (_, said) = weft(folder.path(), "run -q -n 1 -- hello-here");
    let expected = "weft: ./hello-here is run: there is no hello-here in PATH\n";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.contains("./hello-here exited without joining the job"), "{said}");
}

#[test]
fn times_may_have_units_and_parts_a_percent_sign() {
    let folder = folder();
    for words in [
        "run -q -n 1 --link udp --silence 5s --grace 50ms --join-limit 2min --progress-limit 1min -- true",
        "run -q -n 1 --link udp --silence 5 --grace 0.05 --join-limit 120 --progress-limit 60 -- true",
    ] {
        let (_, said) = weft(folder.path(), words);
        assert!(
            said.ends_with("true exited without joining the job: is it a Weft program?\n"),
            "{said}"
        );
    }
    let (code, said) = weft(folder.path(), "sim storm -n 4 --preset irx-imc --loss 1%");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn the_release_is_said_by_an_option_and_by_a_word() {
    let folder = folder();
    let said = |word| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        let output = command.arg(word).current_dir(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said("version"), said("--version"));
    let release = concat!("weft ", env!("CARGO_PKG_VERSION"), " (protocol: messages ");
    let text = said("version");
    assert!(text.starts_with(release) && text.contains(", frames "), "{text}");
}
