//! Cross-memory attach: copies out of the memory of other ranks' processes.
//!
//! A rank publishes the number of its process, a random token, and the address of that token. A
//! peer copies the token out of that process before the first use, and compares. So it detects a
//! process number of another namespace, one that was used again, and a false one. A peer that the
//! kernel refuses once does not try again.
//!
//! **Trust.** The kernel lets a process read what it might trace, and nothing here writes into
//! another process. Addresses come from ranks of the job. A wrong one yields wrong bytes, which the
//! rank could have sent as well.

use crate::control::{GROUP, bit_of};
use crate::process;
use crate::segment::{ProcessIdentity, Segment, TOKEN_WORDS};
use rustix::rand::{GetRandomFlags, getrandom};
use std::sync::atomic::{AtomicI64, Ordering};
use weft_link::memory::CrossMemory;
use weft_wire::Rank;

/// Mark of a process that was not tried yet.
const UNKNOWN: i64 = 0;
/// Mark of a process that may not be read.
const NO: i64 = -1;

/// Processes of all ranks of a host, as one of them has verified them.
pub(crate) struct Processes {
    own: Rank,
    identities: Vec<ProcessIdentity>,
    /// Verified process of each rank, or a mark.
    verified: Vec<AtomicI64>,
    /// Token in this process, which others copy.
    _token: Option<Token>,
}

type Token = Box<[u8; TOKEN_WORDS * 8]>;

impl Processes {
    /// Publishes the identity of this process, which is rank `own`. Without a random token it
    /// publishes none.
    pub fn new(own: Rank, segments: &[Segment]) -> Self {
        let identities: Vec<ProcessIdentity> = segments.iter().map(Segment::identity).collect();
        let token = token();
        if let Some(token) = &token {
            publish(&identities[own.index()], token);
        }
        let verified = identities.iter().map(|_| AtomicI64::new(UNKNOWN)).collect();
        Processes { own, identities, verified, _token: token }
    }

    /// Process of `rank`, if this one may copy out of it.
    fn process(&self, rank: Rank) -> Option<i32> {
        let verified = self.verified.get(rank.index())?;
        match verified.load(Ordering::Relaxed) {
            UNKNOWN => {
                let process = verify(&self.identities[rank.index()]);
                verified.store(process.map_or(NO, i64::from), Ordering::Relaxed);
                if process.is_some() {
                    let fetched_from = &self.identities[self.own.index()].fetched_from;
                    let fetched_from = &fetched_from[rank.index() / GROUP];
                    fetched_from.fetch_or(bit_of(rank.index()), Ordering::Release);
                }
                process
            }
            process => i32::try_from(process).ok().filter(|process| *process > 0),
        }
    }
}

impl CrossMemory for Processes {
    fn fetch(&self, rank: Rank, address: u64, into: &mut [u8]) -> bool {
        self.process(rank).is_some_and(|process| process::fetch(process, address, into))
    }

    #[inline]
    fn is_read_by(&self, by: Rank) -> bool {
        let identity = self.identities.get(by.index());
        identity.is_some_and(|identity| {
            let fetched_from = &identity.fetched_from[self.own.index() / GROUP];
            fetched_from.load(Ordering::Acquire) & bit_of(self.own.index()) != 0
        })
    }

    fn is_near(&self, rank: Rank) -> bool {
        rank.index() < self.identities.len()
    }
}

/// Reason why ranks of this host may not copy out of one another's memory, as far as one process
/// can tell. Nothing else depends on it: long messages are copied twice then.
pub fn cross_memory_restriction() -> Option<String> {
    let mut byte = [0; 1];
    let own = i32::try_from(std::process::id()).ok()?;
    if !process::fetch(own, [1u8].as_ptr().expose_provenance() as u64, &mut byte) {
        return Some("process_vm_readv is forbidden here, by a system-call filter".to_string());
    }
    let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    restriction(scope.trim(), rustix::process::geteuid().is_root())
}

/// Restriction by Yama's `ptrace_scope` on ranks that are children of one process.
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

fn publish(identity: &ProcessIdentity, token: &Token) {
    // The address is exposed because another process reads there.
    identity.token_address[0].store(token.as_ptr().expose_provenance() as u64, Ordering::Relaxed);
    for (word, bytes) in identity.token.iter().zip(token.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    identity.process[0].store(u64::from(std::process::id()), Ordering::Release);
}

/// Process of an identity, if its token is at its address.
fn verify(identity: &ProcessIdentity) -> Option<i32> {
    let process = i32::try_from(identity.process[0].load(Ordering::Acquire)).ok()?;
    let mut found = [0; TOKEN_WORDS * 8];
    let is_process = process > 0
        && process::fetch(process, identity.token_address[0].load(Ordering::Relaxed), &mut found);
    let mut words = identity.token.iter().zip(found.as_chunks().0);
    let is_token =
        words.all(|(word, bytes)| word.load(Ordering::Relaxed) == u64::from_ne_bytes(*bytes));
    (is_process && is_token).then_some(process)
}

#[cfg(test)]
mod tests;
