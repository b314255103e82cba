//! The tables of a bench's report.

use metasd::bandit::Reward;
use metasd::bench::{DomainSummary, Parts, Row, Summary};

use super::document::Table;

/// A number with `digits` behind the point, `-` for none.
pub fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}

/// Mean results of every method over the domains.
pub fn means(summary: &Summary) -> Table {
    let rows = summary.means.iter().map(|row| {
        let mut cells = names(&row.method, row.reward, row.temperature);
        cells.extend([
            number(row.speedup, 3),
            number(row.of_best_single, 3),
            number(row.mean_acceptance_length, 2),
            number(row.mean_bd, 3),
        ]);
        cells
    });
    table(
        &["speed-up", "÷ best single", "tokens a round", "bd"],
        rows.collect(),
    )
}

/// The speed-up of every method in every domain, with its quartiles.
pub fn speedups(summary: &Summary) -> Table {
    let domains: Vec<&str> = summary.domains.iter().map(|d| &*d.name).collect();
    let rows = |index: usize, first: &Row| {
        let mut cells = names(&first.method, first.reward, first.temperature);
        cells.extend(summary.domains.iter().map(|d| speedup(&d.rows[index])));
        cells
    };
    let first = summary.domains.first().map(|domain| &*domain.rows);
    let indexed = first.unwrap_or_default().iter().enumerate();
    table(
        &domains,
        indexed.map(|(index, row)| rows(index, row)).collect(),
    )
}

/// Everything of one domain.
pub fn domain(domain: &DomainSummary) -> Table {
    let rows = domain.rows.iter().map(|row| {
        let mut cells = names(&row.method, row.reward, row.temperature);
        cells.extend([
            speedup(row),
            number(row.of_best_single, 3),
            number(row.tokens_per_second, 1),
            number(row.mean_acceptance_length, 2),
            number(row.mean_bd, 3),
            row.texts.map_or("-".to_owned(), |texts| {
                format!(
                    "{} / {} / {}",
                    texts.identical, texts.explained, texts.unexplained
                )
            }),
        ]);
        cells
    });
    table(
        &[
            "speed-up (quartiles)",
            "÷ best single",
            "tok/s",
            "tokens a round",
            "bd",
            "texts = / ≈ / ≠",
        ],
        rows.collect(),
    )
}

/// The part of the rounds that each drafter had in a domain, and behind them each ensemble.
pub fn shares(domain: &DomainSummary, drafters: &[String]) -> Table {
    let mut drafters: Vec<&str> = drafters.iter().map(String::as_str).collect();
    for name in domain.rows.iter().flat_map(|row| row.share.keys()) {
        if !drafters.contains(&name.as_str()) {
            drafters.push(name);
        }
    }
    let rows = domain.rows.iter().map(|row| {
        let mut cells = names(&row.method, row.reward, row.temperature);
        let share = |name: &&str| row.share.get(*name).map(|share| share * 100.0);
        cells.extend(drafters.iter().map(|name| number(share(name), 1)));
        cells
    });
    table(&drafters, rows.collect())
}

/// Where the time of a token went in a domain, in milliseconds.
pub fn parts(domain: &DomainSummary) -> Table {
    let rows = domain.rows.iter().map(|row| {
        let mut cells = names(&row.method, row.reward, row.temperature);
        let values = row.parts_per_token.values();
        cells.extend(values.map(|value| format!("{value:.3}")));
        cells.push(format!("{:.3}", values.iter().sum::<f64>()));
        cells
    });
    let mut columns = Parts::NAMES.to_vec();
    columns.push("all");
    table(&columns, rows.collect())
}

fn names(method: &str, reward: Option<Reward>, temperature: f32) -> Vec<String> {
    let reward = reward.map_or("-".to_owned(), |reward| reward.to_string());
    vec![format!("`{method}`"), reward, temperature.to_string()]
}

fn speedup(row: &Row) -> String {
    row.speedup_quartiles.map_or("-".to_owned(), |quartiles| {
        format!(
            "{:.3} ({:.3} to {:.3})",
            quartiles.median, quartiles.lower, quartiles.upper
        )
    })
}

fn table(columns: &[&str], rows: Vec<Vec<String>>) -> Table {
    let head = ["method", "reward", "temp"].iter().chain(columns);
    Table {
        head: head.map(|name| (*name).to_owned()).collect(),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use metasd::bench::{Method, Plan, RoundPoint, RunRecord};

    use super::*;

    fn summary(drafters: &[String]) -> Summary {
        let methods: Vec<Method> = ["off", "fixed:a", "exp3"]
            .map(|text| text.parse().expect("a method"))
            .to_vec();
        let record = |method: &str, milliseconds: f64| RunRecord {
            repetition: 0,
            prompt: 0,
            domain: "qa".to_owned(),
            temperature: 0.0,
            method: method.to_owned(),
            reward: None,
            stop_reason: "limit".to_owned(),
            tokens: 4,
            milliseconds,
            parts: Parts {
                verify_ms: milliseconds,
                ..Parts::default()
            },
            comparison: None,
            rounds: vec![RoundPoint {
                drafter: (method != "off").then_some(0),
                drafted: 3,
                accepted: 1,
                committed: 2,
                bd: Some(0.5),
                be: Some(0.5),
            }],
        };
        let records = [record("off", 20.0), record("fixed:a", 16.0)];
        let variants = Plan::variants(&methods, &[Reward::Bd]);
        Summary::new(&variants, &[0.0], drafters, &records)
    }

    #[test]
    fn every_table_has_a_row_for_every_method_and_a_cell_for_every_column() {
        let drafters = ["a", "b"].map(str::to_owned);
        let summary = summary(&drafters);
        let qa = &summary.domains[0];
        for table in [
            means(&summary),
            speedups(&summary),
            domain(qa),
            shares(qa, &drafters),
            parts(qa),
        ] {
            assert_eq!(table.rows.len(), 3);
            for row in &table.rows {
                assert_eq!(row.len(), table.head.len(), "{row:?}");
            }
        }
        assert_eq!(speedups(&summary).rows[1][3], "1.250 (1.250 to 1.250)");
        assert_eq!(speedups(&summary).rows[2][3], "-");
        assert_eq!(shares(qa, &drafters).rows[1][3..], ["100.0", "0.0"]);
        assert_eq!(parts(qa).rows[1].last().expect("a cell"), "4.000");
    }

    #[test]
    fn an_ensemble_has_a_column_of_its_own_behind_the_drafters() {
        let drafters = ["a", "b"].map(str::to_owned);
        let mut qa = summary(&drafters).domains.remove(0);
        qa.rows[2].share.insert("all".to_owned(), 0.25);
        let table = shares(&qa, &drafters);
        assert_eq!(table.head[3..], ["a", "b", "all"]);
        assert_eq!(table.rows[1][3..], ["100.0", "0.0", "-"]);
        assert_eq!(table.rows[2][5], "25.0");
    }
}
