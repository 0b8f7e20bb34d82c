//! MPI libraries, with a program of ours that is compiled when it is needed (`bench/peers/pair.c`).

use super::{Peer, installed, limited};
use crate::compare::figures::Figures;
use crate::compare::testbed::Testbed;
use crate::compare::tool;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The program.
const PAIR: &str = include_str!("../../../peers/pair.c");

/// An MPI library, by the names that Debian gives to its commands.
pub struct Mpi {
    name: &'static str,
    title: &'static str,
    compiler: &'static str,
    starter: &'static str,
    packages: &'static str,
    /// Words before the number of ranks, on one host and between two. `{rsh}` is a remote shell,
    /// `{folder}` where temporary files go, `{weft}` the command of that name.
    host: &'static str,
    ethernet: &'static str,
    folder: PathBuf,
}

impl Mpi {
    /// Open MPI: both ranks free to find a core, or they may be put on the same one and TCP
    /// "fails".
    pub fn open_mpi(folder: &Path) -> Self {
        Mpi {
            name: "open-mpi",
            title: "Open MPI",
            compiler: "mpicc.openmpi",
            starter: "mpirun.openmpi",
            packages: "openmpi-bin libopenmpi-dev",
            host: "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none \
                   --mca orte_tmpdir_base {folder} --mca pml ob1 --mca btl vader,self",
            ethernet: "mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none \
                       --mca orte_tmpdir_base {folder} --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0 \
                       --mca plm_rsh_agent {rsh} --host a,b",
            folder: folder.into(),
        }
    }

    /// Open MPI with Weft below: its messages go through the libfabric provider.
    pub fn open_mpi_on_weft(folder: &Path) -> Self {
        Mpi {
            name: "open-mpi-on-weft",
            title: "Open MPI on Weft",
            host: "{weft} mpirun --stack open-mpi --allow-run-as-root --oversubscribe \
                   --bind-to none --mca orte_tmpdir_base {folder}",
            ethernet: "{weft} mpirun --stack open-mpi --allow-run-as-root --oversubscribe \
                       --bind-to none --mca orte_tmpdir_base {folder} \
                       --mca oob_tcp_if_include eth0 --mca plm_rsh_agent {rsh} --host a,b",
            ..Self::open_mpi(folder)
        }
    }

    /// MPICH, which is ch4:ucx in Debian.
    pub fn mpich(folder: &Path) -> Self {
        Mpi {
            name: "mpich",
            title: "MPICH",
            compiler: "mpicc.mpich",
            starter: "mpiexec.mpich",
            packages: "mpich libmpich-dev",
            host: "UCX_TLS=posix,self mpiexec.mpich",
            ethernet: "UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 mpiexec.mpich -launcher rsh \
                       -launcher-exec {rsh} -iface eth0 -hosts a,b",
            folder: folder.into(),
        }
    }

    fn program(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    fn start(&self, testbed: &Testbed) -> &'static str {
        match testbed {
            Testbed::Host => self.host,
            Testbed::Ethernet(_) => self.ethernet,
        }
    }
}

impl Peer for Mpi {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn settings(&self, testbed: &Testbed) -> String {
        let start = self.start(testbed).replace("{rsh}", "RSH").replace("{folder}", "FOLDER");
        format!("{} -n 2", start.replace("{weft}", "weft"))
    }

    fn ready(&self, _testbed: &Testbed) -> Result<()> {
        installed(self.starter, self.packages)?;
        installed(self.compiler, self.packages)?;
        if self.program().exists() {
            return Ok(());
        }
        let source = self.folder.join("pair.c");
        std::fs::write(&source, PAIR)?;
        let mut compile = Command::new(self.compiler);
        compile.arg("-O2").arg("-o").arg(self.program()).arg(source);
        let context = || format!("its program is not compiled (it needs {})", self.packages);
        tool::output(&mut compile).with_context(context)?;
        Ok(())
    }

    fn measure(&self, testbed: &Testbed, rounds: usize) -> Result<Figures> {
        let shell = testbed.remote_shell().unwrap_or_default();
        let (shell, program) = (shell.to_string_lossy(), self.program());
        let (program, rounds) = (program.to_string_lossy(), rounds.to_string());
        let words = self.start(testbed).split_whitespace();
        let folder = self.folder.to_string_lossy();
        let weft = std::env::current_exe()?.with_file_name("weft");
        let weft = weft.to_string_lossy();
        let filled = words.map(|word| match word {
            "{rsh}" => &shell,
            "{folder}" => &folder,
            "{weft}" => &weft,
            word => word,
        });
        let mut words: Vec<&str> = filled.collect();
        words.extend(["-n", "2", &program, &rounds]);
        Figures::of_pair(&tool::output(&mut limited(testbed, 0, &words))?)
    }
}
