//! The kernels that run in every round, at the vocabulary sizes of SmolLM2 and Qwen.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use metasd::TokenId;
use metasd::align::{Aligner, Proposal};
use metasd::dist::{Dist, argmax};
use metasd::verify::verify;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Logits as wide as a language model's.
fn logits(n: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..n).map(|_| rng.random_range(-15.0..15.0)).collect()
}

fn softmax_tv(c: &mut Criterion) {
    let mut group = c.benchmark_group("softmax_tv");
    for n in [49_152, 151_936] {
        let (target, drafter) = (logits(n, 1), logits(n, 2));
        let mut aligner = Aligner::new(1.0).expect("a valid temperature");
        group.bench_function(n.to_string(), |b| {
            b.iter(|| aligner.tv(black_box(&target), Proposal::Logits(black_box(&drafter))));
        });
    }
    group.finish();
}

fn one_row(c: &mut Criterion) {
    let n = 49_152;
    let row = logits(n, 1);
    c.benchmark_group("argmax")
        .bench_function(n.to_string(), |b| b.iter(|| argmax(black_box(&row))));
    let mut aligner = Aligner::new(1.0).expect("a valid temperature");
    c.benchmark_group("one_hot_alignment")
        .bench_function(n.to_string(), |b| {
            b.iter(|| aligner.tv(black_box(&row), Proposal::OneHot(TokenId(7))));
        });
}

fn verification(c: &mut Criterion) {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut top_40 = || {
        let weights = (0..40).map(|i| (TokenId(i * 1_000), rng.random_range(0.1..1.0)));
        Dist::sparse(weights.collect()).expect("positive weights")
    };
    // Equal at the drafted positions, so that all five are tested, in every iteration.
    let p: Vec<Dist> = (0..6).map(|_| top_40()).collect();
    let q = &p[..5];
    let drafted: Vec<TokenId> = q.iter().map(|q| q.sample(0.5)).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    c.bench_function("verify", |b| {
        b.iter(|| {
            verify(
                black_box(&drafted),
                black_box(q),
                |j| Ok(p[j].clone()),
                &mut rng,
            )
        });
    });
}

criterion_group!(benches, softmax_tv, one_row, verification);
criterion_main!(benches);
