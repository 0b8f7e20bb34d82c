//! Ranks for the tests of losses: each does one of the things that ranks do when another dies.
//! Given the word `payload`, each says what its packets hold, and ends; given `end` all return at
//! once, given `fail` one of them exits with 3, given `misspelt` one sends to a port that nobody
//! has, and given `even` those with even numbers return, while ranks 1 and 3 talk on; given
//! `checked` all send messages and check what they get, given `collect` they have collective
//! operations for ever; given `stopped`, rank 1 of two stops itself, and rank 0 leaves.

#![forbid(unsafe_code)]

#[path = "checked.rs"]
mod checked;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, getpid, kill_process};
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
    weft::run(|weft| {
        println!("rank {} is process {}", weft.rank(), std::process::id());
        match std::env::args().nth(1).as_deref() {
            Some("end") => return weft.barrier(),
            Some("checked") => return checked::run(&weft),
            Some("misspelt") => return send_to_a_misspelt_port(&weft),
            Some("collect") => return collect(&weft),
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
        if let Err(error) = &ended {
            println!("rank {} heard: {error}", weft.rank());
        }
        ended
    })
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
    println!("packets of rank {} hold {} bytes", packets.rank(), packets.max_payload());
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
    job.leave_beside_others(std::time::Duration::from_millis(100))?;
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

/// Never calls Weft again.
fn compute() -> weft::Result<()> {
    loop {
        std::hint::spin_loop();
    }
}
