//! Types that contain themselves: records and unions by their fields, and object types by their
//! variables. An array ends such a chain only for what is copied: objects in arrays are made with
//! the array.

use super::facts::ObjectId;
use super::symbols::{DefinitionState, Symbols};
use super::types::{Type, TypeId};
use crate::tree::Name;

/// Reports types that contain themselves.
pub fn check_containment(symbols: &mut Symbols<'_>) {
    let mut endless: Vec<&Name> = Vec::new();
    for definition in &symbols.definitions {
        if let DefinitionState::Resolved(of, _) = definition.state
            && contains(symbols, of, of)
        {
            endless.push(definition.name);
        }
    }
    for unit in &symbols.objects {
        if contains(symbols, unit.of, unit.of) {
            endless.push(unit.name);
        }
    }
    for name in endless {
        symbols.report_endless(name, "this type contains itself");
    }
}

fn contains(symbols: &Symbols<'_>, whole: TypeId, part: TypeId) -> bool {
    let mut seen = vec![false; symbols.types.count() as usize];
    let mut waiting = direct_parts(symbols, whole);
    while let Some(id) = waiting.pop() {
        if id == part {
            return true;
        }
        if !std::mem::replace(&mut seen[id.0 as usize], true) {
            waiting.extend(direct_parts(symbols, id));
        }
    }
    false
}

fn direct_parts(symbols: &Symbols<'_>, id: TypeId) -> Vec<TypeId> {
    match symbols.types.get(id) {
        Type::Object(ObjectId(object)) => {
            let variables = symbols.objects[*object as usize].variables.iter();
            let types = variables.map(|id| symbols.variables[id.index()].of);
            types.map(|of| symbols.types.element_of(of)).collect()
        }
        Type::Record { .. } | Type::Union { .. } | Type::Graph { .. } => symbols.types.parts(id),
        _ => Vec::new(),
    }
}
