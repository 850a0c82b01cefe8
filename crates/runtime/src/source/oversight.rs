//! What a program forgot that came to nothing: an `await`, or the call of the function it is written in.
//!
//! Nobody looks before a run has shown that there is something to find, so programs that do what they should are
//! parsed once only.

use std::collections::HashMap;

use swc_common::BytePos;
use swc_ecma_ast::{
    BindingIdent, CallExpr, Callee, Decl, Expr, ForOfStmt, Ident, Lit, MemberExpr, MemberProp, Pat, Stmt,
    VarDeclarator,
};
use swc_ecma_visit::{Visit, VisitWith};

use super::{
    parse::{position, read},
    unwrap::unwrap,
};
use crate::notes::NOT_RETURNED;

/// No program that a model writes is longer, in bytes. The host looks in its own process, whatever separates it from
/// the program, so its work is kept small.
const MAX_BYTES: usize = 64 << 10;

/// What to tell the model about the first oversight in `text`, a program that ran; it has no full stop.
///
/// Needs the stack that a parser needs.
pub(crate) fn oversight(text: &str) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = unwrap(text);
    let found = read(&text, |body, start| {
        let body = body?;
        let mut looking = Looking::default();
        body.visit_with(&mut looking);
        let place = |at| position(&text, start, at);
        if let Some((tool, at)) = looking.first_unawaited() {
            return Some(format!(
                "`tools.{tool}` gives a promise, and `await` is missing before it ({})",
                place(at)
            ));
        }
        match body.stmts.last()? {
            Stmt::Expr(last) if matches!(bare(&last.expr), Expr::Arrow(_) | Expr::Fn(_)) => Some(format!(
                "the program ends with a function that nothing calls, and {NOT_RETURNED}; write its body alone as the program"
            )),
            Stmt::Decl(Decl::Fn(last)) if looking.mentions.get(&*last.ident.sym) == Some(&1) => {
                let name = &last.ident.sym;
                Some(format!(
                    "nothing calls the function `{name}` ({}); end the program with `return await {name}();`",
                    place(last.ident.span.lo)
                ))
            }
            _ => None,
        }
    });
    found.ok().flatten()
}

/// A tool's name, and where it is called.
type Called = (String, BytePos);

#[derive(Default)]
struct Looking {
    /// Variables that hold the promise of a call.
    promises: HashMap<String, Called>,
    /// How often each name is declared or assigned: one that is so twice may hold something else.
    bound: HashMap<String, usize>,
    /// How often each name stands anywhere.
    mentions: HashMap<String, usize>,
    /// Variables that something is taken out of.
    opened: Vec<String>,
    /// Calls whose promise is itself taken apart.
    unawaited: Vec<Called>,
}

impl Looking {
    fn first_unawaited(&self) -> Option<Called> {
        let held = self.opened.iter().filter(|name| self.bound.get(*name) == Some(&1));
        let held = held.filter_map(|name| self.promises.get(name));
        held.chain(&self.unawaited).min_by_key(|(_, at)| *at).cloned()
    }

    /// Something is taken out of what `expression` gives.
    fn open(&mut self, expression: &Expr) {
        match bare(expression) {
            Expr::Ident(name) => self.opened.push(name.sym.to_string()),
            other => self.unawaited.extend(tool_call(other)),
        }
    }
}

impl Visit for Looking {
    fn visit_var_declarator(&mut self, declarator: &VarDeclarator) {
        if let Some(value) = declarator.init.as_deref() {
            match (&declarator.name, tool_call(value)) {
                (Pat::Ident(name), Some(call)) => {
                    self.promises.insert(name.id.sym.to_string(), call);
                }
                (Pat::Object(_) | Pat::Array(_), _) => self.open(value),
                _ => {}
            }
        }
        declarator.visit_children_with(self);
    }

    fn visit_member_expr(&mut self, member: &MemberExpr) {
        let of_promises = |name: &str| matches!(name, "then" | "catch" | "finally");
        if !matches!(&member.prop, MemberProp::Ident(name) if of_promises(&name.sym)) {
            self.open(&member.obj);
        }
        member.visit_children_with(self);
    }

    fn visit_for_of_stmt(&mut self, each: &ForOfStmt) {
        self.open(&each.right);
        each.visit_children_with(self);
    }

    fn visit_binding_ident(&mut self, name: &BindingIdent) {
        *self.bound.entry(name.id.sym.to_string()).or_default() += 1;
        name.visit_children_with(self);
    }

    fn visit_ident(&mut self, name: &Ident) {
        *self.mentions.entry(name.sym.to_string()).or_default() += 1;
    }
}

/// The tool that an expression calls, without waiting for it.
fn tool_call(expression: &Expr) -> Option<Called> {
    let Expr::Call(CallExpr { callee: Callee::Expr(callee), span, .. }) = bare(expression) else {
        return None;
    };
    let Expr::Member(MemberExpr { obj, prop, .. }) = bare(callee) else { return None };
    if !matches!(bare(obj), Expr::Ident(name) if &*name.sym == "tools") {
        return None;
    }
    let name = match prop {
        MemberProp::Ident(name) => name.sym.to_string(),
        MemberProp::Computed(key) => match bare(&key.expr) {
            Expr::Lit(Lit::Str(name)) => name.value.to_string_lossy().into_owned(),
            _ => return None,
        },
        MemberProp::PrivateName(_) => return None,
    };
    Some((name, span.lo))
}

/// The expression within its parentheses and type assertions.
fn bare(mut expression: &Expr) -> &Expr {
    loop {
        expression = match expression {
            Expr::Paren(inner) => &inner.expr,
            Expr::TsAs(inner) => &inner.expr,
            Expr::TsNonNull(inner) => &inner.expr,
            Expr::TsSatisfies(inner) => &inner.expr,
            other => return other,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn unawaited(text: &str, tool_and_place: Option<(&str, &str)>) {
        let expected = tool_and_place.map(|(tool, place)| {
            format!("`tools.{tool}` gives a promise, and `await` is missing before it (program:{place})")
        });
        assert_eq!(oversight(text), expected, "{text}");
    }

    #[test]
    fn promise_that_is_taken_apart_lacks_its_await() {
        unawaited("const r = tools.f({});\nreturn r.text", Some(("f", "1:11")));
        unawaited("const { text } = tools.f({})", Some(("f", "1:18")));
        unawaited("const r = tools.f({});\nconst { text } = r;", Some(("f", "1:11")));
        unawaited("return tools['a-b']().text", Some(("a-b", "1:8")));
        unawaited("const r = (tools.f() as any)!;\nfor (const x of r) {}", Some(("f", "1:12")));
        unawaited("```ts\nlet r: any = tools.f();\nr?.a\n```", Some(("f", "2:14")));
        unawaited(
            "const a = [1].map(async (x) => { const r = tools.f({ x }); return r[0] })",
            Some(("f", "1:44")),
        );
    }

    #[test]
    fn promise_that_is_used_as_one_is_no_oversight() {
        unawaited("const r = tools.f({});\nreturn (await r).text", None);
        unawaited("const r = tools.f({});\nreturn r.then((r) => r.text)", None);
        unawaited("let r = tools.f({});\nr = await r;\nreturn r.text", None);
        unawaited("const r = tools.f({});\nconst g = (r) => r.text;\nreturn g(await r)", None);
        unawaited("const { text } = await tools.f({});\nreturn tools.g({ text })", None);
        unawaited("for await (const x of [tools.f({})]) console.log(x.a)", None);
    }

    #[test]
    fn function_that_nothing_calls_is_named() {
        let anonymous = "the program ends with a function that nothing calls, and its value was not returned; write its body alone as the program";
        for text in ["async () => { return 1 }", "(async function main() { return 1 })"] {
            assert_eq!(oversight(text).as_deref(), Some(anonymous), "{text}");
        }
        assert_eq!(
            oversight("const a = 1;\nasync function main() { return a }").as_deref(),
            Some(
                "nothing calls the function `main` (program:2:16); end the program with `return await main();`"
            )
        );
        for text in ["f();\nfunction f() {}", "return 1", "", "const f = () => 1", "(() => 1)()"] {
            assert_eq!(oversight(text), None, "{text}");
        }
    }

    #[test]
    fn text_that_does_not_parse_has_no_oversight() {
        assert_eq!(oversight("const r = tools.f({}; r.text"), None);
    }
}
