//! Standings of ranks, as an agent says them.

use super::{RANKS_MAX, put_list, take_rank};
use crate::messages::BadMessage;
use crate::messages::bytes::{Body, put_bytes};
use crate::roll::{Doing, Standing};
use std::time::Duration;
use weft_link::status::Awaited;

/// Time of a rank of which it is not known since when it does what it does.
const UNKNOWN: u64 = u64::MAX;

/// Activities but for a wait, by their numbers.
const DOINGS: [Doing; 5] =
    [Doing::HasLeft, Doing::IsStopped, Doing::Computes, Doing::Sleeps, Doing::HasNotJoined];

pub(super) fn put_roll(bytes: &mut Vec<u8>, all: &[Standing]) {
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

pub(super) fn take_roll(body: &mut Body<'_>) -> Result<Vec<Standing>, BadMessage> {
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
