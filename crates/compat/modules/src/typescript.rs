//! JavaScript from TypeScript: types are removed, and nothing is checked.

use std::path::{Path, PathBuf};

use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

use crate::mistake::Mistake;
use crate::places::SourceMapping;

/// The endings of names of TypeScript.
const ENDINGS: [&str; 3] = [".ts", ".mts", ".cts"];

/// Whether a module is written in TypeScript.
pub(crate) fn is_typescript(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The JavaScript of a TypeScript module. Enums and parameter properties become code.
pub(crate) fn strip(name: &str, text: &str) -> Result<SourceMapping, Mistake> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::ts()).parse();
    Mistake::first(&parsed.diagnostics)?;
    let mut program = parsed.program;
    // Transformations add scopes and names, mostly of enums.
    let semantic = SemanticBuilder::new()
        .with_check_syntax_error(true)
        .with_enum_eval(true)
        .with_excess_capacity(2.0)
        .build(&program);
    Mistake::first(&semantic.diagnostics)?;
    let scoping = semantic.semantic.into_scoping();
    let options = TransformOptions::default();
    let transformer = Transformer::new(&allocator, Path::new(name), &options);
    let transformed = transformer.build_with_scoping(scoping, &mut program);
    Mistake::first(&transformed.diagnostics)?;
    let options = CodegenOptions {
        source_map_path: Some(PathBuf::from(name)),
        ..CodegenOptions::default()
    };
    let generated = Codegen::new().with_options(options).build(&program);
    let tokens = generated
        .map
        .iter()
        .flat_map(|map| map.get_tokens())
        .map(|token| {
            let code = (token.get_dst_line(), token.get_dst_col());
            (code, (token.get_src_line(), token.get_src_col()))
        });
    let tokens = tokens.collect();
    Ok(SourceMapping {
        code: generated.code,
        tokens,
    })
}
