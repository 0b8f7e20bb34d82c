//! `weft report`: what it writes where, and what it says when it cannot.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use weft_trace::{Builder, Writer};

/// A trace in which rank 1 waits for rank 0.
fn write_trace(to: &Path) {
    let trace = Builder::new("solver", 2)
        .packet((0, 0), (1, 50), 8)
        .wait(1, 100, 1_000, Some("a message on port 'rows'"))
        .packet((0, 2_000), (1, 2_010), 8)
        .trace();
    let mut writer = Writer::create(to, &trace.run).unwrap();
    for (rank, of) in (0..).zip(&trace.ranks) {
        let words: Vec<_> = of.events.iter().map(weft_trace::Event::to_words).collect();
        writer.append(rank.into(), of.lost, &words).unwrap();
    }
    writer.finish().unwrap();
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    let weft = env!("CARGO_BIN_EXE_weft");
    Command::new(weft).arg("report").args(arguments).current_dir(folder).output().unwrap()
}

fn said(folder: &Path, arguments: &[&str]) -> String {
    let output = report(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = report(folder, arguments);
    assert!(!output.status.success() && output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn it_writes_what_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_trace(&at("run.weft"));
    let verdict = said(folder.path(), &["run.weft"]);
    assert!(verdict.ends_with("run.html: open it in a browser\n"), "{verdict}");
    assert!(fs::read_to_string(at("run.html")).unwrap().starts_with("<!doctype html>"));
    let text = said(folder.path(), &["run.weft", "--text", "-o", "other.html"]);
    assert!(text.starts_with(verdict.lines().next().unwrap()), "{text}");
    assert!(text.contains("\n\nsolver: 2 ranks, 2.01 us, 6 events\n"), "{text}");
    assert!(at("other.html").exists());
    let json = said(folder.path(), &["run.weft", "--json", "--chrome", "chrome.json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["ranks"], &json["matching"]["matched"]), (&2.into(), &2.into()));
    let chrome = fs::read(at("chrome.json")).unwrap();
    let chrome: serde_json::Value = serde_json::from_slice(&chrome).unwrap();
    assert!(chrome["traceEvents"].is_array());
    let said = said(folder.path(), &["run.weft", "--perfetto", "run.pftrace"]);
    assert_eq!(said, "run.pftrace: open it at https://ui.perfetto.dev\n");
    let perfetto = fs::read(at("run.pftrace")).unwrap();
    // A packet, of a length, and its time or sequence.
    assert!(perfetto[0] == 10 && perfetto.windows(6).any(|bytes| bytes == b"rank 1"));
}

#[test]
fn errors_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let none = refused(folder.path(), &["run.weft"]);
    assert!(none.contains("there is no run.weft: `weft run --trace=run.weft"), "{none}");
    fs::write(folder.path().join("other"), "something else").unwrap();
    let other = refused(folder.path(), &["other"]);
    assert!(other.contains("cannot read other: it is no trace of Weft's: `weft run"), "{other}");
    write_trace(&folder.path().join("run.weft"));
    let nowhere = refused(folder.path(), &["run.weft", "-o", "nowhere/run.html"]);
    assert!(nowhere.contains("cannot write nowhere/run.html: No such file"), "{nowhere}");
    let same = refused(folder.path(), &["run.weft", "-o", "run.weft"]);
    assert!(same.contains("run.weft is the trace: say another name"), "{same}");
    let whole = fs::read(folder.path().join("run.weft")).unwrap();
    std::os::unix::fs::symlink("run.weft", folder.path().join("link")).unwrap();
    for other in ["./run.weft", "link"] {
        let same = refused(folder.path(), &["run.weft", "--perfetto", other]);
        assert!(same.contains(&format!("{other} is the trace: say another name")), "{same}");
        assert!(fs::read(folder.path().join("run.weft")).unwrap() == whole, "it is as it was");
    }
    let full = refused(folder.path(), &["run.weft", "-o", "/dev/full"]);
    assert_eq!(full, "weft: cannot write /dev/full: No space left on device (os error 28)\n");
    let itself = refused(folder.path(), &["."]);
    assert_eq!(itself, "weft: cannot read .: Is a directory (os error 21)\n");
    fs::write(folder.path().join("cut"), &whole[..40]).unwrap();
    let cut = refused(folder.path(), &["cut"]);
    assert!(cut.contains("cannot read cut: the description of its run is damaged or cut off"));
    assert!(cut.ends_with(": record the run anew\n"), "{cut}");
}

#[test]
fn slow_waits_of_a_run_name_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        ["run", "-n", "2", "--trace=run.weft", "--", env!("CARGO_BIN_EXE_weft-testee"), "late"];
    let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"));
    let output = weft.args(run).current_dir(folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let text = said(folder.path(), &["run.weft", "--text"]);
    let lines: Vec<_> = text.lines().collect();
    let is_wait = |line: &str| {
        line.contains("  rank 1 in 'exchange' at ")
            && line.ends_with(" for a message on port 'rows',")
    };
    let end = "             until rank 0, which computed in 'solve' for ";
    let is_said = |two: &[&str]| is_wait(two[0]) && two[1].starts_with(end);
    assert!(lines.windows(2).any(is_said), "{text}");

    let json = said(folder.path(), &["run.weft", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let waits = json["slowest_waits"].as_array().unwrap();
    let mut rows = waits.iter().filter(|wait| wait["text"] == "a message on port 'rows'");
    let is_told = |wait: &serde_json::Value| {
        let ends = (&wait["rank"], &wait["awaited"], &wait["ended_by"]);
        let first = &wait["meanwhile"][0];
        ends == (&1.into(), &0.into(), &0.into())
            && (&wait["span"], &first["span"]) == (&"exchange".into(), &"solve".into())
            && first["words"].as_str().unwrap().starts_with("computed in 'solve' for ")
    };
    assert!(rows.any(is_told), "{json}");
}
