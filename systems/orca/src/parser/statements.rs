//! Statements, and what is skipped if one is not understood.

use chumsky::prelude::*;
use chumsky::recovery::via_parser;

use super::errors;
use super::expressions::{Expressions, arguments};
use super::grammar::{Place, Rule, begins, ended, ends, here, name, names, number, word};
use crate::lexer::Token;
use crate::source::Span;
use crate::tree::{
    Alternative, Arm, AssignOperator, Block, Choice, Expression, ExpressionKind, Range, Statement,
    StatementKind, TypeSyntax, Variable,
};

/// Statements up to a word that ends them.
pub fn statements<'t>(
    rules: &Expressions<'t>,
    of: Rule<'t, TypeSyntax>,
) -> Rule<'t, Vec<Statement>> {
    let mut list = Recursive::declare();
    let inner: Rule<'t, Vec<Statement>> = list.clone().boxed();
    let expression = rules.expression.clone();
    let kind = choice((
        declaration(of),
        simple(rules),
        conditional(expression.clone(), inner.clone()),
        loops(expression.clone(), inner.clone()),
        case(expression.clone(), inner.clone()),
        fork(expression.clone()),
        block(Token::Begin, inner.clone(), Token::End, errors::END).map(StatementKind::Block),
        arm(Token::Guard, expression, inner).map(|arm| StatementKind::Guard(Box::new(arm))),
    ))
    .labelled("a statement")
    .boxed();
    let placeholder =
        just(Token::Ellipsis).then(just(Token::Semicolon).or_not()).to(StatementKind::Placeholder);
    let statement = placeholder
        .or(ended(kind))
        .recover_with(via_parser(skipped().to(StatementKind::Malformed)))
        .map_with(|kind, place| Statement { kind, span: place.span() });
    list.define(statement.repeated().collect().boxed());
    list.boxed()
}

/// Statements between two words; if the second one is missing, that is reported.
pub fn block<'t>(
    open: Token<'t>,
    inner: Rule<'t, Vec<Statement>>,
    close: Token<'t>,
    missing: &'static str,
) -> Rule<'t, Block> {
    closed(opened(open, inner), close, missing)
}

/// The place of a word, and the statements behind it, up to the next word.
fn opened<'t>(open: Token<'t>, inner: Rule<'t, Vec<Statement>>) -> Rule<'t, (Span, Block)> {
    word(open)
        .then(inner)
        .then(here())
        .map(|((open, statements), end)| (open, Block { statements, span: open.after().to(end) }))
        .boxed()
}

/// The statements behind a word.
fn part<'t>(open: Token<'t>, inner: Rule<'t, Vec<Statement>>) -> Rule<'t, Block> {
    opened(open, inner).map(|(_, block)| block).boxed()
}

/// The rule, and the word that ends it.
fn closed<'t, O: 't>(
    rule: Rule<'t, (Span, O)>,
    close: Token<'t>,
    missing: &'static str,
) -> Rule<'t, O> {
    rule.then(just(close).or_not())
        .validate(move |((open, matched), close), place, emitter| {
            if close.is_none() {
                emitter.emit(Rich::custom(open.to(place.span()), missing));
            }
            matched
        })
        .boxed()
}

fn declaration<'t>(of: Rule<'t, TypeSyntax>) -> Rule<'t, StatementKind> {
    names()
        .then_ignore(just(Token::Colon))
        .then(of)
        .map(|(names, of)| StatementKind::Declare(Variable { names, of }))
        .boxed()
}

/// Assignments, calls, `exit` and `return`.
fn simple<'t>(rules: &Expressions<'t>) -> Rule<'t, StatementKind> {
    let sign = select! {
        Token::Assign => AssignOperator::Set,
        Token::AddAssign => AssignOperator::Add,
        Token::SubtractAssign => AssignOperator::Subtract,
        Token::MultiplyAssign => AssignOperator::Multiply,
    }
    .labelled("`:=`");
    let assigned = sign.then(rules.expression.clone()).or_not();
    let beginning =
        rules.designator.clone().then(assigned).map(|(target, assigned)| match assigned {
            Some((operator, value)) => StatementKind::Assign { target, operator, value },
            None => StatementKind::Call(target),
        });
    let returned = just(Token::Return)
        .ignore_then(rules.expression.clone().or_not())
        .map(StatementKind::Return);
    choice((beginning, just(Token::Exit).to(StatementKind::Exit), returned)).boxed()
}

fn conditional<'t>(
    expression: Rule<'t, Expression>,
    inner: Rule<'t, Vec<Statement>>,
) -> Rule<'t, StatementKind> {
    let arm: Rule<'t, Arm> = expression
        .then(part(Token::Then, inner.clone()))
        .map(|(condition, body)| Arm { condition, body })
        .boxed();
    let others = just(Token::Elsif).ignore_then(arm.clone()).repeated().collect::<Vec<_>>();
    let otherwise = part(Token::Else, inner).or_not();
    let arms = arm.then(others).map(|(first, others)| {
        let mut arms = vec![first];
        arms.extend(others);
        arms
    });
    let whole = word(Token::If).then(arms.then(otherwise)).boxed();
    closed(whole, Token::Fi, errors::FI)
        .map(|(arms, otherwise)| StatementKind::If { arms, otherwise })
        .boxed()
}

/// A word, a condition, and the statements between `do` and `od`.
fn arm<'t>(
    first: Token<'t>,
    expression: Rule<'t, Expression>,
    inner: Rule<'t, Vec<Statement>>,
) -> Rule<'t, Arm> {
    just(first)
        .ignore_then(expression)
        .then(block(Token::Do, inner, Token::Od, errors::OD))
        .map(|(condition, body)| Arm { condition, body })
        .boxed()
}

fn loops<'t>(
    expression: Rule<'t, Expression>,
    inner: Rule<'t, Vec<Statement>>,
) -> Rule<'t, StatementKind> {
    let body = block(Token::Do, inner.clone(), Token::Od, errors::OD);
    let conditional = arm(Token::While, expression.clone(), inner.clone())
        .map(|arm| StatementKind::While { arm: Box::new(arm) });
    let repeat = closed(opened(Token::Repeat, inner), Token::Until, errors::UNTIL)
        .then(expression.clone().or_not())
        .map_with(|(body, until), place| {
            let until = until.unwrap_or_else(|| malformed(place));
            StatementKind::Repeat { body, until }
        });
    let last = just(Token::Dots).ignore_then(expression.clone()).or_not();
    let range = expression.then(last).map(|(first, last)| match last {
        Some(last) => Range::Bounds(first, last),
        None => Range::Elements(first),
    });
    let counted = just(Token::For)
        .ignore_then(name())
        .then_ignore(just(Token::In))
        .then(range)
        .then(body.clone())
        .map(|((variable, range), body)| StatementKind::For { variable, range, body });
    choice((conditional, repeat, counted, body.map(StatementKind::Loop))).boxed()
}

fn malformed(place: &mut Place<'_, '_>) -> Expression {
    let span = place.span().after();
    Expression { id: number(place), kind: ExpressionKind::Malformed, span }
}

fn case<'t>(
    expression: Rule<'t, Expression>,
    inner: Rule<'t, Vec<Statement>>,
) -> Rule<'t, StatementKind> {
    let last = just(Token::Dots).ignore_then(expression.clone()).or_not();
    let choice = expression.clone().then(last).map(|(first, last)| Choice { first, last });
    let choices = choice.separated_by(just(Token::Comma)).at_least(1).collect::<Vec<_>>();
    let alternative = word(Token::Bar).then(choices).then(part(Token::Arrow, inner.clone())).map(
        |((bar, choices), body)| {
            let heading = bar.to(body.span.before());
            Alternative { choices, body, heading }
        },
    );
    let otherwise = part(Token::Else, inner).or_not();
    let inside = expression
        .then_ignore(just(Token::Of))
        .then(alternative.repeated().collect::<Vec<_>>())
        .then(otherwise);
    closed(word(Token::Case).then(inside).boxed(), Token::Esac, errors::ESAC)
        .map(|((subject, alternatives), otherwise)| StatementKind::Case {
            subject,
            alternatives,
            otherwise,
        })
        .boxed()
}

fn fork<'t>(expression: Rule<'t, Expression>) -> Rule<'t, StatementKind> {
    let named = name().map_with(|name, place| Expression {
        id: number(place),
        kind: ExpressionKind::Name(name.text),
        span: name.span,
    });
    let process = named.foldl_with(
        just(Token::Dot).ignore_then(name()).repeated().at_most(1),
        |of, field, place: &mut Place<'t, '_>| {
            let kind = ExpressionKind::Field { of: Box::new(of), field };
            Expression { id: number(place), kind, span: place.span() }
        },
    );
    just(Token::Fork)
        .ignore_then(process)
        .then(arguments(expression.clone()))
        .then(just(Token::On).ignore_then(expression).or_not())
        .map(|((process, arguments), on)| StatementKind::Fork { process, arguments, on })
        .boxed()
}

/// Tokens of a statement that is not understood: at least one, up to its semicolon, to the next
/// statement, or to the end of the block. Whole blocks within it are skipped whole.
fn skipped<'t>() -> Rule<'t, ()> {
    let chunk = recursive(|chunk| {
        let chunk: Rule<'t, ()> = chunk.boxed();
        let inside = chunk.or(just(Token::Semicolon).ignored()).or(statement_word());
        // The word at the end may be that of another kind of block: perhaps this is the error.
        let close = any().filter(|token| matches!(token, Token::Od | Token::Fi | Token::Esac));
        let nested = |open, also: fn(Token<'_>) -> bool| {
            let also = any().filter(move |token| also(*token)).ignored();
            just(open).then(inside.clone().or(also).repeated()).then(close.or_not()).ignored()
        };
        let block = just(Token::Begin).then(inside.clone().repeated());
        choice((
            nested(Token::Do, |_| false),
            nested(Token::Then, |token| matches!(token, Token::Else | Token::Elsif)),
            nested(Token::Case, |token| matches!(token, Token::Bar | Token::Else)),
            block.then(just(Token::End).or_not()).ignored(),
            any()
                .filter(|token| {
                    let named = matches!(token, Token::Name(_));
                    *token != Token::Semicolon && !ends(*token) && (named || !begins(*token))
                })
                .ignored(),
        ))
    });
    let first = chunk.clone().or(statement_word()).or(just(Token::Semicolon).rewind().ignored());
    first.then(chunk.repeated()).then(just(Token::Semicolon).or_not()).ignored().boxed()
}

/// A word with which a statement begins, alone.
fn statement_word<'t>() -> Rule<'t, ()> {
    any()
        .filter(|token| begins(*token) && !matches!(token, Token::Begin | Token::Do))
        .ignored()
        .boxed()
}
