# The formula of Homebrew: builds the program from the sources of a release. `tools/make-dist.sh formula
# URL` fills in what a release knows, and writes it to target/dist.
class Drumfire < Formula
  desc "Load generator for HTTP and gRPC that keeps an exact load"
  homepage "@URL@"
  url "@URL@/@SOURCE@"
  version "@VERSION@"
  sha256 "@SHA256@"
  license any_of: ["Apache-2.0", "MIT"]

  depends_on "cmake" => :build # the cryptography of TLS, aws-lc, is C
  depends_on "rust" => :build

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/cli")
    man1.mkpath
    system bin/"drumfire", "man", man1
    generate_completions_from_executable(bin/"drumfire", "completions")
    # The names under which it stands in for other tools hide these on nobody's PATH.
    %w[ghz go-wrk pandora slow_cooker].each do |tool|
      (libexec/"bin").install_symlink bin/"drumfire" => tool
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/drumfire --version")
    # The built-in server, loaded and judged.
    (testpath/"plan.yaml").write <<~YAML
      drumfire: 1
      pools:
        p: { target: "http://127.0.0.1:9", rate: 10/s, requests: [{ get: / }] }
      stop: { after: 1s }
    YAML
    assert_match "10/s", shell_output("#{bin}/drumfire check plan.yaml")
  end
end
