//! Statements.

use super::Printer;
use super::expressions::{Document, arguments, expression, names, range, text};
use crate::tree::{Alternative, Arm, Block, Choice, Expression, Range, Statement, StatementKind};

impl Printer<'_> {
    /// The statements of a block.
    pub fn block(&mut self, block: &Block) {
        self.inside(block.span.end, |printer| {
            for statement in &block.statements {
                printer.statement(statement);
            }
        });
    }

    fn statement(&mut self, statement: &Statement) {
        self.begin(statement.span.start);
        let end = statement.span.end;
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                let line = expression(target).append(" ").append(operator.sign()).append(" ");
                self.simple(line.append(expression(value)), end);
            }
            StatementKind::Call(called) => self.simple(expression(called), end),
            StatementKind::Exit => self.simple(text("exit"), end),
            StatementKind::Return(None) => self.simple(text("return"), end),
            StatementKind::Return(Some(value)) => {
                self.simple(text("return ").append(expression(value)), end);
            }
            StatementKind::Fork { process, arguments: given, on } => {
                let line = text("fork ").append(expression(process)).append(arguments(given));
                let line = match on {
                    Some(on) => line.append(" on ").append(expression(on)),
                    None => line,
                };
                self.simple(line, end);
            }
            StatementKind::Declare(variable) => self.variable(variable, end),
            StatementKind::Placeholder | StatementKind::Malformed => {
                // Kept as they are, so that nothing is lost.
                let source = self.text[statement.span.range()].trim_end().to_owned();
                self.line(&source, end);
            }
            StatementKind::If { arms, otherwise } => {
                self.conditional(arms, otherwise.as_ref());
                self.line("fi;", end);
            }
            StatementKind::While { arm } => self.arm("while ", arm, end),
            StatementKind::Guard(arm) => self.arm("guard ", arm, end),
            StatementKind::Repeat { body, until } => {
                self.heading(text("repeat"), body);
                self.simple(text("until ").append(expression(until)), end);
            }
            StatementKind::Loop(body) => {
                self.heading(text("do"), body);
                self.line("od;", end);
            }
            StatementKind::For { variable, range: over, body } => {
                let over = match over {
                    Range::Bounds(first, last) => range(first, last),
                    Range::Elements(elements) => expression(elements),
                };
                let line = text("for ").append(text(variable.text.as_str())).append(" in ");
                self.heading(line.append(over).append(" do"), body);
                self.line("od;", end);
            }
            StatementKind::Case { subject, alternatives, otherwise } => {
                self.case(subject, alternatives, otherwise.as_ref());
                self.line("esac;", end);
            }
            StatementKind::Block(block) => {
                self.heading(text("begin"), block);
                self.line("end;", end);
            }
        }
    }

    fn case(
        &mut self,
        subject: &Expression,
        alternatives: &[Alternative],
        otherwise: Option<&Block>,
    ) {
        let first = alternatives.first().map(|alternative| alternative.heading.start);
        let first = first.or(otherwise.map(|block| block.span.start));
        let heading = text("case ").append(expression(subject)).append(" of");
        let heading = self.laid_out(heading);
        let of = subject.span.end;
        self.line(&heading, first.map_or(of, |first| self.word_end(of, first)));
        for alternative in alternatives {
            self.alternative(alternative);
        }
        if let Some(otherwise) = otherwise {
            self.heading(text("else"), otherwise);
        }
    }

    /// The end of the word `of` between a subject and the first alternative.
    fn word_end(&self, subject: u32, first: u32) -> u32 {
        let between = self.text.get(subject as usize..first as usize).unwrap_or("");
        let code = between.lines().next().unwrap_or("");
        let code = code.split('#').next().unwrap_or("").trim_end();
        subject + code.len() as u32
    }

    /// A line with its semicolon.
    fn simple(&mut self, document: Document<'_>, end: u32) {
        let line = self.laid_out(document.append(";"));
        self.line(&line, end);
    }

    /// A line before a block, and the block.
    pub fn heading(&mut self, heading: Document<'_>, block: &Block) {
        let heading = self.laid_out(heading);
        self.line(&heading, block.span.start);
        self.block(block);
    }

    fn arm(&mut self, word: &'static str, arm: &Arm, end: u32) {
        let heading = text(word).append(expression(&arm.condition)).append(" do");
        self.heading(heading, &arm.body);
        self.line("od;", end);
    }

    fn conditional(&mut self, arms: &[Arm], otherwise: Option<&Block>) {
        for (place, arm) in arms.iter().enumerate() {
            let word = if place == 0 { "if " } else { "elsif " };
            let heading = text(word).append(expression(&arm.condition)).append(" then");
            self.heading(heading, &arm.body);
        }
        if let Some(otherwise) = otherwise {
            self.heading(text("else"), otherwise);
        }
    }

    fn alternative(&mut self, alternative: &Alternative) {
        let choices = alternative.choices.iter().map(choice);
        let choices = pretty::RcDoc::intersperse(choices, text(", "));
        let heading = text("| ").append(choices).append(" =>");
        self.heading(heading, &alternative.body);
    }

    /// Variables, of a type that may have several lines.
    pub fn variable(&mut self, variable: &crate::tree::Variable, end: u32) {
        let line = text(format!("{}: ", names(&variable.names)));
        self.definition(line, &variable.of, end);
    }
}

fn choice(choice: &Choice) -> Document<'_> {
    match &choice.last {
        Some(last) => range(&choice.first, last),
        None => expression(&choice.first),
    }
}
