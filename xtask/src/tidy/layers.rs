//! The one rule: dependencies point one way.
//!
//! ```text
//! apps -> systems -> messaging -> collective -> endpoint -> { protocol, links } -> wire
//! ```
//! and only `endpoint` joins protocol and link. Tests may depend on more, except that those of
//! protocols and links need no endpoint either.

use super::finding::Finding;
use super::manifest::{Arrow, Manifest};
use super::tree::Tree;
use Layer::*;

/// Layer of a crate, by its folder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layer {
    Apps,
    AppCommon,
    Systems,
    Messaging,
    Collective,
    Endpoint,
    Protocol,
    Link,
    LinkApi,
    Conformance,
    /// The program that opens sockets for the link over AF_XDP, and is apart from it.
    Net,
    Wire,
    /// Events of a run, which every layer may write down.
    Trace,
    /// Pages and tables that are made of them, for people.
    Report,
    Launch,
    Facade,
    Macros,
    Bindings,
    Cli,
    /// All programs in one file.
    Programs,
    Bench,
    World,
    /// Simulations, and programs that `weft sim`, `weft bench` and `make paper` run: part of the
    /// product, though they join everything. Programs in other languages may be simulated, too.
    Simulation,
    Testing,
    /// Hosts and wires for tests and benchmarks, and who sits between them. Of Weft it knows what a
    /// frame looks like, and no more, so that links may be tested on it too.
    Hosts,
    Xtask,
}

/// The layer of a crate in `folder`. **A new crate's folder is added here.**
fn layer_of(folder: &str) -> Option<Layer> {
    let (top, rest) = folder.split_once('/').unwrap_or((folder, ""));
    Some(match (top, rest) {
        ("apps", "common") => AppCommon,
        ("apps", _) => Apps,
        ("systems", _) => Systems,
        ("messaging", "") => Messaging,
        ("collective", "") => Collective,
        ("endpoint", "") => Endpoint,
        ("protocol", "") => Protocol,
        // What links are made of.
        ("links", "api" | "datagram") => LinkApi,
        ("links", "conformance") => Conformance,
        ("links", "xdp/net") => Net,
        ("links", _) => Link,
        ("wire", "") => Wire,
        ("trace", "") => Trace,
        ("report", "") => Report,
        ("launch", "") => Launch,
        ("bindings", "rust") => Facade,
        ("macros", "") => Macros,
        ("bindings", _) => Bindings,
        ("cli", "" | "inspect") => Cli,
        ("cli", "programs") => Programs,
        ("bench", "netns") => Hosts,
        // What tests of links and protocols may use.
        ("testing", "world") => World,
        ("simulator", _) => Simulation,
        ("bench", _) => Bench,
        ("testing", _) => Testing,
        ("xtask", "") => Xtask,
        _ => return None,
    })
}

impl Layer {
    /// The place in the data path, from top to bottom; `None` beside it.
    fn height(self) -> Option<u8> {
        Some(match self {
            Apps | AppCommon => 6,
            Systems => 5,
            Messaging => 4,
            Collective => 3,
            Endpoint => 2,
            Protocol | Link | LinkApi | Conformance | Net => 1,
            Wire => 0,
            _ => return None,
        })
    }

    fn is_link(self) -> bool {
        matches!(self, Link | LinkApi | Conformance)
    }

    fn is_testing(self) -> bool {
        matches!(self, World | Testing | Hosts | Simulation | Conformance)
    }
}

/// True if the crates of `from` may depend on those of `to`.
fn may_use(from: Layer, to: Layer) -> bool {
    match (from, to) {
        (World | Testing | Simulation | Programs, _)
        | (Bindings | Cli | Bench, Simulation)
        | (Bench, Hosts | World)
        | (Hosts, LinkApi | Wire) => true,
        (_, Cli | Programs | World | Testing | Hosts | Simulation | Xtask) | (Xtask | Hosts, _) => {
            false
        }
        (Conformance | Link | LinkApi, LinkApi) => true,
        (_, Conformance) => false,
        (Trace | Report, Wire) | (Report, Trace) => true,
        (Trace | Report, _) => false,
        (from, Trace) => from != Wire && from != Protocol,
        (_, Report) => matches!(from, Cli | Bench),
        (Net, Link | LinkApi) => true,
        (_, Net) => false,
        (Apps, AppCommon) | (Apps | AppCommon, Facade) => true,
        (Systems, Systems | Macros) => true,
        (Launch, Wire | Launch) => true,
        (Launch, to) => to.is_link(),
        (Facade, Messaging | Collective | Endpoint | Launch | Macros) => true,
        (Facade, to) => to.is_link(),
        (Bindings, Facade | Systems) => true,
        (Bindings, to) => may_use(Facade, to),
        (Cli | Bench, _) => true,
        (from, to) => matches!((from.height(), to.height()), (Some(a), Some(b)) if a > b),
    }
}

/// True if the tests of `from` may depend on `to`: on anything, but those of protocols and links on
/// nothing that joins the two, or they would no longer be tested without each other.
fn tests_may_use(from: Layer, to: Layer) -> bool {
    let below_endpoint =
        matches!(to, Protocol | Wire | Trace | World | Hosts | Macros | Net) || to.is_link();
    !(from == Protocol || from.is_link()) || below_endpoint
}

/// Reason why a dependency is refused.
fn reason(from: Layer, to: Layer, dev: bool) -> &'static str {
    match (from, to) {
        _ if dev => "protocols are tested without a network and links without a protocol",
        (Protocol, to) if to.is_link() => {
            "a protocol knows no link, so that it is tested without a network; only endpoint joins them"
        }
        (from, Protocol) if from.is_link() => {
            "a link moves frames and knows no protocol; only endpoint joins them"
        }
        (from, to) if from.is_link() && to.is_link() => {
            "a link knows links/api and links/datagram, and no other link"
        }
        (_, to) if to.is_testing() => {
            "what users run does not contain tests; make it a dev-dependency"
        }
        (_, Cli | Net | Programs | Xtask) => "a program is the end of a path; nothing builds on it",
        (Xtask, _) => "the checks build when the rest of the tree does not",
        (Apps | AppCommon, Apps) => "applications stand alone; what they share is in apps/common",
        (Wire, _) => "wire is header layouts and nothing else",
        (Trace, _) => "a trace is read where there is nothing but the trace",
        (Report, _) => "a report is made of a trace, and of nothing else",
        (Launch, _) => "starting ranks takes wire and links; it works before there is an endpoint",
        (Facade | Bindings, _) => {
            "a binding shows messaging, endpoint, launch and links to a language, and no more"
        }
        (Macros, _) => "macros write code for the facade and run none",
        _ => {
            "dependencies point one way: apps -> systems -> messaging -> collective -> endpoint -> {protocol, \
             links} -> wire, with bindings and launch beside"
        }
    }
}

/// Applies the rule to every manifest.
pub fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    findings.extend(tree.malformed.iter().cloned());
    let root = tree.manifests.iter().find(|manifest| manifest.folder.is_empty());
    for manifest in tree.manifests.iter().filter(|manifest| manifest.is_package()) {
        let Some(layer) = layer_of(&manifest.folder) else {
            findings.push(unknown(manifest));
            continue;
        };
        let arrows = manifest.arrows(root);
        for arrow in &arrows {
            findings.extend(refuse(manifest, layer, arrow));
        }
        findings.extend(refuse_join(manifest, layer, &arrows));
    }
}

fn unknown(manifest: &Manifest) -> Finding {
    Finding {
        path: manifest.path(),
        line: 1,
        rule: "layers",
        what: format!(
            "no layer has the folder '{}'; add it to layer_of in xtask/src/tidy/layers.rs, and to \
             ARCHITECTURE.md",
            manifest.folder
        ),
        reason: "the tree is the architecture: a crate's folder says what it may depend on".into(),
    }
}

fn refuse(manifest: &Manifest, from: Layer, arrow: &Arrow) -> Option<Finding> {
    let to = layer_of(&arrow.to)?;
    let allowed = may_use(from, to) || (arrow.dev && tests_may_use(from, to));
    (!allowed).then(|| Finding {
        path: manifest.path(),
        line: arrow.line,
        rule: "layers",
        what: format!("{} must not depend on {}", manifest.folder, arrow.to),
        reason: reason(from, to, arrow.dev).into(),
    })
}

/// Above the endpoint, nothing depends on protocol and link at once.
fn refuse_join(manifest: &Manifest, from: Layer, arrows: &[Arrow]) -> Option<Finding> {
    let find = |is: fn(Layer) -> bool| {
        arrows.iter().find(|arrow| !arrow.dev && layer_of(&arrow.to).is_some_and(is))
    };
    let protocol = find(|layer| layer == Protocol)?;
    let link = find(Layer::is_link)?;
    (from.height() > Endpoint.height()).then(|| Finding {
        path: manifest.path(),
        line: link.line.max(protocol.line),
        rule: "layers",
        what: format!("{} joins {} and {}", manifest.folder, protocol.to, link.to),
        reason: "only endpoint joins protocol and link".into(),
    })
}

#[cfg(test)]
mod tests;
