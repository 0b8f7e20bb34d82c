//! Programs of this repository and of users, on simulated ranks, unchanged.

use clap::Parser;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use weft::{Rank, Weft};
use weft_app_common::RegionRank;
use weft_simulator::{
    Faults, FrameEvent, Happened, Observer, Options, Outcome, Preset, Report, RunEnd, Simulation,
};

fn options(ranks: u16, preset: Preset) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options
}

fn assert_success<T: std::fmt::Debug>(report: &Report<T>) {
    assert!(report.is_success(), "{:?} {:?}", report.ended, report.outcomes);
}

fn asp(ranks: u16, preset: Preset) {
    let mut options = options(ranks, preset);
    options.stack_bytes = 1 << 20;
    let asp = weft_asp::Options::parse_from(["asp", "--sample", "120", "--to", "SYD"]);
    assert_success(&Simulation::new(options).unwrap().run(move |weft| weft_asp::run(&weft, &asp)));
}

fn sor(ranks: u16, preset: Preset) {
    let mut options = options(ranks, preset);
    options.stack_bytes = 1 << 20;
    let arguments = ["sor", "--rows", "80", "--columns", "40", "--iterations", "5"];
    let sor = weft_apps::sor::Options::parse_from(arguments);
    assert_success(
        &Simulation::new(options).unwrap().run(move |weft| weft_apps::sor::run(&weft, &sor)),
    );
}

fn qr(ranks: u16, preset: Preset) {
    let mut options = options(ranks, preset);
    options.stack_bytes = 1 << 20;
    let qr = weft_apps::qr::Options::parse_from(["qr", "24", "--rows", "40"]);
    assert_success(
        &Simulation::new(options).unwrap().run(move |weft| weft_apps::qr::run(&weft, &qr)),
    );
}

#[test]
fn asp_finds_the_right_distances() {
    for preset in Preset::CAREFUL {
        asp(16, preset);
        asp(64, preset);
    }
    asp(16, Preset::IrxImc);
}

#[test]
fn sor_computes_the_same_bits() {
    for preset in Preset::CAREFUL {
        sor(16, preset);
        sor(64, preset);
    }
    sor(16, Preset::HrxHmc);
}

#[test]
fn qr_finds_factors_of_its_matrix() {
    for preset in Preset::ALL {
        qr(5, preset);
    }
    qr(64, Preset::NrxImc);
}

/// Runs a program on shared regions, which checks its result.
fn on_regions<O: Parser + 'static, E>(
    (ranks, preset): (u16, Preset),
    program: fn(&RegionRank, &O) -> Result<(), E>,
    words: &str,
) where
    E: std::fmt::Display + From<weft_region::Error> + 'static,
{
    let arguments = O::parse_from(words.split_whitespace());
    let simulation = Simulation::new(options(ranks, preset)).unwrap();
    let report = simulation.run_packets(move |packets| {
        RegionRank::run(&packets, |shared| program(shared, &arguments))
    });
    assert!(report.is_success(), "{words}, {preset}: {:?} {:?}", report.ended, report.outcomes);
}

#[test]
fn programs_on_regions_compute_what_one_rank_does() {
    for job in [(16, Preset::NrxImc), (5, Preset::IrxHmc), (64, Preset::HrxImc)] {
        on_regions(job, weft_apps::fft::run, "fft --points 4096 --verify");
        on_regions(job, weft_apps::radix::run, "radix --keys 5000 --radix 32 --bits 15 --verify");
        on_regions(job, weft_apps::lu::run, "lu --order 96 --block 8 --verify --prefetch");
    }
}

#[test]
fn a_thousand_ranks_meet_at_a_barrier() {
    let mut options = options(1000, Preset::NrxImc);
    options.stack_bytes = 64 << 10;
    let report = Simulation::new(options).unwrap().run(|weft| {
        weft.barrier()?;
        weft.barrier()
    });
    assert_success(&report);
    assert_eq!(report.outcomes.len(), 1000);
}

#[test]
fn errors_and_panics_are_outcomes_and_the_others_are_told() {
    let report = Simulation::new(options(4, Preset::NrxImc)).unwrap().run(|weft: Weft| {
        if weft.rank() == 2 {
            std::panic::resume_unwind(Box::new("rank 2 has had enough"));
        }
        weft.barrier()
    });
    assert_eq!(report.ended, RunEnd::Finished);
    assert_eq!(report.outcomes[2], Outcome::Panicked("rank 2 has had enough".into()));
    for rank in [0, 1, 3] {
        let Outcome::Victim(what) = &report.outcomes[rank] else { panic!("{:?}", report.outcomes) };
        assert!(what.contains("rank 2 exited with status 101"), "{what}");
    }
}

/// The message may have come when its receiver leaves or not, and goes to one rank or to all.
#[test]
fn a_message_to_a_port_that_nobody_made_is_always_told() {
    for preset in Preset::ALL {
        for (seed, to_all) in (0..20).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mut options = options(3, preset);
            options.seed = seed;
            let report = Simulation::new(options).unwrap().run(move |weft: Weft| {
                let mailbox = weft.mailbox(&format!("mail of rank {}", weft.rank()))?;
                weft.work(10_000 * (seed % 4) * u64::from(weft.rank().0));
                match (weft.rank().0, to_all) {
                    (0, true) => mailbox.broadcast("hello"),
                    (0, false) => mailbox.send(2, "hello"),
                    _ => Ok(()),
                }?;
                if seed % 2 == 0 { weft.barrier() } else { Ok(()) }
            });
            let Outcome::Failed(what) = &report.outcomes[2] else { panic!("{preset}: {report:?}") };
            assert!(what.contains("rank 0 sent 1 message to a port"), "{what}");
        }
    }
}

#[test]
fn a_crash_is_known_to_the_survivors_after_a_tenth_of_a_second() {
    let crash = Duration::from_millis(3);
    let mut options = options(4, Preset::NrxImc);
    options.faults = Faults { crashes: vec![(Rank(1), crash)], ..Faults::default() };
    let simulation = Simulation::new(options).unwrap();
    let report = simulation.run_joined(|weft| {
        let outcome = loop {
            weft.work(1000);
            if let Err(error) = weft.barrier() {
                break error.to_string();
            }
        };
        Err::<(), _>(format!("{outcome} at {} ms", weft.now().as_millis()))
    });
    assert_eq!(report.outcomes[1], Outcome::Crashed);
    assert_eq!(report.injected.crashes, 1);
    for rank in [0, 2, 3] {
        let Outcome::Victim(what) = &report.outcomes[rank] else { panic!("{:?}", report.outcomes) };
        assert!(what.starts_with("rank 1 was killed") && what.ends_with("at 103 ms"), "{what}");
    }
}

#[test]
fn who_waits_for_ever_is_named() {
    let report = Simulation::new(options(3, Preset::NrxImc)).unwrap().run(|weft: Weft| {
        let mailbox = weft.mailbox("never")?;
        match weft.rank().0 {
            1 => drop(mailbox.receive()?),
            _ => weft.barrier()?,
        }
        weft::Result::Ok(())
    });
    let RunEnd::Stuck(stuck) = &report.ended else { panic!("{:?}", report.ended) };
    assert_eq!(stuck.iter().map(|stuck| stuck.rank.0).collect::<Vec<_>>(), [0, 1, 2]);
    assert!(stuck.iter().all(|stuck| stuck.what == "waits for a packet"), "{stuck:?}");
    assert_eq!(report.outcomes, vec![Outcome::Unfinished; 3]);
}

#[test]
fn ranks_that_only_poll_are_stuck_too() {
    let mut options = options(2, Preset::NrxImc);
    options.machine.host.poll_ns = 1_000_000;
    let report = Simulation::new(options).unwrap().run_packets(|packets| {
        loop {
            packets.poll()?;
            if packets.size() == 0 {
                return weft::Result::Ok(());
            }
        }
    });
    let RunEnd::Stuck(stuck) = &report.ended else { panic!("{:?}", report.ended) };
    assert!(stuck.iter().all(|stuck| stuck.what == "looks for packets again and again"));
}

/// Says when it is dropped, and takes a while for it.
struct Witness(Arc<Mutex<u32>>, Weft);

impl Drop for Witness {
    fn drop(&mut self) {
        self.1.work(1000);
        // What a destructor may try: it must end, well or not.
        let _ = self.1.barrier();
        *self.0.lock().unwrap() += 1;
    }
}

#[test]
fn programs_that_have_to_stop_are_unwound() {
    let dropped = Arc::new(Mutex::new(0));
    let witness = Arc::clone(&dropped);
    let mut options = options(3, Preset::NrxImc);
    options.limit = Duration::from_millis(2);
    let report = Simulation::new(options).unwrap().run(move |weft: Weft| {
        let _witness = Witness(Arc::clone(&witness), weft.clone());
        let mailbox = weft.mailbox("never")?;
        loop {
            weft.work(10_000);
            match weft.rank().0 {
                0 => weft.barrier()?,
                // A program that ignores errors is stopped all the same.
                1 => drop(weft.poll()),
                _ => drop(mailbox.receive()?),
            }
            if weft.size() == 0 {
                return weft::Result::Ok(());
            }
        }
    });
    assert_eq!(report.ended, RunEnd::Limit);
    assert_eq!(report.outcomes, vec![Outcome::Unfinished; 3]);
    assert_eq!(*dropped.lock().unwrap(), 3, "destructors ran");
}

#[test]
fn an_observer_sees_what_the_nodes_count() {
    #[derive(Default)]
    struct Seen {
        transmitted: u64,
        copied: u64,
    }
    struct Counting(Arc<Mutex<Seen>>);
    impl Observer for Counting {
        fn see(&mut self, happened: &Happened) {
            let mut seen = self.0.lock().unwrap();
            let is_data = happened.frame.is_some_and(|(_, header)| header.tag.is_data());
            seen.transmitted += u64::from(is_data && happened.what == FrameEvent::Transmitted);
            seen.copied += u64::from(happened.what == FrameEvent::Copied);
        }
    }
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut options = options(8, Preset::NrxImc);
    options.observer = Some(Box::new(Counting(Arc::clone(&seen))));
    let report = Simulation::new(options).unwrap().run(|weft: Weft| {
        let mailbox = weft.mailbox("all")?;
        mailbox.broadcast(&[1; 3000][..])?;
        for _ in 1..weft.size() {
            drop(mailbox.receive()?);
        }
        weft::Result::Ok(())
    });
    assert_success(&report);
    let (seen, statistics) = (seen.lock().unwrap(), &report.statistics);
    assert_eq!(seen.transmitted, report.packets());
    let delivered: u64 = statistics.iter().map(|node| node.protocol.packets_delivered).sum();
    assert_eq!(seen.copied, delivered);
}

#[test]
fn what_cannot_be_simulated_is_refused_with_one_line() {
    let refused = |change: fn(&mut Options)| {
        let mut options = options(4, Preset::NrxImc);
        change(&mut options);
        match Simulation::new(options) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("it was accepted"),
        }
    };
    let lossy = refused(|options| options.faults.loss = 0.1);
    assert!(lossy.starts_with("the preset nrx-imc is for networks that lose nothing"), "{lossy}");
    let loss = refused(|options| options.faults.loss = -1.0);
    assert_eq!(loss, "loss is a part of all frames, from 0 to 1, and cannot be -1");
    let rank = refused(|options| options.faults.crashes = vec![(Rank(9), Duration::ZERO)]);
    assert_eq!(rank, "a crash names rank 9; the job has ranks 0 to 3");
    let window = refused(|options| options.settings.window_packets = 0);
    assert_eq!(window, "the window cannot be 0: a sender needs one credit at least");
    let stack = refused(|options| options.stack_bytes = 1000);
    assert_eq!(stack, "a stack cannot be 1000: no program fits on less than 16 KiB");
    let ranks = refused(|options| options.settings.ranks = 0);
    assert_eq!(ranks, "ranks cannot be 0: a job has 1 to 65,534");
}

/// Spins for `time` of the machine that runs this test.
fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn measured(ranks: u16, times: f64) -> Options {
    let mut options = options(ranks, Preset::NrxImc);
    options.machine.host.measured_times = times;
    options.measured = true;
    options
}

#[test]
fn measured_computation_takes_the_time_that_it_took() {
    let spent = |times| {
        let report = Simulation::new(measured(1, times)).unwrap().run_joined(|weft| {
            let start = weft.now();
            spin(Duration::from_millis(2));
            weft.work(1_000_000);
            Ok(weft.now() - start)
        });
        assert!(report.measured);
        report.into_values().unwrap()[0]
    };
    assert!(spent(1.0) >= Duration::from_millis(2));
    assert!(spent(50.0) >= Duration::from_millis(100));
    assert_eq!(spent(0.0), Duration::ZERO, "declared work is not charged as well");
}

#[test]
fn measured_computation_is_interrupted_where_it_is_declared() {
    let report = Simulation::new(measured(2, 1000.0)).unwrap().run_packets(|packets| {
        packets.on_packet(|_| {});
        if packets.rank() == 1 {
            packets.packet()?.unicast(Rank(0))?;
            packets.flush()?;
        } else {
            spin(Duration::from_millis(1));
            packets.work(1);
        }
        weft::Result::Ok(packets.statistics().interrupts)
    });
    assert!(report.into_values().unwrap()[0] > 0);
}
