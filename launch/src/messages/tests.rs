use super::bytes::MARK;
use super::*;
use crate::mtu::Mtu;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::net::SocketAddr;
use weft_seal::{Protection, Secret};

/// A network of some hosts with these many ranks each.
fn network(counts: &[u16], job: u32, secret: [u8; 16], last: SocketAddr) -> Network {
    let hosts: Vec<u16> =
        (0..).zip(counts).flat_map(|(host, &count)| vec![host; count.into()]).collect();
    let mut addresses: Vec<SocketAddr> =
        (1..).take(hosts.len()).map(|port| SocketAddr::from(([10, 0, 0, 1], port))).collect();
    *addresses.last_mut().unwrap() = last;
    let (secret, mtu) = (Secret::new(secret), Mtu::USUAL);
    let protection = if job.is_multiple_of(2) { Protection::Tagged } else { Protection::Encrypted };
    let bulk = job.is_multiple_of(3);
    let (ethernet, copied) = (None, false);
    Network { job, secret, protection, mtu, addresses, hosts, ethernet, copied, bulk }
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
            })
        })
}

fn any_welcome() -> impl Strategy<Value = ToRank> {
    let options = btree_map(".{0,20}", ".{0,40}", 0..8);
    (1..=MAX_RANKS, any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), options).prop_map(
        |(ranks, rank, window_packets, frame_bytes, frames, options)| {
            let settings = Settings { ranks, window_packets, frame_bytes, frames, trace_events: 0 };
            ToRank::Welcome(Welcome { rank: Rank(rank % ranks), settings, options, network: None })
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
    ]
}

proptest! {
    #[test]
    fn parse_undoes_emit(to_rank in prop_oneof![any_welcome(), any_welcome_of_hosts(), any_start()], to_launcher in any_to_launcher()) {
        prop_assert_eq!(ToRank::parse(&to_rank.emit()), Ok(to_rank));
        prop_assert_eq!(ToLauncher::parse(&to_launcher.emit()), Ok(to_launcher));
    }

    #[test]
    fn any_bytes_parse_or_are_refused(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(ToRank::parse(&bytes).is_err());
        prop_assert!(ToLauncher::parse(&bytes).is_err());
    }

    #[test]
    fn any_body_parses_to_what_it_emits_or_is_refused(kind in 0..24u16, body in vec(any::<u8>(), 0..200)) {
        let bytes = [begin(kind), body].concat();
        if let Ok(message) = ToRank::parse(&bytes) {
            prop_assert_eq!(ToRank::parse(&message.emit()), Ok(message));
        }
        if let Ok(message) = ToLauncher::parse(&bytes) {
            prop_assert_eq!(message.emit(), bytes);
        }
    }

    #[test]
    fn a_changed_byte_never_breaks_the_rules(
        welcome in prop_oneof![any_welcome(), any_welcome_of_hosts()],
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = welcome.emit();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(ToRank::Welcome(welcome)) = ToRank::parse(&bytes) {
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

    #[test]
    fn a_message_cut_short_is_refused(welcome in prop_oneof![any_welcome(), any_welcome_of_hosts()], at in any::<prop::sample::Index>()) {
        let bytes = welcome.emit();
        let at = at.index(bytes.len());
        prop_assert_eq!(ToRank::parse(&bytes[..at]), Err(BadMessage::Short));
    }
}

#[test]
fn bytes_beyond_a_message_are_refused() {
    let bytes = [ToLauncher::Joined.emit(), vec![0]].concat();
    assert_eq!(ToLauncher::parse(&bytes), Err(BadMessage::Long));
}

#[test]
fn another_version_is_refused_before_anything_else_is_read() {
    let bytes = [&MARK[..], &[99, 0, 0xff]].concat();
    assert_eq!(ToRank::parse(&bytes), Err(BadMessage::Version { theirs: 99 }));
}

#[test]
fn a_rank_beyond_the_job_is_refused() {
    let settings = Settings::new(4);
    let welcome = Welcome { rank: Rank(4), settings, options: Options::new(), network: None };
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
            &ToRank::Welcome(Welcome { rank: Rank(rank), settings, options, network }).emit(),
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
