//! Standings of ranks, as an agent says them, and stacks of some.

use super::{RANKS_MAX, put_list, take_rank};
use crate::messages::bytes::{Body, put_bytes, put_text};
use crate::messages::{BadMessage, cut};
use crate::roll::{Doing, STACKS, Standing};
use std::time::Duration;
use weft_link::status::Awaited;
use weft_wire::Rank;

/// Time of a rank of which it is not known since when it does what it does.
const UNKNOWN: u64 = u64::MAX;

/// Activities but for a wait, by their numbers.
const DOINGS: [Doing; 5] =
    [Doing::HasLeft, Doing::IsStopped, Doing::Computes, Doing::Sleeps, Doing::HasNotJoined];

pub(crate) fn put_roll(bytes: &mut Vec<u8>, all: &[Standing]) {
    put_list(bytes, all, |bytes, standing| {
        bytes.extend(standing.rank.0.to_le_bytes());
        let since = standing.since.and_then(|since| u64::try_from(since.as_nanos()).ok());
        let since = since.unwrap_or(UNKNOWN);
        bytes.extend([(since >> 32) as u32, since as u32].map(u32::to_le_bytes).as_flattened());
        bytes.extend([standing.is_asleep, standing.is_busy].map(u8::from));
        let number = DOINGS.iter().position(|doing| *doing == standing.doing);
        bytes.push(number.unwrap_or(DOINGS.len()) as u8);
        if let Doing::Waits(awaited) = &standing.doing {
            put_bytes(bytes, &awaited.emit());
        }
    });
}

pub(crate) fn take_roll(body: &mut Body<'_>) -> Result<Vec<Standing>, BadMessage> {
    body.list(RANKS_MAX.into(), |body| {
        let rank = take_rank(body)?;
        let since = u64::from(body.u32()?) << 32 | u64::from(body.u32()?);
        let (is_asleep, is_busy) = (body.flag()?, body.flag()?);
        let doing = match DOINGS.get(usize::from(body.u8()?)) {
            Some(doing) => doing.clone(),
            None => {
                let awaited = Awaited::parse(body.bytes()?);
                Doing::Waits(awaited.ok_or(BadMessage::Range("wait"))?)
            }
        };
        let since = (since != UNKNOWN).then(|| Duration::from_nanos(since));
        Ok(Standing { since, is_asleep, is_busy, ..Standing::outside(rank, doing) })
    })
}

/// Stacks are cut to the limit of texts.
pub(crate) fn put_stacks(bytes: &mut Vec<u8>, stacks: &[(Rank, String)]) {
    put_list(bytes, stacks, |bytes, (rank, stack)| {
        bytes.extend(rank.0.to_le_bytes());
        put_text(bytes, cut(stack));
    });
}

pub(crate) fn take_stacks(body: &mut Body<'_>) -> Result<Vec<(Rank, String)>, BadMessage> {
    body.list(STACKS, |body| Ok((take_rank(body)?, body.text()?)))
}
