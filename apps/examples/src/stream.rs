//! A message larger than what may be under way: it is read while it arrives.

use weft::prelude::*;

/// More than a sender may have unread at a port.
const BYTES: usize = 16 << 20;

/// Rank 0 sends 16 MiB to rank 1, which sums them up, piece by piece, before all of them have been
/// sent.
///
/// # Errors
/// A lost rank.
pub fn stream(weft: Weft) -> weft::Result<()> {
    if weft.size() < 2 {
        println!("there is nobody to send to: start two ranks, with -n 2");
        return Ok(());
    }
    let mailbox = weft.mailbox("stream")?;
    let read = Variable { home: Rank(0), index: 0 };
    match weft.rank() {
        Rank(0) => {
            let bytes: Vec<u8> = (0..BYTES).map(|n| n as u8).collect();
            mailbox.send(Rank(1), &bytes)?;
            let pieces = weft.fetch_and_add(read, 0)?;
            assert!(pieces > 0, "all of it was sent before any was read");
            println!("all is sent, and some of it has been read");
        }
        Rank(1) => {
            let mut message = mailbox.receive()?; // Its first packet is there.
            let mut sum = 0;
            while message.remaining() > 0 {
                let piece = message.chunk()?; // The next bytes, where they are: nothing is copied.
                let length = piece.len();
                sum += piece.iter().map(|byte| u64::from(*byte)).sum::<u64>();
                weft.fetch_and_add(read, 1)?;
                message.consume(length);
            }
            assert_eq!(sum, (BYTES / 256 * (0..256).sum::<usize>()) as u64);
            println!("{BYTES} bytes came in {} pieces", weft.fetch_and_add(read, 0)?);
        }
        _ => {}
    }
    Ok(())
}
