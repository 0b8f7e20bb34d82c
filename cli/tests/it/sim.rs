//! `weft sim` as its users meet it.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// The description of a machine that is right, to be broken.
const MACHINE: &str = include_str!("../../../links/sim/machines/myrinet.toml");

/// A job whose ranks all wait for a credit that none of them can give.
const DEADLOCK: &str = "-n 8 --tree chain --recovery off --window 1 all-to-all";

fn weft_in(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).stdin(Stdio::null()).current_dir(folder);
    command.output().unwrap()
}

fn sim(words: &str) -> Output {
    weft_in(Path::new("."), &format!("sim {words}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Output of a run that has to succeed.
fn succeeds(words: &str) -> String {
    let output = sim(words);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}: {err}");
    err
}

/// Output of a run that has to fail.
fn fails(words: &str) -> String {
    let output = sim(words);
    let err = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}: {err}");
    err
}

/// The end of the line that begins so.
fn line<'a>(said: &'a str, begin: &str) -> &'a str {
    let found = said.lines().find_map(|line| line.strip_prefix(begin));
    found.unwrap_or_else(|| panic!("no line begins with {begin:?}: {said}")).trim()
}

/// Asserts that a command fails with one line on standard error that contains this, and no output.
fn assert_refused(output: &Output, words: &str, said: &str) {
    let err = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(1 | 2)), "{words}: {err}");
    assert_eq!(err.lines().count(), 1, "{words}: {err}");
    assert!(err.starts_with("weft: ") && err.contains(said), "{words}: {err}");
    assert_eq!(text(&output.stdout), "", "{words}");
}

#[test]
fn windows_follow_demand() {
    let said = succeeds("-n 12 --window adaptive:40 storm --deeds 60");
    assert!(said.contains("windows of 1 to 32 out of a pool of 40, seed 1"), "{said}");
    let said = succeeds("-n 12 --window adaptive storm --deeds 20");
    assert!(said.contains("out of a pool of 501,"), "512 less one for each peer: {said}");
}

#[test]
fn options_that_cannot_be_are_refused_in_one_line() {
    for (words, said) in [
        ("-n 0 storm", "1 to 65534 ranks"),
        ("-n 70000 storm", "1 to 65534 ranks"),
        ("-n 4", "nothing to run"),
        (
            "-n 4 hurricane",
            "there are asp, awari, qr, sor, leq, tsp, puzzle, weft-game, fft, radix, lu, barnes, \
             water, weft-application, weft-example, storm",
        ),
        ("--preset nrx storm", "there is no preset 'nrx'"),
        ("--tree oak storm", "there is no tree shape 'oak'"),
        (
            "--machine cray storm",
            "there are myrinet, myrinet-compared, host, fast-ethernet, medusa",
        ),
        ("--window 0 storm", "it has 1 to 16384"),
        ("--window 20000 storm", "it has 1 to 16384"),
        ("--window many storm", "a number of packets, adaptive, or adaptive:POOL"),
        ("--window adaptive:few storm", "a number of packets, adaptive, or adaptive:POOL"),
        ("--window adaptive --preset irx-imc storm", "belong to nrx-imc and nrx-hmc"),
        ("--seeds 0 storm", "a number from 1 on"),
        ("--seed -1 storm", "'-1'"),
        ("--limit 0s storm", "nothing can happen"),
        ("--limit soon storm", "it is a time, such as 500ms, 5s or 2min"),
        ("--recovery never storm", "off, at-once, or a time"),
        ("-n 1 ping", "ping needs two ranks"),
        ("-n 4 ping --rounds 0", "a number from 1 on"),
        ("-n 4 storm --bytes 1025", "a packet of this machine holds 1024"),
        ("-n 4 storm --groups-of 0", "a group has members"),
        ("-n 4 storm --rounds 3", "storm has no argument --rounds (weft sim storm --help)"),
        ("-n 4 storm --deeds 9 --json", "those of weft sim come before"),
    ] {
        assert_refused(&sim(words), words, said);
    }
}

#[test]
fn faults_that_cannot_be_are_refused_in_one_line() {
    for (words, said) in [
        ("--loss -0.1", "from 0 to 1, and cannot be -0.1"),
        ("--loss 2", "from 0 to 1, and cannot be 2"),
        ("--loss NaN", "from 0 to 1, and cannot be NaN"),
        ("--corrupt 1.01", "corruption is a part of all frames"),
        ("--loss much", "'much'"),
        ("--hold-back 1ms", "--reorder"),
        ("--reorder 0.1 --hold-back 0s", "reordering needs a time"),
        ("--partition 4@1ms..2ms", "a partition names rank 4; the job has ranks 0 to 3"),
        ("--partition 3-1@1ms..2ms", "write ranks and times"),
        ("--partition 1@2ms..1ms", "cannot last from 2ms until 1ms"),
        ("--partition 1@1ms..1ms", "cannot last"),
        ("--partition 1@1ms", "write ranks and times"),
        ("--slow-rank 4x10", "a slow rank names rank 4"),
        ("--slow-rank 1x0.5", "1 to 1000000 times as long, not 0.5"),
        ("--slow-rank 1", "write a rank and a factor"),
        ("--crash 4@1ms", "a crash names rank 4"),
        ("--crash 4", "write a rank and a time"),
        ("--crash 1@soon", "'soon': it is a time, such as 500ms"),
    ] {
        let words = format!("-n 4 --preset irx-imc {words} storm");
        assert_refused(&sim(&words), &words, said);
    }
}

#[test]
fn options_that_contradict_each_other_are_refused_in_one_line() {
    for (words, said) in [
        ("--loss 0.1", "nrx-imc is for networks that lose nothing: take a retransmitting one"),
        ("--duplicate 0.1", "nrx-imc is for networks that lose nothing"),
        ("--preset nrx-hmc --partition 1@1ms..2ms", "nrx-hmc is for networks that lose nothing"),
        ("--preset irx-imc --recovery at-once", "irx-imc has no credits to run out of"),
        ("--preset hrx-hmc --recovery 1ms", "hrx-hmc has no credits to run out of"),
        ("--receive-buffers 8", "is for presets that retransmit"),
        ("--preset irx-imc --receive-buffers 0", "at least one receive buffer"),
    ] {
        let words = format!("-n 4 {words} storm");
        assert_refused(&sim(&words), &words, said);
    }
}

#[test]
fn machine_files_that_are_none_are_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("folder.toml")).unwrap();
    let number = |line: &str| 1 + MACHINE.lines().position(|l| l.starts_with(line)).unwrap();
    let broken = |line: &str, by: &str| -> String {
        let broken = number(line) - 1;
        let lines = MACHINE.lines().enumerate();
        lines.map(|(i, line)| format!("{}\n", if i == broken { by } else { line })).collect()
    };
    let send = |what| format!("line {}: invalid {what}", number("send_ns"));
    for (name, content, said) in [
        ("right.toml", MACHINE.to_owned(), String::new()),
        ("missing.toml", broken("send_ns", ""), "missing field `send_ns`".into()),
        ("negative.toml", broken("send_ns", "send_ns = -1"), send("value")),
        (
            "below.toml",
            broken("operation_ns", "operation_ns = -20.0"),
            "host.operation_ns cannot be -20".into(),
        ),
        ("unknown.toml", broken("[bus]", "[bus]\nspeed = 3"), "unknown field `speed`".into()),
        ("word.toml", broken("send_ns", "send_ns = \"fast\""), send("type")),
        (
            "none.toml",
            broken("operation_ns", "operation_ns = nan"),
            "host.operation_ns cannot be NaN".into(),
        ),
        ("zero.toml", broken("packet_bytes", "packet_bytes = 0"), "must be more than 0".into()),
        ("broken.toml", "[host".into(), "line 1: unclosed table".into()),
    ] {
        std::fs::write(folder.path().join(name), content).unwrap();
        let words = format!("sim -n 2 --machine {name} ping");
        let output = weft_in(folder.path(), &words);
        if said.is_empty() {
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        } else {
            assert_refused(&output, &words, &said);
            assert!(text(&output.stderr).contains(name), "{name}");
        }
    }
    for (name, said) in [
        ("no-such.toml", "cannot read no-such.toml: No such file"),
        ("folder.toml", "cannot read folder.toml: Is a directory"),
        ("./", "cannot read ./: Is a directory"),
    ] {
        let words = format!("sim -n 2 --machine {name} ping");
        assert_refused(&weft_in(folder.path(), &words), &words, said);
    }
}

#[test]
fn help_teaches_by_example_and_knows_what_is_run() {
    let output = sim("");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("Examples:\n  weft sim asp"));
    for (words, said) in [
        ("--help", "Examples:\n  weft sim asp"),
        ("--help", "A program of your own simulates itself: weft new makes one that does"),
        ("storm --help", "Usage: weft sim storm [OPTIONS]"),
        ("barrier -h", "Usage: weft sim barrier [OPTIONS]"),
        ("-n 4 asp --help", "weft run -n 4 -- asp"),
    ] {
        let output = sim(words);
        assert_eq!(output.status.code(), Some(0), "{words}");
        assert!(text(&output.stdout).contains(said), "{words}: {}", text(&output.stdout));
    }
}

#[test]
fn the_same_command_has_the_same_trace_and_another_seed_another() {
    let storm = "storm -n 6 --preset hrx-imc --loss 0.02 --duplicate 0.02 --reorder 0.02";
    let trace = |words: String| line(&succeeds(&words), "trace ").to_owned();
    assert_eq!(trace(storm.into()), trace(storm.into()));
    assert_ne!(trace(storm.into()), trace(format!("{storm} --seed 2")));
}

#[test]
fn a_run_that_fails_prints_the_command_that_fails_in_the_same_way() {
    for words in [
        "storm --seed 5 -n 4 --preset irx-imc --partition 0@1ms..100s",
        "--seeds=3 --preset irx-imc -n 4 --partition 0@1ms..100s storm --deeds 50",
        DEADLOCK,
    ] {
        let first = fails(words);
        let again = line(&first, "weft: this run again: ");
        let (_, arguments) = again.split_once(" sim ").unwrap();
        assert!(arguments.starts_with("--seed "), "{again}");
        let second = fails(arguments);
        assert_eq!(line(&second, "weft: this run again: "), again, "{words}");
        let why = "weft: nothing happens any more";
        assert_eq!(line(&first, why), line(&second, why));
        if !words.contains("seeds") {
            assert_eq!(line(&first, "trace "), line(&second, "trace "));
        }
    }
}

#[test]
fn what_led_to_a_failure_is_explained_in_words() {
    let said = fails(&format!("--explain {DEADLOCK}"));
    assert!(
        said.contains(" us  rank 0 transmits a multicast packet of rank 0 to rank 1"),
        "{said}"
    );
    let said = fails("storm -n 4 --preset irx-imc --partition 0@1ms..100s");
    assert!(!said.contains("transmits"), "{said}");
    assert!(said.contains("the partition lasts until 100.000 s"), "{said}");
}

#[test]
fn many_seeds_are_a_line_each_and_a_sum() {
    let said = succeeds("storm -n 4 --preset irx-imc --loss 0.01 --seed 3 --seeds 4 --deeds 40");
    let lines: Vec<_> = said.lines().collect();
    assert_eq!(lines.len(), 6, "{said}");
    for (index, seed) in (3..7).enumerate() {
        assert!(lines[index + 1].starts_with(&format!("seed {seed}  ")), "{said}");
        assert!(lines[index + 1].contains("  right  "), "{said}");
    }
    assert!(lines[5].starts_with("weft: 4 seeds, nothing wrong: "), "{said}");
}

#[test]
fn json_is_one_object_a_line_whatever_the_program_prints() {
    let objects = |output: &Output| -> Vec<serde_json::Value> {
        let out = text(&output.stdout);
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let storms = sim("--json -n 4 --seeds 3 storm --deeds 20");
    let traces: Vec<_> = objects(&storms).iter().map(|row| row["trace"].clone()).collect();
    assert_eq!((traces.len(), text(&storms.stderr).as_str()), (3, ""));
    assert!(traces[0] != traces[1] && traces[1] != traces[2], "{traces:?}");

    let program = sim("-n 2 --json sor --rows 20 --columns 20");
    assert_eq!(objects(&program)[0]["ok"], true);
    assert!(text(&program.stderr).contains("verified bit for bit"), "what sor prints");

    let failed = sim(&format!("--json {DEADLOCK}"));
    let row = &objects(&failed)[0];
    assert_eq!((&row["ok"], &row["packets"]), (&false.into(), &8.into()));
    assert!(row["again"].as_str().unwrap().ends_with(DEADLOCK), "{row}");
    assert_eq!(failed.status.code(), Some(1));
}

#[test]
fn a_crash_on_purpose_of_which_all_others_hear_is_no_failure() {
    let said = succeeds("storm -n 4 --crash 2@1ms");
    let told = "rank 2 on purpose; 3 others stopped: rank 2 was killed by signal 9 (SIGKILL)";
    assert_eq!(line(&said, "crashed "), told);
    let said = succeeds("storm -n 4 --crash 2@1h");
    assert!(said.contains("rank 2 ended before it was to crash, at 3600.000 s"), "{said}");
}

#[test]
fn measured_computation_is_charged_and_promises_no_trace() {
    let words = "-n 2 sor --rows 60 --columns 60";
    assert!(!succeeds(words).contains("never twice the same"));
    let measured = succeeds(&format!("--measured {words}"));
    assert!(measured.contains("computation as measured"), "{measured}");
    assert!(line(&measured, "trace ").starts_with("none: "), "{measured}");
}

/// Samples in README and guide are what a reader's command prints, on any machine, but for the
/// memory.
#[test]
fn the_sample_runs_of_the_documents_are_what_it_prints() {
    const WORDS: &str = "storm -n 16 --preset irx-imc --loss 0.01 --seed 7";
    let printed = succeeds(WORDS);
    let printed: Vec<&str> = printed.lines().filter(|line| !line.starts_with("memory")).collect();
    assert!(printed.len() > 3, "{printed:?}");
    for document in
        [include_str!("../../../README.md"), include_str!("../../../docs/guide/simulating.md")]
    {
        let block = document.split("```").find(|block| block.contains(WORDS)).unwrap();
        let shown: Vec<&str> = block.lines().skip(2).collect();
        let shown = shown.into_iter().filter(|line| !line.starts_with("memory"));
        assert_eq!(shown.collect::<Vec<_>>(), printed);
    }
}
