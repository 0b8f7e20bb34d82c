//! Upcalls that wait, in virtual time: every preset, bad networks, crashes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex as Blocking};
use std::time::Duration;
use weft::sync::{Condition, Mutex, Semaphore};
use weft::{Group, Mailbox, Message, Port, Rank, Weft};
use weft_simulator::{Faults, Options, Outcome, Preset, Report, RunEnd, Simulation};

fn options(ranks: u16, preset: Preset) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options.stack_bytes = 1 << 20;
    options
}

fn assert_success<T: std::fmt::Debug>(report: &Report<T>, what: &str) {
    assert!(report.is_success(), "{what}: {:?} {:?}", report.ended, report.outcomes);
}

fn number(message: &mut Message) -> u64 {
    let mut bytes = [0; 8];
    message.read_exact(&mut bytes).unwrap();
    u64::from_le_bytes(bytes)
}

/// The first classic deadlock: handlers need what the thread holds which they interrupt.
#[test]
fn handlers_wait_for_locks_of_the_thread_that_they_interrupt() {
    for preset in Preset::ALL {
        let simulation = Simulation::new(options(4, preset)).unwrap();
        let report = simulation.run(|weft: Weft| {
            let log: Arc<Mutex<Vec<u64>>> = Arc::default();
            let handled = Arc::clone(&log);
            let port = weft.async_port("log", move |mut message| {
                let log = Arc::clone(&handled);
                async move {
                    let mut log = log.lock().await;
                    log.push(number(&mut message));
                }
            })?;
            weft.barrier()?;
            let next = Rank((weft.rank().0 + 1) % 4);
            let mut held = weft.block_on(log.lock())?;
            for n in 0..20u64 {
                port.send(next, &n.to_le_bytes())?;
            }
            // Computes for long, with the lock; it is interrupted.
            while weft.statistics().continuations == 0 {
                weft.work(10_000);
            }
            assert!(held.is_empty());
            held.push(100);
            drop(held);
            while log.try_lock().is_none_or(|log| log.len() < 21) {
                weft.work(1000);
                weft.poll()?;
            }
            let log = weft.block_on(log.lock())?.clone();
            assert_eq!(log, std::iter::once(100).chain(0..20).collect::<Vec<_>>());
            weft.barrier()
        });
        assert_success(&report, &preset.to_string());
        assert!(report.statistics.iter().any(|rank| rank.interrupts > 0), "{preset:?}");
    }
}

/// The second: handlers of both ranks send more than their windows hold.
#[test]
fn handlers_wait_for_windows_in_both_directions() {
    for preset in Preset::ALL {
        let report = Simulation::new(options(2, preset)).unwrap().run(|weft: Weft| {
            let answers = Arc::new(weft.mailbox("answers")?);
            let reply = Arc::clone(&answers);
            let ask = weft.async_port("ask", move |mut message| {
                let reply = Arc::clone(&reply);
                async move {
                    let bytes = message.bytes().await.unwrap();
                    for _ in 0..150 {
                        reply.send_async(message.source(), &bytes).await.unwrap();
                    }
                }
            })?;
            let other = Rank(1 - weft.rank().0);
            for n in 0..20u64 {
                ask.send(other, &n.to_le_bytes())?;
            }
            while weft.statistics().stalls == 0 {
                weft.poll()?;
                weft.work(100);
            }
            weft.barrier()?;
            for n in 0..3000 {
                assert_eq!(number(&mut answers.receive()?), n / 150);
            }
            assert_eq!(weft.statistics().overdrafts, 0);
            weft.barrier()
        });
        assert_success(&report, &preset.to_string());
    }
}

#[test]
fn time_limits_and_timers_are_exact() {
    let report = Simulation::new(options(2, Preset::NrxImc)).unwrap().run(|weft: Weft| {
        let nothing = Arc::new(weft.mailbox("nothing")?);
        let ms = Duration::from_millis;
        let before = weft.now();
        assert!(nothing.receive_within(ms(3))?.is_none());
        let waited = weft.now() - before;
        assert!((ms(3)..ms(3) + Duration::from_micros(20)).contains(&waited), "{waited:?}");
        // Timers go off in order, whatever the order of their making, and between other things.
        let order: Arc<Blocking<Vec<u64>>> = Arc::default();
        for n in [5, 1, 4, 2, 3] {
            let (sleep, order) = (weft.sleep(ms(n)), Arc::clone(&order));
            weft.spawn(async move {
                sleep.await;
                order.lock().unwrap().push(n);
            });
        }
        assert!(nothing.receive_within(ms(6))?.is_none());
        assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4, 5]);
        // What did not end in time is dropped, and what it holds with it.
        let semaphore = Semaphore::new(1);
        let limited = weft.block_on(weft.within(ms(1), async {
            let _permit = semaphore.acquire().await;
            nothing.receive_async().await
        }))?;
        assert!(limited.is_err());
        assert!(semaphore.try_acquire().is_some(), "the permit was kept");
        weft.barrier()
    });
    assert_success(&report, "timers");
}

/// Messages that a slow reader stores keep their sender's window, until they are read, skipped or
/// dropped.
#[test]
fn stored_messages_keep_their_share_of_the_window() {
    let report = Simulation::new(options(3, Preset::NrxImc)).unwrap().run(|weft: Weft| {
        let stored: Arc<Blocking<Vec<Message>>> = Arc::default();
        let store = Arc::clone(&stored);
        let port = weft.port("stored", move |message| store.lock().unwrap().push(message))?;
        let free = weft.mailbox("free")?;
        weft.barrier()?;
        if weft.rank() == 0 {
            drop(free.receive()?);
            let stalled_at = stored.lock().unwrap().len();
            drop(free.receive()?);
            assert_eq!(stored.lock().unwrap().len(), stalled_at, "there was no room");
            while !stored.lock().unwrap().is_empty() {
                let messages: Vec<_> = stored.lock().unwrap().drain(..).collect();
                for (index, mut message) in messages.into_iter().enumerate() {
                    match index % 3 {
                        0 => drop(message),
                        1 => message.skip(8)?,
                        _ => drop(message.read_to_vec()?),
                    }
                }
                free.receive_within(Duration::from_millis(20))?;
            }
        } else if weft.rank() == 1 {
            // Another task of the same rank goes on, at another port.
            let weft = weft.clone();
            let tells = Arc::new(free);
            let told = Arc::clone(&tells);
            let late = weft.clone();
            weft.clone().spawn(async move {
                late.sleep(Duration::from_millis(50)).await;
                assert!(late.statistics().stalls > 0);
                told.send_async(0, "").await.unwrap();
                late.sleep(Duration::from_millis(50)).await;
                told.send_async(0, "").await.unwrap();
            });
            for n in 0..5000u64 {
                port.send(0, &n.to_le_bytes())?;
            }
        }
        weft.barrier()
    });
    assert_success(&report, "stored");
}

/// The slowest member stalls a multicast at its port; everything else goes on.
#[test]
fn a_multicast_waits_for_its_slowest_member() {
    let report = Simulation::new(options(3, Preset::NrxHmc)).unwrap().run(|weft: Weft| {
        let full = weft.mailbox("full")?;
        let (open, done) = (weft.mailbox("open")?, weft.mailbox("done")?);
        let messages = 3000;
        weft.barrier()?;
        if weft.rank() == 0 {
            let task = weft.clone();
            let others = Arc::new(open);
            let stalled = Arc::clone(&others);
            weft.spawn(async move {
                task.sleep(Duration::from_millis(100)).await;
                assert_eq!(task.statistics().stalls, 1);
                // To both, while the other port is full; and the slow one goes on with it.
                stalled.multicast_async(Group::ALL, "go on").await.unwrap();
            });
            (0..messages).try_for_each(|n: u64| full.broadcast(&n.to_le_bytes()))?;
            drop(done.receive()?);
            return weft.barrier();
        }
        if weft.rank() == 2 {
            drop(open.receive()?);
        }
        for n in 0..messages {
            assert_eq!(number(&mut full.receive()?), n);
        }
        if weft.rank() == 1 {
            drop(open.receive()?);
            done.send(0, "")?;
        }
        weft.barrier()
    });
    assert_success(&report, "multicast");
}

#[test]
fn survivors_hear_of_a_crash_in_whatever_they_wait_for() {
    for preset in Preset::ALL {
        let mut options = options(4, preset);
        let crash = Duration::from_millis(5);
        options.faults = Faults { crashes: vec![(Rank(1), crash)], ..Faults::default() };
        let report = Simulation::new(options).unwrap().run(|weft: Weft| {
            let (nothing, lock) = (weft.mailbox("nothing")?, Mutex::new(()));
            let filled = Condition::new();
            match weft.rank().0 {
                0 => drop(nothing.receive()?),
                2 => {
                    let _held = lock.try_lock();
                    drop(weft.block_on(lock.lock())?);
                }
                3 => {
                    let wait = async { drop(filled.wait(lock.lock().await).await) };
                    weft.block_on(wait)?;
                }
                _ => loop {
                    weft.work(1000);
                    weft.poll()?;
                },
            }
            weft::Result::Ok(())
        });
        for rank in [0, 2, 3] {
            let Outcome::Victim(what) = &report.outcomes[rank] else {
                panic!("{preset:?} {:?}", report.outcomes)
            };
            assert!(what.starts_with("rank 1 was killed"), "{what}");
        }
    }
}

/// A random program: what one rank sends, to whom, on which port, how much.
#[derive(Clone, Copy)]
struct Plan {
    ranks: u16,
    seed: u64,
    messages: u64,
}

const PORTS: [&str; 5] = ["plain", "async", "concurrent", "popup", "mailbox"];

/// Random numbers that all ranks can draw alike.
fn draw(words: [u64; 4]) -> u64 {
    words.into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, word| {
        let mixed = (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 29)
    })
}

impl Plan {
    /// The receiver, port and length of message `n` of `from`; no receiver is all.
    fn message(self, from: Rank, n: u64) -> (Option<Rank>, usize, usize) {
        let draw = |what| draw([self.seed, u64::from(from.0), n, what]);
        let to = draw(0) % (u64::from(self.ranks) + 1);
        let longest = [64, 4000, 40_000, 200_000][(draw(1) % 16).saturating_sub(12) as usize];
        let length = 8 + (draw(2) % longest) as usize;
        let to = (to < u64::from(self.ranks)).then_some(Rank(to as u16));
        (to, (draw(3) % PORTS.len() as u64) as usize, length)
    }

    /// Messages that must arrive at `me`: for each port, by sender, in order.
    fn expected(self, me: Rank) -> Log {
        let mut log = Log::new();
        for from in (0..self.ranks).map(Rank) {
            for n in 0..self.messages {
                let (to, port, length) = self.message(from, n);
                if to.map_or(from != me, |to| to == me) {
                    let key = (port, from, to.is_none());
                    log.entry(key).or_default().push((n, length));
                }
            }
        }
        log
    }
}

/// By port, sender, and whether it was multicast: unicast and multicast messages are in two orders.
type Log = BTreeMap<(usize, Rank, bool), Vec<(u64, usize)>>;

fn body(n: u64, length: usize) -> Vec<u8> {
    n.to_le_bytes().into_iter().chain((8..length).map(|i| (i as u64 * 7 + n) as u8)).collect()
}

/// Notes a message as received, if it is what its number says.
fn note(log: &Blocking<Log>, port: usize, message: &Message, bytes: &[u8]) {
    let key = (port, message.source(), message.group().is_some());
    let n = u64::from_le_bytes(*bytes.first_chunk().unwrap());
    assert_eq!(bytes, body(n, bytes.len()));
    log.lock().unwrap().entry(key).or_default().push((n, bytes.len()));
}

/// Ports of all kinds, each noting what it gets, with waits in between.
fn ports(weft: &Weft, plan: Plan, log: &Arc<Blocking<Log>>) -> weft::Result<Vec<Arc<Port>>> {
    let plain = Arc::clone(log);
    let popup = Arc::clone(log);
    let lock = Arc::new(Mutex::new(()));
    let asynchronous = |port: usize| {
        let (log, lock) = (Arc::clone(log), Arc::clone(&lock));
        move |mut message: Message| {
            let (log, lock) = (Arc::clone(&log), Arc::clone(&lock));
            async move {
                let from = message.source();
                let bytes = message.bytes().await.unwrap();
                let n = u64::from_le_bytes(*bytes.first_chunk().unwrap());
                if draw([plan.seed, n, u64::from(from.0), 9]).is_multiple_of(2) {
                    let _held = lock.lock().await;
                    let mut polls = 0;
                    std::future::poll_fn(|context| {
                        polls += 1;
                        context.waker().wake_by_ref();
                        match polls > n % 4 {
                            true => std::task::Poll::Ready(()),
                            false => std::task::Poll::Pending,
                        }
                    })
                    .await;
                }
                note(&log, port, &message, &bytes);
            }
        }
    };
    Ok(vec![
        Arc::new(weft.port(PORTS[0], move |mut message| {
            let bytes = message.read_to_vec().unwrap();
            note(&plain, 0, &message, &bytes);
        })?),
        Arc::new(weft.async_port(PORTS[1], asynchronous(1))?),
        Arc::new(weft.concurrent_port(PORTS[2], asynchronous(2))?),
        Arc::new(weft.popup_port(PORTS[3], move |mut message| {
            let bytes = message.read_to_vec().unwrap();
            note(&popup, 3, &message, &bytes);
        })?),
    ])
}

fn random_program(weft: &Weft, plan: Plan) -> weft::Result<()> {
    let log: Arc<Blocking<Log>> = Arc::default();
    let ports = ports(weft, plan, &log)?;
    let mailbox: Mailbox = weft.mailbox(PORTS[4])?;
    weft.barrier()?;
    let (me, noted) = (weft.rank(), Arc::clone(&log));
    let take = |mut message: Message| -> weft::Result<()> {
        let bytes = message.read_to_vec()?;
        note(&noted, 4, &message, &bytes);
        Ok(())
    };
    for n in 0..plan.messages {
        let (to, port, length) = plan.message(me, n);
        let bytes = body(n, length);
        let port: &Port = if port == 4 { &mailbox } else { &ports[port] };
        let asynchronous = draw([plan.seed, u64::from(me.0), n, 5]).is_multiple_of(2);
        match (to, asynchronous) {
            (Some(to), true) => weft.block_on(port.send_async(to, &bytes))??,
            (Some(to), false) => port.send(to, &bytes)?,
            (None, true) => weft.block_on(port.multicast_async(Group::ALL, &bytes))??,
            (None, false) => port.broadcast(&bytes)?,
        }
        weft.work(draw([plan.seed, n, 6, 0]) % 3000);
        while let Some(message) = mailbox.try_receive()? {
            take(message)?;
        }
    }
    let mut expected = plan.expected(me);
    let total = |log: &Log| log.values().map(Vec::len).sum::<usize>();
    while total(&log.lock().unwrap()) < total(&expected) {
        if let Some(message) = mailbox.receive_within(Duration::from_millis(1))? {
            take(message)?;
        }
    }
    weft.barrier()?;
    let mut log = log.lock().unwrap();
    // Concurrent handlers give up order, and nothing else.
    for log in [&mut *log, &mut expected] {
        let unordered = log.iter_mut().filter(|((port, ..), _)| *port == 2);
        unordered.for_each(|(_, messages)| messages.sort_unstable());
    }
    assert_eq!(*log, expected);
    Ok(())
}

#[test]
fn random_programs_agree_with_the_model() {
    for seed in 0..24 {
        let preset = Preset::ALL[seed as usize % Preset::ALL.len()];
        let plan = Plan { ranks: 2 + (seed % 4) as u16, seed, messages: 60 };
        let mut options = options(plan.ranks, preset);
        options.seed = seed;
        if preset.retransmits() {
            options.faults = Faults {
                loss: 0.02,
                duplication: 0.02,
                reordering: 0.02,
                held_back: Duration::from_micros(200),
                ..Faults::default()
            };
        }
        let run = move |weft: Weft| random_program(&weft, plan);
        let report = Simulation::new(options).unwrap().run(run);
        assert_success(&report, &format!("seed {seed}, {preset}"));
    }
}

#[test]
fn random_programs_that_lose_a_rank_end() {
    for seed in 0..12 {
        let preset = Preset::ALL[seed as usize % Preset::ALL.len()];
        let plan = Plan { ranks: 4, seed, messages: 200 };
        let mut options = options(plan.ranks, preset);
        let crash = Duration::from_micros(500 + 700 * (seed % 12));
        options.faults = Faults { crashes: vec![(Rank(2), crash)], ..Faults::default() };
        let run = move |weft: Weft| random_program(&weft, plan);
        let report = Simulation::new(options).unwrap().run(run);
        assert_eq!(report.ended, RunEnd::Finished, "seed {seed} {:?}", report.outcomes);
        for rank in [0, 1, 3] {
            let outcome = &report.outcomes[rank];
            assert!(matches!(outcome, Outcome::Victim(_)), "seed {seed}: {outcome:?}");
        }
    }
}

/// Interrupts at once, whether or not the host may be interrupted, and time goes on.
#[test]
fn an_interrupt_delay_of_0_ends() {
    for preset in Preset::ALL {
        let mut options = options(2, preset);
        options.interrupt_delay = Some(Duration::ZERO);
        let report = Simulation::new(options).unwrap().run(|weft: Weft| {
            let heard = Arc::new(Blocking::new(0));
            let hears = Arc::clone(&heard);
            let port = weft.port("port", move |mut message| {
                *hears.lock().unwrap() += number(&mut message);
            })?;
            weft.barrier()?;
            if weft.rank() == 0 {
                for _ in 0..10 {
                    port.send(Rank(1), &1_u64.to_le_bytes())?;
                }
            }
            // Nobody polls: what arrives interrupts.
            while weft.rank() == 1 && *heard.lock().unwrap() < 10 {
                weft.work(1000);
            }
            weft.barrier()
        });
        assert_success(&report, &preset.to_string());
        assert!(report.statistics[1].interrupts > 0, "{preset}");
    }
}
