//! The differences that are right: `known-differences.md`, a table that says for each why.

use crate::judge::Verdict;

/// The engine this was built with.
pub(crate) const ENGINE: &str = if cfg!(feature = "quickjs") { "quickjs" } else { "v8" };

/// The list.
pub(crate) struct KnownDifferences {
    rows: Vec<Row>,
}

struct Row {
    program: String,
    /// Occurs in each difference that the row covers.
    part: String,
    rule: String,
}

impl KnownDifferences {
    /// # Errors
    /// If a row is not of the form that the file describes.
    pub(crate) fn read() -> Result<Self, String> {
        let table = include_str!("known-differences.md").lines().filter(|line| line.starts_with('|'));
        let mut rows = Vec::new();
        for line in table.skip(2) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [program, engine, part, rule] = cells[..] else {
                return Err(format!("known-differences.md: a row has four cells, not {line:?}"));
            };
            if !["both", "v8", "quickjs"].contains(&engine) {
                return Err(format!("known-differences.md: {program}: no such engine: {engine:?}"));
            }
            if !rule.chars().any(|char| char.is_ascii_digit()) {
                return Err(format!("known-differences.md: {program}: no section or decision is named"));
            }
            if engine == "both" || engine == ENGINE {
                let bare = |cell: &str| cell.trim_matches('`').to_owned();
                rows.push(Row { program: bare(program), part: bare(part), rule: rule.to_owned() });
            }
        }
        Ok(Self { rows })
    }

    /// The verdict, with differences that are listed taken as such.
    pub(crate) fn apply(&self, name: &str, verdict: Verdict) -> Verdict {
        let rows: Vec<&Row> = self.rows.iter().filter(|row| row.program == name).collect();
        match verdict {
            Verdict::AsExpected if !rows.is_empty() => Verdict::Stale,
            Verdict::Differs(how) => {
                let rule = |difference: &String| rows.iter().find(|row| difference.contains(&row.part));
                match how
                    .iter()
                    .map(|difference| Some(rule(difference)?.rule.as_str()))
                    .collect::<Option<Vec<_>>>()
                {
                    Some(mut rules) => {
                        rules.dedup();
                        let rules = rules.join(", ");
                        Verdict::Known(how, rules)
                    }
                    None => Verdict::Differs(how),
                }
            }
            verdict => verdict,
        }
    }
}
