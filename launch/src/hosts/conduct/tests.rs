use super::*;

use std::ffi::OsString;
use std::net::Ipv4Addr;

use weft_link_shm::Settings;

use crate::Mtu;
use crate::hosts::HostWish;
use crate::hosts::layout::{Between, Copies, HostLayout, HostsSpec, LongPackets, RankLayout};
use crate::messages::hosts::RemoteShell;
use crate::output::OutputPlan;
use weft_datagram::seal::Protection;

/// A host with one rank whose agent is this script for the shell.
fn roster(agent: &str) -> Roster {
    let mut spec = HostsSpec::new(vec![HostWish { name: "elsewhere".into(), ranks: Some(1) }]);
    let arguments = ["-c", agent].map(OsString::from).to_vec();
    spec.remote_shell = RemoteShell { program: "sh".into(), arguments };
    let mut roster = Roster::start(&spec, Duration::from_secs(60)).unwrap();
    roster[0].ranks = vec![Rank(0)];
    roster
}

/// Takes in what has come, and sorts it.
fn listen(roster: &mut Roster, clock: &Clock) {
    let sources: Vec<_> = roster.branches.sources(true).collect();
    for source in wait_for(&sources, None).unwrap() {
        roster.branches.attend(source, clock.now());
    }
    roster.take_arrivals();
}

/// A host with one rank whose agent ends at once, which the start of the job has read, and left.
fn started() -> Started {
    let mut roster = roster("exit 3");
    let clock = Clock::start();
    while roster.lost.is_empty() {
        listen(&mut roster, &clock);
    }
    let host = HostLayout {
        name: "elsewhere".into(),
        first: 0,
        ranks: 1,
        vacant: Vec::new(),
        cores: 1,
        interface: String::new(),
        address: Ipv4Addr::LOCALHOST.into(),
    };
    let layout = RankLayout {
        hosts: vec![host],
        between: Between::Nothing,
        copies: Copies::Ranks(None),
        bulk: LongPackets::Datagrams(None),
        mtu: Mtu::USUAL,
        protection: Protection::default(),
    };
    let output = Output::open(&OutputPlan::default(), 1).unwrap();
    Started { layout, roster, signals: None, door_file: None, output }
}

#[test]
fn an_agent_that_ended_while_others_were_listened_to_is_lost_at_once() {
    let settings = Settings { window_packets: 4, frame_bytes: 1024, frames: 4, ..Settings::new(1) };
    let spec = JobSpec::new(settings, "program");
    let mut conductor = Conductor::new(&spec, started());
    conductor.catch_up();
    assert!(conductor.roster[0].is_lost);
    assert!(conductor.job.is_over(), "all its ranks were there");
    // Or the others' waits for one another would never be a deadlock.
    assert_eq!(conductor.standings(), [Standing::outside(Rank(0), Doing::HasLeft)]);
}

/// Output that an agent sends on and on, whether there is room or not.
#[test]
fn an_agent_that_sends_more_output_than_it_may_is_refused() {
    let settings = Settings { window_packets: 4, frame_bytes: 1024, frames: 4, ..Settings::new(1) };
    let mut spec = JobSpec::new(settings, "program");
    let directory = tempfile::tempdir().unwrap();
    spec.output.directory = Some(directory.path().into());
    let mut conductor = Conductor::new(&spec, started());
    let mut send = || {
        let piece = FromAgent::Output(
            Rank(0),
            crate::messages::hosts::StandardStream::Out,
            vec![b'x'; 16 * 1024],
        );
        conductor.take_message(0, piece)
    };
    let taken = (0..1000).map_while(|_| send().ok()).count();
    assert_eq!(taken, 18, "its window, and a piece of each stream");
    assert_eq!(send(), Err("it sends more output than there is room for".into()));
}

/// Messages that nobody takes, because the launcher waits for other hosts.
#[test]
fn an_agent_that_talks_on_while_others_are_listened_to_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("messages");
    let message = FromAgent::InputTaken.emit();
    let framed = [&(message.len() as u32).to_le_bytes()[..], &message].concat();
    std::fs::write(&file, framed.repeat(4096)).unwrap();
    let mut roster = roster(&format!("while cat {}; do :; done", file.display()));
    let clock = Clock::start();
    while roster.lost.is_empty() {
        listen(&mut roster, &clock);
        assert!(roster[0].messages.len() * message.len() <= 8 * 1024 * 1024);
    }
    assert_eq!(roster.lost[0].0, [0]);
    assert!(roster.lost[0].1.contains("more than there is room for"), "{:?}", roster.lost);
}
