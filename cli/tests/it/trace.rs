//! `weft run --trace`, and what is in its file.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use weft::Rank;
use weft_trace::{NamedThing, PacketEvent, RankTrace, Trace, What};

fn weft(words: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words.split_whitespace()).current_dir(folder).output().unwrap()
}

/// Trace of a run that must succeed.
fn trace(words: &str, program: &str) -> Trace {
    let folder = tempfile::tempdir().unwrap();
    let output = weft(&format!("run {words} --trace=the.trace -- {program}"), folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert!(
        said.ends_with(
            " events of this run are in the.trace: `weft report the.trace` shows them\n"
        ),
        "{said}"
    );
    Trace::open(&folder.path().join("the.trace")).unwrap()
}

#[test]
fn a_trace_is_not_written_over_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    std::fs::copy(env!("CARGO_BIN_EXE_weft-testee"), &program).unwrap();
    let length = program.metadata().unwrap().len();
    for elsewhere in ["", "--hosts localhost:1 "] {
        let words = format!("run {elsewhere}-n 1 --trace=program -- ./program late");
        let output = weft(&words, folder.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{said}");
        assert!(said.contains("that is the program: name another file"), "{said}");
        assert_eq!(program.metadata().unwrap().len(), length, "it is as it was");
    }
}

/// Times of the packets from one rank to another, at the one end or the other.
fn packets(trace: &Trace, at: usize, other: usize, has_sent: bool) -> Vec<(u64, PacketEvent)> {
    let of = |event: &weft_trace::Event| match event.what {
        What::Sent(packet) if has_sent => Some((event.time, packet)),
        What::Received(packet) if !has_sent => Some((event.time, packet)),
        _ => None,
    };
    let all = trace.ranks[at].events.iter().filter_map(of);
    all.filter(|(_, packet)| packet.peer.index() == other).collect()
}

/// Every packet that left has arrived, none before it left, and in the order in which they left.
fn check_packets(trace: &Trace) -> usize {
    let ranks = 0..trace.ranks.len();
    let mut data = 0;
    for (from, to) in ranks.clone().flat_map(|from| ranks.clone().map(move |to| (from, to))) {
        let sent = packets(trace, from, to, true);
        let received = packets(trace, to, from, false);
        // What comes last nobody may look at any more.
        assert!(received.len() <= sent.len(), "{from} to {to}");
        for ((left, one), (came, other)) in sent.iter().zip(&received) {
            assert!(left <= came, "a packet from {from} to {to} came before it left");
            let is = |it: &PacketEvent| (it.tag, it.protocol, it.size, it.root, it.head);
            assert_eq!(is(one), is(other), "from {from} to {to}");
        }
        data += received.iter().filter(|(_, packet)| packet.tag.is_data()).count();
    }
    data
}

/// Waits and spans begin before they end, and no more are open than were begun.
fn check_nesting(rank: &RankTrace) {
    let mut open = BTreeMap::<_, i64>::new();
    for event in &rank.events {
        let (kind, by) = match event.what {
            What::WaitBegins => ((0, 0), 1),
            What::WaitEnds => ((0, 0), -1),
            What::SleepBegins => ((1, 0), 1),
            What::SleepEnds => ((1, 0), -1),
            What::SpanBegins(name) => ((2, name), 1),
            What::SpanEnds(name) => ((2, name), -1),
            _ => continue,
        };
        let count = open.entry(kind).or_default();
        *count += by;
        assert!(*count >= 0, "{event:?} ends what has not begun");
    }
    assert!(open.values().all(|count| *count == 0), "{open:?}");
}

fn spans(rank: &RankTrace) -> Vec<&str> {
    let spans = rank.names.iter().filter(|((named, _), _)| *named == NamedThing::Span);
    spans.map(|(_, name)| name.as_str()).collect()
}

#[test]
fn packets_waits_and_spans_of_a_run_are_in_its_trace() {
    let trace = trace("-n 4", "weft-example pi");
    assert_eq!((trace.run.program.as_str(), trace.ranks.len()), ("weft-example pi", 4));
    check_packets(&trace);
    for rank in &trace.ranks {
        assert_eq!(rank.lost, 0);
        check_nesting(rank);
        assert!(spans(rank).contains(&"all-reduce"), "{:?}", spans(rank));
        let waits = rank.events.iter().filter(|event| event.what == What::WaitBegins);
        assert!(waits.count() > 0);
    }
    let texts: Vec<_> = trace.ranks.iter().flat_map(|rank| rank.waits.values()).collect();
    assert!(texts.iter().any(|text| text.contains(" of the team of all ranks")), "{texts:?}");
}

#[test]
fn a_network_of_one_host_is_traced_too() {
    let trace = trace("-n 3 --link udp", "weft-example hello");
    for rank in &trace.ranks {
        check_nesting(rank);
    }
    let greetings = packets(&trace, 1, 0, true);
    assert!(greetings.iter().any(|(_, packet)| packet.tag.is_data()), "{greetings:?}");
    assert!(!packets(&trace, 0, 1, false).is_empty());
}

#[test]
fn long_packets_of_lent_memory_are_traced_too() {
    let trace = trace("-n 2 --link udp", "sor --rows 256 --columns 256");
    assert!(packets(&trace, 1, 0, true).iter().any(|(_, packet)| packet.size > 1_500));
}

#[test]
fn handlers_of_ports_are_in_a_trace() {
    let trace = trace("-n 3", "weft-example hello");
    let handled = |rank: &RankTrace| {
        let port = rank.events.iter().find_map(|event| match event.what {
            What::HandlerBegins(port) => Some(port),
            _ => None,
        });
        port.and_then(|port| rank.names.get(&(NamedThing::Port, port)).cloned())
    };
    let handled: Vec<_> = trace.ranks.iter().filter_map(handled).collect();
    assert!(handled.iter().any(|port| port == "hello"), "{handled:?}");
    for rank in &trace.ranks {
        let count = |is: fn(&What) -> bool| rank.events.iter().filter(|e| is(&e.what)).count();
        let begun = count(|what| matches!(what, What::HandlerBegins(_)));
        assert_eq!(begun, count(|what| matches!(what, What::HandlerEnds(_))));
    }
}

/// Events of a rank of one kind, with the names that they have at that rank.
fn named<T>(
    rank: &RankTrace,
    named: NamedThing,
    of: impl Fn(&What) -> Option<(u32, T)>,
) -> Vec<(&str, T)> {
    let found = rank.events.iter().filter_map(|event| of(&event.what));
    found.map(|(number, what)| (rank.names[&(named, number)].as_str(), what)).collect()
}

#[test]
fn each_kind_of_handler_is_in_a_trace() {
    let trace = trace("-n 2", &format!("{} busy", env!("CARGO_BIN_EXE_weft-testee")));
    let count = |of: fn(&What) -> Option<u32>, port: &str| {
        let of_rank = |rank| named(rank, NamedThing::Port, |what| of(what).map(|port| (port, ())));
        of_rank(&trace.ranks[1]).iter().filter(|(name, ())| *name == port).count()
    };
    let begins =
        |what: &What| if let What::HandlerBegins(port) = what { Some(*port) } else { None };
    let goes_on =
        |what: &What| if let What::HandlerGoesOn(port) = what { Some(*port) } else { None };
    let ends = |what: &What| if let What::HandlerEnds(port) = what { Some(*port) } else { None };
    assert_eq!((count(begins, "plain"), count(ends, "plain")), (5, 5));
    assert_eq!((count(begins, "waits"), count(goes_on, "waits")), (5, 5));
    assert_eq!(count(ends, "waits"), 10);
    let popups = |has_begun: bool| {
        let of = named(&trace.ranks[1], NamedThing::Port, |what| match *what {
            What::PopupBegins { port, run } if has_begun => Some((port, run)),
            What::PopupEnds { port, run } if !has_begun => Some((port, run)),
            _ => None,
        });
        let mut runs: Vec<_> = of.into_iter().filter(|(name, _)| *name == "pops").collect();
        runs.sort_unstable();
        runs
    };
    let (begun, ended) = (popups(true), popups(false));
    assert!(begun.iter().map(|(_, run)| *run).eq(0..5), "{begun:?}");
    // Threads may be about to end when their rank does.
    assert!(!ended.is_empty() && ended.iter().all(|run| begun.contains(run)), "{ended:?}");
    assert_eq!(count(begins, "pops"), 0);
}

#[test]
fn ordered_broadcasts_and_puts_without_packets_are_in_a_trace() {
    let trace = trace("-n 2", &format!("{} busy", env!("CARGO_BIN_EXE_weft-testee")));
    let delivered = |rank: &RankTrace| -> Vec<(u64, u16)> {
        let of = named(rank, NamedThing::Order, |what| match *what {
            What::Delivered { order, number, from } => Some((order, (number, from.0))),
            _ => None,
        });
        of.into_iter().filter(|(name, _)| *name == "moves").map(|(_, what)| what).collect()
    };
    let all = delivered(&trace.ranks[0]);
    assert_eq!(all, delivered(&trace.ranks[1]), "one order");
    assert!(all.iter().map(|(number, _)| *number).eq(0..10), "{all:?}");
    for (from, rank) in (0..).zip(&trace.ranks) {
        let submitted = named(rank, NamedThing::Order, |what| match *what {
            What::Submitted { order, number } => Some((order, number)),
            _ => None,
        });
        let own = all.iter().filter(|(_, sender)| *sender == from);
        assert!(submitted.iter().map(|(_, number)| number).eq(own.map(|(number, _)| number)));
    }
    let copied: Vec<_> = trace.ranks[0]
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Put { .. } | What::Got { .. }))
        .map(|event| event.what)
        .collect();
    let mut expected = vec![What::Put { to: Rank(1), bytes: 4096 }; 5];
    expected.push(What::Got { from: Rank(1), bytes: 100 });
    expected.push(What::Put { to: Rank(1), bytes: 4096 });
    assert_eq!(copied, expected);
}

#[test]
fn rows_that_ranks_exchange_arrive_after_they_left() {
    let trace = trace("-n 4", "sor");
    assert!(check_packets(&trace) > 100, "sor exchanges rows");
}

#[test]
fn of_a_rank_that_was_killed_the_trace_remains() {
    let folder = tempfile::tempdir().unwrap();
    let mut launcher = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["run", "-n", "2", "--trace", "--", env!("CARGO_BIN_EXE_weft-testee"), "met"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(launcher.stdout.take().unwrap());
    // Who has met the other has something in its trace.
    while !line.contains("has met all") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let victim = line.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
    kill_process(Pid::from_raw(victim).unwrap(), Signal::KILL).unwrap();
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    let ended = launcher.wait_with_output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(128 + 9), "{said}");
    let trace = Trace::open(&folder.path().join("weft.trace")).unwrap();
    assert!(trace.ranks.iter().all(|rank| !rank.events.is_empty()), "{said}");
}

#[test]
fn a_file_that_cannot_be_written_ends_it_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let output = weft("run -n 2 --trace=no/such/folder -- weft-example hello", folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("weft: cannot write the trace to \"no/such/folder\": No such file"));
    assert!(output.stdout.is_empty());
}

#[test]
fn two_jobs_are_not_recorded_into_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.weft");
    let run = weft_trace::Run { hosts: vec!["here".into()], ..weft_trace::Run::default() };
    // As a job does that goes on.
    let _other = weft_trace::Writer::create(&file, &run).unwrap();
    let output = weft("run -n 2 --trace=run.weft -- weft-example hello", folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    let told = "weft: cannot write the trace to \"run.weft\": another job is being recorded there: name another file\n";
    assert_eq!(said, told);
    assert!(output.stdout.is_empty());
}
