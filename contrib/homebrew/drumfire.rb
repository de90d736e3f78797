# The Homebrew formula: builds the program from the sources of a release. `tools/make-dist.sh formula
# URL` fills in the URL, version and checksum of a release and writes the result to target/dist.
class Drumfire < Formula
  desc "Load tester for HTTP, gRPC, WebSocket and LLM services at an exact rate"
  homepage "@URL@"
  url "@URL@/@SOURCE@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["Apache-2.0", "MIT"]

  depends_on "cmake" => :build # aws-lc, the TLS cryptography library, is written in C
  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/app/cli")
    man1.mkpath
    system bin/"drumfire", "man", man1
    generate_completions_from_executable(bin/"drumfire", "completions")
    # Keep the names of other tools out of PATH, so that they do not hide the originals.
    %w[ghz go-wrk k6 pandora slow_cooker vllm].each do |tool|
      (libexec/"bin").install_symlink bin/"drumfire" => tool
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/drumfire --version")
    # A plan is compiled and its load is shown.
    (testpath/"plan.yaml").write <<~YAML
      drumfire: 1
      pools:
        p: { target: "http://127.0.0.1:9", rate: 10/s, requests: [{ get: / }] }
      stop: { after: 1s }
    YAML
    assert_match "10/s", shell_output("#{bin}/drumfire check plan.yaml")
  end
end
