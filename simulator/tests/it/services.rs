//! Typed services and untyped calls on simulated ranks: every preset, good networks and bad ones.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use weft::{Call, CallError, Message, Rank, Request, Weft};
use weft_model::random::Random;
use weft_simulator::{Faults, Options, Outcome, Preset, Report, Simulation};

#[derive(Serialize, Deserialize, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing} short")]
struct Short {
    missing: u64,
}

#[weft::service]
trait Bank {
    /// Moves `sum` to account `to`; returns what is left.
    async fn move_to(&self, to: u32, sum: u64) -> Result<u64, Short>;
    fn balance(&self, of: u32) -> u64;
    fn reverse(&self, bytes: Vec<u8>) -> Vec<u8>;
    fn nothing(&self);
    async fn never(&self) -> u32;
    fn bug(&self, text: String) -> Option<u8>;
}

/// Bank of another version of the program.
#[weft::service(name = "Bank")]
trait NewBank {
    fn balance(&self, of: u64) -> u64;
    fn nothing(&self);
}

struct Accounts(Mutex<BTreeMap<u32, u64>>);

impl Bank for Accounts {
    async fn move_to(&self, to: u32, sum: u64) -> Result<u64, Short> {
        let mut accounts = self.0.lock().unwrap();
        let mine = accounts.entry(0).or_default();
        let left = mine.checked_sub(sum).ok_or_else(|| Short { missing: sum - *mine })?;
        *mine = left;
        *accounts.entry(to).or_default() += sum;
        Ok(left)
    }

    fn balance(&self, of: u32) -> u64 {
        self.0.lock().unwrap().get(&of).copied().unwrap_or(0)
    }

    fn reverse(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.reverse();
        bytes
    }

    fn nothing(&self) {}

    async fn never(&self) -> u32 {
        std::future::pending().await
    }

    fn bug(&self, text: String) -> Option<u8> {
        std::panic::resume_unwind(Box::new(text))
    }
}

fn options(ranks: u16, preset: Preset) -> Options {
    let mut options = Options::new(ranks).unwrap();
    options.settings.preset = preset;
    options.stack_bytes = 1 << 20;
    options
}

fn assert_success<T: std::fmt::Debug>(report: &Report<T>) {
    assert!(report.is_success(), "{:?} {:?}", report.ended, report.outcomes);
}

/// Rank 0 has the bank, with a hundred in account 0; the others do as `customer` says.
fn with_bank(preset: Preset, customer: impl Fn(&Weft) -> Result<(), weft::Error> + 'static) {
    let report = Simulation::new(options(3, preset)).unwrap().run(move |weft: Weft| {
        let accounts = Accounts(Mutex::new(BTreeMap::from([(0, 100)])));
        let server = (weft.rank() == 0).then(|| BankServer::new(&weft, accounts)).transpose()?;
        if weft.rank() != 0 {
            customer(&weft)?;
        }
        weft.barrier()?;
        drop(server);
        weft::Result::Ok(())
    });
    assert_success(&report);
}

#[test]
fn methods_are_called_with_every_preset() {
    for preset in Preset::ALL {
        with_bank(preset, |weft| {
            let client = BankClient::new(weft)?;
            let bank = client.at(0);
            let account = u32::from(weft.rank().0);
            let left = bank.move_to(account, 40).wait().unwrap();
            assert!(left == 60 || left == 20, "{left}");
            assert_eq!(bank.balance(account).wait()?, 40);
            let short = bank.move_to(account, 1000).wait();
            assert!(matches!(short, Err(CallError::Service(Short { missing })) if missing >= 900));
            let many: Vec<_> = (0..20u8).map(|i| bank.reverse(vec![i; 3000])).collect();
            for (i, reply) in (0..20u8).zip(many) {
                assert_eq!(reply.wait()?, vec![i; 3000]);
            }
            bank.nothing().wait()
        });
    }
}

fn remote(what: &str) -> String {
    format!("'Bank' of rank 0 failed: {what}")
}

#[test]
fn what_goes_wrong_is_an_error() {
    with_bank(Preset::NrxImc, |weft| {
        let client = BankClient::new(weft)?;
        let bank = client.at(0);
        let bug = bank.bug("a bug".into()).wait().unwrap_err();
        assert_eq!(bug.to_string(), remote("its handler panicked: a bug"));
        let limit = Duration::from_millis(2);
        let nobody = client.at(7).nothing().wait().unwrap_err();
        assert_eq!(nobody.to_string(), "there is no rank 7 in a job of 3");
        // Nobody can ever resume it, so it is dropped.
        let never = bank.never().wait_within(limit).unwrap_err();
        assert_eq!(never.to_string(), "'Bank' of rank 0 gave no reply");
        bank.nothing().wait()
    });
}

#[test]
fn another_version_is_refused() {
    with_bank(Preset::NrxImc, |weft| {
        let client = NewBankClient::new(weft)?;
        let error = client.at(0).balance(0).wait().unwrap_err().to_string();
        assert!(error.contains("different versions"), "{error}");
        client.at(0).nothing().wait()
    });
}

/// Methods that wait: for time, and for calls of their own.
#[weft::service]
trait Relay {
    /// Asks the next rank, as often as there are hops left; returns the way.
    async fn relay(&self, hops: u8, load: Vec<u8>) -> Vec<u16>;
    async fn nap(&self, time: Duration) -> bool;
    async fn nap_and_panic(&self, what: String);
    fn quick(&self) -> u16;
}

struct Runner {
    weft: Weft,
    next: RelayClient,
}

impl Relay for Runner {
    async fn relay(&self, hops: u8, load: Vec<u8>) -> Vec<u16> {
        let me = self.weft.rank().0;
        let mut way = vec![me];
        if hops > 0 {
            let next = (me + 1) % self.weft.size() as u16;
            way.extend(self.next.at(next).relay(hops - 1, load).await.unwrap());
        }
        way
    }

    async fn nap(&self, time: Duration) -> bool {
        self.weft.sleep(time).await;
        true
    }

    async fn nap_and_panic(&self, what: String) {
        self.weft.sleep(Duration::from_micros(300)).await;
        std::panic::resume_unwind(Box::new(what))
    }

    fn quick(&self) -> u16 {
        self.weft.rank().0
    }
}

fn relayed(weft: &Weft) -> weft::Result<()> {
    let client = RelayClient::new(weft)?;
    let runner = Runner { weft: weft.clone(), next: client.clone() };
    let server = RelayServer::new(weft, runner)?;
    let (me, size) = (weft.rank().0, weft.size() as u16);
    let next = client.at((me + 1) % size);
    // Round and round: every rank is asked again while it waits.
    let ways = [0, 5, 9].map(|hops| next.relay(hops, vec![1; 5000]));
    for (way, hops) in ways.into_iter().zip([0, 5, 9]) {
        let expected: Vec<u16> = (0..=hops).map(|hop| (me + 1 + hop) % size).collect();
        assert_eq!(weft.block_on(way)??, expected);
    }
    let nap = next.nap(Duration::from_millis(2));
    assert_eq!(next.quick().wait()?, (me + 1) % size);
    assert!(nap.wait()?);
    let bug = next.nap_and_panic("a bug".into()).wait().unwrap_err().to_string();
    assert!(bug.ends_with("its handler panicked: a bug"), "{bug}");
    // Time limits of threads, of tasks, and of this rank's own service.
    let long = Duration::from_secs(5);
    for server in [next, client.at(me)] {
        let limit = Duration::from_millis(1);
        let late = server.nap(long).wait_within(limit).unwrap_err().to_string();
        assert!(late.ends_with("has not replied to a call of 'Relay' in time"), "{late}");
        assert_eq!(weft.block_on(server.nap(long).within(limit))?.unwrap_err().to_string(), late);
    }
    weft.barrier()?;
    drop(server);
    Ok(())
}

#[test]
fn methods_wait_without_keeping_others() {
    for preset in Preset::ALL {
        let report = Simulation::new(options(4, preset)).unwrap().run(|weft| relayed(&weft));
        assert_success(&report);
    }
}

#[test]
fn methods_wait_on_bad_networks() {
    for preset in Preset::RETRANSMITTING {
        let mut options = options(4, preset);
        options.faults = Faults { loss: 0.02, duplication: 0.02, ..Faults::default() };
        let report = Simulation::new(options).unwrap().run(|weft| relayed(&weft));
        assert_success(&report);
    }
}

/// Calls of a service that is not there end after a second; one that comes late gets its calls.
#[test]
fn services_that_are_not_there() {
    for preset in Preset::ALL {
        let report = Simulation::new(options(3, preset)).unwrap().run(|weft: Weft| {
            let me = weft.rank().0;
            let (nowhere, late) = (weft.client("nowhere")?, weft.client("late")?);
            let next = Rank((me + 1) % 3);
            let call = late.call(next, "x")?;
            let lost = [(); 3].map(|()| nowhere.call(next, ""));
            weft.block_on(weft.sleep(Duration::from_millis(700)))?;
            let service = weft.service("late", |request| drop(request.reply("here")))?;
            assert_eq!(call.wait()?.text()?, "here");
            let [first, second, third] = lost;
            let refusals = [
                first?.wait().map(drop),
                weft.block_on(second?)?.map(drop),
                weft.block_on(third?.within(Duration::from_secs(9)))?.map(drop),
            ];
            let expected = format!("rank {next} has no service 'nowhere'");
            assert!(refusals.iter().all(|r| r.as_ref().unwrap_err().to_string() == expected));
            let now = weft.now();
            assert!(now < Duration::from_millis(2500), "it took {now:?}");
            weft.barrier()?;
            drop(service);
            weft::Result::Ok(())
        });
        assert_success(&report);
    }
}

#[test]
fn callers_of_a_rank_that_crashes_are_told() {
    let mut options = options(3, Preset::IrxImc);
    options.faults =
        Faults { crashes: vec![(Rank(0), Duration::from_millis(3))], ..Faults::default() };
    let report = Simulation::new(options).unwrap().run_joined(|weft: Weft| {
        if weft.rank() == 0 {
            // Held when it crashes, by the program that is unwound.
            let held: Arc<Mutex<Vec<Request>>> = Arc::default();
            let keeper = Arc::clone(&held);
            let _service =
                weft.service("held", move |request| keeper.lock().unwrap().push(request));
            let client = weft.client("other").map_err(|error| error.to_string())?;
            let _calls = [1, 2].map(|rank| client.call(Rank(rank), ""));
            weft.barrier().map_err(|error| error.to_string())?;
            return Ok(());
        }
        let _other = weft.service("other", drop).map_err(|error| error.to_string())?;
        let client = weft.client("held").map_err(|error| error.to_string())?;
        let calls = [(); 5].map(|()| client.call(Rank(0), "").unwrap());
        for call in calls {
            let error = call.wait().map(drop).unwrap_err().to_string();
            assert!(error.starts_with("rank 0 was killed"), "{error}");
        }
        Err::<(), String>("told".into())
    });
    assert_eq!(report.outcomes[0], Outcome::Crashed);
    for rank in [1, 2] {
        assert_eq!(report.outcomes[rank], Outcome::Victim("told".into()));
    }
}

/// A service that puts requests off, until somebody asks it to answer them.
#[derive(Clone, Default)]
struct Mirror(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    requests: Vec<Request>,
    /// Nobody will ask any more: requests are answered at once.
    eager: bool,
}

impl Mirror {
    fn take(&self, request: Request) {
        let mut held = self.0.lock().unwrap();
        held.requests.push(request);
        let full = held.eager || held.requests.len() == 3;
        drop(held);
        if full {
            self.answer();
        }
    }

    /// Answers what was put off, the last first.
    fn answer(&self) {
        let requests = std::mem::take(&mut self.0.lock().unwrap().requests);
        for mut request in requests.into_iter().rev() {
            let mut bytes = request.message().read_to_vec().unwrap();
            bytes.reverse();
            request.reply(&bytes).unwrap();
        }
    }

    /// Answers until `call` is answered.
    fn finish(&self, weft: &Weft, mut call: Call) -> weft::Result<Message> {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            self.answer();
            match Pin::new(&mut call).poll(&mut context) {
                Poll::Ready(reply) => return Ok(reply?),
                Poll::Pending => drop(weft.poll()?),
            }
        }
    }
}

/// Calls others with requests of random sizes; some calls are given up.
fn random_calls(weft: &Weft, seed: u64) -> weft::Result<()> {
    let mirror = Mirror::default();
    let serving = mirror.clone();
    let service = weft.service("mirror", move |request| serving.take(request))?;
    let client = weft.client("mirror")?;
    let (me, ranks) = (u64::from(weft.rank().0), weft.size() as u64);
    let mut random = Random::part(seed, me);
    let mut outstanding = Vec::new();
    for _ in 0..20 {
        let to = Rank(((me + 1 + random.below(ranks - 1)) % ranks) as u16);
        let large = 200_000 >> random.below(9);
        let size = *random.choose(&[0, 3, 60, 1500, large]);
        let mut bytes: Vec<u8> = (0..size).map(|i| (i * 7 + seed) as u8).collect();
        let call = client.call(to, &bytes)?;
        match random.below(6) {
            0 => drop(call),
            1 => drop(call.wait_within(Duration::from_micros(random.below(100)))),
            _ => {
                bytes.reverse();
                outstanding.push((call, bytes));
            }
        }
    }
    while !outstanding.is_empty() {
        let (call, bytes) =
            outstanding.swap_remove(random.below(outstanding.len() as u64) as usize);
        assert!(mirror.finish(weft, call)?.read_to_vec()? == bytes, "not what was sent");
    }
    mirror.0.lock().unwrap().eager = true;
    mirror.answer();
    weft.barrier()?;
    drop(service);
    Ok(())
}

fn weather(preset: Preset, faults: Faults, seed: u64) {
    let mut options = options(4, preset);
    options.seed = seed;
    options.faults = faults;
    let report = Simulation::new(options).unwrap().run(move |weft| random_calls(&weft, seed));
    assert!(report.is_success(), "{preset}, {seed}: {:?} {:?}", report.ended, report.outcomes);
}

#[test]
fn random_calls_are_answered_under_every_preset() {
    for preset in Preset::ALL {
        (0..3).for_each(|seed| weather(preset, Faults::default(), seed));
    }
}

#[test]
fn random_calls_are_answered_on_bad_networks() {
    let faults = Faults {
        loss: 0.02,
        duplication: 0.02,
        reordering: 0.05,
        held_back: Duration::from_micros(200),
        ..Faults::default()
    };
    for preset in Preset::RETRANSMITTING {
        (0..3).for_each(|seed| weather(preset, faults.clone(), seed));
    }
}
