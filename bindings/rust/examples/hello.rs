//! Every rank greets all others, then they agree on how many greetings there were.

use weft::prelude::*;

#[weft::main]
fn main(weft: Weft) -> weft::Result<()> {
    let heard = Variable { home: Rank(0), index: 0 };
    let counter = weft.clone();
    let hello = weft.port("hello", move |mut message| {
        let (from, text) = (message.source(), message.text());
        println!("rank {} hears from rank {from}: {}", message.to(), text.unwrap_or_default());
        let _ = counter.fetch_and_add(heard, 1);
    })?;
    hello.broadcast(&format!("good morning from rank {}", weft.rank()))?;
    let all = (weft.size() * (weft.size() - 1)) as u64;
    while weft.fetch_and_add(heard, 0)? < all {
        weft.poll()?;
    }
    weft.barrier()
}
