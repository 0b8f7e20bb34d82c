//! Scopes: which name means what, where.

use std::collections::BTreeMap;

use super::Checker;
use super::builtins::Builtin;
use super::facts::{ConstantId, ModuleId, ObjectId, RoutineId, VariableId};
use super::types::{TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::suggestion::did_you_mean;

/// Number of a scope.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ScopeId(pub usize);

/// Number of a declaration `type name = ...`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DefinitionId(pub usize);

/// The meaning of a name before types are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    Variable(VariableId),
    Constant(ConstantId),
    Basic(TypeId),
    Definition(DefinitionId),
    /// Value of an enumeration that a definition declares.
    Defined(DefinitionId, u32),
    /// Value of an enumeration without a name.
    Value(TypeId, u32),
    Routine(RoutineId),
    Object(ObjectId),
    Module(ModuleId),
    Builtin(Builtin),
    /// A name that was reported where it was imported.
    Wrong,
}

#[derive(Clone, Debug, Default)]
pub struct Scope {
    pub parent: Option<ScopeId>,
    pub names: BTreeMap<String, (Meaning, Span)>,
}

/// The scope with what every program has.
pub const UNIVERSE: ScopeId = ScopeId(0);

pub fn universe() -> Scope {
    let basic = [
        ("integer", Types::INTEGER),
        ("real", Types::REAL),
        ("boolean", Types::BOOLEAN),
        ("char", Types::CHAR),
        ("string", Types::TEXT),
    ];
    let basic = basic.map(|(name, of)| (name, Meaning::Basic(of)));
    let builtins = Builtin::ALL.iter().map(|builtin| (builtin.name(), Meaning::Builtin(*builtin)));
    let all = basic.into_iter().chain(builtins);
    let names = all.map(|(name, meaning)| (name.to_owned(), (meaning, Span::default())));
    Scope { parent: None, names: names.collect() }
}

impl Checker<'_> {
    pub fn new_scope(&mut self, parent: ScopeId) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), names: BTreeMap::new() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Adds a name to a scope; a second one of the same name is reported, and not added.
    pub fn declare(&mut self, scope: ScopeId, name: &str, span: Span, meaning: Meaning) {
        if let Some((_, first)) = self.scopes[scope.0].names.get(name) {
            let message = format!("`{name}` is declared twice");
            let diagnostic = Diagnostic::new(Code::Twice, message, span, "declared again here")
                .also(*first, "declared here first")
                .help("give one of them another name");
            self.report(diagnostic);
            return;
        }
        self.scopes[scope.0].names.insert(name.to_owned(), (meaning, span));
    }

    /// The meaning of a name in a scope or around it.
    pub fn look_up(&self, scope: ScopeId, name: &str) -> Option<Meaning> {
        let mut next = Some(scope);
        while let Some(scope) = next {
            let scope = &self.scopes[scope.0];
            if let Some((meaning, _)) = scope.names.get(name) {
                return Some(*meaning);
            }
            next = scope.parent;
        }
        None
    }

    /// The meaning of a name that is used; an unknown one is reported.
    pub fn find(&mut self, scope: ScopeId, name: &str, span: Span) -> Option<Meaning> {
        let found = self.look_up(scope, name);
        if found.is_none() {
            self.report_unknown(scope, name, span);
        }
        found.filter(|meaning| *meaning != Meaning::Wrong)
    }

    fn report_unknown(&mut self, scope: ScopeId, name: &str, span: Span) {
        let mut visible: Vec<&str> = Vec::new();
        let mut next = Some(scope);
        while let Some(scope) = next {
            let scope = &self.scopes[scope.0];
            visible.extend(scope.names.keys().map(String::as_str));
            next = scope.parent;
        }
        let help = did_you_mean(name, visible.into_iter());
        let help = help.or_else(|| {
            let elsewhere = self.objects.iter().any(|object| object.name.text == name)
                || self.modules.iter().any(|module| module.name.text == name);
            elsewhere.then(|| format!("it is in another file: write `import {name};` first"))
        });
        let help = help.unwrap_or_else(|| "declare it before it is used".to_owned());
        let message = format!("`{name}` is not declared");
        self.report(Diagnostic::new(Code::Unknown, message, span, "unknown name").help(help));
    }
}
