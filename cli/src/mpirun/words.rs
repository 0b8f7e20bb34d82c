//! Command line of an `mpirun`: its options, then the program and its arguments.

use std::ffi::OsString;

/// Weft's own options: those that have a value behind them, and others.
const OWN_WITH_VALUE: [&str; 10] = [
    "--stack",
    "--provider",
    "--collectives",
    "--progress-limit",
    "--on-deadlock",
    "--on-loss",
    "-x",
    "--env",
    "--chdir",
    "--time-limit",
];
const OWN: [&str; 7] =
    ["--authenticate", "--encrypt", "--check", "--trace", "--dry-run", "--quiet", "-q"];

/// Options of Open MPI's `mpirun` or of hydra's that have two values.
const TWO_VALUES: &[&str] =
    &["mca", "gmca", "omca", "gomca", "pmca", "gpmca", "prtemca", "pmixmca", "env", "genv"];

/// Those that have one.
#[rustfmt::skip]
const ONE_VALUE: &[&str] = &[
    // Both.
    "n", "np", "host", "hosts", "hostfile", "machinefile", "wdir", "wd", "map-by", "bind-to", "path", "prefix", "app", "configfile",
    // Open MPI's.
    "c", "H", "N", "x", "am", "tune", "rank-by", "rankfile", "rf", "npernode", "npersocket", "cpu-set", "cpu-list", "timeout", "output",
    "output-filename", "display", "launch-agent", "preload-files", "report-pid", "report-uri", "stdin", "personality", "runtime-options",
    "max-restarts", "pset", "slot-list", "with-ft",
    // Hydra's.
    "f", "ppn", "launcher", "launcher-exec", "bootstrap", "bootstrap-exec", "iface", "rmk", "envlist", "genvlist", "outfile-pattern",
    "errfile-pattern", "order-nodes", "ranks-per-proc", "topolib", "ckpointlib", "demux", "umask", "usize", "pmi-args", "membind",
];

/// A command line in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Weft's own options, with their values.
    pub own: Vec<OsString>,
    /// Options of the `mpirun`.
    pub options: Vec<Given>,
    /// The program and its arguments.
    pub program: Vec<OsString>,
}

/// An option as it was given, with its values.
#[derive(Debug, PartialEq, Eq)]
pub struct Given {
    /// Its name, without dashes.
    pub name: String,
    /// The option and its values.
    pub words: Vec<OsString>,
}

impl Given {
    /// Its values, as text.
    pub fn value(&self, index: usize) -> Option<String> {
        self.words.get(1 + index).map(|value| value.to_string_lossy().into_owned())
    }
}

/// Takes a command line apart. An option of which nobody here knows that it has a value ends where
/// the next word begins; if that is wrong, the program is looked for in the wrong place, and the
/// command is the same.
pub fn split(words: Vec<OsString>) -> Words {
    let mut parts = Words::default();
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(is_option) {
        let text = word.to_string_lossy().into_owned();
        if text == "--" {
            break;
        }
        let name = text.trim_start_matches('-').to_owned();
        let option = text.split('=').next().unwrap_or_default();
        let own = OWN.contains(&option) || OWN_WITH_VALUE.contains(&option);
        let values = match name.as_str() {
            _ if OWN_WITH_VALUE.contains(&&*text) => 1,
            _ if TWO_VALUES.contains(&name.as_str()) => 2,
            _ if ONE_VALUE.contains(&name.as_str()) => 1,
            _ => 0,
        };
        let given = std::iter::once(word).chain(words.by_ref().take(values)).collect();
        if own {
            parts.own.extend::<Vec<OsString>>(given);
        } else {
            parts.options.push(Given { name, words: given });
        }
    }
    parts.program = words.collect();
    parts
}

fn is_option(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

#[cfg(test)]
mod tests;
