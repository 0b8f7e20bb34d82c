//! Ranks of a large job: each exchanges messages with some others, near and far, and they end.

use std::collections::BTreeSet;
use weft::prelude::*;

/// Bytes of a message that is too long for a slot.
const LONG_BYTES: usize = 1000;
/// Rounds of the exchange: enough that windows of few packets are used several times over.
const ROUNDS: usize = 6;

/// Rounds of messages, short and long, with the ranks at some distances; then a sum of all.
pub fn run(weft: &Weft) -> weft::Result<()> {
    let numbers = weft.mailbox("numbers")?;
    weft.barrier()?;
    let (own, size) = (weft.rank().0, weft.size() as u16);
    let peers: BTreeSet<u16> = [1, 2, 63, 64, size / 2]
        .into_iter()
        .flat_map(|distance| [own + distance, own + size - distance % size])
        .map(|peer| peer % size)
        .filter(|peer| *peer != own)
        .collect();
    for round in 0..ROUNDS {
        for peer in &peers {
            let bytes = own.to_le_bytes().repeat(if round % 2 == 0 { 1 } else { LONG_BYTES / 2 });
            numbers.send(Rank(*peer), &bytes)?;
        }
    }
    let mut heard = vec![0; size.into()];
    for _ in 0..ROUNDS * peers.len() {
        let mut message = numbers.receive()?;
        let (from, bytes) = (message.source(), message.read_to_vec()?);
        assert!(bytes.chunks(2).all(|number| number == from.0.to_le_bytes()), "of rank {from}");
        heard[from.index()] += 1;
    }
    let expected = |rank: u16| if peers.contains(&rank) { ROUNDS } else { 0 };
    assert!((0..size).zip(&heard).all(|(rank, count)| *count == expected(rank)), "{heard:?}");
    let mut sum = [u64::from(own)];
    weft.all_reduce(&mut sum, |one: &mut u64, other: &u64| *one += other)?;
    if own == 0 {
        println!("{size} ranks have heard of {}, the sum is {}", peers.len(), sum[0]);
    }
    weft.barrier()
}

/// Once all have met each waits for a message that nobody sends.
pub fn sit(weft: &Weft) -> weft::Result<()> {
    let silence = weft.mailbox("silence")?;
    weft.barrier()?;
    if weft.rank() == 0 {
        println!("all have met");
    }
    silence.receive().map(drop).map_err(weft::Error::from)
}
