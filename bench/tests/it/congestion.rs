//! `weft bench congestion` says what it measured, each way and part, and leaves nothing behind.
//! Figures are not judged here: a test may run beside anything.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Rows of one part, measured for as short a time as there is. No file and no process is left.
fn rows(part: &str, more: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_weft-bench"))
        .args(["congestion", "--json", "--lasts", "50", "--bulk", "datagrams", "--part", part])
        .args(more)
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(started_with(folder.path()), [] as [PathBuf; 0]);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Processes that have a folder in their environment, as all have that are started with it.
fn started_with(folder: &Path) -> Vec<PathBuf> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let has = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(folder.to_str().unwrap())
    };
    processes.filter(has).collect()
}

fn words<'a>(rows: &'a [Value], field: &str) -> Vec<&'a str> {
    rows.iter().map(|row| row[field].as_str().unwrap()).collect()
}

#[test]
fn shares_of_two_jobs_and_a_connection_add_up() {
    if !weft_netns::available() {
        return;
    }
    let rows = rows("sharing", &[]);
    assert_eq!(words(&rows, "bulk"), ["datagrams", "tcp", "datagrams", "tcp"]);
    for row in rows {
        let shares = row["shares"].as_array().unwrap();
        let sum: f64 = shares.iter().map(|share| share.as_f64().unwrap()).sum();
        assert!(shares.len() == 3 && (sum - 3.0).abs() < 1e-6, "{row}");
        let of_link = row["of_link"].as_f64().unwrap();
        assert!(of_link > 0.0, "{row}");
    }
}

#[test]
fn small_messages_are_timed_alone_and_beside_a_stream() {
    if !weft_netns::available() {
        return;
    }
    let rows = rows("queues", &[]);
    assert_eq!(words(&rows, "bulk"), ["datagrams", "tcp"]);
    for row in rows {
        let figure = |name: &str| row[name].as_f64().unwrap();
        assert!(figure("p50") > 0.0 && figure("beside_p50") > 0.0, "{row}");
        assert!((figure("ratio") * figure("p99") / figure("beside_p99") - 1.0).abs() < 1e-6);
    }
}

#[test]
fn many_senders_are_drawn() {
    if !weft_netns::available() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("incast.svg");
    let rows = rows("incast", &["--senders", "1,3", "--plot", file.to_str().unwrap()]);
    let senders: Vec<_> = rows.iter().map(|row| row["senders"].as_u64().unwrap()).collect();
    assert_eq!(senders, [1, 3, 1, 3]);
    for row in &rows {
        let goodput = row["goodput"].as_array().unwrap();
        assert_eq!(goodput.len() as u64, row["senders"].as_u64().unwrap(), "{row}");
    }
    let svg = fs::read_to_string(file).unwrap();
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
}

#[test]
fn hosts_that_exist_are_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_weft-bench"))
        .args(["congestion", "--hosts", "a,b"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("between network namespaces"), "{said}");
}
