//! Needs of jobs on several hosts, as far as this host is concerned.

use std::env;
use std::fs;

use rustix::thread::{CapabilitySet, capabilities};
use weft_launch::find_program;

use super::finding::Finding;

/// The remote shell that is used unless another is named.
const SHELL: &str = "ssh";

/// Everything that can be looked at by itself.
pub(super) fn all() -> Vec<Finding> {
    let effective = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.effective);
    vec![shell(), namespaces(effective), starter(|name| env::var_os(name).is_some())]
}

fn shell() -> Finding {
    const NAME: &str = "remote shell";
    match find_program(SHELL.as_ref(), None, env::var_os("PATH").as_deref()) {
        Ok(path) => Finding::ok(NAME, format!("{}, for weft run --hosts", path.display())),
        Err(_) => Finding::absent(
            NAME,
            format!("there is no {SHELL}"),
            "install openssh-client, or name another with weft run --rsh",
        ),
    }
}

/// Checks that this project's tests can make hosts of namespaces.
fn namespaces(effective: CapabilitySet) -> Finding {
    const NAME: &str = "network namespaces";
    let there = fs::exists("/proc/self/ns/net").unwrap_or(false);
    if there && effective.contains(CapabilitySet::SYS_ADMIN | CapabilitySet::NET_ADMIN) {
        return Finding::ok(NAME, "permitted, for tests on several hosts");
    }
    Finding::absent(NAME, "not permitted", "run this project's tests as root")
}

/// The other launcher that started this process, by the variables that it left in the environment.
fn starter(is_set: impl Fn(&str) -> bool) -> Finding {
    const NAME: &str = "other launcher";
    let known = [
        ("PMIX_NAMESPACE", "PMIx (Open MPI's mpirun, srun --mpi=pmix)"),
        ("PMI_FD", "PMI-1 or PMI-2 (mpiexec, srun --mpi=pmi2)"),
        ("PMI_PORT", "PMI-1 over a port (mpiexec)"),
        ("SLURM_JOB_ID", "Slurm, without PMI"),
    ];
    match known.iter().find(|(variable, _)| is_set(variable)) {
        Some((_, name)) => Finding::ok(NAME, *name),
        None => Finding::ok(NAME, "none around this process"),
    }
}

#[cfg(test)]
mod tests;
