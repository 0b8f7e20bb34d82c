//! Messages, calls and orders that wait for one another, or for what nobody sends.

use crate::outside::hibernate;
use crate::{Animal, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use weft::prelude::*;

pub(crate) const ALL: &[Animal] = &[
    Animal {
        name: "cross",
        ranks: 2,
        verdict: &[
            "deadlock: ",
            "rank 0 waits for a message on port 'a'",
            "rank 1 waits for a message on port 'b'",
        ],
        run: cross,
    },
    Animal {
        name: "silence",
        ranks: 3,
        verdict: &["deadlock: ", "ranks 0 to 2 wait for a message on port 'silence'"],
        run: silence,
    },
    Animal {
        name: "flag",
        ranks: 2,
        verdict: &["deadlock: ", "ranks 0, 1 wait for what a handler is to do"],
        run: flag,
    },
    Animal {
        name: "other-port",
        ranks: 2,
        verdict: &[
            "deadlock: ",
            "rank 0 waits for a message on port 'lettre'",
            "rank 1 waits for barrier",
        ],
        run: other_port,
    },
    Animal {
        name: "to-itself",
        ranks: 2,
        verdict: &[
            "deadlock with itself: rank 1 waits for the answer of rank 1 to a call of 'echo'",
        ],
        run: calls_itself,
    },
    Animal {
        name: "own-port",
        ranks: 2,
        verdict: &["deadlock: ", "rank 0 waits for the answer of rank 1 to a call of 'relay'"],
        run: own_port,
    },
    Animal {
        name: "ring",
        ranks: 3,
        verdict: &[
            "deadlock: ",
            "rank 0 waits for the answer of rank 1",
            "rank 1 waits for the answer of rank 2",
            "rank 2 waits for the answer of rank 0",
        ],
        run: ring,
    },
    Animal {
        name: "absent-reader",
        ranks: 2,
        verdict: &["rank 1 sleeps, outside of Weft", "rank 0 waits for it: rank 1 to receive"],
        run: absent_reader,
    },
    Animal {
        name: "slow-member",
        ranks: 3,
        verdict: &["rank 2 sleeps, outside of Weft", "rank 0", "rank 2 to receive", "'news'"],
        run: slow_member,
    },
    Animal {
        name: "long-for-nobody",
        ranks: 2,
        verdict: &[
            "rank 1 sleeps, outside of Weft",
            "rank 0 waits for it: rank 1 to receive",
            "port 'long'",
        ],
        run: long_for_nobody,
    },
    Animal {
        name: "order",
        ranks: 3,
        verdict: &["rank 2 sleeps, outside of Weft", "rank 2 to receive broadcasts of order 'log'"],
        run: silent_member,
    },
    Animal {
        name: "returned",
        ranks: 2,
        verdict: &[
            "deadlock: ",
            "rank 0 waits for a message on port 'a'",
            "rank 1 waits for all others to end",
        ],
        run: returned,
    },
];

fn cross(weft: Weft) -> Result {
    let [a, b] = [weft.mailbox("a")?, weft.mailbox("b")?];
    let (mine, theirs, other) = if weft.rank() == 0 { (&a, &b, 1) } else { (&b, &a, 0) };
    mine.receive()?;
    Ok(theirs.send(other, "after you")?)
}

fn silence(weft: Weft) -> Result {
    weft.mailbox("silence")?.receive()?;
    Ok(())
}

/// Each waits for its handler, to which nobody sends.
fn flag(weft: Weft) -> Result {
    let heard = Arc::new(AtomicBool::new(false));
    let hears = Arc::clone(&heard);
    let _port = weft.port("flag", move |_| hears.store(true, Ordering::Relaxed))?;
    Ok(weft.poll_until(|| heard.load(Ordering::Relaxed))?)
}

fn other_port(weft: Weft) -> Result {
    let [letter, lettre] = [weft.mailbox("letter")?, weft.mailbox("lettre")?];
    match weft.rank().0 {
        0 => drop(lettre.receive()?),
        _ => letter.send(0, "here")?,
    }
    Ok(weft.barrier()?)
}

/// The service answers once a message has come, which the same rank would send next.
fn calls_itself(weft: Weft) -> Result {
    let never = Arc::new(weft.mailbox("never")?);
    let _service = weft.async_service("echo", move |request| {
        let never = Arc::clone(&never);
        async move {
            let _ = never.receive_async().await;
            let _ = request.reply("");
        }
    })?;
    if weft.rank() == 1 {
        weft.client("echo")?.call(1, "").and_then(|call| call.wait())?;
    }
    hibernate()
}

/// The handler waits for another request of its own port, which waits until it has ended.
fn own_port(weft: Weft) -> Result {
    let client = weft.client("relay")?;
    let _service = weft.async_service("relay", move |request| {
        let again = client.call(1, "again");
        async move {
            if let Ok(call) = again {
                let _ = call.await;
            }
            let _ = request.reply("");
        }
    })?;
    if weft.rank() == 0 {
        weft.client("relay")?.call(1, "first").and_then(|call| call.wait())?;
    }
    Ok(weft.barrier()?)
}

/// Each calls the next, whose handler waits for what its own rank does after its call.
fn ring(weft: Weft) -> Result {
    let gate = Arc::new(weft.mailbox("gate")?);
    let _service = weft.async_service("next", move |request| {
        let gate = Arc::clone(&gate);
        async move {
            let _ = gate.receive_async().await;
            let _ = request.reply("");
        }
    })?;
    weft.barrier()?;
    let next = (weft.rank().0 + 1) % weft.size() as u16;
    weft.client("next")?.call(next, "").and_then(|call| call.wait())?;
    Ok(weft.sender("gate")?.send(weft.rank(), "open")?)
}

fn absent_reader(weft: Weft) -> Result {
    let pile = weft.mailbox("pile")?;
    weft.barrier()?;
    if weft.rank() == 1 {
        hibernate();
    }
    loop {
        pile.send(1, &[0_u8; 1000])?;
    }
}

fn slow_member(weft: Weft) -> Result {
    let news = weft.mailbox("news")?;
    weft.barrier()?;
    match weft.rank().0 {
        0 => loop {
            news.broadcast(&[0_u8; 1000])?;
        },
        1 => loop {
            news.receive()?;
        },
        _ => hibernate(),
    }
}

fn long_for_nobody(weft: Weft) -> Result {
    let long = weft.mailbox("long")?;
    weft.barrier()?;
    if weft.rank() == 1 {
        hibernate();
    }
    Ok(long.send(1, &vec![0_u8; 64 << 20])?)
}

fn silent_member(weft: Weft) -> Result {
    let log = weft.order_mailbox("log")?;
    weft.barrier()?;
    if weft.rank() == 2 {
        hibernate();
    }
    loop {
        log.broadcast("entry")?;
        log.receive()?;
    }
}

fn returned(weft: Weft) -> Result {
    if weft.rank() == 0 {
        weft.mailbox("a")?.receive()?;
    }
    Ok(())
}
