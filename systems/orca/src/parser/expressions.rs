//! Expressions.

use chumsky::pratt::{infix, left, prefix};
use chumsky::prelude::*;

use super::grammar::{Place, Rule, name, number, word};
use crate::lexer::Token;
use crate::source::Span;
use crate::tree::{
    Aggregate, BinaryOperator, Expression, ExpressionKind, Name, TypeKind, TypeSyntax,
    UnaryOperator,
};

/// The rules that others use.
#[derive(Clone)]
pub struct Expressions<'t> {
    /// Any expression.
    pub expression: Rule<'t, Expression>,
    /// A name and what is selected from it or called: what a statement may begin with.
    pub designator: Rule<'t, Expression>,
}

/// The part behind a name.
enum Postfix {
    Field(Name),
    Index(Vec<Expression>),
    Call(Vec<Expression>),
    Operation(Name, Vec<Expression>),
}

/// The rules of expressions.
pub fn expressions<'t>() -> Expressions<'t> {
    let mut expression = Recursive::declare();
    let any: Rule<'t, Expression> = expression.clone().boxed();
    let designator = designator(any.clone());
    let primary = choice((aggregate(any), literal(), designator.clone()));
    expression.define(operators(primary.labelled("an expression").boxed()));
    Expressions { expression: expression.boxed(), designator }
}

/// Expressions between commas, perhaps none.
pub fn list<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Vec<Expression>> {
    expression.separated_by(just(Token::Comma)).collect().boxed()
}

/// Arguments in parentheses.
pub fn arguments<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Vec<Expression>> {
    list(expression)
        .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
        .boxed()
}

/// The expression with the place where a rule matched.
fn at(kind: ExpressionKind, place: &mut Place<'_, '_>) -> Expression {
    Expression { id: number(place), kind, span: place.span() }
}

fn literal<'t>() -> Rule<'t, Expression> {
    select! {
        Token::Integer(text) => ExpressionKind::Integer(text.to_owned()),
        Token::Real(text) => ExpressionKind::Real(text.to_owned()),
        Token::Text(text) => ExpressionKind::Text(text.to_owned()),
        Token::Char(text) => ExpressionKind::Char(text.to_owned()),
        Token::True => ExpressionKind::Boolean(true),
        Token::False => ExpressionKind::Boolean(false),
        Token::Nil => ExpressionKind::Nil,
    }
    .map_with(at)
    .boxed()
}

fn designator<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Expression> {
    let inner = expression
        .clone()
        .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
        .map(|inner| ExpressionKind::Parenthesised(Box::new(inner)));
    let named = select! {
        Token::Name(text) => ExpressionKind::Name(text.to_owned()),
    };
    // `from` is a function, too: it takes an element out of a set.
    let from = just(Token::From)
        .then_ignore(just(Token::ParenthesisOpen).rewind())
        .to(ExpressionKind::Name("from".to_owned()));
    let head = choice((named, inner, from)).map_with(at);
    head.foldl_with(postfix(expression).repeated(), |of, postfix, place| {
        at(applied(postfix, Box::new(of)), place)
    })
    .boxed()
}

fn postfix<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Postfix> {
    let indices = expression
        .clone()
        .separated_by(just(Token::Comma))
        .at_least(1)
        .collect()
        .delimited_by(just(Token::BracketOpen), just(Token::BracketClose));
    choice((
        just(Token::Dot).ignore_then(name()).map(Postfix::Field),
        indices.map(Postfix::Index),
        arguments(expression.clone()).map(Postfix::Call),
        just(Token::Dollar)
            .ignore_then(name())
            .then(arguments(expression))
            .map(|(operation, arguments)| Postfix::Operation(operation, arguments)),
    ))
    .labelled("an operator")
    .boxed()
}

fn applied(postfix: Postfix, of: Box<Expression>) -> ExpressionKind {
    match postfix {
        Postfix::Field(field) => ExpressionKind::Field { of, field },
        Postfix::Index(indices) => ExpressionKind::Index { of, indices },
        Postfix::Call(arguments) => ExpressionKind::Call { callee: of, arguments },
        Postfix::Operation(operation, arguments) => {
            ExpressionKind::Operation { object: of, operation, arguments }
        }
    }
}

fn aggregate<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Expression> {
    let path = name().then(just(Token::Dot).ignore_then(name()).or_not()).map_with(
        |(first, second), place: &mut Place<'t, '_>| {
            let span: Span = place.span();
            let (module, name) = match second {
                Some(second) => (Some(first), second),
                None => (None, first),
            };
            let kind = TypeKind::Named { module, name, bounds: Vec::new() };
            Box::new(TypeSyntax { kind, span })
        },
    );
    let list_form = list(expression.clone())
        .delimited_by(just(Token::BracketOpen), just(Token::BracketClose))
        .map(|elements| (Aggregate::List, elements));
    let set_form = list(expression)
        .delimited_by(just(Token::BraceOpen), just(Token::BraceClose))
        .map(|elements| (Aggregate::Set, elements));
    path.then_ignore(word(Token::Colon))
        .or_not()
        .then(list_form.or(set_form))
        .map_with(|(of, (form, elements)), place| {
            at(ExpressionKind::Aggregate { form, of, elements }, place)
        })
        .boxed()
}

fn operators<'t>(primary: Rule<'t, Expression>) -> Rule<'t, Expression> {
    let or = select! { Token::Or => BinaryOperator::Or }.labelled("an operator");
    let and = select! { Token::And => BinaryOperator::And }.labelled("an operator");
    let comparison = select! {
        Token::Equal => BinaryOperator::Equal,
        Token::NotEqual => BinaryOperator::NotEqual,
        Token::Less => BinaryOperator::Less,
        Token::LessEqual => BinaryOperator::LessEqual,
        Token::Greater => BinaryOperator::Greater,
        Token::GreaterEqual => BinaryOperator::GreaterEqual,
        Token::In => BinaryOperator::In,
    }
    .labelled("an operator");
    let sum = select! {
        Token::Plus => BinaryOperator::Add,
        Token::Minus => BinaryOperator::Subtract,
    }
    .labelled("an operator");
    let product = select! {
        Token::Star => BinaryOperator::Multiply,
        Token::Slash => BinaryOperator::Divide,
        Token::Div => BinaryOperator::Quotient,
        Token::Mod | Token::Percent => BinaryOperator::Remainder,
    }
    .labelled("an operator");
    let not = just(Token::Not).to(UnaryOperator::Not);
    let minus = just(Token::Minus).to(UnaryOperator::Negate);
    primary
        .pratt((
            infix(left(1), or, binary),
            infix(left(2), and, binary),
            prefix(3, not.labelled("an expression"), unary),
            infix(left(4), comparison, binary),
            infix(left(5), sum, binary),
            infix(left(6), product, binary),
            prefix(7, minus.labelled("an expression"), unary),
        ))
        .boxed()
}

fn binary(
    left: Expression,
    operator: BinaryOperator,
    right: Expression,
    place: &mut Place<'_, '_>,
) -> Expression {
    let (left, right) = (Box::new(left), Box::new(right));
    at(ExpressionKind::Binary { operator, left, right }, place)
}

fn unary(operator: UnaryOperator, operand: Expression, place: &mut Place<'_, '_>) -> Expression {
    at(ExpressionKind::Unary { operator, operand: Box::new(operand) }, place)
}
