//! Limits that some break today: a list names these with their numbers, which may only go down.

use super::finding::Finding;
use super::lexer::line_of;
use super::tree::Tree;

/// A limit, and the list of what is above it.
pub struct Ratchet {
    /// The name of the rule.
    pub rule: &'static str,
    /// The most that there may be.
    pub limit: usize,
    /// Description of what is counted, in the plural.
    pub unit: &'static str,
    /// Reason for the rule.
    pub reason: &'static str,
    /// The file that the list is in.
    pub list: &'static str,
    /// Names of those above the limit, sorted, each with its number.
    pub listed: &'static [(&'static str, usize)],
}

/// A number of something.
pub struct Count {
    /// Name in the list.
    pub name: String,
    /// The number.
    pub number: usize,
    /// The file, from the root.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// More to say of it, after its number; may be empty.
    pub detail: String,
}

impl Ratchet {
    /// Compares all that was counted with the limit and the list.
    pub fn hold(&self, tree: &Tree, counts: &[Count], findings: &mut Vec<Finding>) {
        findings.extend(counts.iter().filter_map(|count| self.refuse(count)));
        for &(name, number) in self.listed {
            let same = counts.iter().filter(|count| count.name == name);
            let today = same.map(|count| count.number).max();
            let what = match today {
                None => format!("{name} is no more: take it off the list"),
                Some(today) if today <= self.limit => {
                    format!("{name} has {today} {}: take it off the list", self.unit)
                }
                Some(today) if today < number => {
                    format!("{name} has {today} {}: lower its {number} to that", self.unit)
                }
                Some(_) => continue,
            };
            findings.extend(stale(tree, self.list, self.rule, &[name], what));
        }
    }

    fn refuse(&self, count: &Count) -> Option<Finding> {
        let Ratchet { limit, unit, list, .. } = self;
        let Count { name, number, detail, .. } = count;
        let entry = self.listed.iter().find(|(listed, _)| listed == name);
        let what = match entry {
            Some((_, most)) if number > most => {
                format!("{name} has {number} {unit}{detail}, {list} allows it {most}")
            }
            None if number > limit => {
                format!("{name} has {number} {unit}{detail}, {limit} are the most")
            }
            _ => return None,
        };
        Some(Finding {
            path: count.path.clone(),
            line: count.line,
            rule: self.rule,
            what,
            reason: self.reason.into(),
        })
    }
}

/// A finding about the entry with these words, quoted, in the list in the file `list`: that it
/// allows what is no more. None in a tree without that file, which the list is not about.
pub fn stale(
    tree: &Tree,
    list: &str,
    rule: &'static str,
    entry: &[&str],
    what: String,
) -> Option<Finding> {
    let text = &tree.file(list)?.text;
    let quoted: Vec<String> = entry.iter().map(|word| format!("\"{word}\"")).collect();
    let at = text.find(&quoted.join(", ")).unwrap_or(0);
    Some(Finding {
        path: list.into(),
        line: line_of(text, at),
        rule,
        what,
        reason: "a list of what is allowed only gets shorter".into(),
    })
}

#[cfg(test)]
mod tests;
