//! Jobs of which a process is killed: who starts them, over which link, and what they do.

use super::*;
use crate::common::mpi::{between, compile, mpirun, open_mpis};
use tempfile::TempDir;

/// Programs: in the middle of messages, collective operations, puts, misses of regions, and at the
/// end.
const PROGRAMS: [&str; 5] =
    ["weft-testee", "weft-testee collect", "weft-testee put", "water", "weft-testee end"];

/// Starter of the processes of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Starter {
    /// `weft run`.
    Weft,
    /// `mpiexec.hydra`, of a program of Weft's.
    Hydra,
    /// Open MPI's `mpirun`, of a program of Weft's.
    OpenMpi,
    /// `weft mpirun`, of an MPI program, by Open MPI.
    Mpi,
}

impl Starter {
    /// True for those that know nothing of Weft.
    pub fn is_foreign(self) -> bool {
        self != Starter::Weft
    }

    /// Latest moment at which somebody is killed, after the first process was started.
    pub fn latest_us(self) -> u64 {
        match self {
            Starter::Weft | Starter::Hydra => 150_000,
            Starter::OpenMpi | Starter::Mpi => 600_000,
        }
    }
}

/// Job to be started.
pub struct Job {
    pub starter: Starter,
    pub link: &'static str,
    program: &'static str,
}

impl Job {
    pub fn drawn(draw: &mut Draw) -> Self {
        // Process managers and hosts take their time: most jobs are Weft's own, on one host.
        let starter = match draw.below(30) {
            0..3 => Starter::Hydra,
            3 => Starter::OpenMpi,
            4 => Starter::Mpi,
            _ => Starter::Weft,
        };
        let link = ["shm", "shm", "shm", "shm", "udp", "udp", "xdp"][draw.below(7) as usize];
        let program = PROGRAMS[draw.below(PROGRAMS.len() as u64) as usize];
        Job { starter, link, program: if starter == Starter::Mpi { "transfers" } else { program } }
    }

    pub fn is_on_one_host(&self) -> bool {
        self.link == "shm"
    }

    /// Words for failures.
    pub fn text(&self) -> String {
        format!("{} over {}, by {:?}", self.program, self.link, self.starter)
    }
}

/// Starts jobs on the hosts of a cluster.
pub struct Jobs<'a> {
    cluster: &'a Cluster,
    /// Folder of the MPI program, and of Open MPI's own files, which stay when that is killed.
    folder: TempDir,
}

impl<'a> Jobs<'a> {
    pub fn on(cluster: &'a Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/transfers.c");
        compile(&open_mpis("mpicc"), &[source], &[], &folder.path().join("transfers"));
        Jobs { cluster, folder }
    }

    pub fn command(&self, job: &Job) -> Command {
        let hosts = if job.is_on_one_host() { 1 } else { 2 };
        let mut command = match job.starter {
            Starter::Weft if hosts == 1 => common::command(self.cluster, "-n 4", job.program),
            Starter::Weft => {
                let words = format!("--hosts a:2,b:2 --silence 5 --link {}", job.link);
                common::command(self.cluster, &words, job.program)
            }
            Starter::Hydra => common::hydra(self.cluster, 4 / hosts, 4, job.program),
            Starter::OpenMpi => self.open_mpi(job, Command::new(open_mpis("mpirun"))),
            Starter::Mpi => self.open_mpi(job, mpirun("", &self.folder)),
        };
        if job.starter.is_foreign() {
            command.env("WEFT_LINK", job.link);
        }
        command
    }

    fn open_mpi(&self, job: &Job, mut command: Command) -> Command {
        let words = if job.is_on_one_host() {
            "-n 4 --oversubscribe".to_owned()
        } else {
            format!("{} -x WEFT_LINK", between(self.cluster))
        };
        command.args(words.split_whitespace());
        let mut program = job.program.split_whitespace();
        let name = program.next().unwrap();
        let is_mpis = job.starter == Starter::Mpi;
        command.arg(if is_mpis { self.folder.path().join(name) } else { common::built(name) });
        command.args(program);
        for folder in ["OMPI_MCA_orte_tmpdir_base", "OMPI_MCA_btl_vader_backing_directory"] {
            command.env(folder, self.folder.path());
        }
        command.envs(
            ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"].map(|yes| (yes, "1")),
        );
        common::on_first_host(self.cluster, &command)
    }
}
