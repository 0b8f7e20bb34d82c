//! Fuzz targets for the parsers of this crate (`testing/fuzz`). Each takes any bytes and panics if
//! a parser does what it must not.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::hosts::list::{HostWish, distribute, parse_hosts};
use crate::hosts::stream::Frames;
use crate::hosts::tree::branches;
use crate::job_roll::JobRoll;
use crate::managed::ToPeer;
use crate::managed::card::{Card, cores_of_all};
use crate::managed::facts;
use crate::managed::record::Record;
use crate::member::parses_as_job_variable;
use crate::messages::hosts::{FromAgent, FromBelow, ToAgent};
use crate::messages::{MESSAGE_BYTES_MAX, TEXT_BYTES_MAX, ToLauncher, ToRank};
use crate::output::pieces::{PIECE_BYTES_MAX, Pieces};
use crate::roll::STACKS;
use crate::words::{LastWords, WORDS_CHARS_MAX};
use weft_link_shm::MAX_RANKS;

/// Messages that a rank reads from its launcher.
pub fn to_rank(data: &[u8]) {
    let Ok(message) = ToRank::parse(data) else { return };
    assert!(data.len() <= MESSAGE_BYTES_MAX);
    assert!((1..=4).contains(&message.descriptors()));
    if let ToRank::Welcome(welcome) = &message {
        assert!((1..=MAX_RANKS).contains(&welcome.settings.ranks));
        match &welcome.network {
            None => assert!(welcome.rank.0 < welcome.settings.ranks),
            Some(network) => {
                assert!(network.ranks_beside(welcome.rank).any(|rank| rank == welcome.rank))
            }
        }
    }
    assert_eq!(ToRank::parse(&message.emit()), Ok(message));
}

/// Messages that a launcher reads from a rank.
pub fn to_launcher(data: &[u8]) {
    let Ok(message) = ToLauncher::parse(data) else { return };
    if let ToLauncher::Report(words) = &message {
        assert!(words.len() <= TEXT_BYTES_MAX);
    }
    assert_eq!(message.emit(), data);
}

/// Messages between ranks that a process manager started: cards, facts and more through its store,
/// and others over a socket. The first byte says which.
pub fn peers(data: &[u8]) {
    match data.split_first() {
        Some((0, bytes)) => {
            let Ok(message) = ToPeer::parse(bytes) else { return };
            // A number of a port's can be written in several ways.
            assert_eq!(ToPeer::parse(&message.emit()), Ok(message));
        }
        Some((2, bytes)) => {
            let Ok(record) = Record::parse(bytes) else { return };
            assert_eq!(record.emit(), bytes);
        }
        Some((3, bytes)) => {
            let Ok(group) = facts::parse(bytes) else { return };
            // An address can be written in several ways.
            assert_eq!(facts::parse(&facts::emit(&group)), Ok(group));
        }
        Some((_, bytes)) => {
            let Ok(card) = Card::parse(bytes) else { return };
            assert!(cores_of_all([&card].into_iter()) >= 1);
            // An address can be written in several ways.
            assert_eq!(Card::parse(&card.emit()), Ok(card));
        }
        None => {}
    }
}

/// Messages that the launcher and the agent of a host read from each other, each behind its length,
/// also by others between them. The first byte says how many bytes arrive at a time.
pub fn hosts(data: &[u8]) {
    let Some((&at_a_time, arrived)) = data.split_first() else { return };
    let (mut frames, mut bytes) = (Frames::default(), 0);
    for part in arrived.chunks(usize::from(at_a_time).max(1)) {
        let taken = frames.take_in(part, |message| {
            bytes += 4 + message.len();
            host_message(message);
        });
        if taken.is_err() {
            return;
        }
    }
    assert!(bytes <= arrived.len());
}

/// A message of a host or for one, which may have another in it.
fn host_message(bytes: &[u8]) {
    if let Ok(message) = ToAgent::parse(bytes) {
        match &message {
            ToAgent::For(_, enclosed) | ToAgent::ForAll(enclosed) => host_message(enclosed),
            ToAgent::Subtree(subtree) => {
                // Each host is behind one connection.
                let behind = branches(subtree.host, &subtree.hosts);
                assert_eq!(behind.iter().map(Vec::len).sum::<usize>(), subtree.hosts.len());
            }
            _ => {}
        }
        assert_eq!(ToAgent::parse(&message.emit()), Ok(message));
    }
    let parsed = FromAgent::parse(bytes);
    if let Ok(parsed) = &parsed {
        assert_eq!(parsed.emit(), bytes);
    }
    // Who passes it on reads less of it, and nothing else in it.
    match (FromBelow::parse(bytes), parsed) {
        (Ok(FromBelow::From(host, message)), Ok(parsed)) => {
            host_message(&message);
            assert_eq!(parsed, FromAgent::From(host, message));
        }
        (Ok(FromBelow::Lost(hosts, why)), parsed) => {
            assert_eq!(parsed, Ok(FromAgent::Lost(hosts, why)));
        }
        (Ok(FromBelow::Beat), parsed) => assert_eq!(parsed, Ok(FromAgent::Beat)),
        (Err(bad), parsed) => assert_eq!(parsed, Err(bad)),
        (Ok(FromBelow::Own | FromBelow::From(..)), _) => {}
    }
}

/// Roll call of a job, as its answer to whoever asks.
pub fn job_roll(data: &[u8]) {
    let Ok(roll) = JobRoll::parse(data) else { return };
    assert!(roll.standings.iter().filter(|it| it.stack.is_some()).count() <= STACKS);
    assert!(roll.lines().len() <= 4 * roll.standings.len() + 4);
    assert_eq!(JobRoll::parse(&roll.emit()), Ok(roll));
}

/// A list of hosts, and how many ranks they get. The first byte says how many are asked for.
pub fn hostfile(data: &[u8]) {
    let Some((&asked, text)) = data.split_first() else { return };
    let Ok(hosts) =
        str::from_utf8(text).map_err(drop).and_then(|text| parse_hosts(text).map_err(drop))
    else {
        return;
    };
    let counts = distribute(&hosts, &vec![2; hosts.len()], (asked > 0).then(|| asked.into()));
    let Ok(counts) = counts else { return };
    assert_eq!(counts.len(), hosts.len());
    assert!(counts.iter().all(|count| (1..=MAX_RANKS).contains(count)));
    assert!(asked == 0 || counts.iter().sum::<u16>() == u16::from(asked));
    let written = |(host, count): (&HostWish, &u16)| match host.name.contains(':') {
        true => format!("[{}]:{count}", host.name),
        false => format!("{}:{count}", host.name),
    };
    let again: Vec<_> = hosts.iter().zip(&counts).map(written).collect();
    let again = parse_hosts(&again.join("\n")).expect("what was read can be written");
    assert!(
        again
            .iter()
            .map(|host| (&host.name, host.ranks))
            .eq(hosts.iter().zip(&counts).map(|(host, count)| (&host.name, Some(*count))))
    );
}

/// The environment variable that makes a process a rank.
pub fn job_variable(data: &[u8]) {
    parses_as_job_variable(OsStr::from_bytes(data));
}

/// Output of a rank, cut into pieces; the last one worth repeating becomes its last words. The
/// first byte says how many bytes arrive at a time.
pub fn last_words(data: &[u8]) {
    let Some((&at_a_time, output)) = data.split_first() else { return };
    let (mut pieces, mut words, mut passed_on) = (Pieces::default(), LastWords::default(), vec![]);
    let mut pass_on = |piece: &[u8]| {
        assert!(piece.len() < PIECE_BYTES_MAX + output.len());
        words.say(piece);
        passed_on.extend_from_slice(piece);
    };
    for arrived in output.chunks(usize::from(at_a_time).max(1)) {
        pieces.take_in(arrived, &mut pass_on);
    }
    pieces.finish(&mut pass_on);
    assert_eq!(passed_on, output);
    if let Some(words) = words.get() {
        assert!(!words.is_empty() && words.chars().count() <= WORDS_CHARS_MAX);
        assert!(!words.contains(char::is_control));
    }
}
