//! Ranks for the tests of losses: each does one of the things that ranks do when another dies.
//! Given the word `payload`, each says what its packets hold, and ends; given `end` all return at
//! once, given `fail` one of them exits with 3, given `misspelt` one sends to a port that nobody
//! has, and given `even` those with even numbers return, while ranks 1 and 3 talk on; given
//! `checked` all send messages and check what they get, given `collect` they have collective
//! operations for ever, given `put` they put and get for ever, given `get` they get once; given
//! `greedy` rank 1 asks for more memory than there is, given `grow` for much; given `stopped`, rank
//! 1 of two stops itself, and rank 0 leaves; given `met` they say so once all have met; given
//! `busy` two ranks do each kind of thing that a trace tells of, a known number of times; given
//! `late` rank 1 waits for rank 0, which computes, some times; given `steps` it does so for ever;
//! given `exchange` each sends its number to some others, given `sit` all wait for ever, and given
//! `goes-on` they ask that the job go on, and rank 1 kills itself.

#![forbid(unsafe_code)]

mod busy;
mod checked;
mod exchange;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use weft::Rights;
use weft::prelude::*;

fn main() -> ExitCode {
    let at_packets: Option<fn() -> weft::Result<()>> = match std::env::args().nth(1).as_deref() {
        Some("payload") => Some(show_payload),
        Some("even") => Some(talk_on),
        Some("stopped") => Some(leave_one_that_is_stopped),
        _ => None,
    };
    if let Some(part) = at_packets {
        return match part() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        };
    }
    if std::env::args().nth(1).as_deref() == Some("goes-on") {
        return weft::run_for(weft::OnLoss::Continue, go_on);
    }
    weft::run(|weft| {
        println!("rank {} is process {}", weft.rank(), std::process::id());
        match std::env::args().nth(1).as_deref() {
            Some("end") => return weft.barrier(),
            Some("met") => {
                weft.barrier()?;
                println!("rank {} has met all: process {}", weft.rank(), std::process::id());
            }
            Some("exchange") => return exchange::run(&weft),
            Some("sit") => return exchange::sit(&weft),
            Some("busy") => return busy::run(&weft),
            Some("steps") => return tell(&weft, take_steps(&weft)),
            Some("late") => return busy::be_late(&weft),
            Some("checked") => return checked::run(&weft, checked::LONGEST),
            // Messages that fit a datagram.
            Some("checked-short") => return checked::run(&weft, 1300),
            Some("misspelt") => return send_to_a_misspelt_port(&weft),
            Some("collect") => return tell(&weft, collect(&weft)),
            Some("put") => return tell(&weft, put(&weft)),
            Some("get") => return get(&weft),
            Some("greedy") => return allocate(&weft, isize::MAX as usize),
            Some("grow") => return allocate(&weft, 1 << 30),
            Some("fail") => {
                weft.barrier()?;
                if weft.rank() == 1 {
                    std::process::exit(3);
                }
            }
            _ => {}
        }
        let mailbox = weft.mailbox("chat")?;
        let ended = match weft.rank().0 % 4 {
            0 | 1 => chat(&weft, &mailbox),
            2 => weft.mailbox("silence")?.receive().map(drop).map_err(weft::Error::from),
            _ => compute(),
        };
        tell(&weft, ended)
    })
}

/// Rank 1 kills itself, and the others go on without it.
fn go_on(weft: Weft) -> weft::Result<()> {
    assert!(weft.goes_on(), "the program has asked for it");
    if weft.rank() == 1 {
        // It cannot fail, and there is no way back.
        let _ = kill_process(getpid(), Signal::KILL);
    }
    let all = weft.everyone();
    while all.barrier().is_ok() {}
    let rest = all.shrink()?;
    rest.barrier()?;
    println!("rank {} went on with {} of {}", weft.rank(), rest.size(), weft.size());
    Ok(())
}

/// Says what a rank has heard, and when by the clock that all processes of a machine share.
fn tell(weft: &Weft, ended: weft::Result<()>) -> weft::Result<()> {
    let now = Duration::try_from(clock_gettime(ClockId::Monotonic)).unwrap_or_default();
    if let Err(error) = &ended {
        println!("rank {} heard: {error}, at {} ns", weft.rank(), now.as_nanos());
    }
    ended
}

/// Again and again rank 0 computes for a while, and sends rank 1 a message, which waits for it.
fn take_steps(weft: &Weft) -> weft::Result<()> {
    const STEP: Duration = Duration::from_millis(20);
    let mailbox = weft.mailbox("steps")?;
    weft.barrier()?;
    println!("rank {} has met all", weft.rank());
    loop {
        if weft.rank() == 1 {
            mailbox.receive()?;
            continue;
        }
        let begun = std::time::Instant::now();
        while begun.elapsed() < STEP {
            std::hint::spin_loop();
        }
        mailbox.send(1, "a step")?;
    }
}

/// Each rank spells the name of the port in its own way, and the first sends one message.
fn send_to_a_misspelt_port(weft: &Weft) -> weft::Result<()> {
    let mailbox = weft.mailbox(&format!("mail of rank {}", weft.rank()))?;
    if weft.rank() == 0 {
        mailbox.send(1, "hello")?;
    }
    weft.barrier()
}

fn show_payload() -> weft::Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets();
    // Longer ones may go over TCP.
    println!("packets of rank {} hold {} bytes", packets.rank(), packets.multicast_payload());
    job.leave()
}

/// Ranks 1 and 3 send packets to and fro for ever, and say so; the others need not wait for them.
fn talk_on() -> weft::Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets();
    let heard = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&heard);
    packets.on_packet(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    println!("rank {} is process {}", packets.rank(), std::process::id());
    let other = match packets.rank() {
        Rank(1) => Rank(3),
        Rank(3) => Rank(1),
        _ => return job.leave(),
    };
    for turn in 1.. {
        packets.packet()?.unicast(other)?;
        packets.poll_until(|| heard.load(Ordering::Relaxed) >= turn)?;
        println!("rank {} chats", packets.rank());
    }
    Ok(())
}

/// Rank 0 leaves with packets for rank 1, which is stopped until then.
fn leave_one_that_is_stopped() -> weft::Result<()> {
    let job = weft::join_packets()?;
    let packets = job.packets().clone();
    let other = Arc::new(AtomicU64::new(0));
    let heard = Arc::clone(&other);
    packets.on_packet(move |packet| {
        let mut process = [0; 8];
        process.copy_from_slice(&packet[..8]);
        heard.store(u64::from_le_bytes(process), Ordering::Relaxed);
    });
    if packets.rank() == 1 {
        let mut packet = packets.packet()?;
        packet.put(&u64::from(std::process::id()).to_le_bytes())?;
        packet.unicast(Rank(0))?;
        packets.flush()?;
        kill_process(getpid(), Signal::STOP).expect("a process can stop itself");
        println!("rank 1 goes on");
        return Ok(());
    }
    packets.poll_until(|| other.load(Ordering::Relaxed) > 0)?;
    let process = other.load(Ordering::Relaxed) as i32;
    let stat = || std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    while !stat().contains(") T ") {
        std::thread::yield_now();
    }
    packets.packet()?.unicast(Rank(1))?;
    job.leave_beside_others(Duration::from_millis(100))?;
    println!("rank 0 has left");
    let process = Pid::from_raw(process).expect("a process");
    kill_process(process, Signal::CONT).expect("it is there");
    Ok(())
}

/// Broadcasts for ever and reads what others broadcast; says now and then how far it is.
fn chat(weft: &Weft, mailbox: &Mailbox) -> weft::Result<()> {
    for number in 0u64.. {
        mailbox.broadcast(&vec![1; 1 + number as usize * 997 % 30_000])?;
        while let Some(message) = mailbox.try_receive()? {
            drop(message);
        }
        if number.is_multiple_of(16) {
            println!("rank {} chats", weft.rank());
        }
    }
    Ok(())
}

/// One collective operation after the other, for ever.
fn collect(weft: &Weft) -> weft::Result<()> {
    for number in 0u64.. {
        weft.all_reduce(&mut [number; 8], |one: &mut u64, other: &u64| *one += other)?;
        weft.barrier()?;
    }
    Ok(())
}

/// Puts bytes into a buffer of the next rank, some of them by a copy into its memory, reads them
/// there, and waits until the last rank has put as many here, for ever.
fn put(weft: &Weft) -> weft::Result<()> {
    const BYTES: usize = 64 << 10;
    let (rank, ranks, packets) = (weft.rank().0, weft.size() as u16, weft.packets());
    let [last, next] = [ranks - 1, 1].map(|step| Rank((rank + step) % ranks));
    let mut notifications = packets.puts().notifications();
    let _buffer = packets.puts().offer("ring", last, BYTES, Rights::BOTH, &notifications)?;
    let mut ring = packets.puts().connect("ring", next)?;
    let mut read = [0; 100];
    for number in 0.. {
        let bytes = vec![1; 1 + number as usize * 997 % BYTES];
        ring.put_notify(BYTES - bytes.len(), &bytes, number)?;
        ring.get(BYTES - read.len(), &mut read)?;
        notifications.wait()?;
    }
    Ok(())
}

/// Gets all of a buffer of each other rank, which is longer than any packet, and compares it.
fn get(weft: &Weft) -> weft::Result<()> {
    const BYTES: usize = 200_000;
    let (own, packets) = (weft.rank(), weft.packets());
    let notifications = packets.puts().notifications();
    let others = || (0..weft.size() as u16).map(Rank).filter(|rank| *rank != own);
    let content = |of: Rank, to: Rank| {
        let byte = move |at: usize| (at / 7 + 31 * of.index() + 97 * to.index()) as u8;
        (0..BYTES).map(byte).collect::<Vec<_>>()
    };
    let mut buffers = Vec::new();
    for to in others() {
        let buffer = packets.puts().offer("all", to, BYTES, Rights::BOTH, &notifications)?;
        buffer.write(0, &content(own, to))?;
        buffers.push(buffer);
    }
    weft.barrier()?;
    for of in others() {
        let (mut all, mut read) = (packets.puts().connect("all", of)?, vec![0; BYTES]);
        all.get(0, &mut read)?;
        assert!(read == content(of, own), "rank {own} has got other bytes of rank {of}");
    }
    println!("rank {own} has got all");
    weft.barrier()
}

/// Rank 1 fills so much memory, while the others wait for it.
fn allocate(weft: &Weft, bytes: usize) -> weft::Result<()> {
    if weft.rank() == 1 {
        std::hint::black_box(vec![1u8; bytes]);
    }
    weft.barrier()
}

/// Never calls Weft again.
fn compute() -> weft::Result<()> {
    loop {
        std::hint::spin_loop();
    }
}
