//! Answers that are vectors and ranks.

use super::form::TokenCounts;
use super::request::LlmRequest;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The number of dimensions of a vector.
const DIMENSIONS: u64 = 8;

/// A number of -1 to 1 that depends on the text.
fn component(text: &str, dimension: u64) -> f32 {
    let mut hasher = DefaultHasher::new();
    (text, dimension).hash(&mut hasher);
    // 24 bits, which a float has exactly.
    let bits = (hasher.finish() >> 40) as u32;
    bits as f32 / (1 << 23) as f32 - 1.0
}

/// The vector of a text, with length 1.
fn vector(text: &str) -> Vec<f32> {
    let parts: Vec<f32> = (0..DIMENSIONS).map(|n| component(text, n)).collect();
    let length = parts.iter().map(|part| part * part).sum::<f32>().sqrt();
    parts.iter().map(|part| part / length).collect()
}

/// The vectors of a request's inputs.
pub(crate) fn embeddings(request: &LlmRequest, counts: TokenCounts) -> String {
    let coded = |vector: Vec<f32>| match request.is_base64 {
        true => {
            let bytes: Vec<u8> = vector.iter().flat_map(|part| part.to_le_bytes()).collect();
            Value::from(STANDARD.encode(bytes))
        }
        false => Value::from(vector),
    };
    let data = request.inputs.iter().enumerate().map(|(index, text)| {
        json!({ "object": "embedding", "index": index, "embedding": coded(vector(text)) })
    });
    json!({
        "object": "list",
        "model": request.model,
        "data": data.collect::<Vec<_>>(),
        "usage": { "prompt_tokens": counts.prompt, "total_tokens": counts.prompt },
    })
    .to_string()
}

/// The ranks of a request's documents.
pub(crate) fn ranking(number: u64, request: &LlmRequest, counts: TokenCounts) -> String {
    let scores = request.inputs.iter().map(|text| component(text, 0).abs());
    let mut ranked: Vec<(usize, f32)> = scores.enumerate().collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked.truncate(request.top.unwrap_or(usize::MAX));
    let results = ranked.iter().map(|(index, score)| {
        let document = json!({ "text": request.inputs[*index] });
        json!({ "index": index, "document": document, "relevance_score": score })
    });
    json!({
        "id": format!("rerank-{number:08x}"),
        "model": request.model,
        "results": results.collect::<Vec<_>>(),
        "usage": { "total_tokens": counts.prompt },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_depends_on_its_text_and_has_length_one() {
        let (a, b) = (vector("a"), vector("b"));
        assert!(a != b && a == vector("a") && a.len() == 8);
        let length: f32 = a.iter().map(|part| part * part).sum();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
    }
}
