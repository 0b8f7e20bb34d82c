//! Statements.

use super::code::{Code, Role};
use super::values::{Value, address};
use crate::check::{Builtin, Entity, Type, TypeId, VariableId};
use crate::tree::walk::{each_statement, expressions};
use crate::tree::{
    Alternative, AssignOperator, BinaryOperator, Block, Declaration, DeclarationKind, Expression,
    ExpressionKind, Name, Range, Statement, StatementKind,
};

impl Code<'_, '_> {
    pub fn block(&mut self, block: &Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    /// Variables before `begin`.
    pub fn declarations(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            if let DeclarationKind::Variable(variable) = &declaration.kind {
                self.declare_all(&variable.names);
            }
        }
    }

    fn declare_all(&mut self, names: &[Name]) {
        for name in names {
            if let Some(Entity::Variable(id)) = self.generator.facts.declared.get(&name.span) {
                self.declare(*id);
            }
        }
    }

    pub fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.assign(target, *operator, value);
            }
            StatementKind::Call(called) => self.called(called),
            StatementKind::If { arms, otherwise } => {
                for arm in arms {
                    let condition = self.flat(&arm.condition);
                    self.open(&format!("if ({condition}) {{"));
                    self.block(&arm.body);
                    self.close("} else {");
                    self.open_only();
                }
                if let Some(otherwise) = otherwise {
                    self.block(otherwise);
                }
                for _ in arms {
                    self.close("}");
                }
            }
            StatementKind::While { arm } => {
                self.enter_loop();
                self.open("for (;;) {");
                let condition = self.flat(&arm.condition);
                self.line(&format!("if (!({condition}))"));
                self.line("    break;");
                self.block(&arm.body);
                self.close("}");
                self.leave_loop();
            }
            StatementKind::Repeat { body, until } => {
                self.enter_loop();
                self.open("for (;;) {");
                self.block(body);
                let until = self.flat(until);
                self.line(&format!("if ({until})"));
                self.line("    break;");
                self.close("}");
                self.leave_loop();
            }
            StatementKind::Loop(body) => {
                self.enter_loop();
                self.open("for (;;) {");
                self.block(body);
                self.close("}");
                self.leave_loop();
            }
            StatementKind::For { variable, range, body } => self.counted(variable, range, body),
            StatementKind::Case { subject, alternatives, otherwise } => {
                self.case(subject, alternatives, otherwise.as_ref());
            }
            StatementKind::Exit => self.exit(),
            StatementKind::Return(value) => self.return_value(value.as_ref()),
            StatementKind::Fork { process, arguments, on } => {
                self.fork(process, arguments, on.as_ref(), statement.span);
            }
            StatementKind::Declare(variable) => self.declare_all(&variable.names),
            StatementKind::Block(block) => self.block(block),
            StatementKind::Guard(_) | StatementKind::Placeholder | StatementKind::Malformed => {}
        }
    }

    fn assign(&mut self, target: &Expression, operator: AssignOperator, value: &Expression) {
        let of = self.of(target);
        let name = self.generator.type_name(of);
        if operator == AssignOperator::Set {
            let value = self.assigned(of, value);
            if let Some((union, place)) = self.tag(target) {
                let (Value::Flat(value) | Value::Place(value) | Value::Fresh(value)) = value;
                return self.line(&format!("{union}_retag({place}, {value});"));
            }
            let place = self.lvalue(target);
            let line = match value {
                Value::Place(value) if !self.generator.is_flat(of) => {
                    format!("{name}_assign({}, {});", address(&place), address(&value))
                }
                Value::Fresh(value) => format!("{name}_hold({}, {value});", address(&place)),
                Value::Flat(value) | Value::Place(value) => format!("{place} = {value};"),
            };
            return self.line(&line);
        }
        let operator = match operator {
            AssignOperator::Subtract => BinaryOperator::Subtract,
            AssignOperator::Multiply => BinaryOperator::Multiply,
            _ => BinaryOperator::Add,
        };
        let at = self.place(target.span);
        let value = self.assigned(of, value);
        let value = self.put_unless_flat(of, value);
        let place = self.lvalue(target);
        let pointer = format!("p{}", self.number());
        self.open("{");
        self.line(&format!("{name} *{pointer} = {};", address(&place)));
        match self.operated(operator, of, (&format!("(*{pointer})"), &value), &at) {
            Value::Fresh(text) => self.line(&format!("{name}_hold({pointer}, {text});")),
            Value::Flat(text) | Value::Place(text) => self.line(&format!("*{pointer} = {text};")),
        }
        self.close("}");
    }

    /// A value to be assigned: one that calls something is evaluated before the place is looked up,
    /// which the call may move.
    fn assigned(&mut self, of: TypeId, value: &Expression) -> Value {
        let calls = self.generator.calls(value);
        let value = self.value(value);
        if !calls {
            return value;
        }
        let (slot, name) = (self.slot(of), self.generator.type_name(of));
        match value {
            Value::Fresh(text) => {
                self.line(&format!("{name}_hold(&{slot}, {text});"));
                Value::Fresh(format!("{name}_take(&{slot})"))
            }
            Value::Place(text) if !self.generator.is_flat(of) => Value::Place(text),
            Value::Flat(text) | Value::Place(text) => {
                self.line(&format!("{slot} = {text};"));
                Value::Flat(slot)
            }
        }
    }

    fn put_unless_flat(&mut self, of: TypeId, value: Value) -> String {
        match value {
            Value::Flat(text) => text,
            value => self.put(of, value),
        }
    }

    /// The union whose tag this is: its type, and its address.
    fn tag(&mut self, target: &Expression) -> Option<(String, String)> {
        let ExpressionKind::Field { of, field } = &target.bare().kind else { return None };
        let union = self.of(of);
        match self.generator.facts.types.get(union) {
            Type::Union { tag, .. } if *tag == field.text => {
                Some((self.generator.type_name(union), self.pointer(of)))
            }
            _ => None,
        }
    }

    /// A call that is a statement.
    fn called(&mut self, called: &Expression) {
        if let ExpressionKind::Call { callee, arguments } = &called.bare().kind
            && let Some(Entity::Builtin(builtin @ (Builtin::Write | Builtin::WriteLine))) =
                self.generator.facts.meanings.get(&callee.id)
        {
            return self.written(arguments, *builtin == Builtin::WriteLine);
        }
        let (Value::Flat(text) | Value::Place(text) | Value::Fresh(text)) = self.value(called);
        self.line(&format!("{text};"));
    }

    fn counted(&mut self, variable: &Name, range: &Range, body: &Block) {
        let Some(Entity::Variable(id)) = self.generator.facts.declared.get(&variable.span) else {
            return;
        };
        match range {
            Range::Bounds(first, last) => self.count(*id, first, last, body),
            Range::Elements(elements) => self.each(*id, elements, body),
        }
    }

    /// Counts from one value to another.
    fn count(&mut self, id: VariableId, first: &Expression, last: &Expression, body: &Block) {
        let at = self.place(last.span);
        let (from, to) = (self.flat(first), self.flat(last));
        let number = self.number();
        let (first, last) = (format!("first{number}"), format!("last{number}"));
        self.open("{");
        self.line(&format!("const int64_t {first} = (int64_t)({from});"));
        self.line(&format!("const int64_t {last} = orca_last((int64_t)({to}), {at});"));
        let accesses = self.hoistable(id, body);
        if accesses.is_empty() {
            self.count_body(id, (&first, &last), body);
        } else {
            self.count_twice(id, (&first, &last), body, accesses);
        }
        self.close("}");
    }

    /// The loop itself.
    pub fn count_body(&mut self, id: VariableId, (first, last): (&str, &str), body: &Block) {
        let name = self.generator.variable_name(id);
        let of = self.generator.type_name(self.generator.facts.variable(id).of);
        let index = format!("n{}", self.number());
        self.enter_loop();
        self.open(&format!("for (int64_t {index} = {first}; {index} <= {last}; {index}++) {{"));
        self.line(&format!("const {of} {name} = ({of}){index};"));
        self.line(&format!("(void){name};"));
        self.block(body);
        self.close("}");
        self.leave_loop();
    }

    /// Goes through the elements of a set, bag, array or string, as they are at its beginning.
    fn each(&mut self, id: VariableId, elements: &Expression, body: &Block) {
        let of = self.of(elements);
        let name = self.generator.type_name(of);
        let value = self.value(elements);
        let stays = self.stays(elements, body);
        let place = match value {
            Value::Place(text) if !stays => {
                self.put(of, Value::Fresh(format!("{name}_copy({})", address(&text))))
            }
            value => self.put(of, value),
        };
        let number = self.number();
        let (all, index) = (format!("all{number}"), format!("n{number}"));
        let size = match self.generator.facts.types.get(of) {
            Type::Text | Type::Array { .. } => format!("(int64_t){name}_size({all})"),
            _ => format!("{all}->size"),
        };
        let element = self.generator.facts.variable(id).of;
        let of = self.generator.type_name(element);
        let variable = self.generator.variable_name(id);
        self.open("{");
        self.line(&format!("const {name} *{all} = {};", address(&place)));
        self.line(&format!("const int64_t size{number} = {size};"));
        self.enter_loop();
        self.open(&format!("for (int64_t {index} = 0; {index} < size{number}; {index}++) {{"));
        // Not freed: it is the collection's.
        self.line(&format!("{of} {variable} = {all}->at[{index}];"));
        self.block(body);
        self.close("}");
        self.leave_loop();
        self.close("}");
    }

    /// True if nothing in a block changes the variable that an expression is a part of.
    fn stays(&self, expression: &Expression, body: &Block) -> bool {
        let Some(root) = self.generator.root(expression) else { return true };
        let mut stays = true;
        each_statement(body, &mut |statement| {
            let assigned = match &statement.kind {
                StatementKind::Assign { target, .. } => Some(target),
                _ => None,
            };
            let passed =
                expressions(statement).into_iter().flat_map(|one| self.generator.changed_by(one));
            let mut changed = assigned.into_iter().chain(passed);
            stays &= !changed.any(|target| self.generator.root(target) == Some(root));
        });
        stays
    }

    fn case(
        &mut self,
        subject: &Expression,
        alternatives: &[Alternative],
        otherwise: Option<&Block>,
    ) {
        let (value, at) = (self.flat(subject), self.place(subject.span));
        let chosen = format!("chosen{}", self.number());
        self.open("{");
        self.line(&format!("const int64_t {chosen} = (int64_t)({value});"));
        for alternative in alternatives {
            let choices: Vec<String> = alternative
                .choices
                .iter()
                .map(|choice| {
                    let first = self.flat(&choice.first);
                    match &choice.last {
                        None => format!("{chosen} == (int64_t){first}"),
                        Some(last) => {
                            let last = self.flat(last);
                            format!("({chosen} >= (int64_t){first} && {chosen} <= (int64_t){last})")
                        }
                    }
                })
                .collect();
            self.open(&format!("if ({}) {{", choices.join(" || ")));
            self.block(&alternative.body);
            self.close("} else {");
            self.open_only();
        }
        match otherwise {
            Some(otherwise) => self.block(otherwise),
            None => self.line(&format!(
                "orca_fail({at}, \"no alternative of this `case` is for %lld\", (long long){chosen});"
            )),
        }
        for _ in alternatives {
            self.close("}");
        }
        self.close("}");
    }

    fn return_value(&mut self, value: Option<&Expression>) {
        if let Some(value) = value {
            let owned = self.owned(value);
            let of = self.of(value);
            let result = match self.role {
                Role::Operation => "frame->result",
                _ => "result",
            };
            if self.generator.is_flat(of) {
                self.line(&format!("{result} = {owned};"));
            } else {
                let name = self.generator.type_name(of);
                self.line(&format!("{name}_hold(&{result}, {owned});"));
            }
        }
        self.end();
    }
}
