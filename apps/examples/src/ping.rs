//! The first program: a message there, a message back.

use weft::prelude::*;

const ROUNDS: u32 = 1000;

/// Rank 0 sends to rank 1, which answers, and so on.
///
/// # Errors
/// A lost rank.
pub fn ping(weft: Weft) -> weft::Result<()> {
    if weft.size() < 2 {
        println!("there is nobody to ping: start two ranks, with -n 2");
        return Ok(());
    }
    let mailbox = weft.mailbox("ping")?;
    weft.barrier()?;
    let begun = weft.now();
    match weft.rank() {
        Rank(0) => {
            for _ in 0..ROUNDS {
                mailbox.send(Rank(1), "ping")?;
                assert_eq!(mailbox.receive()?.text()?, "pong");
            }
            println!("{ROUNDS} round trips, {:?} each", (weft.now() - begun) / ROUNDS);
        }
        Rank(1) => {
            for _ in 0..ROUNDS {
                let mut message = mailbox.receive()?;
                assert_eq!(message.text()?, "ping");
                mailbox.send(message.source(), "pong")?;
            }
        }
        _ => {} // The others leave, which waits for all.
    }
    Ok(())
}
