//! Options for the protocols that the launcher was given.

use crate::{Error, Result};
use std::time::Duration;
use weft_endpoint::{Place, Preset, Shape, Silence, WaitPolicy, default_interrupt_delay, quota};
use weft_launch::{LOSS_GRACE, Membership, OnLoss, is_wanted};

/// A job's options, as far as given.
pub(crate) struct Options {
    pub preset: Option<Preset>,
    pub shape: Option<Shape>,
    interrupt_delay: Option<Duration>,
    /// Cores that the job's ranks share on this host.
    cores: usize,
    /// Each rank has a core to itself, and need not look whether that is so.
    own_cores: bool,
    /// Core that this rank goes to when it waits, if several share each.
    place: Option<Place>,
    /// Times for which peers on a network may keep silent.
    pub silence: Silence,
    /// Longest time that a program has to notice the loss of a rank by itself, through an error,
    /// before the upcall thread ends it.
    pub loss_grace: Duration,
    /// The network loses nothing, says who started the job.
    pub lossless: bool,
    /// All invariants are checked after each packet.
    pub checks_all: bool,
    /// Everything travels over the network, even within a host.
    pub all_far: bool,
    /// The network is a fabric, by libfabric.
    pub fabric: bool,
    /// Provider of libfabric, if one was named.
    pub provider: Option<String>,
    /// Each rank says what it did when it leaves.
    pub statistics: bool,
    /// The job goes on after a loss.
    pub goes_on: bool,
}

impl Options {
    pub fn read(membership: Option<&Membership>, on_loss: OnLoss) -> Result<Self> {
        let given = |name| membership.and_then(|member| member.options().get(name));
        let cores = match read("cores", given("cores"))? {
            Some(cores) => cores,
            None => std::thread::available_parallelism()?.get(),
        };
        let delay_us = read("interrupt-delay-us", given("interrupt-delay-us"))?;
        let silence_ms: Option<u32> = read("silence-ms", given("silence-ms"))?;
        let grace_ms = read("grace-ms", given("grace-ms"))?;
        let lost_after = |ms: u32| Silence::lost_after(u64::from(ms) * 1_000_000);
        let is_told = given("on-loss").map_or(Ok(false), |value| goes_on(value))?;
        let asks = on_loss == OnLoss::Continue;
        let goes_on = is_told || membership.map_or(asks, Membership::asked_to_go_on);
        Ok(Options {
            preset: read("preset", given("preset"))?,
            shape: shape(read("tree", given("tree"))?, goes_on)?,
            interrupt_delay: delay_us.map(Duration::from_micros),
            cores,
            own_cores: read("own-cores", given("own-cores"))?.unwrap_or_default(),
            place: place(membership)?,
            silence: silence_ms.map_or_else(Silence::default, lost_after),
            loss_grace: grace_ms.map_or(LOSS_GRACE, Duration::from_millis),
            lossless: read("lossless", given("lossless"))?.unwrap_or_default(),
            checks_all: given("check").map_or(Ok(false), |value| wants("check", value))?,
            all_far: read("all-far", given("all-far"))?.unwrap_or_default(),
            fabric: given("link").is_some_and(|link| link == "fabric"),
            provider: given("provider").cloned(),
            statistics: given("statistics")
                .map_or(Ok(false), |value| wants("statistics", value))?,
            goes_on,
        })
    }

    /// True if all `ranks_here` have a core each.
    pub fn cores_suffice(&self, ranks_here: u16) -> bool {
        usize::from(ranks_here) <= self.cores
    }

    pub fn wait_policy(&self, ranks_here: u16) -> WaitPolicy {
        let ranks = usize::from(ranks_here);
        let policy = WaitPolicy::for_ranks(ranks, self.cores);
        match self.own_cores {
            true => policy.with_own_cores(),
            false => policy.within_quota(quota(), ranks, self.cores).at(self.place),
        }
    }

    pub fn interrupt_delay(&self, ranks_here: u16) -> Duration {
        let usual = default_interrupt_delay(ranks_here.into(), self.cores);
        self.interrupt_delay.unwrap_or(usual)
    }

    /// Reason why a preset cannot be used.
    pub fn refuse_preset(&self, preset: Preset, what: &str) -> Error {
        Error::Option { name: "preset", value: preset.to_string(), what: what.into() }
    }
}

/// Place of the rank among those that may use the same cores, whose number and count are an option
/// where they are known, or else among those of its host.
fn place(membership: Option<&Membership>) -> Result<Option<Place>> {
    let Some(member) = membership else { return Ok(None) };
    let name = "among-same-cores";
    let Some(told) = member.options().get(name) else {
        let here = member.ranks_here();
        let index = here.iter().take_while(|rank| **rank != member.rank()).count();
        return Ok(Place::of(index, here.len()));
    };
    let numbers = told
        .split_once('/')
        .and_then(|(index, ranks)| Some((index.parse().ok()?, ranks.parse().ok()?)));
    let what = "it is no number and count of ranks, such as 2/4";
    let wrong = || Error::Option { name, value: told.clone(), what: what.into() };
    let (index, ranks) = numbers.ok_or_else(wrong)?;
    Ok(Place::of(index, ranks))
}

/// True if a job goes on after a loss.
fn goes_on(value: &str) -> Result<bool> {
    match value {
        "continue" => Ok(true),
        "end" => Ok(false),
        _ => {
            let what = "it is neither 'end' nor 'continue'".into();
            Err(Error::Option { name: "on-loss", value: value.into(), what })
        }
    }
}

/// Shape of multicast trees: stars, where a rank may be lost that would forward.
fn shape(asked: Option<Shape>, goes_on: bool) -> Result<Option<Shape>> {
    match asked {
        Some(shape) if goes_on && shape != Shape::Flat => {
            let what =
                "a job that goes on after a loss has flat trees: a lost rank forwards nothing";
            Err(Error::Option { name: "tree", value: shape.to_string(), what: what.into() })
        }
        None if goes_on => Ok(Some(Shape::Flat)),
        asked => Ok(asked),
    }
}

/// True if an option that is on or off is on, as the command and the environment say it.
fn wants(name: &'static str, value: &str) -> Result<bool> {
    is_wanted(value).map_err(|what| Error::Option { name, value: value.into(), what })
}

fn read<T: std::str::FromStr>(name: &'static str, value: Option<&String>) -> Result<Option<T>>
where
    T::Err: std::fmt::Display,
{
    let Some(value) = value else { return Ok(None) };
    let wrong =
        |error: T::Err| Error::Option { name, value: value.clone(), what: error.to_string() };
    value.parse().map(Some).map_err(wrong)
}
