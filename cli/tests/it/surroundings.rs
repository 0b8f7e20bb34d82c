//! Environment, directory and longest time of jobs, on one host and on two.

use crate::common::{built, text};
use crate::mistakes::{folder, is_like};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use weft_netns::{Cluster, Options, available};

fn weft(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command.env("COPIED", "as it is").env("WEFT_QUIET", "1").output().unwrap()
}

/// Lines that the ranks of a job have written, in order.
fn lines(output: &Output) -> Vec<String> {
    let mut lines: Vec<_> =
        String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
fn ranks_have_the_variables_that_are_given() {
    let folder = folder();
    let print = "echo $ONE, $COPIED, $EMPTY, $WEFT_RANK";
    let words = ["-x", "ONE=1", "--env", "COPIED", "-x", "EMPTY=", "-x", "ONE=a=b"];
    let run = [&["run", "-n", "2"], &words[..], &["--", "sh", "-c", print]].concat();
    let output = weft(folder.path(), &run);
    assert_eq!(lines(&output), ["a=b, as it is, , 0", "a=b, as it is, , 1"], "{output:?}");
    // For all programs of a job.
    let run = [
        "run",
        "-n",
        "1",
        "-x",
        "ONE=1",
        "sh",
        "-c",
        "echo $ONE",
        ":",
        "-n",
        "1",
        "printenv",
        "ONE",
    ];
    assert_eq!(lines(&weft(folder.path(), &run)), ["1", "1"]);
}

#[test]
fn ranks_run_in_the_directory_that_is_given() {
    let folder = folder();
    let (below, here) = (folder.path().join("below"), folder.path().canonicalize().unwrap());
    fs::create_dir(&below).unwrap();
    fs::rename(folder.path().join("hello-here"), below.join("hello-there")).unwrap();
    let there = here.join("below");
    let print = ["--", "sh", "-c", "echo $(pwd) $PWD"];
    for chdir in ["below", below.to_str().unwrap()] {
        let output = weft(&here, &[&["run", "-n", "1", "--chdir", chdir], &print[..]].concat());
        assert_eq!(lines(&output), [format!("{0} {0}", there.display())], "{output:?}");
    }
    for program in ["./hello-there", "hello-there"] {
        let output = weft(&here, &["run", "-n", "1", "--chdir", "below", "--", program]);
        assert_eq!(lines(&output), ["here"], "{output:?}");
    }
}

#[test]
fn a_job_has_so_much_time_and_no_more() {
    let folder = folder();
    let sits = [built("weft-testee").into_os_string().into_string().unwrap(), "sit".into()];
    // One that hears no SIGTERM is killed.
    let deaf = ["sh", "-c", "trap '' TERM; while true; do sleep 1; done"].map(String::from);
    for program in [&sits[..], &deaf] {
        let mut words = vec!["run", "-n", "2", "--time-limit", "500ms", "--"];
        words.extend(program.iter().map(String::as_str));
        let output = weft(folder.path(), &words);
        let said = String::from_utf8(output.stderr).unwrap();
        let line = "weft: the job was ended: it ran for 500ms, its --time-limit";
        assert_eq!((output.status.code(), said.lines().next()), (Some(124), Some(line)), "{said}");
        // And what the ranks did then.
        assert!(said.lines().count() > 1 && said.contains("weft: rank"), "{said}");
    }
    let output = weft(folder.path(), &["run", "-n", "1", "--time-limit", "10m", "true"]);
    assert_eq!(output.status.code(), Some(1), "it has ended before: {output:?}");
}

#[test]
fn ranks_of_all_hosts_have_them() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(2, Options::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().canonicalize().unwrap();
    let run = |words: &[&str]| {
        let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
        command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
        command.args(["run", "--silence", "10", "--hosts", "a:1,b:1", "--link", "udp"]);
        command.args(words).env_remove("WEFT_QUIET").output().unwrap()
    };
    let chdir = there.to_str().unwrap();
    let words =
        ["-x", "ONE=a=b", "--chdir", chdir, "--", "sh", "-c", "echo $WEFT_RANK $ONE $(pwd)"];
    let expected = [0, 1].map(|rank| format!("{rank} a=b {chdir}"));
    assert_eq!(lines(&run(&words)), expected);
    let nowhere = there.join("nowhere");
    let output = run(&["--chdir", nowhere.to_str().unwrap(), "--", "true"]);
    let line = format!(
        "weft: host a: cannot work in {}: No such file or directory (os error 2) (make it there, or name one that \
         every host has with --chdir)\n",
        nowhere.display()
    );
    assert_eq!((output.status.code(), of_host_a(&text(&output))), (Some(1), line));
    let testee = built("weft-testee");
    let output = run(&["-q", "--time-limit", "1s", "--", testee.to_str().unwrap(), "sit"]);
    let said = text(&output);
    let line = "weft: the job was ended: it ran for 1s, its --time-limit";
    assert_eq!(output.status.code(), Some(124), "{said}");
    assert!(said.lines().any(|said| said == line), "{said}");
    // What cannot be written is found before the job is announced.
    for (words, line) in [
        (["--output-dir", "/dev/null/x"], "weft: cannot write the output to \"/dev/null/x\": ..."),
        (
            ["--trace=/nowhere/run.weft", "-v"],
            "weft: host a: cannot write the trace to \"/nowhere/run.weft.0\": ...",
        ),
    ] {
        let said = of_host_a(&text(&run(&[&words[..], &["--", "true"]].concat())));
        assert!(said.lines().count() == 1 && is_like(said.trim_end(), line), "{said}");
    }
}

/// Words of host a, or those of b, which has the same to say and may be first.
fn of_host_a(said: &str) -> String {
    said.replace("host b:", "host a:").replace("run.weft.1", "run.weft.0")
}
