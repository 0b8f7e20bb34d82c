//! Scopes: which name means what, where.

use std::collections::BTreeMap;

use super::builtin::Builtin;
use super::facts::{ConstantId, ModuleId, ObjectId, RoutineId, VariableId};
use super::types::{TypeId, Types};
use crate::source::Span;

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

/// The names of a scope, with the places where they are declared.
pub type Names = BTreeMap<String, (Meaning, Span)>;

#[derive(Clone, Debug, Default)]
struct Scope {
    parent: Option<ScopeId>,
    names: Names,
}

/// The scope with what every program has.
pub const UNIVERSE: ScopeId = ScopeId(0);

/// All scopes of a program.
#[derive(Debug)]
pub struct Scopes(Vec<Scope>);

impl Scopes {
    /// The universe alone.
    pub fn new() -> Self {
        let basic = [
            ("integer", Types::INTEGER),
            ("real", Types::REAL),
            ("boolean", Types::BOOLEAN),
            ("char", Types::CHAR),
            ("string", Types::TEXT),
        ];
        let basic = basic.map(|(name, of)| (name, Meaning::Basic(of)));
        let builtins =
            Builtin::ALL.iter().map(|builtin| (builtin.name(), Meaning::Builtin(*builtin)));
        let all = basic.into_iter().chain(builtins);
        let names = all.map(|(name, meaning)| (name.to_owned(), (meaning, Span::default())));
        Scopes(vec![Scope { parent: None, names: names.collect() }])
    }

    /// A scope inside of another one.
    pub fn add(&mut self, parent: ScopeId) -> ScopeId {
        self.0.push(Scope { parent: Some(parent), names: Names::new() });
        ScopeId(self.0.len() - 1)
    }

    /// The names of a scope.
    pub fn names(&self, scope: ScopeId) -> &Names {
        &self.0[scope.0].names
    }

    /// Gives a scope these names.
    pub fn set_names(&mut self, scope: ScopeId, names: Names) {
        self.0[scope.0].names = names;
    }

    /// Adds a name to a scope.
    ///
    /// # Errors
    /// The place where it is declared already; then it is not added.
    pub fn insert(
        &mut self,
        scope: ScopeId,
        name: &str,
        span: Span,
        meaning: Meaning,
    ) -> Result<(), Span> {
        let names = &mut self.0[scope.0].names;
        match names.get(name) {
            Some((_, first)) => Err(*first),
            None => {
                names.insert(name.to_owned(), (meaning, span));
                Ok(())
            }
        }
    }

    /// The meaning of a name in a scope or around it.
    pub fn look_up(&self, scope: ScopeId, name: &str) -> Option<Meaning> {
        let found = self.around(scope).find_map(|scope| scope.names.get(name));
        found.map(|(meaning, _)| *meaning)
    }

    /// All names in a scope and around it.
    pub fn visible(&self, scope: ScopeId) -> impl Iterator<Item = &str> {
        self.around(scope).flat_map(|scope| scope.names.keys().map(String::as_str))
    }

    /// A scope and those around it, from the innermost on.
    fn around(&self, scope: ScopeId) -> impl Iterator<Item = &Scope> {
        let of = |id: ScopeId| &self.0[id.0];
        std::iter::successors(Some(of(scope)), move |scope| scope.parent.map(of))
    }
}
