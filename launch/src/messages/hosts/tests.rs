use super::*;
use crate::DoorKey;
use crate::messages::reached::tests::any_reached;
use crate::messages::tests::{check_foreign, check_whole};
use crate::messages::{Doing, LauncherPlace, Options, RankState, TEXT_BYTES_MAX};
use crate::program::Program;
use proptest::collection::vec;
use proptest::prelude::*;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;
use weft_datagram::seal::{Protection, Secret};
use weft_link::gauge::{self, Counts};
use weft_link::status::{Awaited, Whom};
use weft_link_shm::Settings;
use weft_xdp::{Attached, Mode};

fn any_begin() -> impl Strategy<Value = Begin> {
    let bytes = || vec(any::<u8>(), 0..40).prop_map(OsString::from_vec);
    let place = (0..HOSTS_MAX as u16, 0..500u16, 1..=64u16, 0..100u16, 0..64u16);
    let numbers = (any::<u32>(), any::<[u8; 16]>(), any::<IpAddr>(), any::<bool>(), any::<bool>());
    let far = (".{0,9}", prop_oneof![Just(FarLink::Udp), Just(FarLink::Xdp), Just(FarLink::Auto)]);
    let options = proptest::collection::btree_map(".{0,9}", ".{0,9}", 0..4);
    (place, bytes(), bytes(), vec(bytes(), 0..5), options, numbers, far).prop_map(
        |(
            (host, first, here, behind, later),
            program,
            directory,
            arguments,
            options,
            numbers,
            far,
        )| {
            let founders = first + here + behind;
            let later = (founders..).step_by(3).take(later.into());
            let here: Vec<Rank> = (first..first + here).chain(later).map(Rank).collect();
            Begin {
                host,
                settings: Settings::new(here.len() as u16),
                founders,
                room: founders.max(here.last().map_or(0, |last| last.0 + 1)),
                here,
                options,
                later: vec![Program {
                    first,
                    program: program.clone(),
                    arguments: arguments.clone(),
                }],
                program,
                directory,
                arguments,
                environment: vec![("NAME".into(), "=".into())],
                launcher: LauncherPlace { host: "a".into(), process: numbers.0.max(1) },
                bound_to_cores: numbers.3,
                terminal: numbers.4,
                job: numbers.0,
                secret: Secret::new(numbers.1),
                protection: if numbers.4 { Protection::Encrypted } else { Protection::Tagged },
                mtu: Mtu::USUAL,
                address: numbers.2,
                interface: far.0,
                far: far.1,
                copied: numbers.3,
                bulk: numbers.4,
                door: numbers.3.then(|| DoorKey::draw().unwrap()),
            }
        },
    )
}

fn any_ending() -> impl Strategy<Value = Ending> {
    let killed = (1..128i32).prop_map(Ending::Killed);
    prop_oneof![
        (0..256i32).prop_map(Ending::Exited),
        killed,
        Just(Ending::OutOfMemory),
        Just(Ending::Unseen)
    ]
}

fn any_standing() -> impl Strategy<Value = Standing> {
    let whom = prop_oneof![Just(Whom::Unknown), Just(Whom::Anyone), any_rank().prop_map(Whom::One)];
    let waits = (".{0,9}", whom).prop_map(|(what, whom)| Doing::Waits(Awaited::new(what, whom)));
    let doing = prop_oneof![
        Just(Doing::HasLeft),
        Just(Doing::IsStopped),
        Just(Doing::Computes),
        Just(Doing::Sleeps),
        Just(Doing::HasNotJoined),
        waits
    ];
    let since = proptest::option::of((0..u64::MAX).prop_map(Duration::from_nanos));
    let flags = any::<[bool; 2]>();
    (any_rank(), doing, since, flags).prop_map(|(rank, doing, since, [is_asleep, is_busy])| {
        Standing { since, is_asleep, is_busy, ..Standing::outside(rank, doing) }
    })
}

fn any_rank_now() -> impl Strategy<Value = RankNow> {
    let times = (proptest::option::of(0.0..1e9), 0.0..1e9);
    let counts = proptest::option::of(any::<[u64; gauge::WORDS]>().prop_map(Counts::of_words));
    let state = prop_oneof![
        Just(RankState::Computes),
        Just(RankState::Stopped),
        ".{0,9}".prop_map(RankState::Waits)
    ];
    (any_rank(), any::<(u32, u64)>(), state, times, counts).prop_map(
        |(rank, (process, memory_bytes), state, (since, processor_seconds), counts)| RankNow {
            rank: rank.0,
            host: None,
            process,
            state,
            since,
            processor_seconds,
            memory_bytes,
            counts,
        },
    )
}

fn any_rank() -> impl Strategy<Value = Rank> {
    (0..RANKS_MAX).prop_map(Rank)
}

fn any_address() -> impl Strategy<Value = SocketAddr> {
    any::<(IpAddr, u16)>().prop_map(SocketAddr::from)
}

fn any_interface() -> impl Strategy<Value = MacAddress> {
    any::<[u8; 6]>().prop_map(MacAddress)
}

fn any_interface_state() -> impl Strategy<Value = InterfaceState> {
    let taken = (any_interface(), any::<bool>(), any::<bool>());
    prop_oneof![
        Just(InterfaceState::NotAsked),
        ".{0,50}".prop_map(InterfaceState::Without),
        taken.prop_map(|(interface, native, zero_copy)| {
            let attached = if native { Attached::Native } else { Attached::Generic };
            InterfaceState::Taken { interface, mode: Mode { attached, zero_copy } }
        }),
    ]
}

fn any_host() -> impl Strategy<Value = u16> {
    0..HOSTS_MAX as u16
}

/// Hosts from 7 on below host 6, each behind any of those before it.
fn any_subtree() -> impl Strategy<Value = Subtree> {
    let hosts = vec((any::<prop::sample::Index>(), "[a-z0-9.:]{1,9}"), 0..9);
    let bytes = || vec(any::<u8>(), 0..40).prop_map(OsString::from_vec);
    let times = [(); 3].map(|()| any::<u32>().prop_map(|ms| Duration::from_millis(ms.into())));
    let shell = (bytes(), vec(bytes(), 0..3))
        .prop_map(|(program, arguments)| RemoteShell { program, arguments });
    (hosts, shell, bytes(), times).prop_map(|(hosts, shell, weft, times)| {
        let below = |(number, (parent, name)): (u16, (prop::sample::Index, String))| Below {
            host: 7 + number,
            parent: 6 + parent.index(usize::from(number) + 1) as u16,
            name,
        };
        let [silence_above, silence_below, end_limit] = times;
        let hosts = (0..).zip(hosts).map(below).collect();
        Subtree { host: 6, hosts, shell, weft, silence_above, silence_below, end_limit }
    })
}

fn any_to_agent() -> impl Strategy<Value = ToAgent> {
    let ranks = vec((0..9u16, any_address()), 0..9);
    prop_oneof![
        any_begin().prop_map(|begin| ToAgent::Begin(Box::new(begin))),
        (any::<u32>(), vec(any_address(), 0..9), ranks, vec(any_interface(), 0..9)).prop_map(
            |(limit_ms, hosts, ranks, interfaces)| ToAgent::Meet {
                limit_ms,
                hosts,
                ranks,
                interfaces,
            }
        ),
        any::<(bool, bool, bool)>().prop_map(|(over_ethernet, copied, bulk)| ToAgent::Go {
            over_ethernet,
            copied,
            bulk
        }),
        any_rank().prop_map(ToAgent::Welcome),
        (any_rank(), vec(any_rank(), 0..9)).prop_map(|(by, ranks)| ToAgent::Spawn(by, ranks)),
        (any_rank(), vec(any_rank(), 0..9)).prop_map(|(by, ranks)| ToAgent::Spawned(by, ranks)),
        (any_rank(), any::<u16>()).prop_map(|(by, left)| ToAgent::NoRoom(by, left)),
        (any_rank(), any_rank(), any::<u32>())
            .prop_map(|(by, rank, visitor)| { ToAgent::Admit(by, vec![(rank, visitor)]) }),
        any::<u32>().prop_map(ToAgent::Forget),
        (any_rank(), any_ending()).prop_map(|(rank, ending)| ToAgent::Loss(rank, ending)),
        any_rank().prop_map(|rank| ToAgent::Signal(rank, Signal::USR1)),
        any::<u32>().prop_map(ToAgent::Taken),
        vec(any::<u8>(), 0..99).prop_map(ToAgent::Input),
        any::<(u32, bool)>().prop_map(|(number, stacks)| ToAgent::RollCall { number, stacks }),
        any::<u32>().prop_map(ToAgent::Snapshot),
        Just(ToAgent::Finish),
        Just(ToAgent::Heartbeat),
        Just(ToAgent::Pause),
        any_subtree().prop_map(|subtree| ToAgent::Subtree(Box::new(subtree))),
        (any_host(), vec(any::<u8>(), 0..99)).prop_map(|(host, bytes)| ToAgent::For(host, bytes)),
        vec(any::<u8>(), 0..99).prop_map(ToAgent::ForAll),
    ]
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        any_rank().prop_map(Event::Hello),
        any_rank().prop_map(Event::GoOn),
        (any_rank(), any::<u16>()).prop_map(|(rank, count)| Event::Spawn(rank, count)),
        any_rank().prop_map(Event::Joined),
        any_rank().prop_map(Event::Leaving),
        (any_rank(), ".{0,50}").prop_map(|(rank, words)| Event::Report(rank, words)),
        (any_rank(), ".{0,50}").prop_map(|(rank, what)| Event::BadMessage(rank, what)),
        (any_rank(), any::<i32>()).prop_map(|(rank, errno)| Event::CannotStart(rank, errno)),
        vec((any_rank(), any_ending()), 0..9).prop_map(Event::Ended),
    ]
}

fn any_met() -> impl Strategy<Value = FromAgent> {
    let others = [(); 4].map(|()| vec(any::<u16>(), 0..9));
    (any_reached(), others).prop_map(|(udp, [ethernet, copied, copied_ethernet, tcp])| {
        FromAgent::Met { udp, ethernet, copied, copied_ethernet, tcp }
    })
}

fn any_from_agent() -> impl Strategy<Value = FromAgent> {
    let candidate =
        (".{0,9}", any::<IpAddr>(), 0..=32u8).prop_map(|(interface, address, prefix_bits)| {
            Candidate { interface, address, prefix_bits, mtu: Mtu::MOST }
        });
    let kind = prop_oneof![Just(StandardStream::Out), Just(StandardStream::Err)];
    prop_oneof![
        (any::<u16>(), ".{0,50}", vec(candidate, 0..5))
            .prop_map(|(cores, name, candidates)| FromAgent::Ready { cores, name, candidates }),
        ".{0,50}".prop_map(FromAgent::Refused),
        (any_address(), vec(any_address(), 0..9), any_interface_state())
            .prop_map(|(own, all, state)| FromAgent::Bound(own, all, state)),
        any_met(),
        vec(any::<u32>(), 0..9).prop_map(FromAgent::Started),
        any_event().prop_map(FromAgent::Event),
        (any_rank(), kind, vec(any::<u8>(), 0..99))
            .prop_map(|(rank, kind, bytes)| FromAgent::Output(rank, kind, bytes)),
        (any::<u32>(), vec(any_standing(), 0..9))
            .prop_map(|(number, all)| FromAgent::Roll(number, all)),
        (any::<u32>(), vec((any_rank(), ".{0,9}"), 0..=STACKS_MAX))
            .prop_map(|(number, stacks)| FromAgent::Stacks(number, stacks)),
        Just(FromAgent::InputTaken),
        Just(FromAgent::Heartbeat),
        any::<u32>().prop_map(FromAgent::Knocked),
        any::<u32>().prop_map(FromAgent::WentAway),
        (any::<u32>(), vec(any_rank_now(), 0..9))
            .prop_map(|(number, ranks)| FromAgent::Snapshot(number, ranks)),
        vec(any::<u32>(), 0..9).prop_map(FromAgent::Finished),
        (any_host(), vec(any::<u8>(), 0..99))
            .prop_map(|(host, bytes)| FromAgent::From(host, bytes)),
        (vec(any_host(), 0..9), ".{0,50}").prop_map(|(hosts, why)| FromAgent::Lost(hosts, why)),
    ]
}

proptest! {
    #[test]
    fn messages_are_read_as_they_were_written(
        to_agent in any_to_agent(),
        from_agent in any_from_agent(),
    ) {
        check_whole(&to_agent);
        check_whole(&from_agent);
    }

    #[test]
    fn any_body_is_a_message_or_an_error(
        to_agent in any_to_agent(),
        from_agent in any_from_agent(),
        body in vec(any::<u8>(), 0..200),
    ) {
        check_foreign(&to_agent, &body);
        check_foreign(&from_agent, &body);
    }
}

#[test]
fn what_is_out_of_range_is_named() {
    let refusal = |message: FromAgent| FromAgent::parse(&message.emit()).unwrap_err();
    let beyond = Rank(RANKS_MAX);
    let ended = |rank, ending| FromAgent::Event(Event::Ended(vec![(rank, ending)]));
    let now = RankNow { processor_seconds: -1.0, ..RankNow::default() };
    let mut standing = Standing::outside(Rank(0), Doing::Computes);
    standing.stack = Some("main".into());
    let candidate = |address: [u8; 4], prefix_bits| Candidate {
        interface: "eth0".into(),
        address: address.into(),
        prefix_bits,
        mtu: Mtu::USUAL,
    };
    let (cores, name, candidates) = (1, String::new(), vec![candidate([10, 0, 0, 1], 33)]);
    for (message, what) in [
        (FromAgent::Event(Event::Joined(beyond)), "rank"),
        (FromAgent::Output(beyond, StandardStream::Out, vec![]), "rank"),
        (ended(beyond, Ending::Exited(0)), "rank"),
        (ended(Rank(0), Ending::Exited(256)), "ending"),
        (ended(Rank(0), Ending::Killed(0)), "ending"),
        (FromAgent::Snapshot(1, vec![now]), "time"),
        (FromAgent::Roll(1, vec![standing; STACKS_MAX + 1]), "count"),
        (FromAgent::Stacks(1, vec![(Rank(0), String::new()); STACKS_MAX + 1]), "count"),
        (FromAgent::Started(vec![1; usize::from(RANKS_MAX) + 1]), "count"),
        (FromAgent::From(HOSTS_MAX as u16, vec![]), "host"),
        (FromAgent::Lost(vec![HOSTS_MAX as u16], String::new()), "host"),
        (FromAgent::Ready { cores, name, candidates }, "prefix"),
    ] {
        assert_eq!(refusal(message), BadMessage::Range(what));
    }
}

#[test]
fn long_texts_are_cut_wherever_they_are() {
    let (long, kept) = ("x".repeat(TEXT_BYTES_MAX + 1), "x".repeat(TEXT_BYTES_MAX));
    let sent = |message: FromAgent| FromAgent::parse(&message.emit()).unwrap();
    let stacks = |stack: &String| FromAgent::Stacks(1, vec![(Rank(0), stack.clone())]);
    assert_eq!(sent(stacks(&long)), stacks(&kept));
    let roll = |stack: &String| {
        let standing = Standing::outside(Rank(0), Doing::Sleeps);
        FromAgent::Roll(1, vec![Standing { stack: Some(stack.clone()), ..standing }])
    };
    assert_eq!(sent(roll(&long)), roll(&kept));
    let report = |words: &String| FromAgent::Event(Event::Report(Rank(0), words.clone()));
    assert_eq!(sent(report(&long)), report(&kept));
}

#[test]
fn a_host_cannot_have_ranks_beyond_the_job() {
    let mut begin = Begin {
        host: 0,
        here: vec![Rank(3), Rank(4)],
        founders: 4,
        room: 4,
        settings: Settings::new(2),
        options: Options::new(),
        program: "x".into(),
        directory: "/".into(),
        arguments: vec![],
        later: vec![],
        environment: vec![],
        launcher: LauncherPlace { host: "a".into(), process: 1 },
        bound_to_cores: false,
        terminal: false,
        job: 1,
        secret: Secret::new([0; 16]),
        protection: Protection::Tagged,
        mtu: Mtu::LEAST,
        address: IpAddr::from([10, 0, 0, 1]),
        interface: "eth0".into(),
        far: FarLink::Auto,
        copied: false,
        bulk: false,
        door: None,
    };
    let parse =
        |begin: &Begin| ToAgent::parse(&ToAgent::Begin(Box::new(begin.clone())).emit()).map(drop);
    assert_eq!(parse(&begin), Err(BadMessage::Range("rank")));
    begin.room = 5;
    assert_eq!((parse(&begin), begin.vacant()), (Ok(()), 1));
    begin.founders = 6;
    assert_eq!(parse(&begin), Err(BadMessage::Range("number of ranks to begin with")));
    begin.founders = 5;
    begin.here = vec![Rank(4), Rank(3)];
    assert_eq!(parse(&begin), Err(BadMessage::Range("order of ranks")));
    begin.here = vec![Rank(3)];
    assert_eq!(parse(&begin), Err(BadMessage::Range("number of ranks here")));
    begin.here = vec![Rank(3), Rank(4)];
    let later = |first| Program { first, program: "y".into(), arguments: vec![] };
    begin.later = vec![later(2), later(1)];
    assert_eq!(parse(&begin), Err(BadMessage::Range("programs")));
    begin.later = vec![later(1), later(2)];
    begin.environment = vec![("NAME=".into(), "1".into())];
    assert_eq!(parse(&begin), Err(BadMessage::Range("variables")));
    begin.environment = vec![("NAME".into(), "a=b".into())];
    assert_eq!(parse(&begin), Ok(()));
    begin.host = HOSTS_MAX as u16;
    assert_eq!(parse(&begin), Err(BadMessage::Range("host")));
}

#[test]
fn trees_that_are_none_are_refused() {
    let subtree = |hosts: &[(u16, u16, &str)]| {
        let below = |(host, parent, name): &(u16, u16, &str)| Below {
            host: *host,
            parent: *parent,
            name: (*name).into(),
        };
        let subtree = Subtree {
            host: 6,
            hosts: hosts.iter().map(below).collect(),
            shell: RemoteShell { program: "ssh".into(), arguments: Vec::new() },
            weft: "weft".into(),
            silence_above: Duration::ZERO,
            silence_below: Duration::ZERO,
            end_limit: Duration::ZERO,
        };
        ToAgent::parse(&ToAgent::Subtree(Box::new(subtree)).emit()).map(drop)
    };
    assert_eq!(subtree(&[(7, 6, "a"), (9, 7, "b"), (8, 6, "c")]), Ok(()));
    let no_tree = Err(BadMessage::Range("tree of hosts"));
    assert_eq!(subtree(&[(7, 6, "a"), (8, 9, "b"), (9, 6, "c")]), no_tree, "before its parent");
    assert_eq!(subtree(&[(7, 7, "a")]), no_tree, "behind itself");
    assert_eq!(subtree(&[(7, 6, "a"), (7, 6, "b")]), no_tree, "twice");
    assert_eq!(subtree(&[(6, 6, "a")]), no_tree, "the reader");
    let beyond = HOSTS_MAX as u16;
    assert_eq!(subtree(&[(beyond, 6, "a")]), Err(BadMessage::Range("host")));
    // Words that a remote shell would take for options.
    assert_eq!(subtree(&[(7, 6, "-oProxyCommand=x")]), Err(BadMessage::Range("name of a host")));
}
