//! Handlers that send: what happens, happens in handlers, while the programs wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use weft::prelude::*;

const LAPS: u32 = 10;

/// A token goes round the ranks ten times, and counts its hops.
///
/// # Errors
/// A lost rank.
pub fn ring(weft: Weft) -> weft::Result<()> {
    let size = weft.size() as u32;
    let next = Rank((weft.rank().0 + 1) % weft.size() as u16);
    let (onward, seen) = (weft.sender("ring")?, Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&seen);
    let ring = weft.port("ring", move |mut token| {
        let mut hops = [0; 4];
        if token.read_exact(&mut hops).is_ok() {
            let hops = u32::from_le_bytes(hops) + 1;
            if hops < LAPS * size {
                // That a rank is lost is told to whoever waits.
                let _ = onward.send(next, &hops.to_le_bytes());
            } else {
                println!("the token came round {LAPS} times, in {hops} hops");
            }
        }
        count.fetch_add(1, Relaxed);
    })?;
    if weft.rank() == 0 {
        ring.send(next, &0u32.to_le_bytes())?;
    }
    weft.poll_until(|| seen.load(Relaxed) == LAPS)
}
