//! Placement of what is there once for a process or a thread: in a list, and nowhere else.

use super::finding::Finding;
use super::lexer::{leading_name, line_of, words};
use super::product;
use super::ratchet::stale;
use super::tree::Tree;

const LIST: &str = "xtask/src/tidy/statics.rs";
const RULE: &str = "statics";

/// A file, the name of a static in it, and what that is.
type Listed = (&'static str, &'static str, &'static str);

/// Every static of the product, sorted.
const LISTED: &[Listed] = &[
    ("bench/netns/src/lib.rs", "TRIED", "whether the machine permits namespaces, tried once"),
    ("bench/paper/src/conditions.rs", "CONDITIONS", "conditions of the thread's experiment"),
    ("bench/paper/src/experiments/events/flooding.rs", "CLAIMS", "claims of a paper, made once"),
    ("bench/paper/src/experiments/events/jacobi.rs", "CLAIMS", "claims of a paper, made once"),
    ("bench/paper/src/experiments/events/latency.rs", "CLAIMS", "claims of a paper, made once"),
    ("bench/paper/src/experiments/events/throughput.rs", "CLAIMS", "claims of a paper, made once"),
    ("bench/paper/src/experiments/events/traffic.rs", "CLAIMS", "claims of a paper, made once"),
    ("bench/src/micro/pages.rs", "SERVED", "for the handler of faults, which gets no argument"),
    ("bindings/c/src/aligned.rs", "NOTHING", "constant with an address"),
    ("bindings/c/src/losses.rs", "TEXTS", "texts that C has pointers to"),
    ("bindings/c/src/process.rs", "PART", "part of the process in a job"),
    ("bindings/c/src/process.rs", "TOLD", "a call of pthread_atfork, once for the process"),
    ("bindings/c/src/status.rs", "LAST", "a thread's last error, as C asks for it"),
    ("bindings/c/src/status.rs", "NAMES", "constant table of texts"),
    ("bindings/c/src/status.rs", "UNKNOWN", "constant with an address"),
    ("bindings/libfabric/host/src/provider.rs", "PROVIDER", "library that is loaded once"),
    ("bindings/libfabric/src/collective.rs", "BESIDE", "callback, given once"),
    ("bindings/libfabric/src/collective.rs", "TABLE", "constant table of functions for C"),
    ("bindings/libfabric/src/counter.rs", "OPS", "constant table of functions for C"),
    ("bindings/libfabric/src/endpoint.rs", "NOTHING", "constant table of functions for C"),
    ("bindings/libfabric/src/entry.rs", "$ops", "constant tables of functions for C"),
    ("bindings/libfabric/src/events.rs", "OPS", "constant table of functions for C"),
    ("bindings/libfabric/src/job.rs", "JOB", "the one place of the process in its job"),
    ("bindings/libfabric/src/object.rs", "LIVE", "objects that C has pointers to"),
    ("bindings/libfabric/src/queue.rs", "OPS", "constant table of functions for C"),
    ("bindings/libfabric/src/queue.rs", "THROTTLED", "constant table of functions for C"),
    ("bindings/libfabric/src/spans.rs", "TABLE", "constant table of functions for C"),
    ("bindings/libfabric/src/vector.rs", "FOREIGN", "a warning, said once"),
    ("bindings/libfabric/src/vector.rs", "OPS", "constant table of functions for C"),
    ("cli/src/mpi/preloaded.rs", "COLLECTIVES", "constant with an address"),
    ("cli/src/mpi/preloaded.rs", "TRACE", "constant with an address"),
    ("endpoint/src/biased.rs", "HERE", "address that differs by thread"),
    ("endpoint/src/biased.rs", "HERE", "address that differs by thread"),
    ("endpoint/src/machine.rs", "MEASURED", "time of a pause, measured once"),
    ("endpoint/src/ni/samples.rs", "OF_THREAD", "a thread's file in /proc"),
    ("launch/src/managed.rs", "HAS_LEFT", "true while the process has left its job"),
    ("launch/src/pmi.rs", "PLACES", "places in a job that the process took so far"),
    ("launch/src/pmi/farewell.rs", "AT_END", "function that the system calls at the end"),
    ("launch/src/pmi/farewell.rs", "LAST", "last message of the process to its manager"),
    ("launch/src/pmi/inherited.rs", "TAKING", "lock around taking an inherited descriptor"),
    ("links/api/src/threads.rs", "OWN", "words of the thread or coroutine that runs"),
    ("links/fabric/src/library.rs", "LIBRARY", "library that is loaded once"),
    ("links/shm/src/memory/one_process.rs", "FILES", "files in memory, for Miri and TSan only"),
    ("links/sim/src/coroutine.rs", "CURRENT", "coroutine that runs on the thread"),
    ("messaging/src/arrived.rs", "KEPT", "box that a thread uses again"),
    ("messaging/src/cached.rs", "$kept", "handles that a thread uses again"),
    ("protocol/src/tree.rs", "RANKS", "constant table of numbers"),
    ("systems/region/src/coherence/table.rs", "HITS", "constant table of rules"),
    ("systems/rules/src/library.rs", "LIBRARIES", "libraries that are loaded once"),
    ("systems/rules/src/library.rs", "ONE_AT_A_TIME", "lock around loading a library"),
];

/// Applies the rule to every crate of the product.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    hold(tree, LISTED, findings);
}

fn hold(tree: &Tree, listed: &[Listed], findings: &mut Vec<Finding>) {
    let mut missing: Vec<&Listed> = listed.iter().collect();
    for source in product::crates(tree).iter().flat_map(|one| &one.sources) {
        for (at, name) in statics(&source.shipped) {
            let entry =
                missing.iter().position(|(path, of, _)| *path == source.path && *of == name);
            if let Some(entry) = entry {
                missing.remove(entry);
                continue;
            }
            findings.push(Finding {
                path: source.path.clone(),
                line: line_of(&source.shipped, at),
                rule: RULE,
                what: format!("the static {name} is not in the list in {LIST}"),
                reason: "ranks can be threads of one process, where what they share by accident \
                         they break together"
                    .into(),
            });
        }
    }
    for (path, name, _) in missing {
        let what = format!("{path} has no static {name}: take it off the list");
        findings.extend(stale(tree, LIST, RULE, &[path, name], what));
    }
}

/// The statics in `code`, those of threads too, each with its place. Lifetimes are none.
fn statics(code: &str) -> impl Iterator<Item = (usize, &str)> {
    words(code, "static").filter(|&at| !code[..at].ends_with('\'')).filter_map(|at| {
        let rest = code[at + "static".len()..].trim_start();
        let rest = rest.strip_prefix("mut ").unwrap_or(rest).trim_start();
        // A macro's own name for it begins with a dollar sign.
        let bare = rest.strip_prefix('$').unwrap_or(rest);
        let name = &rest[..rest.len() - bare.len() + leading_name(bare).len()];
        let is_typed = rest[name.len()..].trim_start().starts_with(':');
        (!name.is_empty() && is_typed).then_some((at, name))
    })
}

#[cfg(test)]
mod tests;
