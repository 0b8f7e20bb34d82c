//! Events of the ranks of a host, and how ranks end.

use super::{
    ASKED, BAD_MESSAGE, CANNOT_START, ENDED, JOINED, LEAVING, RANKS_MAX, REPORT, of_rank, put_list,
    take_rank,
};
use crate::job::Event;
use crate::messages::bytes::{Body, begin, put_text};
use crate::messages::{BadMessage, cut};
use crate::outcome::Ending;

/// An event of the ranks of a host; the others do not travel.
pub(super) fn emit_event(event: &Event) -> Vec<u8> {
    let with_text = |kind, rank, text: &str| {
        let mut bytes = of_rank(kind, rank);
        put_text(&mut bytes, cut(text));
        bytes
    };
    match event {
        Event::Asked(rank) => of_rank(ASKED, *rank),
        Event::Joined(rank) => of_rank(JOINED, *rank),
        Event::Leaving(rank) => of_rank(LEAVING, *rank),
        Event::Report(rank, words) => with_text(REPORT, *rank, words),
        Event::BadMessage(rank, what) => with_text(BAD_MESSAGE, *rank, what),
        Event::CannotStart(rank, errno) => {
            [of_rank(CANNOT_START, *rank), errno.to_le_bytes().to_vec()].concat()
        }
        Event::Ended(endings) => {
            let mut bytes = begin(ENDED);
            put_list(&mut bytes, endings, |bytes, (rank, ending)| {
                bytes.extend(rank.0.to_le_bytes());
                put_ending(bytes, *ending);
            });
            bytes
        }
        Event::HostLost(..) | Event::Signal(_) | Event::Deadlock | Event::OutputClosed => {
            unreachable!("only the launcher itself learns of these")
        }
    }
}

pub(super) fn take_event(kind: u16, body: &mut Body<'_>) -> Result<Event, BadMessage> {
    Ok(match kind {
        ASKED => Event::Asked(take_rank(body)?),
        JOINED => Event::Joined(take_rank(body)?),
        LEAVING => Event::Leaving(take_rank(body)?),
        REPORT => Event::Report(take_rank(body)?, body.text()?),
        BAD_MESSAGE => Event::BadMessage(take_rank(body)?, body.text()?),
        CANNOT_START => Event::CannotStart(take_rank(body)?, body.u32()?.cast_signed()),
        ENDED => {
            let one = |body: &mut Body<'_>| Ok((take_rank(body)?, take_ending(body)?));
            Event::Ended(body.list(RANKS_MAX.into(), one)?)
        }
        other => return Err(BadMessage::Kind(other)),
    })
}

pub(super) fn put_ending(bytes: &mut Vec<u8>, ending: Ending) {
    let (kind, number) = match ending {
        Ending::Exited(status) => (0, status),
        Ending::Killed(signal) => (1, signal),
        Ending::OutOfMemory => (2, 0),
    };
    bytes.push(kind);
    bytes.extend(number.to_le_bytes());
}

pub(super) fn take_ending(body: &mut Body<'_>) -> Result<Ending, BadMessage> {
    // What the system gives; a status or signal outside would end in another's number.
    match (body.u8()?, body.u32()?.cast_signed()) {
        (0, status @ 0..=255) => Ok(Ending::Exited(status)),
        (1, signal @ 1..=127) => Ok(Ending::Killed(signal)),
        (2, 0) => Ok(Ending::OutOfMemory),
        _ => Err(BadMessage::Range("ending")),
    }
}
