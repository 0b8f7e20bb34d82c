//! Cost of each layer on the patterns of the systems above (thesis table 7.2), and of broadcasts
//! made of messages (7.4.2, 7.6, 9.1).

use super::inbox::{Arrivals, Receive};
use super::panda::{Broadcast, broadcast_latency, broadcast_rate, one_way, stream};
use super::unicast::{self, send, send_message};
use super::{broadcast, panda};
use crate::claim::Claim;
use crate::cluster::{Nanoseconds, PACKET_BYTES, Setup, now, work_to_receive, work_to_send};
use crate::conditions::Conditions;
use crate::counter::Counter;
use crate::experiment::Experiment;
use crate::objects::operation;
use crate::results::{Quantity, Results, listed};
use anyhow::Result;
use weft::Rank;
use weft_protocol::tree::{MulticastGroup, Shape};
use weft_simulator::Preset;

const ROUNDS: usize = 8;
/// The ranks of all broadcasts.
pub(crate) const RANKS: u16 = 64;
/// Size that fits every cache.
pub(crate) const LARGE_BYTES: usize = 64 << 10;
/// 2 ms.
const PAUSE_OPERATIONS: u64 = 100_000;

/// Reason why hosts forward too cheaply.
const CHEAP_MESSAGES: &str = "six messages follow each other on the way, each 3.2 us by Weft's count of instructions; Panda's cost 5 us \
    (6.5.1), and MPICH's 6 us more (7.4.2)";

/// Counter-experiments: what is suspected of the misses, turned.
const COUNTERS: &[Counter] = &[Counter {
    ids: &["S7.4.2-bin-add", "S7.4.2-bino-add", "S7.4.2-bino-pct"],
    turned: "a message costs 11 us at its two ends, Panda's 5 (6.5.1) and MPICH's 6 (7.4.2), not 3.1",
    conditions: Conditions { message: [1100, 1100], ..Conditions::STATED },
}];

/// The experiment.
pub struct Layers;

impl Experiment for Layers {
    fn name(&self) -> &'static str {
        "layers"
    }

    fn title(&self) -> &'static str {
        "What layers cost (7.4.2, 7.6, 9.1, table 7.2 up to Panda)"
    }

    fn notes(&self) -> &'static str {
        "There is no MPI here. What stands for MPI-default's broadcast are messages that hosts forward whole along a \
        tree, and for MPI-LFC's the unordered broadcast of messages: both lack what MPICH adds to them. Messages cost what they do above, the two of a call too. Orders are judged by their \
        sign alone."
    }

    fn claims(&self) -> &'static [Claim] {
        const {
            &[
                Claim::figure("T7.2-crl-lu-lfc"),
                Claim::other("T7.2-crl-tu-lfc"),
                Claim::figure("T7.2-mpi-lu-lfc"),
                Claim::figure("T7.2-mpi-lu-panda-st"),
                Claim::figure("T7.2-mpi-lb-lfc"),
                Claim::figure("T7.2-mpi-lb-panda-st"),
                Claim::other("T7.2-mpi-tu-lfc"),
                Claim::other("T7.2-mpi-tu-panda-st"),
                Claim::other("T7.2-mpi-tb-lfc"),
                Claim::other("T7.2-mpi-tb-panda-st"),
                Claim::figure("T7.2-orca-lu-lfc"),
                Claim::figure("T7.2-orca-lu-panda-mt"),
                Claim::figure("T7.2-orca-lb-lfc"),
                Claim::figure("T7.2-orca-lb-panda-mt"),
                Claim::other("T7.2-orca-tu-lfc"),
                Claim::other("T7.2-orca-tu-panda-mt"),
                Claim::other("T7.2-orca-tb-lfc"),
                Claim::other("T7.2-orca-tb-panda-mt"),
                Claim::figure("T7.2-manta-lu-lfc"),
                Claim::figure("T7.2-manta-lu-panda-mt"),
                Claim::other("T7.2-manta-tu-lfc"),
                Claim::other("T7.2-manta-tu-panda-mt"),
                Claim::figure("S7.4.2-bin-add").misses(CHEAP_MESSAGES),
                Claim::figure("S7.4.2-bino-add").misses(CHEAP_MESSAGES),
                Claim::other("S7.4.2-bin-pct"),
                Claim::other("S7.4.2-bino-pct").misses(CHEAP_MESSAGES),
                Claim::statement("S7.4.2-shape"),
                Claim::statement("S7.4.2-thr-order"),
                Claim::other("S7.4.2-thr-bin"),
                Claim::other("S7.4.2-thr-bino"),
                Claim::statement("S7.6-bcast"),
                Claim::statement("S7.6-dampen"),
                Claim::statement("S9.1-layered"),
            ]
        }
    }

    fn counters(&self) -> &'static [Counter] {
        COUNTERS
    }

    fn run(&self, results: &mut Results) -> Result<()> {
        one_way_patterns(results)?;
        round_trips(results)?;
        broadcasts(results)?;
        dampened(results)?;
        layered_broadcasts(results)
    }
}

fn times(results: &mut Results, ids: &[&'static str], time: f64) {
    ids.iter().for_each(|id| results.figure(id, Quantity::Nanoseconds(time)));
}

fn rates(results: &mut Results, ids: &[&'static str], rate: f64) {
    ids.iter().for_each(|id| results.figure(id, Quantity::BytesPerSecond(rate)));
}

fn one_way_patterns(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(2);
    times(results, &["T7.2-mpi-lu-lfc"], unicast::one_way(&setup, 0, Receive::Copy)?);
    times(results, &["T7.2-mpi-lu-panda-st"], one_way(&setup, 0)?);
    let rate = unicast::stream_rate(&setup, LARGE_BYTES, Receive::Copy)?;
    rates(results, &["T7.2-mpi-tu-lfc"], rate);
    rates(results, &["T7.2-mpi-tu-panda-st"], stream(&setup, LARGE_BYTES)?);
    Ok(())
}

/// Round trips of packets and of operations on objects, under each scheme: by how many percent
/// retransmission makes each longer.
fn dampened(results: &mut Results) -> Result<()> {
    let [packets, operations] = [true, false].map(|bare| {
        let schemes = [Preset::NrxImc, Preset::IrxImc, Preset::HrxHmc];
        let [nrx, irx, hrx] = schemes.map(|preset| {
            let setup = Setup::version(preset, 2);
            if bare { packets_round_trip(&setup, 0, 0) } else { operation(&setup, 0) }
        });
        let nrx = nrx?;
        Ok::<_, anyhow::Error>([irx?, hrx?].map(|time| (time / nrx - 1.0) * 100.0))
    });
    let (packets, operations) = (packets?, operations?);
    let named = ["percent longer: packets, irx", "hrx", "operations, irx", "hrx"];
    let evidence: Vec<_> = named.into_iter().zip([packets, operations].concat()).collect();
    let less = operations.iter().zip(packets).all(|(operation, packet)| *operation < packet);
    results.statement("S7.6-dampen", less, listed(&evidence));
    Ok(())
}

/// Nanoseconds of a round trip with `there` bytes and `back` bytes in packets, each copied.
///
/// # Errors
/// Those of [`Setup::run`].
pub fn packets_round_trip(setup: &Setup, there: usize, back: usize) -> Result<f64> {
    let ran = setup.run(move |packets| {
        let arrivals = Arrivals::note(packets, Receive::Copy);
        let parts = |bytes: usize| bytes.div_ceil(PACKET_BYTES).max(1);
        let mut start = 0;
        for round in 0..2 * ROUNDS {
            if round == ROUNDS {
                start = now(packets);
            }
            if packets.rank() == 0 {
                send_message(&vec![7; there], |part| send(packets, Rank(1), part))?;
                arrivals.wait((round + 1) * parts(back))?;
            } else {
                arrivals.wait((round + 1) * parts(there))?;
                send_message(&vec![7; back], |part| send(packets, Rank(0), part))?;
            }
        }
        Ok((now(packets) - start) as f64 / ROUNDS as f64)
    })?;
    Ok(ran.values[0])
}

/// Nanoseconds of a call with `bytes` bytes there and back.
///
/// # Errors
/// Those of [`Setup::run_messages`].
pub fn call(setup: &Setup, bytes: usize) -> Result<f64> {
    let ran = setup.run_messages(move |weft| {
        let (packets, over) = (weft.packets().clone(), panda::Read::default());
        let ended = over.clone();
        let service = weft.service("echo", move |mut request| {
            if let Ok(read) = request.message().read_pieces(|bytes| packets.copied(bytes)) {
                work_to_receive(&packets);
                work_to_send(&packets);
                // A caller that is gone needs no answer.
                let _ = request.reply(&read);
                ended.note(now(&packets));
            }
        })?;
        let client = weft.client("echo")?;
        weft.barrier()?;
        let (message, mut start) = (vec![7; bytes], 0);
        for round in 0..if weft.rank() == Rank(0) { 2 * ROUNDS } else { 0 } {
            if round == ROUNDS {
                start = now(weft.packets());
            }
            work_to_send(weft.packets());
            let mut reply = client.call(Rank(1), &message)?.wait()?;
            reply.read_pieces(|bytes| weft.packets().copied(bytes))?;
            work_to_receive(weft.packets());
        }
        let time = now(weft.packets()) - start;
        if weft.rank() == Rank(1) {
            over.wait(weft, 2 * ROUNDS)?;
        }
        weft.barrier()?;
        drop(service);
        Ok(time as f64 / ROUNDS as f64)
    })?;
    Ok(ran.values[0])
}

fn round_trips(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(2);
    let empty = packets_round_trip(&setup, 0, 0)?;
    times(results, &["T7.2-crl-lu-lfc", "T7.2-orca-lu-lfc", "T7.2-manta-lu-lfc"], empty);
    let calls = call(&setup, 0)?;
    times(results, &["T7.2-orca-lu-panda-mt", "T7.2-manta-lu-panda-mt"], calls);
    let one = LARGE_BYTES as f64;
    rates(results, &["T7.2-crl-tu-lfc"], one / packets_round_trip(&setup, 16, LARGE_BYTES)? * 1e9);
    // (2m)/RTT, as in 7.1.5.
    let packets = 2.0 * one / packets_round_trip(&setup, LARGE_BYTES, LARGE_BYTES)? * 1e9;
    rates(results, &["T7.2-orca-tu-lfc", "T7.2-manta-tu-lfc"], packets);
    let calls = 2.0 * one / call(&setup, LARGE_BYTES)? * 1e9;
    rates(results, &["T7.2-orca-tu-panda-mt", "T7.2-manta-tu-panda-mt"], calls);
    Ok(())
}

fn broadcasts(results: &mut Results) -> Result<()> {
    let setup = Setup::lfc(RANKS);
    let packets = broadcast::latency(&setup, 0)?;
    times(results, &["T7.2-mpi-lb-lfc", "T7.2-orca-lb-lfc"], packets);
    let unordered = broadcast_latency(&setup, Broadcast::Unordered, 0)?;
    times(results, &["T7.2-mpi-lb-panda-st"], unordered);
    let ordered = broadcast_latency(&setup, Broadcast::Ordered, 0)?;
    times(results, &["T7.2-orca-lb-panda-mt"], ordered);
    let packets = broadcast::blast(&setup, LARGE_BYTES, ROUNDS, broadcast::Senders::One)?.rate;
    rates(results, &["T7.2-mpi-tb-lfc", "T7.2-orca-tb-lfc"], packets);
    let unordered = broadcast_rate(&setup, Broadcast::Unordered, LARGE_BYTES)?;
    rates(results, &["T7.2-mpi-tb-panda-st"], unordered);
    let ordered = broadcast_rate(&setup, Broadcast::Ordered, LARGE_BYTES)?;
    rates(results, &["T7.2-orca-tb-panda-mt"], ordered);
    Ok(())
}

/// Messages of `bytes` bytes that hosts forward whole along a tree of rank 0: nanoseconds to the
/// last reader, and between messages there.
fn layered(shape: Shape, bytes: usize, pause: u64) -> Result<(f64, f64)> {
    let ran = Setup::lfc(RANKS).run_messages(move |weft| {
        let inbox = weft.mailbox("layered")?;
        let outbox = weft.sender("layered")?;
        let members: Vec<Rank> = weft.ranks().collect();
        let group = MulticastGroup::new(&members, shape, members.len())?;
        let forward = |message: &Vec<u8>| -> Result<()> {
            let mut children = group.children(Rank(0), weft.rank());
            Ok(children.try_for_each(|child| {
                work_to_send(weft.packets());
                outbox.send(child, message)
            })?)
        };
        weft.barrier()?;
        let mut noted: Vec<Nanoseconds> = Vec::new();
        for _ in 0..2 * ROUNDS {
            if weft.rank() == Rank(0) {
                weft.work(pause);
                while weft.poll()? {}
                noted.push(now(weft.packets()));
                forward(&vec![7; bytes])?;
            } else {
                let message = inbox.receive()?.read_pieces(|bytes| weft.packets().copied(bytes))?;
                work_to_receive(weft.packets());
                noted.push(now(weft.packets()));
                forward(&message)?;
            }
        }
        weft.barrier()?;
        Ok(noted)
    })?;
    let last = |round: usize| ran.values.iter().map(|times| times[round]).max().unwrap_or(0);
    let ways = (ROUNDS..2 * ROUNDS).map(|round| last(round) - ran.values[0][round]);
    let time = ways.sum::<Nanoseconds>() as f64 / ROUNDS as f64;
    Ok((time, (last(2 * ROUNDS - 1) - last(ROUNDS - 1)) as f64 / ROUNDS as f64))
}

/// 7.4.2, figures 7.22 and 7.23.
fn layered_broadcasts(results: &mut Results) -> Result<()> {
    const BYTES: usize = 64;
    let setup = Setup::lfc(RANKS);
    let supported = broadcast_latency(&setup, Broadcast::Unordered, BYTES)?;
    let binary = layered(Shape::Binary, BYTES, PAUSE_OPERATIONS)?.0;
    let binomial = layered(Shape::Binomial, BYTES, PAUSE_OPERATIONS)?.0;
    times(results, &["S7.4.2-bin-add"], binary - supported);
    times(results, &["S7.4.2-bino-add"], binomial - supported);
    for (id, time) in [("S7.4.2-bin-pct", binary), ("S7.4.2-bino-pct", binomial)] {
        results.figure(id, Quantity::Count(100.0 * (time / supported - 1.0)));
    }
    let us =
        [("supported", supported / 1e3), ("binary", binary / 1e3), ("binomial", binomial / 1e3)];
    let near = (binary - binomial).abs() < 0.25 * binary;
    // Orders are judged by their sign; how much it is the evidence says.
    let slower = binary.min(binomial) > supported;
    let evidence = format!("us at 64 bytes: {}", listed(&us));
    results.statement("S7.4.2-shape", near && slower, evidence.as_str());
    let rate = |gap: f64| LARGE_BYTES as f64 / gap * 1e9;
    let of_binary = rate(layered(Shape::Binary, LARGE_BYTES, 0)?.1);
    let of_binomial = rate(layered(Shape::Binomial, LARGE_BYTES, 0)?.1);
    let of_supported = broadcast_rate(&setup, Broadcast::Unordered, LARGE_BYTES)?;
    rates(results, &["S7.4.2-thr-bin"], of_binary);
    rates(results, &["S7.4.2-thr-bino"], of_binomial);
    let mb = [
        ("binomial", of_binomial / 1e6),
        ("binary", of_binary / 1e6),
        ("supported", of_supported / 1e6),
    ];
    results.ascending("S7.4.2-thr-order", &mb);
    let evidence = format!("{evidence}; MB/s at 64 Kbyte: {}", listed(&mb));
    let better = of_supported > of_binary.max(of_binomial);
    results.statement("S7.6-bcast", slower && better, evidence.as_str());
    results.statement("S9.1-layered", slower && better, evidence);
    Ok(())
}
