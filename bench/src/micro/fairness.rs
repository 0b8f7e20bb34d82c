//! Fairness of a rank of which all others want something at once: its services, its ports, a region
//! that it is the home of, a totally-ordered broadcast, a service that several threads of each rank
//! call.
//!
//! Figures here are not speed but shares. All ask for the same time, and the most served asker was
//! served so many times as often as the least served. A wait is one request's, from its begin to
//! its answer.

use crate::micro::launch::Spec;
use crate::micro::report::Limit;
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use weft::{Port, Rank, Weft};
use weft_region::coherence::Policy;
use weft_region::{RegionId, Regions};

/// Time for which ranks ask, for each round.
const ROUND: Duration = Duration::from_millis(10);
/// Work of the rank that serves, for each request.
const SERVICE: Duration = Duration::from_micros(20);
/// Requests that an asker keeps under way.
const UNDER_WAY: usize = 8;
/// Ports of the rank that serves; each asker sends to one of them.
const PORTS: u16 = 4;
/// Threads of a rank that call at once.
const THREADS: usize = 2;
/// Words of a [`Share`].
const WORDS: usize = 3;
/// Limit on the share of the most served, in units of that of the least served.
const LIMIT: Limit = Limit::AtMost(1.5);
/// The rank that serves.
const SERVER: Rank = Rank(0);

/// A rank's part, over the link of that name.
///
/// # Errors
/// It could not join, or another rank was lost.
pub fn rank(spec: &Spec, link: &'static str) -> Result<()> {
    let weft = weft::join()?;
    let time = ROUND * spec.rounds as u32;
    let bench = Bench { weft: &weft, time, link, json: spec.json };
    bench.calls()?;
    bench.messages()?;
    bench.writes()?;
    bench.orders()?;
    bench.calls_of_threads()?;
    Ok(weft.leave()?)
}

/// Service to one asker.
#[derive(Clone, Copy, Default)]
struct Share {
    served: u64,
    longest: Duration,
    waited: Duration,
}

impl Share {
    fn add(&mut self, wait: Duration) {
        self.served += 1;
        self.longest = self.longest.max(wait);
        self.waited += wait;
    }

    fn words(self) -> [u64; WORDS] {
        [self.served, self.longest.as_nanos() as u64, self.waited.as_nanos() as u64]
    }

    fn of_words(words: &[u64]) -> Self {
        let time = |word: usize| Duration::from_nanos(words[word]);
        Share { served: words[0], longest: time(1), waited: time(2) }
    }
}

/// Asks for `time`, with so many requests under way. All are answered when it returns.
fn ask<T>(
    time: Duration,
    under_way: usize,
    mut begin: impl FnMut() -> Result<T>,
    mut end: impl FnMut(T) -> Result<()>,
) -> Result<Share> {
    let (start, mut share, mut requests) = (Instant::now(), Share::default(), VecDeque::new());
    while start.elapsed() < time {
        while requests.len() < under_way {
            requests.push_back((Instant::now(), begin()?));
        }
        let (begun, request) = requests.pop_front().context("requests are under way")?;
        end(request)?;
        share.add(begun.elapsed());
    }
    requests.into_iter().try_for_each(|(_, request)| end(request))?;
    Ok(share)
}

/// Works for as long as a request takes.
fn serve() {
    let start = Instant::now();
    while start.elapsed() < SERVICE {
        std::hint::spin_loop();
    }
}

struct Bench<'a> {
    weft: &'a Weft,
    time: Duration,
    link: &'static str,
    json: bool,
}

impl Bench<'_> {
    fn serves(&self) -> bool {
        self.weft.rank() == SERVER
    }

    /// Eight calls under way, of a service.
    fn calls(&self) -> Result<()> {
        self.call_each("calls", |call| Ok(vec![call()?]))
    }

    /// Eight calls under way in each thread.
    fn calls_of_threads(&self) -> Result<()> {
        self.weft.share_among_threads();
        self.call_each("threads", |call| {
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(call)).collect();
                let shares = threads.into_iter().map(|thread| match thread.join() {
                    Ok(share) => share,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                shares.collect()
            })
        })
    }

    fn call_each(
        &self,
        name: &str,
        asker: impl FnOnce(&(dyn Fn() -> Result<Share> + Sync)) -> Result<Vec<Share>>,
    ) -> Result<()> {
        let service = |request: weft::Request| {
            serve();
            // A lost rank shows at the next poll.
            let _ = request.reply("");
        };
        let _service = self.serves().then(|| self.weft.service(name, service)).transpose()?;
        let client = self.weft.client(name)?;
        let call = || {
            let begin = || Ok(client.call(SERVER, "")?);
            ask(self.time, UNDER_WAY, begin, |call| Ok(call.wait().map(drop)?))
        };
        self.compare(name, || asker(&call))
    }

    /// Messages to one of several ports, as fast as there is room for them.
    fn messages(&self) -> Result<()> {
        let name = |port: u16| format!("fair {port}");
        let served = if self.serves() { 0..PORTS } else { 0..0 };
        let ports = served.map(|port| self.weft.port(&name(port), |_| serve()));
        let _ports = ports.collect::<weft::Result<Vec<Port>>>()?;
        let port = self.weft.sender(&name(self.weft.rank().0 % PORTS))?;
        self.compare("messages", || {
            let send = || Ok(port.send(SERVER, "")?);
            Ok(vec![ask(self.time, 1, send, Ok)?])
        })
    }

    /// Writes of one region, each of which asks its home.
    fn writes(&self) -> Result<()> {
        let regions = Regions::open(self.weft.packets());
        if self.serves() {
            regions.create(8, Policy::default())?;
        }
        self.weft.barrier()?;
        let region = regions.map::<u64>(RegionId { home: SERVER, index: 0 })?;
        self.compare("writes", || {
            let write = || {
                region.write()?[0] += 1;
                Ok(region.flush()?)
            };
            Ok(vec![ask(self.time, 1, write, Ok)?])
        })?;
        drop(region);
        Ok(regions.close()?)
    }

    /// Eight ordered broadcasts under way.
    fn orders(&self) -> Result<()> {
        let order = self.weft.order("fair", |_| ())?;
        self.compare("orders", || {
            let begin = || Ok(order.begin("")?);
            Ok(vec![ask(self.time, UNDER_WAY, begin, |sent| Ok(sent.wait().map(drop)?))?])
        })
    }

    /// Runs `asker` on all ranks but the one that serves, which polls meanwhile and prints the
    /// shares.
    fn compare(&self, name: &str, asker: impl FnOnce() -> Result<Vec<Share>>) -> Result<()> {
        self.weft.barrier()?;
        let shares = if self.serves() { Vec::new() } else { asker()? };
        let mut words: Vec<u64> = shares.into_iter().flat_map(Share::words).collect();
        words.resize(THREADS * WORDS, 0);
        if let Some(all) = self.weft.gather(SERVER.index(), &words)? {
            let asked = all.chunks_exact(WORDS).map(Share::of_words);
            let asked: Vec<_> = asked.filter(|share| share.served > 0).collect();
            self.print(name, &asked);
        }
        // What was asked goes when all are done with it.
        Ok(self.weft.barrier()?)
    }

    fn print(&self, name: &str, shares: &[Share]) {
        let served = || shares.iter().map(|share| share.served);
        let (most, least) = (served().max().unwrap_or(0), served().min().unwrap_or(0));
        let ratio = most as f64 / least.max(1) as f64;
        let longest = shares.iter().map(|share| share.longest).max().unwrap_or_default();
        let waited: Duration = shares.iter().map(|share| share.waited).sum();
        let mean = waited.as_nanos() as f64 / served().sum::<u64>().max(1) as f64;
        let (ranks, link, longest) = (self.weft.size(), self.link, longest.as_nanos() as f64);
        if self.json {
            let row = serde_json::json!({
                "bench": format!("fairness-{name}"), "link": link, "ranks": ranks,
                "served": served().collect::<Vec<_>>(), "ratio": ratio,
                "unit": "ns", "longest_wait": longest, "mean_wait": mean,
            });
            weft_app_common::say!("{row}");
            return;
        }
        weft_app_common::say!("fairness of {name}, {ranks} ranks, {link}:");
        weft_app_common::say!(
            "  {ratio:.2} x   {most} and {least} served   ({})",
            LIMIT.text(ratio)
        );
        let (longest, mean) = (longest / 1e3, mean / 1e3);
        weft_app_common::say!(
            "  longest wait {longest:.0} us, {:.1} x the mean of {mean:.1} us",
            longest / mean
        );
    }
}
