//! Reports that several passes make.

use super::scopes::{Meaning, ScopeId};
use super::symbols::Symbols;
use super::types::{Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::suggestion::{did_you_mean, foreign_type};
use crate::tree::Name;

impl Symbols<'_> {
    /// Reports a name that is declared a second time.
    pub fn report_twice(&mut self, name: &str, span: Span, first: Span) {
        let message = format!("`{name}` is declared twice");
        let diagnostic = Diagnostic::new(Code::Twice, message, span, "declared again here")
            .also(first, "declared here first")
            .help("give one of them another name");
        self.report(diagnostic);
    }

    /// Reports a name that nothing here has.
    pub fn report_unknown(&mut self, scope: ScopeId, name: &str, span: Span) {
        let help = did_you_mean(name, self.scopes.visible(scope)).or_else(|| foreign_type(name));
        let help = help.or_else(|| {
            let elsewhere = self.objects.iter().any(|object| object.name.text == name)
                || self.modules.iter().any(|module| module.name.text == name);
            elsewhere.then(|| format!("it is in another file: write `import {name};` first"))
        });
        let help = help.unwrap_or_else(|| "declare it before it is used".to_owned());
        let message = format!("`{name}` is not declared");
        self.report(Diagnostic::new(Code::Unknown, message, span, "unknown name").help(help));
    }

    /// Reports that a module does not have what is asked of it.
    pub fn report_not_exported(&mut self, outer: ScopeId, module: &Name, name: &Name) {
        let known = self.scopes.names(outer).keys().map(String::as_str);
        let help = did_you_mean(&name.text, known)
            .unwrap_or_else(|| format!("add it to the specification of `{}`", module.text));
        let message = format!("`{}` has no `{}` for others", module.text, name.text);
        self.report(Diagnostic::new(Code::Import, message, name.span, "not exported").help(help));
    }

    pub fn report_mismatch(&mut self, span: Span, expected: TypeId, found: TypeId) {
        let help = match (expected, found) {
            (Types::REAL, Types::INTEGER) => {
                Some("convert it by `float(...)`, or write a literal with `.0`")
            }
            (Types::INTEGER, Types::REAL) => Some("convert it by `trunc(...)` or `round(...)`"),
            (Types::INTEGER, Types::CHAR) => Some("convert it by `ord(...)`"),
            (Types::CHAR, Types::INTEGER) => Some("convert it by `chr(...)`"),
            (Types::CHAR, Types::TEXT) => Some("write one character between single quotes"),
            (Types::TEXT, Types::CHAR) => Some("write a string between double quotes"),
            (Types::BOOLEAN, _) => Some("a condition compares something: `x /= 0`"),
            (_, Types::NOTHING) => Some("what is called here returns nothing"),
            _ => None,
        };
        let expected = self.describe(expected);
        let found = self.describe(found);
        let help = help.map_or_else(|| format!("write a value of type {expected}"), str::to_owned);
        let message = format!("expected {expected}, found {found}");
        let label = format!("this is {found}");
        self.report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
    }

    /// Reports that a type has no such field or operation.
    pub fn report_no_member<'n>(
        &mut self,
        of: TypeId,
        member: &Name,
        what: &str,
        known: impl Iterator<Item = &'n String>,
    ) -> TypeId {
        let known: Vec<&str> = known.map(String::as_str).collect();
        let help = did_you_mean(&member.text, known.iter().copied()).or_else(|| match &known[..] {
            [] => None,
            known => Some(format!("it has these: {}", known.join(", "))),
        });
        let help = help.unwrap_or_else(|| format!("it has no {what}s at all"));
        let message = format!("`{}` has no {what} `{}`", self.describe(of), member.text);
        let label = format!("no such {what}");
        self.report(Diagnostic::new(Code::Member, message, member.span, label).help(help));
        Types::UNKNOWN
    }

    /// Reports that there are too few or too many of something.
    pub fn expect_count(&mut self, span: Span, what: &str, expected: usize, found: usize) {
        if expected != found {
            let what = match (expected, what) {
                (1, "indices") => "index",
                (1, what) => what.trim_end_matches('s'),
                (_, what) => what,
            };
            let message = format!("expected {expected} {what}, found {found}");
            let label = if found < expected { "too few" } else { "too many" };
            let help = format!("write {expected} {what}");
            self.report(Diagnostic::new(Code::Count, message, span, label).help(help));
        }
    }

    /// The type, if it is what a built-in function takes; otherwise that is reported.
    pub fn require(&mut self, span: Span, of: TypeId, what: &str, holds: bool) -> TypeId {
        if holds || of == Types::UNKNOWN {
            return of;
        }
        let found = self.describe(of);
        let message = format!("expected {what}, found {found}");
        let label = format!("this is {found}");
        let help = format!("write {what}");
        self.report(Diagnostic::new(Code::Mismatch, message, span, label).help(help));
        Types::UNKNOWN
    }

    /// The message that a type is not copied.
    pub fn not_copied(&self, of: TypeId) -> String {
        match self.types.get(of) {
            Type::Object(_) => format!("objects are not copied: `{}`", self.describe(of)),
            _ => format!("`{}` has objects, which are not copied", self.describe(of)),
        }
    }

    /// Reports a copy of an object.
    pub fn report_copied(&mut self, span: Span, of: TypeId) {
        let message = self.not_copied(of);
        let diagnostic = Diagnostic::new(Code::Shared, message, span, "would be a copy")
            .help("share the object: hand it to a process or function as `shared` parameter");
        self.report(diagnostic);
    }

    pub fn report_endless(&mut self, name: &Name, message: &str) {
        let help = "a set, a bag or an array may hold its own kind, and so may a graph by \
                    `nodename of`";
        let diagnostic = Diagnostic::new(Code::Endless, message, name.span, "has no end");
        self.report(diagnostic.help(help));
    }

    /// Reports the use of something generic in the place of an instance.
    pub fn report_generic(&mut self, meaning: Meaning, name: &Name) {
        let word = if matches!(meaning, Meaning::Object(_)) { "object" } else { "module" };
        let message = format!("`{}` is generic", name.text);
        let help = format!("name an instance of it: `{word} A = new {}(...);`", name.text);
        let diagnostic = Diagnostic::new(Code::Kind, message, name.span, "is no instance");
        self.report(diagnostic.help(help));
    }
}
