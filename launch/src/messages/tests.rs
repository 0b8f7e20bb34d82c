mod golden;

use super::format::{MARK, head};
use super::options::OPTIONS_MAX;
use super::*;
use crate::fuzzing::read;
use crate::mtu::Mtu;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::fmt::Debug;
use std::net::SocketAddr;
use weft_datagram::seal::{Protection, Secret};
use weft_link_shm::{MAX_RANKS, Settings};
use weft_wire::Rank;

/// Checks that a message is read as it was written, and neither less of it nor more.
pub(crate) fn check_whole<M: Message + PartialEq + Debug>(message: &M) {
    let bytes = message.emit();
    assert_eq!(M::parse(&bytes).as_ref(), Ok(message));
    for length in (0..bytes.len()).step_by(1 + bytes.len() / 64) {
        assert_eq!(M::parse(&bytes[..length]), Err(BadMessage::Short), "{length} bytes");
    }
    assert_eq!(M::parse(&[&bytes[..], &[0]].concat()), Err(BadMessage::Long));
}

/// Checks that bytes of strangers are a message or an error: these behind a good head, and each of
/// them in the place of a byte of `message`.
pub(crate) fn check_foreign<M: Message + PartialEq + Debug>(message: &M, body: &[u8]) {
    read::<M>(&[&head(M::KIND), body].concat());
    let bytes = message.emit();
    for (number, byte) in body.iter().enumerate() {
        let mut changed = bytes.clone();
        changed[number * bytes.len() / body.len()] = *byte;
        read::<M>(&changed);
    }
}

/// A message in which a byte is another, if it is one.
fn check_changed<M: Message + PartialEq + Debug>(
    message: &M,
    at: prop::sample::Index,
    byte: u8,
) -> Option<M> {
    let mut bytes = message.emit();
    let at = at.index(bytes.len());
    bytes[at] = byte;
    read(&bytes)
}

/// A network of some hosts with these many ranks each.
fn network(counts: &[u16], job: u32, secret: [u8; 16], last: SocketAddr) -> JobNetwork {
    let hosts: Vec<u16> =
        (0..).zip(counts).flat_map(|(host, &count)| vec![host; count.into()]).collect();
    let mut addresses: Vec<SocketAddr> =
        (1..).take(hosts.len()).map(|port| SocketAddr::from(([10, 0, 0, 1], port))).collect();
    *addresses.last_mut().unwrap() = last;
    let (secret, mtu) = (Secret::new(secret), Mtu::USUAL);
    let protection = if job.is_multiple_of(2) { Protection::Tagged } else { Protection::Encrypted };
    let bulk = job.is_multiple_of(3);
    let (ethernet, copied) = (None, false);
    JobNetwork { job, secret, protection, mtu, addresses, hosts, ethernet, copied, bulk }
}

fn any_address() -> impl Strategy<Value = SocketAddr> {
    any::<(std::net::IpAddr, u16)>().prop_map(SocketAddr::from)
}

/// A welcome to a rank on the second of three hosts, which have as many ranks as a job may have.
fn any_welcome_of_hosts() -> impl Strategy<Value = ToRank> {
    (
        (1..40u16, 1..=MAX_RANKS - 80, 1..40u16),
        any::<u16>(),
        any::<u32>(),
        any::<[u8; 16]>(),
        any_address(),
    )
        .prop_map(|((before, here, behind), rank, job, secret, last)| {
            ToRank::Welcome(Welcome {
                rank: Rank(before + rank % here),
                settings: Settings::new(here),
                options: Options::new(),
                network: Some(network(&[before, here, behind], job, secret, last)),
                growth: None,
            })
        })
}

fn any_welcome() -> impl Strategy<Value = ToRank> {
    let options = btree_map(".{0,20}", ".{0,40}", 0..8);
    (1..=MAX_RANKS, any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), options).prop_map(
        |(ranks, rank, window_packets, frame_bytes, frames, options)| {
            let settings = Settings { ranks, window_packets, frame_bytes, frames, trace_events: 0 };
            ToRank::Welcome(Welcome {
                rank: Rank(rank % ranks),
                settings,
                options,
                network: None,
                growth: None,
            })
        },
    )
}

fn any_start() -> impl Strategy<Value = ToRank> {
    (any::<u32>(), proptest::option::of(0..u16::MAX))
        .prop_map(|(launcher, core)| ToRank::Start(Start { launcher, core }))
}

fn any_to_launcher() -> impl Strategy<Value = ToLauncher> {
    prop_oneof![
        Just(ToLauncher::Hello),
        Just(ToLauncher::Joined),
        Just(ToLauncher::Leaving),
        ".{0,200}".prop_map(ToLauncher::Report),
        any::<i32>().prop_map(ToLauncher::CannotStart),
        Just(ToLauncher::GoOn),
        any::<u16>().prop_map(ToLauncher::Spawn),
        any::<u16>().prop_map(ToLauncher::Admit),
        Just(()).prop_map(|()| ToLauncher::Knock(DoorKey::draw().unwrap().secret())),
    ]
}

fn any_answer() -> impl Strategy<Value = ToRank> {
    prop_oneof![
        prop::collection::vec(any::<u16>().prop_map(Rank), 0..9).prop_map(ToRank::Spawned),
        any::<u16>().prop_map(ToRank::NoRoom),
        Just(ToRank::NoDoor),
        ".{0,200}".prop_map(ToRank::Refused),
    ]
}

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(
        to_rank in prop_oneof![any_welcome(), any_welcome_of_hosts(), any_start(), any_answer()],
        to_launcher in any_to_launcher(),
    ) {
        check_whole(&to_rank);
        check_whole(&to_launcher);
    }

    #[test]
    fn any_bytes_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(ToRank::parse(&bytes).is_err());
        prop_assert!(ToLauncher::parse(&bytes).is_err());
    }

    #[test]
    fn any_body_is_a_message_or_an_error(
        to_rank in prop_oneof![any_welcome(), any_welcome_of_hosts(), any_start(), any_answer()],
        to_launcher in any_to_launcher(),
        body in vec(any::<u8>(), 0..200),
    ) {
        check_foreign(&to_rank, &body);
        check_foreign(&to_launcher, &body);
    }

    #[test]
    fn a_changed_byte_never_breaks_the_rules(
        welcome in prop_oneof![any_welcome(), any_welcome_of_hosts()],
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        if let Some(ToRank::Welcome(welcome)) = check_changed(&welcome, at, byte) {
            prop_assert!((1..=MAX_RANKS).contains(&welcome.settings.ranks));
            match welcome.network {
                None => prop_assert!(welcome.rank.0 < welcome.settings.ranks),
                Some(network) => {
                    prop_assert_eq!(network.ranks_beside(welcome.rank).count(), usize::from(welcome.settings.ranks));
                    prop_assert_eq!(network.addresses.len(), network.hosts.len());
                }
            }
        }
    }
}

#[test]
fn bytes_that_no_message_has_are_named() {
    let say = |body: &[u8]| ToLauncher::parse(&[&head(ToLauncher::KIND), body].concat());
    assert_eq!(say(&[0]), Ok(ToLauncher::Hello));
    assert_eq!(say(&[9]), Err(BadMessage::Malformed { at: 9 }), "there are nine of them");
    assert_eq!(say(&[3, 2, 0xc3, 0x28]), Err(BadMessage::Text));
    assert_eq!(say(&[3, 200]), Err(BadMessage::Short), "a length that goes on");
    assert_eq!(say(&[3, 200, 1]), Err(BadMessage::Short), "a text of 200 bytes that are not there");
    let long = postcard::to_stdvec(&"x".repeat(TEXT_BYTES_MAX + 1)).unwrap();
    let long = [&[3][..], &long].concat();
    assert_eq!(say(&long), Err(BadMessage::Malformed { at: 8 + long.len() }));
    let other = ToLauncher::parse(&head(ToRank::KIND));
    assert_eq!(other, Err(BadMessage::Kind(ToRank::KIND)));
}

#[test]
fn a_length_takes_no_memory() {
    // A number of elements that would take more memory than there is, and none of them.
    let many = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    let facts = Vec::<crate::managed::facts::Facts>::parse(&[&head(8)[..], &many].concat());
    assert_eq!(facts, Err(BadMessage::Short));
}

#[test]
fn options_of_one_name_are_refused() {
    let options = Options::from([("a".into(), "1".into()), ("b".into(), "2".into())]);
    let settings = Settings::new(1);
    let welcome = Welcome { rank: Rank(0), settings, options, network: None, growth: None };
    let mut bytes = ToRank::Welcome(welcome).emit();
    let second = bytes.iter().rposition(|byte| *byte == b'b').unwrap();
    bytes[second] = b'a';
    assert!(matches!(ToRank::parse(&bytes), Err(BadMessage::Malformed { .. })));
}

#[test]
fn networks_that_do_not_fit_together_are_refused() {
    let good = network(&[1, 1], 7, [1; 16], ([10, 0, 0, 2], 9).into());
    let (options, settings) = (Options::new(), Settings::new(1));
    let refusal = |network: JobNetwork| {
        let network = Some(network);
        let welcome =
            Welcome { rank: Rank(0), settings, options: options.clone(), network, growth: None };
        ToRank::parse(&ToRank::Welcome(welcome).emit()).map(drop)
    };
    assert_eq!(refusal(good.clone()), Ok(()));
    let fewer = JobNetwork { addresses: good.addresses[..1].to_vec(), ..good.clone() };
    assert_eq!(refusal(fewer), Err(BadMessage::Range("number of addresses")));
    let beyond = JobNetwork { hosts: vec![0, RANKS_MAX], ..good.clone() };
    assert_eq!(refusal(beyond), Err(BadMessage::Range("host")));
    let datagrams = JobNetwork { protection: Protection::Datagrams, ..good.clone() };
    assert_eq!(refusal(datagrams), Err(BadMessage::Range("protection")));
    let many =
        JobNetwork { hosts: vec![0; 1025], addresses: vec![good.addresses[0]; 1025], ..good };
    assert_eq!(refusal(many), Err(BadMessage::Range("count")));
}

#[test]
fn another_version_is_refused_before_anything_else_is_read() {
    let bytes = [&MARK[..], &[99, 0, 0xff]].concat();
    assert_eq!(ToRank::parse(&bytes), Err(BadMessage::Version { theirs: 99 }));
}

#[test]
fn a_rank_beyond_the_job_is_refused() {
    let settings = Settings::new(4);
    let welcome =
        Welcome { rank: Rank(4), settings, options: Options::new(), network: None, growth: None };
    let bytes = ToRank::Welcome(welcome).emit();
    assert_eq!(ToRank::parse(&bytes), Err(BadMessage::Range("rank")));
}

#[test]
fn a_long_report_is_cut_between_characters() {
    let report = "é".repeat(TEXT_BYTES_MAX);
    let kept = "é".repeat(TEXT_BYTES_MAX / 2);
    let parsed = ToLauncher::parse(&ToLauncher::Report(report).emit());
    assert_eq!(parsed, Ok(ToLauncher::Report(kept)));
}

#[test]
fn too_many_or_too_long_options_are_found_before_they_are_sent() {
    let many = (0..=OPTIONS_MAX).map(|n| (n.to_string(), String::new())).collect();
    let long = Options::from([("tree".into(), "x".repeat(TEXT_BYTES_MAX + 1))]);
    let most = (0..OPTIONS_MAX).map(|n| (n.to_string(), "x".repeat(400))).collect();
    assert_eq!(check_options(&many), Err(BadMessage::Range("set of options")));
    assert_eq!(check_options(&long), Err(BadMessage::Range("set of options")));
    assert_eq!(check_options(&most), Ok(()));
}

#[test]
fn a_welcome_to_a_host_of_another_size_is_refused() {
    let network = network(&[2, 3], 7, [1; 16], ([10, 0, 0, 2], 9).into());
    let welcome = |rank, here| {
        let settings = Settings::new(here);
        let (options, network) = (Options::new(), Some(network.clone()));
        ToRank::parse(
            &ToRank::Welcome(Welcome {
                rank: Rank(rank),
                settings,
                options,
                network,
                growth: None,
            })
            .emit(),
        )
        .map(drop)
    };
    assert_eq!(welcome(4, 3), Ok(()));
    assert_eq!(welcome(1, 3), Err(BadMessage::Range("number of ranks here")));
    assert_eq!(welcome(5, 3), Err(BadMessage::Range("number of ranks here")));
}

#[test]
fn a_secret_is_not_shown() {
    let network = network(&[1], 7, [0xab; 16], ([10, 0, 0, 2], 9).into());
    let shown = format!("{network:?}");
    assert!(shown.contains("secret: Secret(hidden),"), "{shown}");
}
