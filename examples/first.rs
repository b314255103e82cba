use metasd::{bandit::*, llama::*, pool::*, session::*, target::*};
use std::path::Path;
use std::sync::atomic::AtomicBool;
fn main() -> metasd::Result<()> {
    env_logger::init();
    let args: Vec<String> = std::env::args().collect();
    let model = Model::load(Path::new(&args[1]), &ModelParams::default(), None)?;
    let threads = 2;
    let target = LlamaTarget::new(
        model.clone(),
        &ContextParams {
            n_ctx: 2048,
            n_batch: 512,
            max_outputs: 9,
            threads,
        },
    )?;
    println!("{:?}", target.memory());
    let mut specs = vec![DrafterSpec {
        name: "ngram".into(),
        source: DrafterSource::Ngram(Default::default()),
    }];
    for a in &args[3..] {
        specs.push(DrafterSpec {
            name: a.rsplit('/').next().unwrap().into(),
            source: DrafterSource::Model {
                path: a.into(),
                n_ctx: None,
                threads: None,
                gpu_layers: None,
            },
        });
    }
    let pool = Pool::open(
        &specs,
        &model,
        PoolDefaults {
            n_ctx: 2048,
            n_batch: 512,
            threads,
        },
    )?;
    let names = pool.names();
    let mut s = Session::new(
        Box::new(target),
        model.clone(),
        pool,
        SessionParams {
            n_max: 3,
            ..Default::default()
        },
    )?;
    let prompt = model.apply_chat_template(&[ChatMessage::new("user", args[2].clone())], true)?;
    let toks = model.tokenize(&prompt, true, true);
    let mut pols = vec![PolicySpec::Off, PolicySpec::MetasdUcb];
    for n in names {
        pols.push(PolicySpec::Fixed(n));
    }
    let mut base = None;
    for p in pols {
        s.set_policy(p.clone(), PolicyParams::default())?;
        let g = s.generate(
            &toks,
            &GenerateParams {
                max_tokens: Some(96),
                ..Default::default()
            },
            &AtomicBool::new(false),
            &mut |_| {},
        )?;
        let same = base.get_or_insert(g.tokens.clone()) == &g.tokens;
        println!(
            "{p} same={same} {:?} rounds {} mal {:.2} {:.1} tok/s  select {:.3} reward {:.3} draft {:.1} catchup {:.1} verify {:.1} outside {:.2}%",
            g.stop_reason,
            g.rounds,
            g.mean_acceptance_length(),
            g.timings.predicted_per_second,
            g.timings.select_ms,
            g.timings.reward_ms,
            g.timings.draft_ms,
            g.timings.catchup_ms,
            g.timings.verify_ms,
            100.0 * (1.0 - g.timings.decode_ms / g.timings.predicted_ms)
        );
        for d in &g.drafters {
            if d.rounds > 0 {
                println!(
                    "   {} rounds {} drafted {} acc {} bd {:?} be {:?}",
                    d.name, d.rounds, d.drafted, d.accepted, d.mean_bd, d.mean_be
                );
            }
        }
        if p == PolicySpec::Off {
            println!("{}", g.text);
        }
    }
    Ok(())
}
