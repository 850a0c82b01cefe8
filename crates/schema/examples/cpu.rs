//! x
use code_mode_schema::{Json, to_json};
use serde::Serialize;
use std::time::Instant;
#[derive(Clone, Serialize)]
struct Row {
    id: u32,
    name: String,
    score: f64,
    active: bool,
}
fn time<T>(name: &str, mut f: impl FnMut() -> T) {
    let mut t: Vec<f64> = (0..60)
        .map(|_| {
            let s = Instant::now();
            let r = std::hint::black_box(f());
            let e = s.elapsed().as_secs_f64() * 1e3;
            drop(r);
            e
        })
        .collect();
    t.sort_by(f64::total_cmp);
    println!("{name}: min {:.2} p25 {:.2} median {:.2} ms", t[0], t[15], t[30]);
}
fn main() {
    let rows: Vec<Row> = (0..50_000)
        .map(|n| Row { id: n, name: format!("row {n}"), score: f64::from(n) * 0.37, active: n % 2 == 0 })
        .collect();
    let v = to_json(&rows).unwrap();
    let t = v.to_text();
    if std::env::args().nth(1).is_some() {
        for _ in 0..150 {
            std::hint::black_box(to_json(&rows).unwrap());
        }
        return;
    }
    time("floor: allocs", || {
        (0..50_000u32).map(|n| (Box::new([n as u8; 136]), Box::new([n as u8; 26]))).collect::<Vec<_>>()
    });
    time("floor: clone rows", || rows.clone());
    time("clone as arcs", || {
        rows.iter().map(|r| std::sync::Arc::<str>::from(r.name.as_str())).collect::<Vec<_>>()
    });
    time("snapshot", || to_json(&rows).unwrap());
    time("text", || v.to_text());
    time("text_len", || v.text_len());
    time("parse", || Json::parse(&t).unwrap());
    time("serde to_value", || serde_json::to_value(&rows).unwrap());
    time("serde from_str", || serde_json::from_str::<serde_json::Value>(&t).unwrap());
}
