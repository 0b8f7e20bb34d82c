//! Messages about the members of an order as bytes, little-endian.
//!
//! ```text
//!  0      1      3      11     19     21
//! ┌──────┬──────┬──────┬──────┬──────┬──────┬───────────┬────────────┬─
//! │ kind │ lost │ next │ base │ home │ live │ rank, cut │ rank, next │ ...   ten bytes for each
//! └──────┴──────┴──────┴──────┴──────┴──────┴───────────┴────────────┴─     lost and live rank
//! ┌──────┬───────┬────────┬──────┬───────┐
//! │ kind │ epoch │ number │ from │ bytes │   a fill
//! └──────┴───────┴────────┴──────┴───────┘
//! ```
//! A report has neither base, home nor live. Ranks are in ascending order.

use super::Violation;
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_endpoint::Rank;

const REPORT: u8 = 1;
const BEGIN: u8 = 2;
const FILL: u8 = 3;

/// No cut is decided.
const NO_CUT: u64 = u64::MAX;

/// A message between two members.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Message {
    Report(Report),
    Begin(Begin),
    Fill(Fill),
}

/// Knowledge of a member, to the coordinator.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Report {
    /// Ranks that are lost, each with its cut if that is decided.
    pub lost: BTreeMap<Rank, Option<u64>>,
    /// Number of the message that is due.
    pub next: u64,
}

/// Beginning of an epoch, from the coordinator to all.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Begin {
    /// Ranks that are lost, each with its cut.
    pub lost: BTreeMap<Rank, Option<u64>>,
    /// Number with which the epoch begins.
    pub next: u64,
    /// Value of the variable that stands for that number.
    pub base: u64,
    /// Home of the variable.
    pub home: Rank,
    /// Numbers of the messages that are due at each.
    pub nexts: BTreeMap<Rank, u64>,
}

/// A message of the order, to a member that misses it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Fill {
    pub epoch: u16,
    pub number: u64,
    /// Its sender.
    pub from: Rank,
    pub bytes: Arc<[u8]>,
}

impl Message {
    /// Encodes it.
    pub fn emit(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Message::Report(Report { lost, next }) => {
                bytes.push(REPORT);
                put_16(&mut bytes, lost.len() as u16);
                put_64(&mut bytes, *next);
                put_cuts(&mut bytes, lost);
            }
            Message::Begin(Begin { lost, next, base, home, nexts }) => {
                bytes.push(BEGIN);
                put_16(&mut bytes, lost.len() as u16);
                put_64(&mut bytes, *next);
                put_64(&mut bytes, *base);
                put_16(&mut bytes, home.0);
                put_16(&mut bytes, nexts.len() as u16);
                put_cuts(&mut bytes, lost);
                for (rank, next) in nexts {
                    put_16(&mut bytes, rank.0);
                    put_64(&mut bytes, *next);
                }
            }
            Message::Fill(Fill { epoch, number, from, bytes: content }) => {
                bytes.push(FILL);
                put_16(&mut bytes, *epoch);
                put_64(&mut bytes, *number);
                put_16(&mut bytes, from.0);
                bytes.extend_from_slice(content);
            }
        }
        bytes
    }

    /// Decodes it.
    ///
    /// # Errors
    /// [`Violation::Malformed`] if no member writes that.
    pub fn parse(bytes: &[u8]) -> Result<Self, Violation> {
        let mut reader = Reader(bytes);
        let message = reader.message().ok_or(Violation::Malformed)?;
        match reader.0.is_empty() {
            true => Ok(message),
            false => Err(Violation::Malformed),
        }
    }
}

fn put_16(bytes: &mut Vec<u8>, value: u16) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn put_64(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

fn put_cuts(bytes: &mut Vec<u8>, lost: &BTreeMap<Rank, Option<u64>>) {
    for (rank, cut) in lost {
        put_16(bytes, rank.0);
        put_64(bytes, cut.unwrap_or(NO_CUT));
    }
}

/// Bytes that were not read yet.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn message(&mut self) -> Option<Message> {
        match self.take::<1>()? {
            [REPORT] => {
                let (count, next) = (self.u16()?, self.u64()?);
                Some(Message::Report(Report { lost: self.cuts(count)?, next }))
            }
            [BEGIN] => {
                let (lost, next, base) = (self.u16()?, self.u64()?, self.u64()?);
                let (home, live) = (Rank(self.u16()?), self.u16()?);
                let (lost, nexts) = (self.cuts(lost)?, self.table(live)?);
                Some(Message::Begin(Begin { lost, next, base, home, nexts }))
            }
            [FILL] => {
                let (epoch, number, from) = (self.u16()?, self.u64()?, Rank(self.u16()?));
                let bytes = std::mem::take(&mut self.0).into();
                Some(Message::Fill(Fill { epoch, number, from, bytes }))
            }
            _ => None,
        }
    }

    fn take<const SIZE: usize>(&mut self) -> Option<[u8; SIZE]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// Ranks in ascending order, each with a number.
    fn table(&mut self, count: u16) -> Option<BTreeMap<Rank, u64>> {
        let mut table = BTreeMap::new();
        for _ in 0..count {
            let (rank, number) = (Rank(self.u16()?), self.u64()?);
            if table.last_key_value().is_some_and(|(last, _)| *last >= rank) {
                return None;
            }
            table.insert(rank, number);
        }
        Some(table)
    }

    fn cuts(&mut self, count: u16) -> Option<BTreeMap<Rank, Option<u64>>> {
        let cuts = self.table(count)?.into_iter();
        Some(cuts.map(|(rank, cut)| (rank, (cut != NO_CUT).then_some(cut))).collect())
    }
}

#[cfg(test)]
mod tests;
