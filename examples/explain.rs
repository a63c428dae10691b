//! Explains a pending pod of a dump: `cargo run --example explain -- dump.yaml NAMESPACE NAME`.

use std::error::Error;

use schedscope::engine::{Engine, Outcome};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, namespace, name] = &arguments[..] else { return Err("usage: explain FILE NAMESPACE NAME".into()) };
    let engine = Engine::builder().named_objects(file, std::fs::read(file)?).build()?;
    let decision = engine.decide(namespace, name)?;
    println!("{}", decision.why());
    if decision.outcome() == Outcome::Unschedulable {
        println!("{}", decision.message());
        for rejection in decision.rejections() {
            let reasons: Vec<&str> = rejection.reasons().iter().map(schedscope::engine::Reason::text).collect();
            println!("  {}: {}", rejection.node(), reasons.join(", "));
        }
        for fix in engine.fixes(namespace, name)?.to_json()["fixes"]["fixes"].as_array().into_iter().flatten() {
            println!("  would help: {}", fix["changes"]);
        }
    }
    Ok(())
}
