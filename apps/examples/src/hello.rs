//! A port and its handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use weft::prelude::*;

/// Every rank greets all others; rank 0 says whom it hears.
///
/// # Errors
/// A lost rank.
pub fn hello(weft: Weft) -> weft::Result<()> {
    let heard = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&heard);
    let hello = weft.port("hello", move |mut message| {
        if message.to() == 0 {
            let (from, text) = (message.source(), message.text().unwrap_or_default());
            println!("rank 0 hears from rank {from}: {text}");
        }
        count.fetch_add(1, Relaxed);
    })?;
    hello.broadcast("good morning")?;
    let others = weft.size() - 1;
    weft.poll_until(|| heard.load(Relaxed) == others)
}
