//! Fuzz targets for the parsers of this crate (`testing/fuzz`). Each takes any bytes and panics if
//! a parser does what it must not.

use std::ffi::OsStr;
use std::fmt::Debug;
use std::os::unix::ffi::OsStrExt;

use crate::hosts::list::{HostWish, distribute, parse_hosts};
use crate::hosts::stream::Frames;
use crate::hosts::tree::branches;
use crate::job_roll::JobRoll;
use crate::last_words::{LastWords, WORDS_CHARS_MAX};
use crate::managed::ToPeer;
use crate::managed::card::{Card, cores_of_all};
use crate::managed::facts::Facts;
use crate::managed::record::Record;
use crate::member::parses_as_job_variable;
use crate::messages::hosts::{FromAgent, ToAgent};
use crate::messages::{
    DoorKey, LauncherPlace, Message, STACKS_MAX, Snapshot, TEXT_BYTES_MAX, ToLauncher, ToRank,
};
use crate::output::pieces::{PIECE_BYTES_MAX, Pieces};
use weft_link_shm::MAX_RANKS;

/// The message in these bytes, if there is one. Its encoding is another where numbers can be
/// written in several ways, and means the same.
pub(crate) fn read<M: Message + PartialEq + Debug>(bytes: &[u8]) -> Option<M> {
    let message = M::parse(bytes).ok()?;
    assert!(bytes.len() <= M::BYTES_MAX);
    assert_eq!(M::parse(&message.emit()).as_ref(), Ok(&message));
    Some(message)
}

/// Messages that a rank reads from its launcher.
pub fn to_rank(data: &[u8]) {
    let Some(message) = read::<ToRank>(data) else { return };
    assert!((0..=4).contains(&message.descriptors()));
    if let ToRank::Welcome(welcome) = &message {
        assert!((1..=MAX_RANKS).contains(&welcome.settings.ranks));
        match &welcome.network {
            None => assert!(welcome.rank.0 < welcome.settings.ranks),
            Some(network) => {
                assert!(network.ranks_beside(welcome.rank).any(|rank| rank == welcome.rank))
            }
        }
    }
}

/// Messages that a launcher reads from a rank.
pub fn to_launcher(data: &[u8]) {
    if let Some(ToLauncher::Report(words)) = read(data) {
        assert!(words.len() <= TEXT_BYTES_MAX);
    }
}

/// Messages between ranks that a process manager started: cards, facts and more through its store,
/// and others over a socket. The first byte says which.
pub fn peers(data: &[u8]) {
    match data.split_first() {
        Some((0, bytes)) => drop(read::<ToPeer>(bytes)),
        Some((2, bytes)) => drop(read::<Record>(bytes)),
        Some((3, bytes)) => drop(read::<Vec<Facts>>(bytes)),
        Some((_, bytes)) => {
            let card = read::<Card>(bytes);
            assert!(cores_of_all(card.iter()) >= 1);
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
    match read(bytes) {
        Some(ToAgent::For(_, enclosed) | ToAgent::ForAll(enclosed)) => host_message(&enclosed),
        Some(ToAgent::Subtree(subtree)) => {
            // Each host is behind one connection.
            let behind = branches(subtree.host, &subtree.hosts);
            assert_eq!(behind.iter().map(Vec::len).sum::<usize>(), subtree.hosts.len());
        }
        _ => {}
    }
    if let Some(FromAgent::From(_, enclosed)) = read(bytes) {
        host_message(&enclosed);
    }
}

/// Answers of a job to `weft why`, `weft top` and `weft kill`.
pub fn job_roll(data: &[u8]) {
    read::<Snapshot>(data);
    read::<LauncherPlace>(data);
    let Some(roll) = read::<JobRoll>(data) else { return };
    assert!(roll.standings.iter().filter(|it| it.stack.is_some()).count() <= STACKS_MAX);
    assert!(roll.lines().len() <= 4 * roll.standings.len() + 4);
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

/// The environment variable that makes a process a rank, and keys of doors.
pub fn job_variable(data: &[u8]) {
    parses_as_job_variable(OsStr::from_bytes(data));
    if let Ok(text) = str::from_utf8(data)
        && let Ok(key) = text.parse::<DoorKey>()
    {
        assert_eq!(key.to_string(), text.to_ascii_lowercase());
    }
}

/// Output of a rank, cut into pieces; the last one worth repeating becomes its last words. The
/// first byte says how many bytes arrive at a time.
pub fn last_words(data: &[u8]) {
    let Some((&at_a_time, output)) = data.split_first() else { return };
    let (mut pieces, mut words, mut passed_on) = (Pieces::default(), LastWords::default(), vec![]);
    let mut pass_on = |piece: &[u8]| {
        assert!(piece.len() < PIECE_BYTES_MAX + output.len());
        words.take_in(piece);
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
