//! One measurement: jobs and TCP connections across a trunk at the same time.

use super::board::{Board, sleep_until};
use super::rank::{Activity, Received, Sent};
use super::tcp;
use crate::micro::launch::{Spec, job};
use crate::micro::network::{SILENCE, link};
use anyhow::{Context, Result, bail};
use std::thread::ScopedJoinHandle;
use std::time::Duration;
use weft_launch::{BulkWish, FarLink, HostsSpec, Verdict, parse_hosts, run_on_hosts};
use weft_netns::{Cluster, Host, Options, Passed, Trunk};

/// Congestion control of TCP on all hosts: every namespace may have it, and on ways as short as
/// these cubic, which most hosts have, does the same (RFC 9438, 4.3).
const TCP_CONTROL: &str = "reno";

/// Senders to one receiver: a job, or connections of TCP.
#[derive(Clone, Debug)]
pub struct Group {
    /// Way of their bytes.
    pub by: By,
    /// Activity of the senders.
    pub activity: Activity,
    /// Number of the host beyond the trunk that receives.
    pub receiver: usize,
    /// Numbers of the hosts that send, before the trunk.
    pub senders: Vec<usize>,
    /// Bytes of a message of a stream.
    pub size: usize,
}

/// Way of a group's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A job, whose long packets go as they like, or as datagrams.
    Weft(BulkWish),
    /// TCP of the kernel.
    Tcp,
}

/// Hosts on both sides of a trunk, and what runs between them.
#[derive(Debug)]
pub struct Course<'a> {
    /// The options of the benchmark.
    pub spec: &'a Spec,
    /// Hosts beyond the trunk, and those before it.
    pub hosts: (usize, usize),
    /// The trunk.
    pub trunk: Trunk,
    /// Groups that send.
    pub groups: Vec<Group>,
    /// Time before figures count, and time for which they do.
    pub times: (Duration, Duration),
}

/// Figures of a course.
#[derive(Debug)]
pub struct Figures {
    /// Of each group.
    pub groups: Vec<GroupFigures>,
    /// Packets that the trunk had no room for, of all that came to it while figures counted.
    pub dropped: u64,
    /// Bytes a second that senders' interfaces sent meanwhile.
    pub offered: f64,
}

/// Figures of a group.
#[derive(Debug, Default)]
pub struct GroupFigures {
    /// User bytes a second of each sender.
    pub goodput: Vec<f64>,
    /// Nanoseconds there and back of small messages.
    pub round_trips: Vec<f64>,
    /// Packets that ranks sent again.
    pub again: u64,
}

impl GroupFigures {
    /// User bytes a second of all senders.
    pub fn sum(&self) -> f64 {
        self.goodput.iter().sum()
    }
}

/// A group that runs.
enum Running<'scope> {
    Job(ScopedJoinHandle<'scope, Result<()>>),
    Tcp(Vec<tcp::Running<'scope>>),
}

impl Course<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// There can be no hosts here, or a job failed.
    pub fn run(&self) -> Result<Figures> {
        let (beyond, before) = self.hosts;
        let cluster = Cluster::new(beyond + before, Options { bridge: true, mtu: 1500 })
            .context("this is measured between network namespaces")?;
        cluster.add_trunk(beyond, self.trunk)?;
        cluster.hosts().iter().try_for_each(control_tcp)?;
        let folder = tempfile::tempdir()?;
        let board = Board::at(folder.path());
        let (interval, taken, groups) = std::thread::scope(|scope| -> Result<_> {
            let mut running = Vec::new();
            for (number, group) in self.groups.iter().enumerate() {
                running.push(match group.by {
                    By::Weft(bulk) => {
                        let (cluster, board) = (&cluster, &board);
                        Running::Job(
                            scope.spawn(move || self.run_job(cluster, board, number, group, bulk)),
                        )
                    }
                    By::Tcp => {
                        let start = |&sender: &usize| {
                            let ends = (cluster.host(sender), cluster.host(group.receiver));
                            tcp::start(scope, ends, group.activity, &board)
                        };
                        Running::Tcp(group.senders.iter().map(start).collect::<Result<_>>()?)
                    }
                });
            }
            for (number, running) in running.iter().enumerate() {
                if let Running::Job(thread) = running {
                    board.await_ready(&name(number), || thread.is_finished())?;
                }
            }
            let interval = board.begin(self.times.0, self.times.1)?;
            sleep_until(interval.from);
            let before = self.taken(&cluster)?;
            sleep_until(interval.until);
            let after = self.taken(&cluster)?;
            let ended = running.into_iter().map(|running| match running {
                Running::Job(thread) => {
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
                    Ok(Vec::new())
                }
                Running::Tcp(flows) => flows.into_iter().map(tcp::Running::end).collect(),
            });
            Ok((interval, (before, after), ended.collect::<Result<Vec<_>>>()?))
        })?;
        let groups = groups.into_iter().enumerate().map(|(number, flows)| {
            let flows = match self.groups[number].by {
                By::Weft(_) => self.left(&board, number)?,
                By::Tcp => flows,
            };
            let mut figures = GroupFigures::default();
            for (received, sent) in flows {
                figures.goodput.extend(received.bytes.iter().map(|&bytes| interval.rate(bytes)));
                figures.round_trips.extend(sent.round_trips);
                figures.again += sent.again;
            }
            Ok(figures)
        });
        let ((passed, bytes), (passed_after, bytes_after)) = taken;
        Ok(Figures {
            groups: groups.collect::<Result<_>>()?,
            dropped: passed_after.dropped - passed.dropped,
            offered: interval.rate(bytes_after - bytes),
        })
    }

    /// Counts at the trunk, and bytes that senders' interfaces have sent.
    fn taken(&self, cluster: &Cluster) -> Result<(Passed, u64)> {
        let senders = &cluster.hosts()[self.hosts.0..];
        let sent = senders.iter().map(bytes_sent).sum::<Result<u64>>()?;
        Ok((cluster.passed()?, sent))
    }

    /// Runs the job of a group, started from its first sender's host.
    fn run_job(
        &self,
        cluster: &Cluster,
        board: &Board,
        number: usize,
        group: &Group,
        bulk: BulkWish,
    ) -> Result<()> {
        let ranks = group.senders.len() as u16 + 1;
        let mut spec = self.spec.clone();
        (spec.ranks, spec.size) = (Some(ranks), Some(group.size));
        let mut job = job(&spec)?;
        job.set_silence(SILENCE);
        job.bulk = bulk;
        // Only the main thread can be told of signals.
        job.dedicated = false;
        job.arguments.extend(["--link".into(), link(&spec).into()]);
        job.arguments.extend(["--board".into(), board.path().into()]);
        job.arguments.extend(["--job".into(), name(number).into()]);
        let activity = clap::ValueEnum::to_possible_value(&group.activity);
        let activity = activity.map(|value| value.get_name().to_owned()).unwrap_or_default();
        job.arguments.extend(["--activity".into(), activity.into()]);
        let members = std::iter::once(&group.receiver).chain(&group.senders);
        let names: Vec<_> =
            members.map(|&host| format!("{}:1", cluster.host(host).name())).collect();
        let mut hosts = HostsSpec::new(parse_hosts(&names.join(",")).map_err(anyhow::Error::msg)?);
        hosts.ranks = Some(ranks);
        hosts.far = if link(&spec) == "xdp" { FarLink::Xdp } else { FarLink::Udp };
        hosts.remote_shell = cluster.remote_shell().into();
        let outcome =
            cluster.host(group.receiver).enter(|| run_on_hosts(&job, &hosts, |_| {}))??;
        match outcome.verdict {
            Verdict::Completed => Ok(()),
            _ => bail!("{outcome}"),
        }
    }

    /// Figures that the ranks of a job have left.
    fn left(&self, board: &Board, number: usize) -> Result<Vec<(Received, Sent)>> {
        let job = name(number);
        let missing = || format!("job {job} has left no figures");
        let received: Received = board.get(&format!("{job}.received"))?.with_context(missing)?;
        let flows = received.bytes.into_iter().enumerate().map(|(sender, bytes)| {
            let sent = board.get(&format!("{job}.sent.{}", sender + 1))?.with_context(missing)?;
            Ok((Received { bytes: vec![bytes] }, sent))
        });
        flows.collect()
    }
}

/// Name of the job of a group.
fn name(group: usize) -> String {
    format!("job{group}")
}

fn control_tcp(host: &Host) -> Result<()> {
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    Ok(host.enter(|| std::fs::write(file, TCP_CONTROL))??)
}

/// Bytes that the interfaces of a host have sent.
fn bytes_sent(host: &Host) -> Result<u64> {
    let text = host.enter(|| std::fs::read_to_string("/proc/thread-self/net/dev"))??;
    bytes_sent_in(&text).context("this kernel does not count what interfaces send")
}

/// The sum over all interfaces but the loopback.
fn bytes_sent_in(text: &str) -> Option<u64> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    let own = lines.filter(|(name, _)| name.trim() != "lo");
    own.map(|(_, numbers)| numbers.split_whitespace().nth(8)?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::bytes_sent_in;

    #[test]
    fn sent_bytes_are_those_of_all_interfaces_but_the_loopback() {
        let text = "Inter-|   Receive        |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes packets\n    \
            lo:     168       2    0    0    0     0          0         0      168       2    0\n  \
            eth0:    9476      93    0    0    0     0          0         0     4321      55    0\n";
        assert_eq!(bytes_sent_in(text), Some(4321));
    }
}
