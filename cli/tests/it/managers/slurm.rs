//! A Slurm of one's own: its credentials, its controller and two nodes, all on this machine, in one
//! folder.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Time that the daemons have to start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// Debian has the daemons where only root looks.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A Slurm that ends when this is dropped.
pub struct Slurm {
    // In the order in which they end.
    daemons: Vec<Child>,
    folder: TempDir,
}

impl Slurm {
    /// Starts it, and waits until it takes jobs.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Munge wants everybody to get to its socket.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().to_owned();
        let at = |name: &str| path.join(name).to_str().unwrap().to_owned();
        std::fs::create_dir(at("state")).unwrap();
        std::fs::write(at("key"), random_bytes()).unwrap();
        std::fs::set_permissions(at("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(at("slurm.conf"), configuration(folder.path())).unwrap();
        let mut slurm = Slurm { daemons: Vec::new(), folder };
        let munge = [
            "--foreground".into(),
            format!("--key-file={}", at("key")),
            format!("--socket={}", at("munge.socket")),
            format!("--pid-file={}", at("munged.pid")),
            format!("--log-file={}", at("munged.log")),
            format!("--seed-file={}", at("munged.seed")),
        ];
        slurm.daemon("munged", &munge);
        slurm.wait_until("munged listens", || Path::new(&at("munge.socket")).exists());
        slurm.daemon("slurmctld", &["-D", "-f", &at("slurm.conf")].map(str::to_owned));
        for node in ["one", "two"] {
            let own = ["-D", "-f", &configuration_of(&path, node)].map(str::to_owned);
            slurm.daemon("slurmd", &[&own[..], &["-N".into(), node.into()]].concat());
        }
        slurm.wait_until("both nodes are idle", || slurm.is_idle());
        slurm
    }

    /// Path of its configuration.
    pub fn configuration(&self) -> String {
        self.folder.path().join("slurm.conf").to_str().unwrap().to_owned()
    }

    fn daemon(&mut self, name: &str, arguments: &[String]) {
        let log = std::fs::File::create(
            self.folder.path().join(format!("{name}.{}", self.daemons.len())),
        );
        let log = log.unwrap();
        let mut command = Command::new(name);
        command.args(arguments).env("PATH", PATH).stdin(Stdio::null());
        let spawned = command.stdout(log.try_clone().unwrap()).stderr(log).spawn();
        let daemon = spawned
            .unwrap_or_else(|error| panic!("{name}: {error}; ./setup installs what is missing"));
        self.daemons.insert(0, daemon);
    }

    fn is_idle(&self) -> bool {
        let mut sinfo = Command::new("sinfo");
        sinfo.args(["--noheader", "--states=idle", "--format=%D"]);
        let output = sinfo.env("SLURM_CONF", self.configuration()).output().unwrap();
        output.stdout.trim_ascii() == b"2"
    }

    fn wait_until(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + START_LIMIT;
        while !is_so() {
            assert!(Instant::now() < deadline, "not within a minute: {what}\n{}", self.logs());
            std::thread::yield_now();
        }
    }

    fn logs(&self) -> String {
        let files =
            std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let log = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        files.map(|path| format!("{}:\n{}", path.display(), log(&path))).collect()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in &mut self.daemons {
            // One that has ended is waited for all the same.
            let _ = kill_process(Pid::from_child(daemon), Signal::TERM);
            let _ = daemon.wait();
        }
    }
}

/// The configuration of a node, which is the same but for where PMIx has its files: by default all
/// nodes of a machine would make the same folder.
fn configuration_of(folder: &Path, node: &str) -> String {
    let own = folder.join(format!("{node}.conf"));
    std::fs::create_dir(&own).unwrap();
    std::fs::copy(folder.join("slurm.conf"), own.join("slurm.conf")).unwrap();
    std::fs::write(own.join("mpi.conf"), format!("PMIxCliTmpDirBase={}\n", own.display())).unwrap();
    own.join("slurm.conf").to_str().unwrap().to_owned()
}

fn random_bytes() -> Vec<u8> {
    use std::io::Read;
    let mut bytes = vec![0; 128];
    std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

fn configuration(folder: &Path) -> String {
    // Held together, so that they differ.
    let listeners = [(); 3].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    let [controller, one, two] =
        listeners.each_ref().map(|listener| listener.local_addr().unwrap().port());
    let user = Command::new("id").arg("-un").output().unwrap().stdout;
    let user = String::from_utf8(user).unwrap();
    let (folder, user) = (folder.display(), user.trim());
    let uname = rustix::system::uname();
    let host = uname.nodename().to_str().unwrap().split('.').next().unwrap();
    format!(
        "ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmdParameters=config_overrides
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 Port={one} CPUs=2
NodeName=two NodeHostname={host} NodeAddr=127.0.0.1 Port={two} CPUs=2
PartitionName=all Nodes=one,two Default=YES State=UP
"
    )
}
