//! The place where a name is declared.

use crate::Program;
use crate::check::Entity;
use crate::source::{FileId, Sources, Span};
use crate::tree::walk::{each_block, each_expression, each_statement, expressions};
use crate::tree::{Expression, ExpressionKind};

/// The place where what is named at a byte of a file is declared; none for what every program has.
pub fn definition(sources: &Sources, program: &Program, file: FileId, offset: u32) -> Option<Span> {
    let place = |entity: Entity| {
        let mut declared = program.facts.declared.iter();
        declared.find(|(_, found)| **found == entity).map(|(span, _)| *span)
    };
    if let Some(entity) = meaning(program, file, offset) {
        return place(entity);
    }
    let word = word(&sources.file(file).text, offset)?;
    let mut declared = program.facts.declared.iter();
    let found = declared.find(|(span, entity)| {
        let kind = matches!(entity, Entity::Type(_) | Entity::Object(_) | Entity::Module(_));
        kind && sources.text(**span) == word
    });
    found.map(|(span, _)| *span)
}

/// The meaning of the innermost expression with a meaning around a byte.
fn meaning(program: &Program, file: FileId, offset: u32) -> Option<Entity> {
    let mut found: Option<(u32, Entity)> = None;
    let mut look = |expression: &Expression| {
        let span = match &expression.kind {
            ExpressionKind::Field { field, .. } => field.span,
            ExpressionKind::Operation { operation, .. } => operation.span,
            _ => expression.span,
        };
        let inside = span.file == file && (span.start..=span.end).contains(&offset);
        if let (true, Some(entity)) = (inside, program.facts.meanings.get(&expression.id)) {
            let length = span.end - span.start;
            if found.is_none_or(|(shortest, _)| length < shortest) {
                found = Some((length, *entity));
            }
        }
    };
    for tree in &program.files {
        each_block(&tree.declarations, &mut |block| {
            each_statement(block, &mut |statement| {
                for expression in expressions(statement) {
                    each_expression(expression, &mut |part| {
                        look(part);
                        if let ExpressionKind::Call { callee, .. } = &part.kind {
                            look(callee);
                        }
                    });
                }
            });
        });
    }
    found.map(|(_, entity)| entity)
}

/// The name around a byte.
fn word(text: &str, offset: u32) -> Option<&str> {
    let (before, after) = text.split_at_checked(offset as usize)?;
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let start = before.len() - before.chars().rev().take_while(|letter| is_part(*letter)).count();
    let end = before.len() + after.chars().take_while(|letter| is_part(*letter)).count();
    text.get(start..end).filter(|word| !word.is_empty())
}
