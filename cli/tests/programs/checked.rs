//! Ranks that send one another messages of all lengths, or of all up to one, and check each byte
//! and the order of all that they get, until rank 0 finds the end of its standard input.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft::prelude::*;

/// Messages to each other rank in a round; it ends when as many have come from there.
const ROUND: u64 = 16;
/// Bytes of a message at most, if nothing else is said.
pub const LONGEST: u64 = 12_000;

pub fn run(weft: &Weft, longest: u64) -> weft::Result<()> {
    let mailbox = weft.mailbox("checked")?;
    let others: Vec<Rank> = weft.ranks().filter(|rank| *rank != weft.rank()).collect();
    let ended = Arc::new(AtomicBool::new(false));
    if weft.rank() == 0 {
        let ended = Arc::clone(&ended);
        std::thread::spawn(move || {
            // What cannot be read is at its end, too.
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            ended.store(true, Ordering::Relaxed);
        });
    }
    let (mut next, mut bytes) = (vec![0; weft.size()], 0);
    let mut last_round = u64::MAX;
    for round in 0.. {
        // Others learn of the end from the messages of that round.
        if weft.rank() == 0 && ended.load(Ordering::Relaxed) {
            last_round = round;
        }
        for number in round * ROUND..(round + 1) * ROUND {
            for to in &others {
                let pair = (weft.rank(), *to);
                mailbox.send(*to, &message(pair, number, longest, last_round == round))?;
            }
        }
        // Who is ahead may have sent some of the next round already.
        while others.iter().any(|other| next[other.index()] < (round + 1) * ROUND) {
            let mut got = mailbox.receive()?;
            let (from, got) = (got.source(), got.read_to_vec()?);
            let (number, ends) = (next[from.index()], got[0] == 1);
            next[from.index()] += 1;
            let sent = message((from, weft.rank()), number, longest, ends);
            assert!(got == sent, "message {number} from rank {from} is another one");
            last_round = last_round.min(if ends { number / ROUND } else { u64::MAX });
            bytes += got.len();
        }
        if round.is_multiple_of(8) {
            println!("rank {} chats", weft.rank());
        }
        if round == last_round {
            break;
        }
    }
    let messages: u64 = next.iter().sum();
    println!("rank {} checked {messages} messages, {bytes} bytes", weft.rank());
    Ok(())
}

/// A message that nobody else sends at any other time.
fn message((from, to): (Rank, Rank), number: u64, longest: u64, ends: bool) -> Vec<u8> {
    let mut state = number << 32 | u64::from(from.0) << 16 | u64::from(to.0);
    let length = 1 + mix(&mut state) % longest;
    let mut bytes: Vec<u8> =
        (0..length.div_ceil(8)).flat_map(|_| mix(&mut state).to_le_bytes()).collect();
    bytes.truncate(length as usize);
    bytes[0] = ends.into();
    bytes
}

/// The next of a sequence that looks random (SplitMix64).
fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
