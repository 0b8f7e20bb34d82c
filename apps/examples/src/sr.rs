//! Operations, processes and input statements of the language SR, on calls, ports and tasks.

use std::sync::Arc;
use weft::prelude::*;
use weft::sync::{Condition, Mutex};
use weft::{CallError, Client, Request, Service};

/// Jobs for the printer of each rank.
const JOBS: u64 = 3;

/// An operation that a `proc` serves: each invocation is a process of its own.
#[weft::service]
trait Print {
    async fn print(&self, pages: u64) -> Result<u64, String>;
}

/// Capabilities for the operations of the manager.
struct Manager {
    acquire: Client,
    release: Port,
}

impl Print for Manager {
    async fn print(&self, pages: u64) -> Result<u64, String> {
        self.print_in_turn(pages).await.map_err(|error| error.to_string())
    }
}

impl Manager {
    async fn print_in_turn(&self, pages: u64) -> weft::Result<u64> {
        // turn := call acquire(pages)
        let mut reply = self.acquire.call(0, &pages.to_le_bytes())?.await?;
        let turn = number(&mut reply)?;
        // send release()
        self.release.send_async(0, "").await?;
        Ok(turn)
    }
}

/// Invocation of an operation of the manager.
enum Invocation {
    Acquire { pages: u64, request: Request },
    Release,
}

/// Invocations that no input statement has served yet.
#[derive(Default)]
struct Pending {
    invocations: Mutex<Vec<Invocation>>,
    arrived: Condition,
}

impl Pending {
    async fn add(&self, invocation: Invocation) {
        self.invocations.lock().await.push(invocation);
        self.arrived.notify_one();
    }

    /// An invocation for which `and` is true, of several the one with the least `by`, and of
    /// these the eldest. Waits until there is one.
    async fn next(
        &self,
        and: impl Fn(&Invocation) -> bool,
        by: impl Fn(&Invocation) -> u64,
    ) -> Invocation {
        let mut all = self.invocations.lock().await;
        loop {
            let ready = (0..all.len()).filter(|&index| and(&all[index]));
            match ready.min_by_key(|&index| by(&all[index])) {
                Some(index) => return all.remove(index),
                None => all = self.arrived.wait(all).await,
            }
        }
    }

    /// Waits until `count` are pending.
    async fn at_least(&self, count: u64) {
        let mut all = self.invocations.lock().await;
        while (all.len() as u64) < count {
            all = self.arrived.wait(all).await;
        }
    }
}

/// The process that owns the printer.
async fn manage(pending: Arc<Pending>, jobs: u64) {
    let (mut is_free, mut turn) = (true, 0_u64);
    // Until ?acquire is the number of jobs, so that the shortest is among them.
    pending.at_least(jobs).await;
    while turn < jobs {
        let and = |invocation: &Invocation| match invocation {
            Invocation::Acquire { .. } => is_free,
            Invocation::Release => true,
        };
        let by = |invocation: &Invocation| match invocation {
            Invocation::Acquire { pages, .. } => *pages,
            Invocation::Release => 0,
        };
        match pending.next(and, by).await {
            Invocation::Acquire { request, .. } => {
                is_free = false;
                // Waiting calls return the loss of a rank.
                let _ = request.reply(&turn.to_le_bytes());
                turn += 1;
            }
            Invocation::Release => is_free = true,
        }
    }
}

/// Rank 0 manages a printer, each rank has a process for each of its jobs, and the shortest job is
/// printed first.
///
/// # Errors
/// A lost rank.
pub fn sr(weft: Weft) -> weft::Result<()> {
    let jobs = JOBS * weft.size() as u64;
    let _operations = match weft.rank() {
        Rank(0) => Some(start_manager(&weft, jobs)?),
        _ => None,
    };
    let manager = Manager { acquire: weft.client("acquire")?, release: weft.sender("release")? };
    let _server = PrintServer::new(&weft, manager)?;
    if weft.rank() == 0 {
        print_all(&weft, jobs)?;
    }
    weft.barrier()
}

fn start_manager(weft: &Weft, jobs: u64) -> weft::Result<(Service, Port)> {
    let pending = Arc::new(Pending::default());
    let [acquiring, releasing] = [(); 2].map(|()| Arc::clone(&pending));
    // op acquire(pages) returns turn {call}
    let acquire = weft.async_service("acquire", move |mut request| {
        let pending = Arc::clone(&acquiring);
        async move {
            // One that cannot be read is dropped, which its caller is told.
            if let Ok(pages) = number(request.message()) {
                pending.add(Invocation::Acquire { pages, request }).await;
            }
        }
    })?;
    // op release() {send}
    let release = weft.async_port("release", move |_| {
        let pending = Arc::clone(&releasing);
        async move { pending.add(Invocation::Release).await }
    })?;
    weft.spawn(manage(pending, jobs));
    Ok((acquire, release))
}

fn print_all(weft: &Weft, jobs: u64) -> weft::Result<()> {
    let printers = PrintClient::new(weft)?;
    // co (job := 0 to jobs - 1) turn[job] := print(jobs - job) oc
    let calls: Vec<_> = (0..jobs)
        .map(|job| (jobs - job, Rank((job % weft.size() as u64) as u16)))
        .map(|(pages, rank)| (pages, printers.at(rank).print(pages)))
        .collect();
    for (pages, call) in calls {
        let turn = call.wait().map_err(|error| match error {
            CallError::Weft(error) => error,
            CallError::Service(what) => panic!("{what}"),
        })?;
        assert_eq!(turn, pages - 1, "the shortest job is the first");
    }
    println!("{jobs} jobs were printed, the shortest first");
    Ok(())
}

fn number(message: &mut Message) -> weft::Result<u64> {
    let mut number = [0; 8];
    message.read_exact(&mut number)?;
    Ok(u64::from_le_bytes(number))
}
