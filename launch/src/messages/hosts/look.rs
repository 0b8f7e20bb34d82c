//! Ranks as they are now, as an agent says them.

use super::{RANKS_MAX, put_list, take_rank};
use crate::messages::bytes::{Body, put_text};
use crate::messages::{BadMessage, cut};
use crate::snapshot::RankNow;
use weft_link::gauge::{self, Counts};

pub(super) fn put_look(bytes: &mut Vec<u8>, all: &[RankNow]) {
    put_list(bytes, all, |bytes, now| {
        bytes.extend(now.rank.to_le_bytes());
        bytes.extend(now.process.to_le_bytes());
        put_text(bytes, cut(&now.state));
        put_if_known(bytes, now.since, |bytes, since| bytes.extend(since.to_le_bytes()));
        bytes.extend(now.processor_seconds.to_le_bytes());
        bytes.extend(now.memory_bytes.to_le_bytes());
        put_if_known(bytes, now.counts, |bytes, counts| {
            bytes.extend(counts.to_words().map(u64::to_le_bytes).as_flattened());
        });
    });
}

pub(super) fn take_look(body: &mut Body<'_>) -> Result<Vec<RankNow>, BadMessage> {
    body.list(RANKS_MAX.into(), |body| {
        Ok(RankNow {
            rank: take_rank(body)?.0,
            host: None,
            process: body.u32()?,
            state: body.text()?,
            since: take_if_known(body, take_seconds)?,
            processor_seconds: take_seconds(body)?,
            memory_bytes: take_word(body)?,
            counts: take_if_known(body, take_counts)?,
        })
    })
}

fn put_if_known<T>(bytes: &mut Vec<u8>, it: Option<T>, put: impl FnOnce(&mut Vec<u8>, T)) {
    bytes.push(it.is_some().into());
    if let Some(it) = it {
        put(bytes, it);
    }
}

fn take_if_known<T>(
    body: &mut Body<'_>,
    take: impl FnOnce(&mut Body<'_>) -> Result<T, BadMessage>,
) -> Result<Option<T>, BadMessage> {
    body.flag()?.then(|| take(body)).transpose()
}

fn take_word(body: &mut Body<'_>) -> Result<u64, BadMessage> {
    body.take().map(u64::from_le_bytes)
}

/// A time, which is a number and not negative.
fn take_seconds(body: &mut Body<'_>) -> Result<f64, BadMessage> {
    let seconds = body.take().map(f64::from_le_bytes)?;
    let is_time = seconds.is_finite() && seconds.is_sign_positive();
    if is_time { Ok(seconds) } else { Err(BadMessage::Range("time")) }
}

fn take_counts(body: &mut Body<'_>) -> Result<Counts, BadMessage> {
    let mut words = [0; gauge::WORDS];
    for word in &mut words {
        *word = take_word(body)?;
    }
    Ok(Counts::of_words(words))
}
