use code_mode_schema::{Json, to_json};
use serde::Serialize;
#[derive(Clone, Serialize)]
struct Row {
    id: u32,
    name: String,
    score: f64,
    active: bool,
}
fn main() {
    let rows: Vec<Row> = (0..50_000)
        .map(|n| Row { id: n, name: format!("row {n}"), score: f64::from(n) * 0.37, active: n % 2 == 0 })
        .collect();
    let v = to_json(&rows).unwrap();
    let t = v.to_text();
    let what = std::env::args().nth(1).unwrap();
    for _ in 0..100 {
        match what.as_str() {
            "snapshot" => {
                std::hint::black_box(to_json(&rows).unwrap());
            }
            "leak" => {
                std::mem::forget(std::hint::black_box(to_json(&rows).unwrap()));
            }
            "text" => {
                std::hint::black_box(v.to_text());
            }
            "parse" => {
                std::hint::black_box(Json::parse(&t).unwrap());
            }
            "serde" => {
                std::hint::black_box(serde_json::to_value(&rows).unwrap());
            }
            "serdetext" => {
                std::hint::black_box(serde_json::to_string(&rows).unwrap());
            }
            _ => {}
        }
    }
}
