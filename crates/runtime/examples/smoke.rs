use std::sync::Arc;
use code_mode_registry::*;
use code_mode_runtime::*;
use code_mode_schema::{Json, json};
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = ToolRegistry::new(RegistryConfig::new(Mode::Code))?;
    registry.register(ToolDefinition::builder("echo").output(json!({})).render(|_: &Json, v: &Json| v.to_text()).concurrency_safe(|_| true).execute(|a: Json, _| async move { Ok(a) }).build())?.keep();
    registry.register(ToolDefinition::builder("fail").output(json!({})).render(|_: &Json, v: &Json| v.to_text()).execute(|_: Json, _| async move { Err::<Json,_>(ToolError::new("nope")) }).build())?.keep();
    registry.register(ToolDefinition::builder("sleep").output(json!({})).render(|_: &Json, v: &Json| v.to_text()).concurrency_safe(|_| true).execute(|a: Json, _| async move { tokio::time::sleep(std::time::Duration::from_millis(a.get("ms").and_then(Json::as_f64).unwrap() as u64)).await; Ok(a) }).build())?.keep();
    let mut config = ThreadRuntimeConfig::default();
    config.limits.compute = std::time::Duration::from_secs(2);
    config.limits.max_old_generation_size_mb = 64;
    let code_mode = CodeMode::install(&registry, Arc::new(ThreadRuntime::with_config(config)?))?;
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    for code in std::env::args().skip(1) {
        let t = std::time::Instant::now();
        let arguments = json!({"code": code.as_str(), "description": "d"});
        let result = tokio.block_on(registry.execute(ToolCall::new("call_1", "run_code", arguments)));
        println!("--- {code}\n{}\n    [{:?}]", result.text(), t.elapsed());
    }
    drop(code_mode);
    Ok(())
}
