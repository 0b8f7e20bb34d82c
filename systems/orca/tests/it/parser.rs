//! Trees of texts.

use weft_orca::parser::{FileParser, Parsed};
use weft_orca::source::Sources;
use weft_orca::tree::{DeclarationKind, Expression, ExpressionKind, StatementKind};

/// An expression with all its parentheses.
fn grouped(expression: &Expression) -> String {
    match &expression.kind {
        ExpressionKind::Name(text) | ExpressionKind::Integer(text) => text.clone(),
        ExpressionKind::Unary { operator, operand } => {
            format!("({} {})", operator.sign(), grouped(operand))
        }
        ExpressionKind::Binary { operator, left, right } => {
            format!("({} {} {})", grouped(left), operator.sign(), grouped(right))
        }
        ExpressionKind::Field { of, field } => format!("{}.{}", grouped(of), field.text),
        ExpressionKind::Index { of, indices } => format!("{}[{}]", grouped(of), indices.len()),
        other => format!("{other:?}"),
    }
}

fn statements(text: &str) -> Vec<StatementKind> {
    let mut sources = Sources::default();
    let text = format!("process P();\nbegin\n{text}\nend;\n");
    let file = sources.add("test.orca", text).expect("small");
    let parsed = FileParser::default().parse(&sources, file);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let declaration = parsed.file.declarations.into_iter().next().expect("a process");
    let DeclarationKind::Routine(routine) = declaration.kind else { panic!("no process") };
    let statements = routine.body.expect("a body").block.statements;
    statements.into_iter().map(|statement| statement.kind).collect()
}

fn assigned(text: &str) -> String {
    match &statements(&format!("x := {text};"))[..] {
        [StatementKind::Assign { value, .. }] => grouped(value),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operators_bind_as_usual() {
    assert_eq!(assigned("a + b * c"), "(a + (b * c))");
    assert_eq!(assigned("a - b - c"), "((a - b) - c)");
    assert_eq!(assigned("-a * b"), "((- a) * b)");
    assert_eq!(assigned("a or b and c"), "(a or (b and c))");
    assert_eq!(assigned("not a = b and c"), "((not (a = b)) and c)");
    assert_eq!(assigned("a + 1 <= b mod 2"), "((a + 1) <= (b mod 2))");
    assert_eq!(assigned("a in b or c"), "((a in b) or c)");
    assert_eq!(assigned("a.b[1].c - 1"), "(a.b[1].c - 1)");
}

#[test]
fn numbers_of_expressions_are_unique() {
    let mut sources = Sources::default();
    let text = "const A = 1 + 2 * 3;\n";
    let first = sources.add("a.orca", text.to_owned()).expect("small");
    let second = sources.add("b.orca", text.to_owned()).expect("small");
    let mut parser = FileParser::default();
    let numbers = |parsed: &Parsed| match &parsed.file.declarations[0].kind {
        DeclarationKind::Constant { value, .. } => value.id,
        other => panic!("{other:?}"),
    };
    let one = numbers(&parser.parse(&sources, first));
    let end = parser.expressions();
    let other = numbers(&parser.parse(&sources, second));
    assert!(one.0 < end && end <= other.0 && other.0 < parser.expressions());
}

#[test]
fn declarations_stand_behind_begin_too() {
    let kinds = statements("counter: Int;\ncounter$inc();\n...\nx: Row[1..2];");
    assert!(matches!(kinds[0], StatementKind::Declare(_)));
    assert!(matches!(kinds[1], StatementKind::Call(_)));
    assert!(matches!(kinds[2], StatementKind::Placeholder));
    assert!(matches!(kinds[3], StatementKind::Declare(_)));
}
