//! The guide's examples as users run them: real processes, and `weft sim`.
//!
//! They are built with the workspace (`make test` does that first), beside `weft`.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use weft_examples::ALL;

fn weft(words: &str) -> Output {
    let weft = Path::new(env!("CARGO_BIN_EXE_weft"));
    let beside = weft.with_file_name("weft-example");
    assert!(beside.exists(), "{} is not built: cargo build --workspace", beside.display());
    let mut command = Command::new(weft);
    command.args(words.split_whitespace()).stdin(Stdio::null()).output().unwrap()
}

/// Output of a run that has to succeed.
fn succeeds(words: &str) -> String {
    let output = weft(words);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "weft {words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The part of the output that all runs on so many ranks share.
fn expected(name: &str, ranks: u32) -> String {
    match (name, ranks) {
        ("ping", 1) => "there is nobody to ping: start two ranks, with -n 2\n".into(),
        ("ping", _) => "1000 round trips, ".into(),
        ("hello", 1) => String::new(),
        ("hello", _) => "rank 0 hears from rank 1: good morning\n".into(),
        ("ring", _) => format!("the token came round 10 times, in {} hops\n", 10 * ranks),
        ("stream", 1) => "there is nobody to send to: start two ranks, with -n 2\n".into(),
        ("stream", _) => "16777216 bytes came in ".into(),
        ("counter", _) => "9592 primes below 100000; rank 0 did ".into(),
        ("pi", _) => "pi is 3.141592654\n".into(),
        ("histogram", _) => format!("{}0000 numbers; in the first 8 buckets are [", ranks),
        ("sort", _) => format!("{ranks}000 numbers are sorted; the one in the middle is "),
        ("phonebook", _) => format!("{ranks} numbers found; and then: nobody is called Nobody\n"),
        ("bank", _) => {
            let (transfers, sum) = (20 * ranks, 1000 * ranks);
            format!("{transfers} transfers, and the ranks have {sum} together, as before\n")
        }
        ("kv", _) => format!("{ranks} replicas of {} pairs are equal; ", 11 + ranks),
        ("jobs", _) => format!("100 jobs were taken, by {ranks} ranks, and come to 5050\n"),
        ("linda", _) => {
            "below 100000 the longest chain begins with 77031 and has 350 steps\n".into()
        }
        ("sr", _) => format!("{} jobs were printed, the shortest first\n", 3 * ranks),
        ("census", _) => {
            let people: u32 = (1..=ranks).map(|rank| 800 * rank + 28).sum();
            format!("{people} people in {} districts, and all ranks agree\n", 8 * ranks)
        }
        ("farm", _) => format!(
            "1000 tasks done by {ranks} of {ranks} ranks, 0 of them handed out again; nobody was lost\n"
        ),
        ("door", _) => format!("rank 0 has met ranks {:?}\n", (0..ranks).collect::<Vec<_>>()),
        ("growth", _) => format!("{ranks} of {ranks} ranks\n"),
        ("heat", _) => "after 40 steps 175.7 degrees are left in the rod\n".into(),
        ("tickets", _) => {
            format!("1000 of 1000 are with {ranks} ranks that are left, no two the same\n")
        }
        ("survivors", _) => format!("count {} of which 5050 are mine; regions", ranks * 5050),
        _ => panic!("nobody knows what {name} prints"),
    }
}

/// With --statistics each rank says what it sent, and the shared objects that it had.
#[test]
fn ranks_say_what_they_did() {
    let output = weft("run -n 2 --statistics -- weft-example jobs");
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let table: Vec<_> = said.lines().rev().take(5).collect();
    assert!(table[0].trim_start().starts_with("all ") && table[0].contains(" B "), "{said}");
    assert!(table[3].starts_with("rank ") && table[3].ends_with(" sleeps"), "{said}");
    for rank in 0..2 {
        let line = table[2 - rank].trim_start();
        assert!(line.starts_with(&format!("{rank} ")), "{said}");
        // Each rank has added its part of the sum.
        let total = format!("rank {rank}: object 'total' (Total, replicated): ");
        let total = said.lines().find(|line| line.starts_with(&total)).expect(&said);
        assert!(total.contains(" 2 writes, "), "{total}");
    }
    let jobs: Vec<&str> = said.lines().filter(|line| line.contains("'jobs'")).collect();
    let [jobs] = jobs[..] else { panic!("one rank has the jobs: {said}") };
    // A hundred puts and takes, a close, and of each rank a read of the end.
    let expected = "rank 0: object 'jobs' (Jobs, one copy, here): 2 reads, 201 writes, ";
    assert!(jobs.starts_with(expected), "{jobs}");
    assert_eq!(weft("run -n 2 -- weft-example jobs").stderr, b"", "nobody has asked");
}

#[test]
fn each_runs_as_processes() {
    for name in ALL.map(|example| example.name) {
        for ranks in [1, 2, 4] {
            let text = succeeds(&format!("run -n {ranks} -- weft-example {name}"));
            let expected = expected(name, ranks);
            assert!(text.contains(&expected), "{name} on {ranks}: {text:?}, not {expected:?}");
        }
    }
}

#[test]
fn each_runs_in_the_simulator_and_prints_the_same_each_time() {
    for name in ALL.map(|example| example.name) {
        for (options, ranks) in [("-n 4", 4), ("-n 16 --preset hrx-imc --loss 0.01 --seed 9", 16)] {
            let words = format!("sim {options} weft-example {name}");
            let text = succeeds(&words);
            let expected = expected(name, ranks);
            assert!(text.contains(&expected), "{words}: {text:?}, not {expected:?}");
            assert_eq!(succeeds(&words), text, "{words}");
        }
    }
}

#[test]
fn a_name_that_is_none_is_answered_with_the_list() {
    for words in
        ["run -n 2 -- weft-example", "run -n 2 -- weft-example nope", "sim weft-example --help"]
    {
        let output = weft(words);
        assert_eq!(output.status.success(), words.starts_with("sim"), "{words}");
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        for example in ALL {
            let line = format!("  {:<10} {}\n", example.name, example.about);
            assert_eq!(text.matches(&line).count(), 1, "{words}: {text}");
        }
    }
    let unknown = weft("sim weft-example nope");
    let text = String::from_utf8(unknown.stderr).unwrap();
    assert!(text.contains("weft sim weft-example --help lists them"), "{text}");
}
