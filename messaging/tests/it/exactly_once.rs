//! Many messages through a bad network: each arrives once, in order and unchanged. `WEFT_MESSAGES`
//! says how many, and has progress shown; `WEFT_SEED` fixes what the network does.

use crate::common::{Member, run};
use std::time::{Duration, Instant};
use weft_endpoint::Rank;
use weft_protocol::Preset;
use weft_threads::{Between, Job, Weather};

/// Messages of `make test`; `make soak` sends ten million.
const MESSAGES: u64 = 50_000;
/// Messages that a rank sends before it takes as many.
const BATCH: u64 = 200;
/// The chance of each fault.
const CHANCE: f64 = 0.01;
/// The seed unless another is given.
const SEED: u64 = 41;

fn bytes(from: u64, number: u64) -> ([u8; 80], usize) {
    let mut bytes = [(number * 31 + from) as u8; 80];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    (bytes, 8 + (number % 73) as usize)
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

/// Says how far it is, every ten seconds.
struct Progress {
    messages: u64,
    start: Instant,
    said: u64,
}

impl Progress {
    fn show(&mut self, taken: u64) {
        let seconds = self.start.elapsed().as_secs();
        if seconds / 10 > self.said {
            self.said = seconds / 10;
            eprintln!("{} of {} messages after {seconds} s", 2 * taken, self.messages);
        }
    }
}

/// Sends half of all messages to the other rank, and takes the other half.
fn exchange(member: &Member, messages: u64) {
    let mailbox = member.mailbox("numbers");
    let me = member.rank() as u64;
    let (mut sent, mut taken) = (0, 0);
    let mut progress = Progress { messages, start: Instant::now(), said: 0 };
    while taken < messages / 2 {
        for number in sent..(sent + BATCH).min(messages / 2) {
            let (bytes, size) = bytes(me, number);
            mailbox.send(Rank(1 - me as u16), &bytes[..size]).unwrap();
        }
        sent = (sent + BATCH).min(messages / 2);
        while taken < sent {
            let (bytes, size) = bytes(1 - me, taken);
            let message = mailbox.receive().unwrap().read_to_vec().unwrap();
            assert_eq!(message, bytes[..size], "message {taken} of rank {}", 1 - me);
            taken += 1;
        }
        if me == 0 {
            progress.show(taken);
        }
    }
    // One more than was sent would be here by now, or come with the barrier at the end.
    assert!(mailbox.try_receive().unwrap().is_none(), "more came than was sent");
}

/// Sends that many messages in that weather; nothing in it may fail.
fn through(weather: Weather, messages: u64) {
    let limit = Duration::from_secs(120 + messages / 2000);
    let interrupt_delay = Some(Duration::from_micros(50));
    let job = Job::over_udp(2, Preset::Pupa);
    run(Job { between: Between::Udp(weather), interrupt_delay, limit, ..job }, |member| {
        exchange(member, messages);
        let counters = member.engine.packets().statistics().protocol;
        let harmless = weather.loss + weather.reordering + weather.corruption == 0.0;
        assert!(harmless || counters.retransmissions > 0, "the weather was fair");
    });
}

fn seed() -> u64 {
    variable("WEFT_SEED").unwrap_or(SEED)
}

#[test]
fn with_all_faults_every_message_arrives_once_and_in_order() {
    let asked = variable("WEFT_MESSAGES");
    if asked.is_some() {
        eprintln!("WEFT_SEED={}", seed());
    }
    through(Weather::bad(seed(), CHANCE), asked.unwrap_or(MESSAGES));
}

/// Each fault by itself.
fn with(fault: fn(&mut Weather) -> &mut f64) {
    let mut weather = Weather { seed: seed(), ..Weather::default() };
    *fault(&mut weather) = CHANCE;
    through(weather, MESSAGES);
}

#[test]
fn with_loss() {
    with(|weather| &mut weather.loss);
}

#[test]
fn with_duplication() {
    with(|weather| &mut weather.duplication);
}

#[test]
fn with_reordering() {
    with(|weather| &mut weather.reordering);
}

#[test]
fn with_corruption() {
    with(|weather| &mut weather.corruption);
}
