//! The schema of the services, compiled from `proto/` at the start.

use crate::options::Storefront;
use prost_reflect::DescriptorPool;
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// The files with services, by their import names.
const FILES: [(&str, &str); 4] = [
    (
        "helloworld/greeter.proto",
        include_str!("../../proto/helloworld/greeter.proto"),
    ),
    (
        "drumfire/test/v1/test.proto",
        include_str!("../../proto/drumfire/test/v1/test.proto"),
    ),
    (
        SHOP,
        include_str!("../../proto/drumfire/shop/v1/shop.proto"),
    ),
    (
        REFLECTION,
        include_str!("../../proto/grpc/reflection/v1/reflection.proto"),
    ),
];
const SHOP: &str = "drumfire/shop/v1/shop.proto";
const REFLECTION: &str = "grpc/reflection/v1/reflection.proto";
/// The reflection schema with the v1alpha package.
const REFLECTION_ALPHA: &str = "grpc/reflection/v1alpha/reflection.proto";

/// The files above, from memory.
struct Embedded;

impl FileResolver for Embedded {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        let source = |name: &str| {
            let found = FILES.iter().find(|(file, _)| *file == name);
            found.map(|(_, source)| *source)
        };
        if let Some(source) = source(name) {
            return File::from_source(name, source);
        }
        match source(REFLECTION) {
            Some(source) if name == REFLECTION_ALPHA => {
                let source = source.replace("grpc.reflection.v1;", "grpc.reflection.v1alpha;");
                File::from_source(name, &source)
            }
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// Compiles the files of the enabled services, with their imports.
pub(crate) fn compile(storefront: Storefront) -> Result<DescriptorPool, protox::Error> {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Embedded);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(resolver);
    compiler.include_imports(true);
    let offered = |name: &str| name != SHOP || storefront == Storefront::Open;
    for (name, _) in FILES.iter().filter(|(name, _)| offered(name)) {
        compiler.open_file(name)?;
    }
    compiler.open_file(REFLECTION_ALPHA)?;
    Ok(compiler.descriptor_pool())
}
