//! Ways in which a program is run: Open MPI over its own TCP, and on Weft.

use super::Setting;
use crate::compare::peers::{installed, limited};
use crate::compare::testbed::Testbed;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;
use weft_netns::{INTERFACE, write_script};
use weft_xdp::permitted;

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Open MPI's own TCP between hosts and its own shared memory within one.
    Tcp,
    /// Weft over UDP.
    Udp,
    /// Weft over AF_XDP.
    Xdp,
}

/// Words that tell Open MPI's `mpirun` about the two hosts, whose ranks find their cores by a
/// script. `{rsh}` is a remote shell, `{folder}` where temporary files go.
const HOSTS: &str = "--allow-run-as-root --bind-to none --mca orte_tmpdir_base {folder} \
                     --mca oob_tcp_if_include {interface} --mca plm_rsh_agent {rsh}";
/// Words that have it use TCP, at its best: ranks that share cores yield.
const TCP: &str = "--mca pml ob1 --mca btl vader,tcp,self --mca btl_tcp_if_include {interface}";
const YIELD: &str = "--mca mpi_yield_when_idle 1";

/// Those named by `only`, or all; TCP first, whoever is asked for.
///
/// # Errors
/// A name is that of somebody who runs no programs here.
pub fn chosen(only: &[String]) -> Result<Vec<Way>> {
    let names: Vec<&str> = Way::ALL.iter().map(|way| way.name()).collect();
    if let Some(stranger) = only.iter().find(|name| !names.contains(&name.as_str())) {
        bail!("--only {stranger}: whole programs are run by {}", names.join(", "));
    }
    let wanted = |way: &Way| {
        *way == Way::Tcp || only.is_empty() || only.iter().any(|name| name == way.name())
    };
    Ok(Way::ALL.into_iter().filter(wanted).collect())
}

/// Writes the scripts by which ranks get their cores, which mpirun's own options divide by host.
///
/// # Errors
/// They cannot be written.
pub fn write_scripts(folder: &Path) -> Result<()> {
    for setting in Setting::ALL {
        let cores = match setting {
            Setting::OwnCores => "\"$OMPI_COMM_WORLD_RANK\"",
            Setting::SharedCores => "0,1",
        };
        let text = format!("#!/bin/sh\nexec taskset -c {cores} \"$@\"\n");
        write_script(&folder.join(script(setting)), &text)?;
    }
    Ok(())
}

fn script(setting: Setting) -> &'static str {
    match setting {
        Setting::OwnCores => "core-each",
        Setting::SharedCores => "two-cores",
    }
}

impl Way {
    const ALL: [Way; 3] = [Way::Tcp, Way::Udp, Way::Xdp];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Way::Tcp => "open-mpi",
            Way::Udp => "weft-udp",
            Way::Xdp => "weft-xdp",
        }
    }

    /// Its name for a person.
    pub fn title(self) -> &'static str {
        match self {
            Way::Tcp => "Open MPI over TCP",
            Way::Udp => "on Weft (udp)",
            Way::Xdp => "on Weft (xdp)",
        }
    }

    /// Command line for a person.
    pub fn settings(self, setting: Setting) -> String {
        let template = self.template(setting).replace("{interface}", INTERFACE);
        let template = template.replace("{rsh}", "RSH").replace("{folder}", "FOLDER");
        template.replace("{weft}", "weft")
    }

    /// Command line, with names in the place of paths.
    fn template(self, setting: Setting) -> String {
        let start = match self {
            Way::Tcp => "mpirun.openmpi",
            Way::Udp => "WEFT_LINK=udp {weft} mpirun --stack open-mpi -x WEFT_LINK",
            Way::Xdp => "WEFT_LINK=xdp {weft} mpirun --stack open-mpi -x WEFT_LINK",
        };
        let hosts = match setting {
            Setting::OwnCores => "--host a:1,b:1 -n 2",
            Setting::SharedCores => "--host a:2,b:2 -n 4",
        };
        let own = match (self, setting) {
            (Way::Tcp, Setting::OwnCores) => TCP.to_owned(),
            (Way::Tcp, Setting::SharedCores) => format!("{TCP} {YIELD}"),
            (Way::Udp | Way::Xdp, _) => String::new(),
        };
        let parts = [start, HOSTS, &own, hosts];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Checks that it can run here.
    ///
    /// # Errors
    /// Something is not installed, or not permitted.
    pub fn ready(self) -> Result<()> {
        installed("mpirun.openmpi", "openmpi-bin")?;
        installed("taskset", "util-linux")?;
        match self {
            Way::Xdp => Ok(permitted()?),
            Way::Tcp | Way::Udp => Ok(()),
        }
    }

    /// A command that runs `executable`, whose options are to follow.
    ///
    /// # Errors
    /// The system does not tell where this program is.
    pub fn command(
        self,
        testbed: &Testbed,
        folder: &Path,
        setting: Setting,
        executable: &str,
    ) -> Result<Command> {
        let shell = testbed.remote_shell().unwrap_or_default();
        let weft = std::env::current_exe()?.with_file_name("weft");
        let script = folder.join(script(setting));
        let (shell, weft, script) =
            (shell.to_string_lossy(), weft.to_string_lossy(), script.to_string_lossy());
        let (template, folder) = (self.template(setting), folder.to_string_lossy());
        let filled = template.split_whitespace().map(|word| match word {
            "{rsh}" => &shell,
            "{folder}" => &folder,
            "{weft}" => &weft,
            "{interface}" => INTERFACE,
            word => word,
        });
        let words: Vec<&str> = filled.chain([&*script, executable]).collect();
        Ok(limited(testbed, 0, &words))
    }
}

#[cfg(test)]
mod tests;
