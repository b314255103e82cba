use metasd::llama::*;
fn main() -> metasd::Result<()> {
    env_logger::init();
    let a: Vec<String> = std::env::args().collect();
    quantize(
        a[1].as_ref(),
        a[2].as_ref(),
        &QuantizeParams {
            weight_type: a[3].parse()?,
            prune_layers: a
                .get(4)
                .map(|s| s.split(',').map(|x| x.parse().unwrap()).collect())
                .unwrap_or_default(),
            threads: 2,
        },
    )
}
