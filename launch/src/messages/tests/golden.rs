//! Bytes of messages, which programs of other builds read: `launch/golden.txt` has them.

use super::*;
use crate::job_roll::JobRoll;
use crate::managed::facts::Facts;
use crate::managed::meet::ToPeer;
use crate::managed::record::Record;
use crate::messages::hosts::{FromAgent, StandardStream, ToAgent};
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;
use weft_golden::{Entries, hex, hold, variant};
use weft_xdp::MacAddress;

const ADVICE: &str = "programs of other builds would read messages otherwise: raise VERSION in \
     launch/src/messages/format.rs, by which they refuse each other";

fn list() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden.txt"))
}

/// A message of each kind between launcher and rank.
fn of_ranks() -> (Vec<ToRank>, Vec<ToLauncher>) {
    let settings = Settings {
        ranks: 4,
        window_packets: 8,
        frame_bytes: 0x1112_1314,
        frames: 0x2122_2324,
        trace_events: 0x3132,
    };
    let options = Options::from([("tree".into(), "flat".into())]);
    let network = Some(network(&[1, 4], 7, [0x41; 16], ([10, 0, 0, 2], 9).into()));
    let growth = Some(crate::messages::Growth { founders: 2, spawner: Some(Rank(1)) });
    let welcome = Welcome { rank: Rank(2), settings, options, network, growth };
    let to_rank = vec![
        ToRank::Start(Start { launcher: 0x0102_0304, core: Some(5) }),
        ToRank::Welcome(welcome),
        ToRank::Spawned(vec![Rank(6), Rank(7)]),
        ToRank::NoRoom(3),
        ToRank::NoDoor,
        ToRank::Refused("why".into()),
    ];
    let to_launcher = vec![
        ToLauncher::Hello,
        ToLauncher::Joined,
        ToLauncher::Leaving,
        ToLauncher::Report("why".into()),
        ToLauncher::CannotStart(-2),
        ToLauncher::GoOn,
        ToLauncher::Spawn(3),
        ToLauncher::Admit(300),
    ];
    (to_rank, to_launcher)
}

/// Messages between launcher and agent whose contents are a few facts.
fn of_agents() -> (Vec<ToAgent>, Vec<FromAgent>) {
    let address = ([10, 0, 0, 2], 9).into();
    let to_agent = vec![
        ToAgent::Meet {
            limit_ms: 500,
            hosts: vec![address],
            ranks: vec![(1, address)],
            interfaces: vec![],
        },
        ToAgent::Go { over_ethernet: true, copied: false, bulk: true },
        ToAgent::Welcome(Rank(300)),
        ToAgent::Loss(Rank(1), Ending::Killed(9)),
        ToAgent::Spawn(Rank(1), vec![Rank(2)]),
        ToAgent::Spawned(Rank(1), vec![Rank(2)]),
        ToAgent::NoRoom(Rank(1), 3),
        ToAgent::Admit(Rank(1), vec![(Rank(2), 3)]),
        ToAgent::Forget(3),
        ToAgent::Signal(Rank(1), Signal::TERM),
        ToAgent::Taken(1000),
        ToAgent::Input(b"text".to_vec()),
        ToAgent::RollCall { number: 3, stacks: true },
        ToAgent::Snapshot(3),
        ToAgent::Finish,
        ToAgent::Heartbeat,
        ToAgent::Pause,
        ToAgent::For(2, b"text".to_vec()),
        ToAgent::ForAll(b"text".to_vec()),
    ];
    let from_agent = vec![
        FromAgent::Ready { cores: 2, name: "a".into(), candidates: vec![] },
        FromAgent::Refused("why".into()),
        FromAgent::Started(vec![300]),
        FromAgent::Output(Rank(1), StandardStream::Err, b"text".to_vec()),
        FromAgent::InputTaken,
        FromAgent::Roll(3, vec![]),
        FromAgent::Stacks(3, vec![(Rank(1), "main".into())]),
        FromAgent::Snapshot(3, vec![]),
        FromAgent::Knocked(3),
        FromAgent::WentAway(3),
        FromAgent::Heartbeat,
        FromAgent::Finished(vec![300]),
        FromAgent::From(2, b"text".to_vec()),
        FromAgent::Lost(vec![2], "why".into()),
    ];
    (to_agent, from_agent)
}

/// Answers to whoever asks how a job stands.
fn of_answers() -> (JobRoll, Snapshot) {
    let time = Duration::from_millis(1500);
    let roll = JobRoll { ranks: 4, program: "asp".into(), time, standings: vec![] };
    let rank = RankNow {
        rank: 1,
        host: Some("a".into()),
        process: 300,
        state: RankState::Waits("a reply".into()),
        since: Some(0.5),
        processor_seconds: 1.25,
        memory_bytes: 1 << 20,
        counts: None,
    };
    (roll, Snapshot { program: "asp".into(), seconds: 1.5, ranks: vec![rank] })
}

/// Facts that ranks under a process manager tell one another.
fn of_peers() -> (Vec<Facts>, Vec<ToPeer>, Vec<Record>) {
    let facts = Facts {
        host: 0x0102,
        machine: 0x1112,
        only_core: Some(3),
        cores: 0x2122,
        node: "a".into(),
        address: Some(([10, 0, 0, 2], 9).into()),
        mtu: Mtu::USUAL,
        link: "udp".into(),
        protection: Some(Protection::Tagged),
        listens: true,
        refused: String::new(),
    };
    let to_peer = vec![ToPeer::Hello { rank: Rank(1), job: 0x0102_0304 }, ToPeer::Leaving];
    let record = vec![
        Record::Without("why".into()),
        Record::Taken { interface: "eth0".into(), address: MacAddress([1, 2, 3, 4, 5, 6]) },
        Record::Met { missed: vec![1], uncopied: vec![2] },
        Record::Ready,
    ];
    (vec![facts], to_peer, record)
}

/// Adds messages, by the names of their kinds; each is read as it was written.
fn add<M: Message + PartialEq + Debug>(now: &mut Entries, whose: &str, messages: &[M]) {
    for message in messages {
        let bytes = message.emit();
        assert_eq!(M::parse(&bytes).as_ref(), Ok(message));
        weft_golden::add(now, format!("{whose} {}", variant(message)), bytes);
    }
}

#[test]
fn messages_are_written_and_read_as_by_other_builds() {
    let (to_rank, to_launcher) = of_ranks();
    let (to_agent, from_agent) = of_agents();
    let mut now = Entries::from([("version".into(), hex(&head(0)[4..6]))]);
    add(&mut now, "to-rank", &to_rank);
    add(&mut now, "to-launcher", &to_launcher);
    add(&mut now, "to-agent", &to_agent);
    add(&mut now, "from-agent", &from_agent);
    let (roll, snapshot) = of_answers();
    add(&mut now, "answer", &[roll]);
    add(&mut now, "answer", &[snapshot]);
    add(&mut now, "answer", &[LauncherPlace { host: "a".into(), process: 0x0102_0304 }]);
    let (facts, to_peer, record) = of_peers();
    let bytes = facts.emit();
    assert_eq!(Vec::<Facts>::parse(&bytes).as_ref(), Ok(&facts));
    weft_golden::add(&mut now, "facts", bytes);
    add(&mut now, "to-peer", &to_peer);
    add(&mut now, "record", &record);
    hold(&list(), &now, ADVICE);
}
