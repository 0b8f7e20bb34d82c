//! Forms of the invariants that one rank can check by itself, while it runs: one name, one
//! function, one fact each. They know this rank's side of a pair only; what the peer has of it is a
//! difference of two counts here.

use weft_wire::Rank;

/// An invariant that does not hold at this rank. The fault is Weft's, and no peer's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("invariant {invariant} is broken: {what}")]
pub struct Broken {
    /// Its name, as in `ARCHITECTURE.md`.
    pub invariant: &'static str,
    /// The two sides of it, in numbers.
    pub what: String,
}

impl Broken {
    /// Nothing if the invariant `holds`; else it, with what the numbers are.
    ///
    /// # Errors
    /// It.
    #[inline]
    pub fn unless(
        holds: bool,
        invariant: &'static str,
        what: impl FnOnce() -> String,
    ) -> Result<(), Broken> {
        if holds { Ok(()) } else { Err(Broken { invariant, what: what() }) }
    }
}

/// Credits for one peer, as their holder counts them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CreditsHere {
    pub peer: Rank,
    /// Those that there were in the beginning.
    pub first: u16,
    pub held: u16,
    /// Those that were spent or handed back, less those that came back: they are in flight, at the
    /// peer, or returning. Where windows grow, more may have come than went.
    pub away: i32,
    /// The largest window.
    pub most: u16,
}

/// I1, of one sender: the credits that it was given it holds, or has spent.
pub(crate) fn i1_credits_here(credits: &CreditsHere) -> Result<(), Broken> {
    let CreditsHere { peer, first, held, away, .. } = *credits;
    let sum = i32::from(held) + away;
    Broken::unless(sum == i32::from(first), "I1", || {
        format!(
            "of {first} credits for rank {peer} there are held {held} + in flight, there or on their way back {away} = \
             {sum}"
        )
    })
}

/// I2, of one sender: no more packets are under way than the window has credits.
pub(crate) fn i2_window_here(credits: &CreditsHere) -> Result<(), Broken> {
    let CreditsHere { peer, away, most, .. } = *credits;
    Broken::unless(away <= i32::from(most), "I2", || {
        format!("{away} packets for rank {peer} are under way, and its window has {most} credits")
    })
}

/// Receive buffers for one peer, as their owner counts them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuffersHere {
    pub peer: Rank,
    /// Packets that filled a buffer, less those that were counted where buffers are freed.
    pub there: i32,
    pub buffered: u16,
    pub owed: u16,
    pub window: u16,
    /// The smallest and the largest window.
    pub least: u16,
    pub most: u16,
}

/// I1, of one receiver: what is said to be buffered has come and has not left, and is part of the
/// window with what is owed.
pub(crate) fn i1_buffers_here(buffers: &BuffersHere) -> Result<(), Broken> {
    let BuffersHere { peer, there, buffered, owed, window, least, most } = *buffers;
    Broken::unless(there == i32::from(buffered), "I1", || {
        format!("{buffered} packets of rank {peer} are said to be buffered, and {there} are")
    })?;
    let sum = u32::from(buffered) + u32::from(owed);
    Broken::unless(sum <= u32::from(window), "I1", || {
        format!(
            "of {window} credits of rank {peer} there are buffered {buffered} + owed {owed} = {sum}"
        )
    })?;
    Broken::unless((least..=most).contains(&window), "I1", || {
        format!("rank {peer} has {window} credits, and windows have {least} to {most}")
    })
}

/// I3, of one sender: a packet waits only where there is no credit, or the next would overtake it.
pub(crate) fn i3_none_overtaken(peer: Rank, held: u16, blocked: usize) -> Result<(), Broken> {
    Broken::unless(held == 0 || blocked == 0, "I3", || {
        format!("{blocked} packets for rank {peer} wait, and {held} credits for it are held")
    })
}

/// Numbers of packets between this rank and a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumbersHere {
    pub peer: Rank,
    /// Sent: the oldest unacknowledged, the first that the peer may not have, and the next.
    pub oldest: u32,
    pub accepted: u32,
    pub next: u32,
    /// Received: what was acknowledged, what may be, and what is expected.
    pub acknowledged: u32,
    pub acknowledgeable: u32,
    pub expected: u32,
}

/// I3 and I8, where packets have numbers: nothing is acknowledged before it has come, nor has come
/// before it was sent.
pub(crate) fn i3_numbers_here(numbers: &NumbersHere) -> Result<(), Broken> {
    let NumbersHere { peer, oldest, accepted, next, acknowledged, acknowledgeable, expected } =
        *numbers;
    let in_order = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    Broken::unless(in_order(oldest, accepted) && in_order(accepted, next), "I3", || {
        format!(
            "to rank {peer} packet {next} is the next, {accepted} the first that it may not have, and {oldest} the \
             first that it has not acknowledged: they are in another order"
        )
    })?;
    let in_order = in_order(acknowledged, acknowledgeable) && in_order(acknowledgeable, expected);
    Broken::unless(in_order, "I8", || {
        format!(
            "of rank {peer} packet {expected} is expected, those before {acknowledgeable} may be acknowledged, and \
             those before {acknowledged} were"
        )
    })
}

/// I4, of all buffers of a kind: what each peer has of them is what all have.
pub(crate) fn i4_buffers_counted(what: &str, each: usize, all: usize) -> Result<(), Broken> {
    Broken::unless(each == all, "I4", || {
        format!("of {what} there are {all} in use, and {each} if those of each peer are added up")
    })
}

/// I5, where nothing is lost: a packet that waits for a credit of `peer` is a data packet.
pub(crate) fn i5_none_waits_here(peer: Rank, control: usize) -> Result<(), Broken> {
    Broken::unless(control == 0, "I5", || {
        format!("{control} control packets for rank {peer} wait for credits, and may wait for 0")
    })
}

/// A recovery channel, as a rank that takes part in it sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelHere {
    pub owner: Rank,
    pub is_own: bool,
    /// Packets that came on it and for which no buffer was freed yet.
    pub packets: usize,
    /// Its buffer here is in use.
    pub held: bool,
    /// Children whose part is not clear, and the different ranks among them.
    pub children: usize,
    pub distinct: usize,
}

/// I7, of one rank: a channel has one packet here at most, which fills its buffer, and was passed
/// on to each child once. One that is clear is forgotten.
pub(crate) fn i7_channel_here(channel: &ChannelHere) -> Result<(), Broken> {
    let ChannelHere { owner, is_own, packets, held, children, distinct } = *channel;
    Broken::unless(packets == usize::from(held) && !(is_own && held), "I7", || {
        format!(
            "{packets} packets are on the recovery channel of rank {owner}, and {} buffers of it are in use",
            usize::from(held)
        )
    })?;
    Broken::unless(children == distinct, "I7", || {
        format!(
            "the recovery channel of rank {owner} goes on to {children} children, {distinct} of them different"
        )
    })?;
    Broken::unless(held || children > 0, "I7", || {
        format!("the recovery channel of rank {owner} is in use, with 0 packets and 0 children")
    })
}

#[cfg(test)]
mod tests;
