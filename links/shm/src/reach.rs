//! Memory of the processes of other ranks.
//!
//! A rank writes on its card which process it is, and where in its memory a random token lies, and the token. Before a peer copies out
//! of that process for the first time it copies the token, and compares: a number of another namespace of processes, one that is used
//! again, and one that is not true are all found out, and what the kernel does not let it do it does not try again.
//!
//! **Trust.** The kernel lets a process read what it might trace, and nothing here writes into another process. Whoever names an
//! address is a rank of the job, and what a rank gets by a wrong one are wrong bytes, which it could have been sent as well.

use crate::process;
use crate::segment::{Card, Segment, TOKEN_WORDS};
use rustix::rand::{GetRandomFlags, getrandom};
use std::sync::atomic::{AtomicI64, Ordering};
use weft_link::memory::Reach;
use weft_wire::Rank;

/// Not tried yet.
const UNKNOWN: i64 = 0;
/// Out of reach.
const NO: i64 = -1;

/// The processes of all ranks of a host, as one of them sees them.
pub(crate) struct Processes {
    own: Rank,
    cards: Vec<Card>,
    /// The process of each rank, if it is the one that its card says.
    known: Vec<AtomicI64>,
    /// What others find in this process.
    _token: Option<Token>,
}

type Token = Box<[u8; TOKEN_WORDS * 8]>;

impl Processes {
    /// Writes the card of rank `own`, whose process this is. If there is no token to be had it stays empty.
    pub fn new(own: Rank, segments: &[Segment]) -> Self {
        let cards: Vec<Card> = segments.iter().map(Segment::card).collect();
        let token = token();
        if let Some(token) = &token {
            introduce(&cards[own.index()], token);
        }
        let known = cards.iter().map(|_| AtomicI64::new(UNKNOWN)).collect();
        Processes { own, cards, known, _token: token }
    }

    /// The process of `rank`, if this one may copy out of it.
    fn process(&self, rank: Rank) -> Option<i32> {
        let known = self.known.get(rank.index())?;
        match known.load(Ordering::Relaxed) {
            UNKNOWN => {
                let process = prove(&self.cards[rank.index()]);
                known.store(process.map_or(NO, i64::from), Ordering::Relaxed);
                if process.is_some() {
                    let reaches = &self.cards[self.own.index()].reaches[0];
                    reaches.fetch_or(1 << rank.0, Ordering::Release);
                }
                process
            }
            process => i32::try_from(process).ok().filter(|process| *process > 0),
        }
    }
}

impl Reach for Processes {
    fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool {
        self.process(rank).is_some_and(|process| process::fetch(process, address, into))
    }

    #[inline]
    fn is_reached(&self, by: Rank) -> bool {
        let card = self.cards.get(by.index());
        card.is_some_and(|card| card.reaches[0].load(Ordering::Acquire) >> self.own.0 & 1 == 1)
    }
}

/// Why ranks of this host may not copy out of one another's memory, as far as one process can tell. Nothing else depends on it: what is
/// long is copied twice then.
pub fn out_of_reach() -> Option<String> {
    let mut byte = [0; 1];
    let own = i32::try_from(std::process::id()).ok()?;
    if !process::fetch(own, [1u8].as_ptr().expose_provenance() as u64, &mut byte) {
        return Some("process_vm_readv is forbidden here, by a system-call filter".to_string());
    }
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    restriction(scope.trim(), rustix::process::geteuid().is_root())
}

/// What Yama's `ptrace_scope` keeps ranks from, which are children of one process.
fn restriction(scope: &str, is_root: bool) -> Option<String> {
    let forbids = match scope {
        "" | "0" => false,
        "1" | "2" => !is_root,
        _ => true,
    };
    forbids.then(|| format!("kernel.yama.ptrace_scope is {scope}, and would have to be 0"))
}

fn token() -> Option<Token> {
    let mut token = Token::default();
    let filled = getrandom(&mut *token, GetRandomFlags::empty()).ok()?;
    (filled == token.len()).then_some(token)
}

fn introduce(card: &Card, token: &Token) {
    // Whoever reads it is not this program.
    card.token_at[0].store(token.as_ptr().expose_provenance() as u64, Ordering::Relaxed);
    for (word, bytes) in card.token.iter().zip(token.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    card.process[0].store(u64::from(std::process::id()), Ordering::Release);
}

/// The process of a card, if its token is there.
fn prove(card: &Card) -> Option<i32> {
    let process = i32::try_from(card.process[0].load(Ordering::Acquire)).ok()?;
    let mut there = [0; TOKEN_WORDS * 8];
    let is_there = process > 0
        && process::fetch(process, card.token_at[0].load(Ordering::Relaxed), &mut there);
    let mut words = card.token.iter().zip(there.as_chunks().0);
    let is_it =
        words.all(|(word, bytes)| word.load(Ordering::Relaxed) == u64::from_ne_bytes(*bytes));
    (is_there && is_it).then_some(process)
}

#[cfg(test)]
mod tests;
