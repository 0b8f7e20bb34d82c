//! Texts of a run, each once, and numbers for them.

use std::collections::BTreeMap;
use weft_trace::{NamedThing, RankTrace};
use weft_wire::Protocol;

/// Texts by their numbers. Number 0 is the empty one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    texts: Vec<String>,
    numbers: BTreeMap<String, u32>,
}

impl Default for Names {
    fn default() -> Self {
        Names { texts: vec![String::new()], numbers: BTreeMap::from([(String::new(), 0)]) }
    }
}

impl Names {
    /// Number of a text.
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Number of the name of a rank's span.
    pub fn span(&mut self, of: &RankTrace, number: u32) -> u32 {
        self.named(of, NamedThing::Span, number, "span")
    }

    /// Number of the name of a rank's port.
    pub fn port(&mut self, of: &RankTrace, number: u32) -> u32 {
        self.named(of, NamedThing::Port, number, "port")
    }

    /// Number of the name of an order.
    pub fn order(&mut self, of: &RankTrace, number: u32) -> u32 {
        self.named(of, NamedThing::Order, number, "order")
    }

    fn named(&mut self, of: &RankTrace, named: NamedThing, number: u32, kind: &str) -> u32 {
        match of.names.get(&(named, number)) {
            Some(text) if !text.is_empty() => self.number(text),
            _ => self.number(&format!("{kind} {number}")),
        }
    }

    /// Text with this number, if it is not the empty one.
    pub fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(String::as_str).filter(|text| !text.is_empty())
    }

    /// All texts, by their numbers.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Name of a system, by the number of its protocol.
pub fn system(protocol: u8) -> String {
    let known = [
        (Protocol::PACKETS, "packets"),
        (Protocol::ENDPOINT, "endpoint"),
        (Protocol::PUTS, "puts"),
        (Protocol::MESSAGES, "messages"),
        (Protocol::REGIONS, "regions"),
        (Protocol::EVENTS, "events"),
        (Protocol::TAGGED, "tagged"),
    ];
    let number = usize::from(protocol);
    let known = known.iter().find(|(known, _)| known.index() == number);
    known.map_or_else(|| format!("protocol {protocol}"), |(_, name)| (*name).to_owned())
}
