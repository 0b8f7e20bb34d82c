use super::super::card::Card;
use super::super::tests::Store;
use super::*;
use crate::channel;
use crate::messages::draw_job;
use crate::mtu::Mtu;
use rustix::fs::fstat;
use rustix::process::{PidfdFlags, getpid, pidfd_open};

/// Cards of ranks on these hosts, and the network between them.
fn job(hosts: &[(u16, &str)]) -> (Vec<Facts>, JobNetwork) {
    let card = |(_, node): &(u16, &str)| {
        let card = Card::of_this_process("s", None, [9; 32]).unwrap();
        Facts::of(&Card { node: (*node).into(), ..card })
    };
    let (job, secret) = draw_job().unwrap();
    let network = JobNetwork {
        job,
        secret,
        protection: weft_datagram::seal::Protection::Tagged,
        mtu: Mtu::USUAL,
        addresses: vec!["10.0.0.1:1".parse().unwrap(); hosts.len()],
        hosts: hosts.iter().map(|(host, _)| *host).collect(),
        ethernet: None,
        copied: false,
        bulk: false,
    };
    (hosts.iter().map(card).collect(), network)
}

const THREE: [(u16, &str); 4] = [(0, "a"), (1, "b"), (0, "a"), (2, "c")];

fn taken(last: u8) -> Record {
    Record::Taken { interface: format!("eth{last}"), address: MacAddress([2, 0, 0, 0, 0, last]) }
}

fn met(missed: &[u16], uncopied: &[u16]) -> Record {
    Record::Met { missed: missed.to_vec(), uncopied: uncopied.to_vec() }
}

/// Does something with what the third rank, on the third host, knows of an attempt.
fn attempt<T>(body: impl FnOnce(&Attempt<'_>, &[Rank]) -> T) -> T {
    let (facts, network) = job(&THREE);
    let attempt = Attempt { own: Rank(3), facts: &facts, network: &network, far: FarLink::Auto };
    body(&attempt, &holders(&network.hosts))
}

/// Reason why all may go by UDP.
fn known(outcome: Result<(), Obstacle>) -> String {
    match outcome {
        Err(Obstacle::Known(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_rank_of_a_host_takes_its_interface() {
    assert_eq!(holders(&[0, 1, 0, 2, 1]), [Rank(0), Rank(1), Rank(3)]);
}

#[test]
fn all_interfaces_are_taken_or_one_host_says_why_not() {
    attempt(|attempt, holders| {
        let all = vec![taken(0), taken(1), taken(2)];
        let (names, addresses) = attempt.interfaces(holders, all).unwrap();
        assert_eq!(names, ["eth0", "eth1", "eth2"]);
        assert_eq!(addresses[2], MacAddress([2, 0, 0, 0, 0, 2]));
        let why = "it knows no XDP; --link xdp takes it all the same; or use --link udp, or --mtu";
        let all = vec![taken(0), taken(1), Record::Without(why.into())];
        let why = known(attempt.interfaces(holders, all).map(drop));
        let wanted = "host c: it knows no XDP; WEFT_LINK=xdp takes it all the same; or use WEFT_LINK=udp, or WEFT_MTU";
        assert_eq!(why, wanted);
        let failed = attempt.interfaces(holders, vec![taken(0), Record::Ready]);
        assert!(matches!(failed, Err(Obstacle::Failed(_))));
    });
}

#[test]
fn all_hosts_have_met_or_the_first_two_that_did_not_are_named() {
    let names = ["eth0", "eth1", "eth2"].map(String::from);
    attempt(|attempt, holders| {
        let outcome = |records: [Record; 3]| attempt.met(holders, &names, records.into());
        let none = || met(&[], &[]);
        assert!(outcome([none(), none(), none()]).unwrap());
        assert!(!outcome([none(), met(&[], &[2]), none()]).unwrap());
        let why = known(outcome([none(), met(&[2, 0], &[]), none()]).map(drop));
        assert!(
            why.starts_with("host b (eth1) does not reach host c (eth2) over Ethernet"),
            "{why}"
        );
        let why = outcome([none(), none(), Record::Without("it broke".into())]);
        assert_eq!(known(why.map(drop)), "host c: it broke");
        // There is no such host; nobody is as far yet.
        for wrong in [met(&[3], &[]), Record::Ready] {
            let failed = outcome([none(), wrong, none()]);
            assert!(matches!(failed, Err(Obstacle::Failed(_))));
        }
    });
}

#[test]
fn two_hosts_need_no_copies() {
    let (facts, network) = job(&[(0, "a"), (1, "b")]);
    let attempt = Attempt { own: Rank(0), facts: &facts, network: &network, far: FarLink::Auto };
    let names = ["eth0", "eth0"].map(String::from);
    let records = vec![met(&[], &[]), met(&[], &[])];
    assert!(!attempt.met(&[Rank(0), Rank(1)], &names, records).unwrap());
}

#[test]
fn what_holders_say_is_heard_by_host() {
    let mut store = Store::default();
    for (own, last) in [(0, 0), (1, 1), (3, 2)] {
        store.own = own;
        store.put("station", &taken(last).emit()).unwrap();
    }
    let holders = [Rank(0), Rank(1), Rank(3)];
    store.own = 3;
    let heard = round(&mut store, "station", Some(&Record::Ready), &holders).unwrap();
    assert_eq!((heard, store.fences), (vec![taken(0), taken(1), Record::Ready], 1));
    assert!(round(&mut store, "met", None, &holders).is_err(), "nobody has said anything");
}

/// A rank that has no interface to take because another host could not take its own.
#[test]
fn who_insists_is_refused_and_who_does_not_goes_on() {
    let (facts, network) = job(&THREE);
    for far in [FarLink::Xdp, FarLink::Auto] {
        let mut store = Store::default();
        let records = [(0, taken(0)), (1, Record::Without("it has none".into())), (3, taken(2))];
        for (own, record) in records {
            store.own = own;
            store.put("station", &record.emit()).unwrap();
        }
        let attempt = Attempt { own: Rank(2), facts: &facts, network: &network, far };
        match (far, agree(&attempt, &mut store)) {
            (FarLink::Xdp, Err(error)) => {
                let wanted = "cannot join the job: WEFT_LINK is \"xdp\", which cannot be had: host b: it has none";
                assert_eq!(error.to_string(), wanted);
            }
            (_, agreed) => assert!(agreed.unwrap().is_none()),
        }
        assert_eq!(store.fences, 2, "none ends while another asks the process manager");
    }
}

/// Network that a rank would get of an interface, among `interfaces`.
fn ethernet(interfaces: u16) -> EthernetAccess {
    let plan =
        [2, 100, 100, 0, 0x80, 0x10, 2, 0, 0, 0, 0, 1, 0xdc, 0x0b, 0xb5, 0x91, 0x02, 0, 0, 1];
    let interfaces = vec![MacAddress([2; 6]); interfaces.into()];
    EthernetAccess { interfaces, port: postcard::from_bytes(&plan).unwrap() }
}

/// Two ranks of a host, as each is known to the other.
fn peers() -> (Peer, Peer) {
    let (one, other) = channel::pair().unwrap();
    let peer = |rank, channel| {
        let card = Card::of_this_process("s", None, [9; 32]).unwrap();
        let exit = pidfd_open(getpid(), PidfdFlags::empty()).unwrap();
        Peer { rank: Rank(rank), card, channel, exit }
    };
    (peer(3, one), peer(1, other))
}

fn files(count: usize) -> Vec<OwnedFd> {
    (0..count).map(|_| tempfile::tempfile().unwrap().into()).collect()
}

fn inode(file: &OwnedFd) -> u64 {
    fstat(file).unwrap().st_ino
}

#[test]
fn ports_and_what_keeps_the_interface_reach_the_others_of_the_host() {
    let (to_other, to_holder) = peers();
    let port = || -> [OwnedFd; 2] { files(2).try_into().unwrap() };
    let (of_ranks, keepers) = (vec![(ethernet(2), port()), (ethernet(2), port())], files(2));
    let wanted = of_ranks.iter().flat_map(|(_, port)| port).chain(&keepers).map(inode);
    let wanted: Vec<u64> = wanted.collect();
    let interfaces = ethernet(2).interfaces;
    let agreed = |ports| Agreed { interfaces: interfaces.clone(), copied: false, ports };
    let own = agreed(Some(Ports { of_ranks, keepers })).share(&[to_other]).unwrap();
    let other = agreed(None).share(&[to_holder]).unwrap();
    let files = |way: Way| -> Vec<u64> {
        let (_, port) = way.port.into_parts();
        port.iter().chain(&way.keepers).map(inode).collect()
    };
    assert_eq!(other.ethernet, ethernet(2));
    assert_eq!(files(own), [&wanted[..2], &wanted[4..]].concat());
    assert_eq!(files(other), wanted[2..]);
}

#[test]
fn a_port_that_is_none_is_refused() {
    let share = |message: &ToPeer, descriptors: usize| {
        let (to_other, to_holder) = peers();
        let files = files(descriptors);
        let all: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        to_other.send(message, &all).unwrap();
        let agreed = Agreed { interfaces: ethernet(2).interfaces, copied: false, ports: None };
        agreed.share(&[to_holder]).map(drop).unwrap_err()
    };
    let bad = |error| match error {
        MeetError::Bad(bad) => bad,
        other => panic!("{other}"),
    };
    let descriptors = bad(share(&ToPeer::Port(ethernet(2)), 2));
    assert_eq!(descriptors, BadMessage::Descriptors { got: 2, needed: 3 });
    let interfaces = bad(share(&ToPeer::Port(ethernet(3)), 4));
    assert_eq!(interfaces, BadMessage::Range("number of interfaces"));
    assert_eq!(bad(share(&ToPeer::Leaving, 0)), BadMessage::Range("order"));
}

#[test]
fn a_holder_that_has_ended_is_named() {
    let (to_other, to_holder) = peers();
    drop(to_other);
    let agreed = Agreed { interfaces: Vec::new(), copied: false, ports: None };
    let error = agreed.share(&[to_holder]).map(drop).unwrap_err();
    assert!(matches!(error, MeetError::Gone { rank: 1, .. }), "{error}");
}
