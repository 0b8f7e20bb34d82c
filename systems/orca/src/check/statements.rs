//! Statements.

use std::collections::BTreeMap;

use super::Checker;
use super::expressions::Context;
use super::facts::VariableKind;
use super::scopes::Meaning;
use super::types::{Shape, Type, TypeId, Types};
use crate::diagnostics::{Code, Diagnostic};
use crate::source::Span;
use crate::tree::{
    Alternative, AssignOperator, Block, Expression, ExpressionKind, Name, Range, RoutineKind,
    Statement, StatementKind,
};

impl<'t> Checker<'t> {
    /// Checks the statements of a block, which is a scope of its own.
    pub fn block(&mut self, context: &mut Context, block: &'t Block) {
        let outer = context.scope;
        context.scope = self.new_scope(outer);
        for statement in &block.statements {
            self.statement(context, statement);
        }
        context.scope = outer;
    }

    pub fn statement(&mut self, context: &mut Context, statement: &'t Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.assign(context, target, *operator, value);
            }
            StatementKind::Call(called) => self.called(context, called),
            StatementKind::If { arms, otherwise } => {
                for arm in arms {
                    self.expect(context, &arm.condition, Types::BOOLEAN);
                    self.conditional(context, &arm.body);
                }
                if let Some(otherwise) = otherwise {
                    self.conditional(context, otherwise);
                }
            }
            StatementKind::While { arm } => self.repeated(context, |checker, context| {
                checker.expect(context, &arm.condition, Types::BOOLEAN);
                checker.block(context, &arm.body);
            }),
            StatementKind::Repeat { body, until } => self.repeated(context, |checker, context| {
                checker.block(context, body);
                checker.expect(context, until, Types::BOOLEAN);
            }),
            StatementKind::Loop(body) => {
                self.repeated(context, |checker, context| checker.block(context, body));
            }
            StatementKind::For { variable, range, body } => {
                self.for_each(context, variable, range, body);
            }
            StatementKind::Case { subject, alternatives, otherwise } => {
                self.case(context, subject, alternatives);
                if let Some(otherwise) = otherwise {
                    self.conditional(context, otherwise);
                }
            }
            StatementKind::Exit => self.exit(context, statement.span),
            StatementKind::Return(value) => self.returned(context, statement.span, value.as_ref()),
            StatementKind::Fork { process, arguments, on } => {
                self.fork(context, process, arguments, on.as_ref());
            }
            StatementKind::Guard(arm) => {
                self.report_guard(context, arm.condition.span);
                self.expect(context, &arm.condition, Types::BOOLEAN);
                self.block(context, &arm.body);
            }
            StatementKind::Declare(variable) => {
                let (scope, kind) = (context.scope, VariableKind::Local);
                self.declare_variables(scope, &variable.names, &variable.of, kind);
            }
            StatementKind::Block(block) => self.block(context, block),
            StatementKind::Placeholder => {
                let message = "`...` is a placeholder, and no statement";
                let label = "something was left out here";
                let diagnostic = Diagnostic::new(Code::Placeholder, message, statement.span, label)
                    .help("write what is to happen here, or remove it");
                self.report(diagnostic);
            }
            StatementKind::Malformed => {}
        }
    }

    fn conditional(&mut self, context: &mut Context, block: &'t Block) {
        context.conditions += 1;
        self.block(context, block);
        context.conditions -= 1;
    }

    fn repeated(&mut self, context: &mut Context, check: impl FnOnce(&mut Self, &mut Context)) {
        context.loops += 1;
        check(self, context);
        context.loops -= 1;
    }

    fn assign(
        &mut self,
        context: &mut Context,
        target: &'t Expression,
        operator: AssignOperator,
        value: &'t Expression,
    ) {
        let of = self.infer(context, target);
        let agrees = self.expect(context, value, of);
        self.change(context, target, of, Code::Assign);
        let number = matches!(of, Types::INTEGER | Types::REAL | Types::UNKNOWN);
        let collection = matches!(self.types.get(of), Type::Set(_) | Type::Bag(_));
        let text = of == Types::TEXT && operator == AssignOperator::Add;
        if operator != AssignOperator::Set && agrees && !(number || collection || text) {
            let sign = operator.sign();
            let message = format!("`{sign}` has no meaning for {}", self.describe(of));
            let diagnostic = Diagnostic::new(Code::Operator, message, target.span, "not a number")
                .help("it is defined where the operator before `:=` is: for numbers and sets");
            self.report(diagnostic);
        }
    }

    fn called(&mut self, context: &mut Context, called: &'t Expression) {
        let of = self.infer(context, called);
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
        self.report(Diagnostic::new(Code::Use, message, called.span, "only a value").help(help));
    }

    fn for_each(
        &mut self,
        context: &mut Context,
        variable: &'t Name,
        range: &'t Range,
        body: &'t Block,
    ) {
        let of = match range {
            Range::Bounds(first, last) => {
                let of = self.infer(context, first);
                self.expect(context, last, of);
                if !self.types.is_discrete(of) {
                    let message = format!("`{}` cannot be counted", self.describe(of));
                    let diagnostic = Diagnostic::new(Code::Use, message, first.span, "not counted")
                        .help("a range has integers, characters or values of an enumeration");
                    self.report(diagnostic);
                }
                of
            }
            Range::Elements(elements) => self.elements(context, elements),
        };
        let outer = context.scope;
        context.scope = self.new_scope(outer);
        let id = self.new_variable(variable, VariableKind::Loop, of, Shape::Plain);
        self.declare(context.scope, &variable.text, variable.span, Meaning::Variable(id));
        self.repeated(context, |checker, context| checker.block(context, body));
        context.scope = outer;
    }

    fn elements(&mut self, context: &mut Context, elements: &'t Expression) -> TypeId {
        let collection = self.infer(context, elements);
        let of = match self.types.get(collection) {
            Type::Set(of) | Type::Bag(of) | Type::Array { of, .. } => *of,
            Type::Text => Types::CHAR,
            Type::Unknown => return Types::UNKNOWN,
            _ => {
                let found = self.describe(collection);
                let message = format!("`{found}` has no elements to go through");
                let diagnostic = Diagnostic::new(Code::Use, message, elements.span, "no elements")
                    .help("`for` takes a range `first..last`, a set, bag, array or string");
                self.report(diagnostic);
                return Types::UNKNOWN;
            }
        };
        if self.types.holds_objects(of) {
            self.report_copied(elements.span, of);
        }
        of
    }

    fn case(
        &mut self,
        context: &mut Context,
        subject: &'t Expression,
        alternatives: &'t [Alternative],
    ) {
        let of = self.infer(context, subject);
        if !self.types.is_discrete(of) {
            let message = format!("`case` has no meaning for {}", self.describe(of));
            let diagnostic =
                Diagnostic::new(Code::Use, message, subject.span, "no choice of these").help(
                    "it is for integers, characters, truth values and enumerations; use `if`",
                );
            self.report(diagnostic);
        }
        let mut taken: BTreeMap<i64, (i64, Span)> = BTreeMap::new();
        for alternative in alternatives {
            for choice in &alternative.choices {
                let first = self.choice(context.scope, &choice.first, of);
                let last = choice.last.as_ref().map(|last| self.choice(context.scope, last, of));
                let (Some(first), Some(last)) = (first, last.unwrap_or(first)) else { continue };
                self.take(&mut taken, (first, last), choice.first.span);
            }
            self.conditional(context, &alternative.body);
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
            return self.report(diagnostic);
        }
        let before = taken.range(..=last).next_back();
        if let Some((_, (_, other))) = before.filter(|(_, (end, _))| *end >= first) {
            let diagnostic =
                Diagnostic::new(Code::Choice, "this value is taken already", span, "again here")
                    .also(*other, "taken here first")
                    .help("remove one of them");
            return self.report(diagnostic);
        }
        taken.insert(first, (last, span));
    }

    fn exit(&mut self, context: &Context, span: Span) {
        if context.loops == 0 {
            let diagnostic =
                Diagnostic::new(Code::Exit, "`exit` outside of a loop", span, "leaves nothing")
                    .help("`exit` leaves a loop; `return` leaves a routine");
            self.report(diagnostic);
        }
    }

    fn returned(&mut self, context: &mut Context, span: Span, value: Option<&'t Expression>) {
        let routine = context.routine.map(|id| &self.routines[id.index()]);
        let result = routine.map_or(Types::NOTHING, |routine| routine.result);
        let heading = routine.map(|routine| routine.syntax.name.span);
        let word = routine.map_or(RoutineKind::Operation, |routine| routine.syntax.kind).word();
        match (value, result) {
            (None, Types::NOTHING | Types::UNKNOWN) => {}
            (None, _) => {
                let expected = self.describe(result);
                let message = format!("this {word} returns {expected}");
                let diagnostic = Diagnostic::new(Code::Return, message, span, "no value here")
                    .help("write the value behind `return`");
                self.report(also_heading(diagnostic, heading));
            }
            (Some(value), Types::NOTHING) => {
                self.infer(context, value);
                let message = format!("this {word} returns nothing");
                let help = match word {
                    "process" => "a process has no caller; hand the value to a shared object",
                    _ => "write the type behind the parameters, or `return` alone",
                };
                let diagnostic = Diagnostic::new(Code::Return, message, value.span, "a value here");
                self.report(also_heading(diagnostic.help(help), heading));
            }
            (Some(value), _) => {
                self.expect(context, value, result);
            }
        }
    }

    fn report_guard(&mut self, context: &Context, span: Span) {
        let kind = context.routine.map(|id| self.routines[id.index()].syntax.kind);
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
        self.report(Diagnostic::new(Code::Guard, message, span, "not here").help(help));
    }

    fn report_guard_in(&mut self, kind: RoutineKind, span: Span) {
        let message = format!("a {} has no guards", kind.word());
        let help = "wait on an object: call one of its operations that has a guard";
        self.report(Diagnostic::new(Code::Guard, message, span, "not here").help(help));
    }
}

fn also_heading(diagnostic: Diagnostic, heading: Option<Span>) -> Diagnostic {
    match heading {
        Some(span) => diagnostic.also(span, "declared here"),
        None => diagnostic,
    }
}
