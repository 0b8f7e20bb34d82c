//! Cost of a message under each upcall model (thesis 6.2.3, table 6.2): half a round trip to a
//! handler that answers in place, that could have waited, that does wait once and goes on as a
//! continuation, and that runs on a thread of its own.

use crate::micro::arena::Arena;
use crate::micro::launch::Spec;
use crate::micro::report::Row;
use anyhow::Result;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Instant;
use weft::{Mailbox, Message, Port, Rank, Weft};

/// Round trips in a sample.
const BATCH: u64 = 200;

const DONE: usize = 0;

pub fn rank(spec: &Spec, arena: &Arena) -> Result<()> {
    let weft = weft::join()?;
    let answers = weft.mailbox("answers")?;
    let ports = ports(&weft)?;
    let mut samples: [Vec<f64>; 4] = Default::default();
    weft.barrier()?;
    if weft.rank() == 0 {
        for _ in 0..spec.rounds {
            for (port, samples) in ports.iter().zip(&mut samples) {
                samples.push(round(port, &answers, spec.size())?);
            }
        }
        let [plain, inline, continuation, popup] = samples;
        let shape = (weft.size(), spec.size());
        let kinds = [
            ("upcall-async", inline),
            ("upcall-continuation", continuation),
            ("upcall-popup", popup),
        ];
        for (name, samples) in kinds {
            let floors = vec![("plain handler", plain.clone())];
            Row::new(name, shape, "ns", samples, floors).print(spec);
        }
        arena.word(DONE).store(1, Ordering::Release);
        answers.broadcast("")?;
    } else {
        weft.poll_until(|| arena.word(DONE).load(Ordering::Acquire) == 1)?;
    }
    Ok(weft.leave()?)
}

/// The four ports of each rank, whose handlers answer.
fn ports(weft: &Weft) -> Result<[Port; 4]> {
    let answer = Arc::new(Port::sender(weft.engine(), "answers")?);
    let reply = move |mut message: Message| {
        if let Ok(bytes) = message.chunk() {
            // A lost rank shows at the next poll.
            let _ = answer.send(Rank(0), bytes);
        }
    };
    let (plain, inline) = (reply.clone(), reply.clone());
    let (continuation, popup) = (reply.clone(), reply);
    Ok([
        weft.port("plain", plain)?,
        weft.async_port("async", move |message| {
            let reply = inline.clone();
            async move { reply(message) }
        })?,
        weft.async_port("continuation", move |message| {
            let reply = continuation.clone();
            async move {
                wait_once().await;
                reply(message);
            }
        })?,
        weft.popup_port("popup", popup)?,
    ])
}

/// Waits, and is woken at once.
async fn wait_once() {
    let mut waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

fn round(port: &Port, answers: &Mailbox, size: usize) -> Result<f64> {
    let payload = vec![7; size];
    let start = Instant::now();
    for _ in 0..BATCH {
        port.send(1, &payload)?;
        drop(answers.receive()?);
    }
    Ok(start.elapsed().as_nanos() as f64 / (2 * BATCH) as f64)
}
