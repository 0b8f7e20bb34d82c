//! Two ranks that do each kind of thing that a trace tells of, a known number of times.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use weft::Rights;
use weft::prelude::*;

/// Messages of each kind, and broadcasts of each rank.
const EACH: u64 = 5;
/// Time that a rank computes while another waits for it.
const LATE: Duration = Duration::from_millis(20);
/// Bytes of a put, which is long enough to be a copy into mapped memory.
const PUT_BYTES: usize = 4096;
/// Bytes of the buffer, which is long enough to be mapped.
const BUFFER_BYTES: usize = 64 << 10;

/// Rank 0 sends messages to three kinds of handlers of rank 1, both broadcast in an order, and rank
/// 0 puts into memory of rank 1 and gets from there.
pub fn run(weft: &Weft) -> weft::Result<()> {
    handlers(weft)?;
    order(weft)?;
    puts(weft)?;
    weft.barrier()
}

/// Rank 1 waits for a row in a span, and rank 0 computes in another before it sends it. Several
/// times: a rank that gets no core may come to its wait too late.
pub fn be_late(weft: &Weft) -> weft::Result<()> {
    let (rows, asked) = (weft.mailbox("rows")?, weft.mailbox("asked")?);
    weft.barrier()?;
    for _ in 0..EACH {
        if weft.rank() == 1 {
            let _span = weft.span("exchange");
            asked.send(0, "a row")?;
            rows.receive()?;
            continue;
        }
        asked.receive()?;
        let span = weft.span("solve");
        let begin = Instant::now();
        while begin.elapsed() < LATE {
            std::hint::spin_loop();
        }
        drop(span);
        rows.send(1, "the row")?;
    }
    weft.barrier()
}

fn handlers(weft: &Weft) -> weft::Result<()> {
    let ended = Arc::new(AtomicU64::new(0));
    let (plain, later, beside) = (Arc::clone(&ended), Arc::clone(&ended), Arc::clone(&ended));
    let ports = [
        weft.async_port("waits", move |_| {
            let ended = Arc::clone(&later);
            async move {
                wait_once().await;
                ended.fetch_add(1, Ordering::Relaxed);
            }
        })?,
        weft.port("plain", move |_| {
            plain.fetch_add(1, Ordering::Relaxed);
        })?,
        weft.popup_port("pops", move |_| {
            beside.fetch_add(1, Ordering::Relaxed);
        })?,
    ];
    weft.barrier()?;
    if weft.rank() == 0 {
        for port in &ports {
            for _ in 0..EACH {
                port.send(1, "a message")?;
            }
        }
    } else {
        weft.poll_until(|| ended.load(Ordering::Relaxed) == 3 * EACH)?;
    }
    weft.barrier()
}

/// Waits, and is to go on at once.
fn wait_once() -> impl Future<Output = ()> {
    let mut has_waited = false;
    poll_fn(move |context| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

fn order(weft: &Weft) -> weft::Result<()> {
    let heard = Arc::new(AtomicU64::new(0));
    let hears = Arc::clone(&heard);
    let order = weft.order("moves", move |_| {
        hears.fetch_add(1, Ordering::Relaxed);
    })?;
    weft.barrier()?;
    for _ in 0..EACH {
        order.broadcast("a move")?;
    }
    weft.poll_until(|| heard.load(Ordering::Relaxed) == 2 * EACH)?;
    weft.barrier()
}

fn puts(weft: &Weft) -> weft::Result<()> {
    let packets = weft.packets();
    if weft.rank() == 1 {
        let mut notifications = packets.puts().notifications();
        let _buffer =
            packets.puts().offer("rows", Rank(0), BUFFER_BYTES, Rights::BOTH, &notifications)?;
        notifications.wait()?;
        return weft.barrier();
    }
    let mut rows = packets.puts().connect("rows", Rank(1))?;
    for _ in 0..EACH {
        rows.put(0, &[1; PUT_BYTES])?;
    }
    let mut read = [0; 100];
    rows.get(0, &mut read)?;
    rows.put_notify(0, &[2; PUT_BYTES], 1)?;
    weft.barrier()
}
