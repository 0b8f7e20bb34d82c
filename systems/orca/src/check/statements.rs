//! Statements.

use std::collections::BTreeMap;

use super::expressions::Expressions;
use super::facts::VariableKind;
use super::scopes::Meaning;
use super::types::{Shape, Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{
    Alternative, AssignOperator, Block, Expression, ExpressionKind, Name, Range, RoutineKind,
    Statement, StatementKind,
};

/// The pass that checks statements: those of a routine, or of an initialisation.
pub struct Statements<'s, 't> {
    pub expressions: Expressions<'s, 't>,
}

impl<'t> Statements<'_, 't> {
    /// Checks the statements of a block, which is a scope of its own.
    pub fn block(&mut self, block: &'t Block) {
        let outer = self.expressions.scope;
        self.expressions.scope = self.expressions.symbols.new_scope(outer);
        for statement in &block.statements {
            self.statement(statement);
        }
        self.expressions.scope = outer;
    }

    pub fn statement(&mut self, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.assign(target, *operator, value);
            }
            StatementKind::Call(called) => self.called(called),
            StatementKind::If { arms, otherwise } => {
                for arm in arms {
                    self.expressions.expect(&arm.condition, Types::BOOLEAN);
                    self.conditional(&arm.body);
                }
                if let Some(otherwise) = otherwise {
                    self.conditional(otherwise);
                }
            }
            StatementKind::While { arm } => self.repeated(|this| {
                this.expressions.expect(&arm.condition, Types::BOOLEAN);
                this.block(&arm.body);
            }),
            StatementKind::Repeat { body, until } => self.repeated(|this| {
                this.block(body);
                this.expressions.expect(until, Types::BOOLEAN);
            }),
            StatementKind::Loop(body) => {
                self.repeated(|this| this.block(body));
            }
            StatementKind::For { variable, range, body } => {
                self.for_each(variable, range, body);
            }
            StatementKind::Case { subject, alternatives, otherwise } => {
                self.case(subject, alternatives);
                if let Some(otherwise) = otherwise {
                    self.conditional(otherwise);
                }
            }
            StatementKind::Exit => self.exit(statement.span),
            StatementKind::Return(value) => self.returned(statement.span, value.as_ref()),
            StatementKind::Fork { process, arguments, on } => {
                self.fork(process, arguments, on.as_ref());
            }
            StatementKind::Guard(arm) => {
                self.report_guard(arm.condition.span);
                self.expressions.expect(&arm.condition, Types::BOOLEAN);
                self.block(&arm.body);
            }
            StatementKind::Declare(variable) => {
                let (scope, kind) = (self.expressions.scope, VariableKind::Local);
                self.expressions.resolver().declare_variables(
                    scope,
                    &variable.names,
                    &variable.of,
                    kind,
                );
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Placeholder => {
                let message = "`...` is a placeholder, and no statement";
                let label = "something was left out here";
                let diagnostic = Diagnostic::new(Code::Placeholder, message, statement.span, label)
                    .help("write what is to happen here, or remove it");
                self.expressions.symbols.report(diagnostic);
            }
            StatementKind::Malformed => {}
        }
    }

    fn conditional(&mut self, block: &'t Block) {
        self.expressions.conditions += 1;
        self.block(block);
        self.expressions.conditions -= 1;
    }

    fn repeated(&mut self, check: impl FnOnce(&mut Self)) {
        self.expressions.loops += 1;
        check(self);
        self.expressions.loops -= 1;
    }

    fn assign(&mut self, target: &'t Expression, operator: AssignOperator, value: &'t Expression) {
        let of = self.expressions.infer(target);
        let agrees = self.expressions.expect(value, of);
        self.expressions.change(target, of, Code::Assign);
        let number = matches!(of, Types::INTEGER | Types::REAL | Types::UNKNOWN);
        let collection =
            matches!(self.expressions.symbols.types.get(of), Type::Set(_) | Type::Bag(_));
        let text = of == Types::TEXT && operator == AssignOperator::Add;
        if operator != AssignOperator::Set && agrees && !(number || collection || text) {
            let sign = operator.sign();
            let message =
                format!("`{sign}` has no meaning for {}", self.expressions.symbols.describe(of));
            let diagnostic = Diagnostic::new(Code::Operator, message, target.span, "not a number")
                .help("it is defined where the operator before `:=` is: for numbers and sets");
            self.expressions.symbols.report(diagnostic);
        }
    }

    fn called(&mut self, called: &'t Expression) {
        let of = self.expressions.infer(called);
        let call = matches!(
            called.bare().kind,
            ExpressionKind::Call { .. } | ExpressionKind::Operation { .. }
        );
        let (message, help) = match (call, of) {
            (true, Types::NOTHING | Types::UNKNOWN) | (false, Types::UNKNOWN) => return,
            (true, _) => ("what this returns is not used", "assign it to a variable"),
            (false, _) => (
                "this does nothing",
                "a statement assigns (`x := ...;`), or calls something (`f(...);`)",
            ),
        };
        self.expressions
            .symbols
            .report(Diagnostic::new(Code::Use, message, called.span, "only a value").help(help));
    }

    fn for_each(&mut self, variable: &'t Name, range: &'t Range, body: &'t Block) {
        let of = match range {
            Range::Bounds(first, last) => {
                let of = self.expressions.infer(first);
                self.expressions.expect(last, of);
                if !self.expressions.symbols.types.is_discrete(of) {
                    let message =
                        format!("`{}` cannot be counted", self.expressions.symbols.describe(of));
                    let diagnostic = Diagnostic::new(Code::Use, message, first.span, "not counted")
                        .help("a range has integers, characters or values of an enumeration");
                    self.expressions.symbols.report(diagnostic);
                }
                of
            }
            Range::Elements(elements) => self.elements(elements),
        };
        let outer = self.expressions.scope;
        self.expressions.scope = self.expressions.symbols.new_scope(outer);
        let id =
            self.expressions.symbols.new_variable(variable, VariableKind::Loop, of, Shape::Plain);
        self.expressions.symbols.declare(
            self.expressions.scope,
            &variable.text,
            variable.span,
            Meaning::Variable(id),
        );
        self.repeated(|this| this.block(body));
        self.expressions.scope = outer;
    }

    fn elements(&mut self, elements: &'t Expression) -> TypeId {
        let collection = self.expressions.infer(elements);
        let of = match self.expressions.symbols.types.get(collection) {
            Type::Set(of) | Type::Bag(of) | Type::Array { of, .. } => *of,
            Type::Text => Types::CHAR,
            Type::Unknown => return Types::UNKNOWN,
            _ => {
                let found = self.expressions.symbols.describe(collection);
                let message = format!("`{found}` has no elements to go through");
                let diagnostic = Diagnostic::new(Code::Use, message, elements.span, "no elements")
                    .help("`for` takes a range `first..last`, a set, bag, array or string");
                self.expressions.symbols.report(diagnostic);
                return Types::UNKNOWN;
            }
        };
        if self.expressions.symbols.types.holds_objects(of) {
            self.expressions.symbols.report_copied(elements.span, of);
        }
        of
    }

    fn case(&mut self, subject: &'t Expression, alternatives: &'t [Alternative]) {
        let of = self.expressions.infer(subject);
        if !self.expressions.symbols.types.is_discrete(of) {
            let message =
                format!("`case` has no meaning for {}", self.expressions.symbols.describe(of));
            let diagnostic =
                Diagnostic::new(Code::Use, message, subject.span, "no choice of these").help(
                    "it is for integers, characters, truth values and enumerations; use `if`",
                );
            self.expressions.symbols.report(diagnostic);
        }
        let mut taken: BTreeMap<i64, (i64, Span)> = BTreeMap::new();
        for alternative in alternatives {
            for choice in &alternative.choices {
                let (scope, mut resolver) = (self.expressions.scope, self.expressions.resolver());
                let first = resolver.choice(scope, &choice.first, of);
                let last = choice.last.as_ref().map(|last| resolver.choice(scope, last, of));
                let (Some(first), Some(last)) = (first, last.unwrap_or(first)) else { continue };
                self.take(&mut taken, (first, last), choice.first.span);
            }
            self.conditional(&alternative.body);
        }
    }

    /// Adds a choice to those before it, by first value; two with a value in common are reported.
    fn take(
        &mut self,
        taken: &mut BTreeMap<i64, (i64, Span)>,
        (first, last): (i64, i64),
        span: Span,
    ) {
        if first > last {
            let message = "this range is empty";
            let diagnostic = Diagnostic::new(Code::Choice, message, span, "larger than the last")
                .help("write the smaller value first");
            return self.expressions.symbols.report(diagnostic);
        }
        let before = taken.range(..=last).next_back();
        if let Some((_, (_, other))) = before.filter(|(_, (end, _))| *end >= first) {
            let diagnostic =
                Diagnostic::new(Code::Choice, "this value is taken already", span, "again here")
                    .also(*other, "taken here first")
                    .help("remove one of them");
            return self.expressions.symbols.report(diagnostic);
        }
        taken.insert(first, (last, span));
    }

    fn exit(&mut self, span: Span) {
        if self.expressions.loops == 0 {
            let diagnostic =
                Diagnostic::new(Code::Exit, "`exit` outside of a loop", span, "leaves nothing")
                    .help("`exit` leaves a loop; `return` leaves a routine");
            self.expressions.symbols.report(diagnostic);
        }
    }

    fn returned(&mut self, span: Span, value: Option<&'t Expression>) {
        let routine =
            self.expressions.routine.map(|id| &self.expressions.symbols.routines[id.index()]);
        let result = routine.map_or(Types::NOTHING, |routine| routine.result);
        let heading = routine.map(|routine| routine.syntax.name.span);
        let word = routine.map_or(RoutineKind::Operation, |routine| routine.syntax.kind).word();
        match (value, result) {
            (None, Types::NOTHING | Types::UNKNOWN) => {}
            (None, _) => {
                let expected = self.expressions.symbols.describe(result);
                let message = format!("this {word} returns {expected}");
                let diagnostic = Diagnostic::new(Code::Return, message, span, "no value here")
                    .help("write the value behind `return`");
                self.expressions.symbols.report(also_heading(diagnostic, heading));
            }
            (Some(value), Types::NOTHING) => {
                self.expressions.infer(value);
                let message = format!("this {word} returns nothing");
                let help = match word {
                    "process" => "a process has no caller; hand the value to a shared object",
                    _ => "write the type behind the parameters, or `return` alone",
                };
                let diagnostic = Diagnostic::new(Code::Return, message, value.span, "a value here");
                self.expressions.symbols.report(also_heading(diagnostic.help(help), heading));
            }
            (Some(value), _) => {
                self.expressions.expect(value, result);
            }
        }
    }

    fn report_guard(&mut self, span: Span) {
        let kind = self
            .expressions
            .routine
            .map(|id| self.expressions.symbols.routines[id.index()].syntax.kind);
        let (message, help) = match kind {
            Some(RoutineKind::Operation) => (
                "a guard stands only at the beginning of an operation",
                "an operation waits before it does anything; move the guard to the beginning, or \
                 split the operation",
            ),
            Some(kind) => return self.report_guard_in(kind, span),
            None => (
                "an initialisation has no guards",
                "nobody can change the object while it is made; remove the guard",
            ),
        };
        self.expressions
            .symbols
            .report(Diagnostic::new(Code::Guard, message, span, "not here").help(help));
    }

    fn report_guard_in(&mut self, kind: RoutineKind, span: Span) {
        let message = format!("a {} has no guards", kind.word());
        let help = "wait on an object: call one of its operations that has a guard";
        self.expressions
            .symbols
            .report(Diagnostic::new(Code::Guard, message, span, "not here").help(help));
    }
}

fn also_heading(diagnostic: Diagnostic, heading: Option<Span>) -> Diagnostic {
    match heading {
        Some(span) => diagnostic.also(span, "declared here"),
        None => diagnostic,
    }
}
