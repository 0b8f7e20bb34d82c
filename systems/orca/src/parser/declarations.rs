//! Declarations: of files, modules, object types and routines.

use chumsky::prelude::*;
use chumsky::recovery::via_parser;

use super::errors;
use super::expressions::expressions;
use super::grammar::{Place, Rule, declares, ended, ended_anyhow, here, name, names};
use super::statements::{block, statements};
use super::types::types;
use crate::lexer::Token;
use crate::source::Span;
use crate::tree::{
    Block, Body, Declaration, DeclarationKind, Expression, Generic, Half, Instance, Mode, Name,
    Parameter, Routine, RoutineKind, Statement, TypeKind, TypeSyntax, Unit, Variable,
};

/// The declarations of a file.
pub fn file<'t>() -> Rule<'t, Vec<Declaration>> {
    let rules = Rules::new();
    let declaration = choice((
        rules.plain(),
        rules.routine(RoutineKind::Function),
        rules.routine(RoutineKind::Process),
        rules.unit(Token::Object, Half::Specification),
        rules.unit(Token::Object, Half::Implementation),
        rules.unit(Token::Module, Half::Specification),
        rules.unit(Token::Module, Half::Implementation),
        rules.instance(),
    ))
    .labelled("a declaration");
    let generic = just(Token::Generic)
        .then(any().filter(|token| *token != Token::Generic).repeated())
        .then(just(Token::Generic))
        .then(just(Token::Semicolon).or_not())
        .to(DeclarationKind::Malformed);
    let skipped = any()
        .then(any().filter(|token| !declares(*token) && !plain(*token)).repeated())
        .to(DeclarationKind::Malformed);
    declaration
        .recover_with(via_parser(generic.or(skipped)))
        .map_with(declared)
        .repeated()
        .collect()
        .then_ignore(end())
        .boxed()
}

fn declared(kind: DeclarationKind, place: &mut Place<'_, '_>) -> Declaration {
    Declaration { kind, span: place.span() }
}

/// True for words with which a declaration without a body begins.
fn plain(token: Token<'_>) -> bool {
    matches!(token, Token::Type | Token::Const | Token::Import | Token::From)
}

/// The rules of which declarations are made.
struct Rules<'t> {
    expression: Rule<'t, Expression>,
    of: Rule<'t, TypeSyntax>,
    statements: Rule<'t, Vec<Statement>>,
}

impl<'t> Rules<'t> {
    fn new() -> Self {
        let rules = expressions();
        let of = types(rules.expression.clone());
        let statements = statements(&rules, of.clone());
        Rules { expression: rules.expression, of, statements }
    }

    /// Imports, constants and types.
    fn plain(&self) -> Rule<'t, DeclarationKind> {
        let import = just(Token::Import)
            .ignore_then(name())
            .map(|module| DeclarationKind::Import { module, names: Vec::new() });
        let from = just(Token::From)
            .ignore_then(name())
            .then_ignore(just(Token::Import))
            .then(names())
            .map(|(module, names)| DeclarationKind::Import { module, names });
        let constant = just(Token::Const)
            .ignore_then(name())
            .then_ignore(just(Token::Equal))
            .then(self.expression.clone())
            .map(|(name, value)| DeclarationKind::Constant { name, value });
        let definition = just(Token::Type)
            .ignore_then(name())
            .then_ignore(just(Token::Equal))
            .then(self.of.clone())
            .map(|(name, definition)| DeclarationKind::Type { name, definition });
        ended(choice((import, from, constant, definition)).boxed())
    }

    fn variable(&self) -> Rule<'t, DeclarationKind> {
        let variable = names()
            .then_ignore(just(Token::Colon))
            .then(self.of.clone())
            .map(|(names, of)| DeclarationKind::Variable(Variable { names, of }));
        ended(variable.boxed())
    }

    fn parameters(&self) -> Rule<'t, Vec<Parameter>> {
        let mode = choice((
            just(Token::In).then(just(Token::Out)).to(Mode::InOut),
            just(Token::In).to(Mode::In),
            just(Token::Out).to(Mode::Out),
            just(Token::InOut).to(Mode::InOut),
            just(Token::Shared).to(Mode::Shared),
        ));
        let parameter = names()
            .then_ignore(just(Token::Colon))
            .then(mode.or_not().map(|mode| mode.unwrap_or(Mode::In)))
            .then(self.of.clone())
            .map_with(|((names, mode), of), place| Parameter {
                names,
                mode,
                of,
                span: place.span(),
            });
        parameter
            .separated_by(just(Token::Semicolon))
            .collect()
            .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
            .boxed()
    }

    /// A heading with its semicolon.
    fn heading(&self, kind: RoutineKind) -> Rule<'t, Routine> {
        let word = match kind {
            RoutineKind::Function => Token::Function,
            RoutineKind::Operation => Token::Operation,
            RoutineKind::Process => Token::Process,
        };
        let heading = just(word)
            .ignore_then(name())
            .then(self.parameters())
            .then(just(Token::Colon).ignore_then(self.of.clone()).or_not())
            .boxed();
        ended(heading)
            .map_with(move |((name, parameters), result), place| Routine {
                kind,
                name,
                parameters,
                result,
                body: None,
                heading: place.span(),
            })
            .boxed()
    }

    fn block(&self) -> Rule<'t, Block> {
        ended_anyhow(block(Token::Begin, self.statements.clone(), Token::End, errors::END))
    }

    /// A heading and what the routine does.
    fn routine(&self, kind: RoutineKind) -> Rule<'t, DeclarationKind> {
        let declaration = self.plain().or(self.variable()).map_with(declared);
        let body = declaration
            .repeated()
            .collect()
            .map_with(|declarations: Vec<_>, place| (declarations, place.span()))
            .then(self.block())
            .map(|((declarations, before), block): ((_, Span), _)| {
                // Of no tokens the span is that between its neighbours.
                let before = Span { end: before.end.max(before.start), ..before };
                Body { declarations, block, before }
            });
        self.heading(kind)
            .then(body)
            .map(|(heading, body)| {
                DeclarationKind::Routine(Routine { body: Some(body), ..heading })
            })
            .boxed()
    }

    /// The words before a half that is generic.
    fn generic(&self) -> Rule<'t, Generic> {
        let parameters = just(Token::Type)
            .ignore_then(names())
            .separated_by(just(Token::Semicolon))
            .at_least(1)
            .collect()
            .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose))
            .map(|groups: Vec<Vec<Name>>| groups.concat());
        just(Token::Generic)
            .ignore_then(parameters.or_not())
            .map_with(|parameters, place| Generic {
                parameters: parameters.unwrap_or_default(),
                span: place.span(),
            })
            .boxed()
    }

    /// An instance of what is generic.
    fn instance(&self) -> Rule<'t, DeclarationKind> {
        let word = choice((just(Token::Object).to(true), just(Token::Module).to(false)));
        let is_short = |of: &TypeSyntax| {
            !matches!(
                of.kind,
                TypeKind::Enumeration(_)
                    | TypeKind::Record(_)
                    | TypeKind::Union { .. }
                    | TypeKind::Graph { .. }
            )
        };
        let of = self.of.clone().filter(is_short).labelled("a type with a name");
        let arguments = of
            .separated_by(just(Token::Comma))
            .at_least(1)
            .collect()
            .delimited_by(just(Token::ParenthesisOpen), just(Token::ParenthesisClose));
        let instance = word
            .then(name())
            .then_ignore(just(Token::Equal).then(just(Token::New)))
            .then(name())
            .then(arguments)
            .map(|(((is_object, name), of), arguments)| {
                DeclarationKind::Instance(Instance { is_object, name, of, arguments })
            });
        ended(instance.boxed())
    }

    /// One half of an object type or module.
    fn unit(&self, word: Token<'t>, half: Half) -> Rule<'t, DeclarationKind> {
        let which = match half {
            Half::Specification => Token::Specification,
            Half::Implementation => Token::Implementation,
        };
        let heading = ended(just(word).ignore_then(just(which)).ignore_then(name()).boxed())
            .map_with(|name, place: &mut Place<'t, '_>| (name, place.span()));
        let initialisation = match half {
            Half::Specification => empty().to(None).boxed(),
            Half::Implementation => self.block().or_not().boxed(),
        };
        let inside = here().then(self.inner(half)).then(initialisation).then(here());
        // No expectation, where neither is said to be missing by itself.
        let generic_end = any().filter(|token| *token == Token::Generic);
        let end = just(Token::End).ignore_then(generic_end.or_not()).or_not();
        let whole = self.generic().or_not().then(heading).then(inside).then(end).validate(
            |(((generic, heading), inside), end), place: &mut Place<'t, '_>, emitter| {
                let missing = if generic.is_some() { errors::END_GENERIC } else { errors::END };
                if end.is_none_or(|word| word.is_some() != generic.is_some()) {
                    let span: Span = place.span();
                    emitter.emit(Rich::custom(span, missing));
                }
                (generic, heading, inside)
            },
        );
        ended_anyhow(whole.boxed())
            .map(move |(generic, (name, heading), inside)| {
                let (((start, declarations), initialisation), end) = inside;
                let inside = start.to(end);
                let unit =
                    Unit { half, generic, name, declarations, initialisation, heading, inside };
                if word == Token::Object {
                    DeclarationKind::Object(unit)
                } else {
                    DeclarationKind::Module(unit)
                }
            })
            .boxed()
    }

    /// The declarations within one half of an object type or module.
    fn inner(&self, half: Half) -> Rule<'t, Vec<Declaration>> {
        let routine = |kind| match half {
            Half::Specification => self.heading(kind).map(DeclarationKind::Routine).boxed(),
            Half::Implementation => self.routine(kind),
        };
        let declaration = choice((
            self.plain(),
            self.variable(),
            routine(RoutineKind::Operation),
            routine(RoutineKind::Function),
            routine(RoutineKind::Process),
        ))
        .labelled("a declaration");
        declaration
            .recover_with(via_parser(self.skipped().to(DeclarationKind::Malformed)))
            .map_with(declared)
            .repeated()
            .collect()
            .boxed()
    }

    /// Tokens of a declaration that is not understood, with the body of a routine.
    fn skipped(&self) -> Rule<'t, ()> {
        let routine = |token: &Token<'_>| {
            matches!(token, Token::Operation | Token::Function | Token::Process)
        };
        let stops =
            move |token: &Token<'_>| declares(*token) || matches!(token, Token::Begin | Token::End);
        let heading = any()
            .filter(routine)
            .then(any().filter(move |token| !stops(token)).repeated())
            .then(self.block().or_not())
            .ignored();
        let others = any()
            .filter(move |token| !stops(token))
            .then(
                any()
                    .filter(move |token| {
                        !stops(token) && !plain(*token) && *token != Token::Semicolon
                    })
                    .repeated(),
            )
            .then(just(Token::Semicolon).or_not())
            .ignored();
        heading.or(others).boxed()
    }
}
