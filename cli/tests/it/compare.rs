//! `weft compare` and `weft bench` between hosts, as their users meet them: a few rounds, of which
//! the shape is looked at and not the speed.

use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use weft_netns::{Cluster, Options, available, write_script};

fn weft(words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The objects that a command prints, one a line.
fn lines(words: &str) -> Vec<Value> {
    let output = weft(words);
    assert_eq!(output.status.code(), Some(0), "{words}: {}", text(&output.stderr));
    text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn assert_is_figure(value: &Value) {
    assert!(value.as_f64().is_some_and(|figure| figure > 0.0), "{value}");
}

#[test]
fn a_benchmark_on_ethernet_has_sockets_for_floors() {
    if available() {
        ["udp", "xdp"].iter().for_each(|link| assert_has_floors(link));
    }
}

fn assert_has_floors(link: &str) {
    for (kind, unit) in [
        ("latency", "ns"),
        ("message", "ns"),
        ("rpc", "ns"),
        ("rate", "per_second"),
        ("bandwidth", "bytes_per_second"),
    ] {
        let rows = lines(&format!("bench {kind} --link {link} --rounds 1 --size 100 --json"));
        let [row] = rows.as_slice() else { panic!("one row, not {rows:?}") };
        let named = (&row["bench"], &row["link"], &row["unit"], &row["size"]);
        assert_eq!(named, (&kind.into(), &link.into(), &unit.into(), &100.into()));
        for field in ["p50", "p99", "min", "processor_ns_per_message", "processor_ns_per_megabyte"]
        {
            assert_is_figure(&row[field]);
        }
        let floors = row["floors"].as_array().unwrap();
        for what in ["af_xdp", "udp", "tcp"] {
            let floor = floors.iter().find(|floor| floor["what"] == what).unwrap();
            assert_is_figure(&floor["p50"]);
            assert_is_figure(&floor["processor_ns_per_message"]);
        }
    }
}

#[test]
fn hosts_that_exist_are_reached_by_the_remote_shell() {
    if !available() {
        return;
    }
    let cluster = Cluster::new(3, Options::default()).unwrap();
    let mut command = cluster.host(0).command(env!("CARGO_BIN_EXE_weft"));
    command.env("WEFT_RSH", cluster.remote_shell()).stdin(Stdio::null());
    command.args("bench message --hosts b,c --interface eth0 --rounds 1".split(' '));
    let output = command.output().unwrap();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!((output.status.code(), err.as_str()), (Some(0), ""));
    assert!(out.starts_with("message of 8 B, 2 ranks, udp:"), "{out}");
    for part in ["\n  p50 ", " us of processors a message\n", " x udp: ", " x tcp: "] {
        assert!(out.contains(part), "{part:?} is missing in\n{out}");
    }
}

/// Held by who compares: those of two places at once would fight for the cores, and some libraries'
/// ranks never give one away.
static CORES: Mutex<()> = Mutex::new(());

/// Compares all that are installed at one place.
fn assert_compared(place: &str, wefts: &[&str]) {
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let plot = folder.path().join("plot.svg");
    let name = plot.display();
    let lines = lines(&format!("compare --json --on {place} --turns 1 --rounds 1 --plot {name}"));
    assert!(lines.iter().all(|line| line["place"] == place));
    let of = |peer: &str| lines.iter().filter(|line| line["peer"] == peer).collect::<Vec<_>>();
    for peer in wefts.iter().chain(&["tcp", "open-mpi", "mpich"]) {
        let figures = of(peer);
        let names: Vec<&Value> = figures.iter().map(|line| &line["figure"]).collect();
        assert_eq!(names, ["latency", "rate", "bandwidth"], "{peer}: {figures:?}");
        for figure in figures {
            assert_is_figure(&figure["p50"]);
            assert_is_figure(&figure["weft_ratio"]);
            assert_is_figure(&figure["processor_ns_per_message"]);
        }
    }
    for (peer, figures) in [("ucx", 3), ("libfabric", 1)] {
        let lines = of(peer);
        let missing = lines.first().is_some_and(|line| line["missing"].is_string());
        // `make setup` installs them, so that nobody is missing in CI.
        let may_be_missing = std::env::var_os("CI").is_none_or(|value| value.is_empty());
        assert!(!missing || may_be_missing, "{peer}: {lines:?}");
        assert!(missing || lines.len() == figures, "{peer}: {lines:?}");
        if lines.len() == figures && !missing {
            lines.iter().for_each(|line| assert_is_figure(&line["p50"]));
        }
    }
    let drawn = std::fs::read_to_string(plot).unwrap();
    assert!(drawn.contains("Open MPI") && drawn.ends_with("</svg>\n"));
}

#[test]
fn peers_are_compared_in_memory() {
    assert_compared("host", &["weft"]);
}

#[test]
fn peers_are_compared_on_ethernet() {
    if available() {
        assert_compared("ethernet", &["weft-udp", "weft-xdp"]);
    }
}

#[test]
fn whole_programs_are_compared_and_who_fails_is_named() {
    if !available() {
        return;
    }
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let (own, silent) = (folder.path().join("own"), folder.path().join("silent"));
    write_script(&own, "#!/bin/sh\necho time: 0.25 s\n").unwrap();
    write_script(&silent, "#!/bin/sh\ntrue\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(["compare", "--json", "--on", "programs", "--turns", "1"]).stdin(Stdio::null());
    let programs = ["cg --rows 40 --columns 40", "sweep --sweeps 50"];
    let output = command.args(programs).args([&own, &silent]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4 * 2 * 3, "each program, on 2 and 4 ranks, by three ways: {said}");
    for line in &lines {
        match line["program"].as_str().unwrap() {
            "silent" => assert_eq!(line["missing"], "it printed no line like `time: 0.25 s`"),
            "own" => assert_eq!((&line["p50"], &line["tcp_ratio"]), (&0.25.into(), &1.0.into())),
            name => {
                assert!(programs.contains(&name), "{line}");
                ["p50", "mean", "tcp_ratio"]
                    .iter()
                    .for_each(|field| assert_is_figure(&line[field]));
            }
        }
    }
    let ranks = |count: u32| lines.iter().filter(|line| line["ranks"] == count).count();
    assert_eq!((ranks(2), ranks(4)), (12, 12));
}

#[test]
fn without_json_there_is_a_table_and_its_progress_beside() {
    let output = weft("compare --on host --only tcp --turns 1 --rounds 1");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(out.contains("│ plain TCP") && out.contains("(1.00 x)"), "{out}");
    assert!(!out.contains("MPI"), "{out}");
    let progress = "weft: host, turn 1 of 1: Weft\nweft: host, turn 1 of 1: plain TCP\n";
    assert_eq!(err, progress);
}

#[test]
fn mistakes_are_one_line_each() {
    for (words, said) in [
        ("compare --turns 0", "it is 1 to 1000"),
        ("compare --only gasnet", "gasnet"),
        ("compare --on mars", "mars"),
        ("compare cg", "cg: programs are run with --on programs"),
        (
            "compare --on programs lu",
            "lu is no file, and none of the programs that come along: cg, ",
        ),
        ("compare --on programs --only ucx", "whole programs are run by open-mpi, weft-udp,"),
        ("compare --on programs --plot x.svg", "--on programs goes without --plot and --preset"),
        ("bench barrier --link udp", "between hosts there are latency, message, rate,"),
        ("bench latency --link udp -n 3", "between hosts, benchmarks have two ranks"),
        ("bench latency --hosts a", "--hosts a,b"),
        ("compare rank tcp-first 127.0.0.1 x", "invalid value 'x'"),
    ] {
        let output = weft(words);
        let err = text(&output.stderr);
        assert!(!output.status.success(), "{words}");
        assert_eq!(err.lines().count(), 1, "{words}: {err}");
        assert!(err.starts_with("weft: ") && err.contains(said), "{words}: {err}");
    }
}
