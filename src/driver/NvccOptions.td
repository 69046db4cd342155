//===- driver/NvccOptions.td - What is spelled as nvcc has it -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc takes each of its options with one dash or two, in a long and a short
// form, and a value behind a blank or a '='.
//
//===----------------------------------------------------------------------===//

// Other names of what Options.td has.
class NvccFlag<string name, Option of>
  : Flag<Either, name>, InBuild, Alias<of>;
multiclass NvccValue<string name, Option of> {
  def "" : Separate<Either, name>, InBuild, Alias<of>;
  def _EQ : Joined<Either, name#"=">, InBuild, Alias<of>;
}
def n_compile : Flag<Long, "compile">, InCc, Alias<c>;
def n_preprocess : Flag<Long, "preprocess">, InCc, Alias<E>;
def n_debug : NvccFlag<"debug", g>;
def n_device_debug : NvccFlag<"device-debug", g>;
def n_save_temps : NvccFlag<"save-temps", keep>;
def n_ftz : Separate<Either, "ftz">, InBuild, Alias<ftz_EQ>;
def n_prec_div : Separate<Either, "prec-div">, InBuild, Alias<prec_div_EQ>;
def n_prec_sqrt : Separate<Either, "prec-sqrt">, InBuild, Alias<prec_sqrt_EQ>;
def n_fmad : Separate<Either, "fmad">, InBuild, Alias<fmad_EQ>;
defm n_output : NvccValue<"output-file", o>;
defm n_include : NvccValue<"include-path", I>;
defm n_define : NvccValue<"define-macro", D>;
defm n_undefine : NvccValue<"undefine-macro", U>;
defm n_system_include : NvccValue<"system-include", isystem>;
defm n_pre_include : NvccValue<"pre-include", include_>;
defm n_library : NvccValue<"library", l>;
defm n_library_path : NvccValue<"library-path", L>;
defm n_optimize : NvccValue<"optimize", O>;
defm n_linker_options : NvccValue<"linker-options", Xlinker>;
defm n_compiler_options : NvccValue<"compiler-options", Xcompiler>;
defm n_ptxas_options : NvccValue<"ptxas-options", Xptxas>;
def n_isystem_EQ : Joined<Either, "isystem=">, InBuild, Alias<isystem>;
def n_I_EQ : Joined<Dash, "I=">, InBuild, Alias<I>;
def n_D_EQ : Joined<Dash, "D=">, InBuild, Alias<D>;
def n_L_EQ : Joined<Dash, "L=">, InBuild, Alias<L>;
def n_l_EQ : Joined<Dash, "l=">, InBuild, Alias<l>;
def n_O_EQ : Joined<Dash, "O=">, InBuild, Alias<O>;
defm n_gpu_code : NvccValue<"gpu-code", code_EQ>;
def n_x : Separate<Long, "x">, InBuild, Alias<x>;
def n_x_EQ : Joined<Either, "x=">, InBuild, Alias<x>;
def n_profile : NvccFlag<"profile", pg>;
def n_M : Flag<Long, "generate-dependencies">, InCc, Alias<M>;
def n_MM : Flag<Long, "generate-nonsystem-dependencies">, InCc, Alias<MM>;
def n_MD : NvccFlag<"generate-dependencies-with-compile", MD>;
def n_MMD : NvccFlag<"generate-nonsystem-dependencies-with-compile", MMD>;
def n_MP : NvccFlag<"generate-dependency-targets", MP>;
defm n_MF : NvccValue<"dependency-output", MF>;
defm n_MT : NvccValue<"dependency-target-name", MT>;
def ftemplate_depth_EQ : Joined<Dash, "ftemplate-depth=">, InBuild;
defm n_template_depth : NvccValue<"ftemplate-depth", ftemplate_depth_EQ>;
def ftemplate_backtrace_EQ : Joined<Dash, "ftemplate-backtrace-limit=">,
  InBuild;
defm n_template_backtrace
  : NvccValue<"ftemplate-backtrace-limit", ftemplate_backtrace_EQ>;

// What is read.
multiclass NvccSetting<string name, string other = ""> {
  def _EQ : Joined<Either, name#"=">, InBuild;
  def "" : Separate<Either, name>, InBuild, Alias<!cast<Option>(NAME#"_EQ")>;
  if !ne(other, "") then {
    def _other_EQ : Joined<Either, other#"=">, InBuild,
      Alias<!cast<Option>(NAME#"_EQ")>;
    def _other : Separate<Either, other>, InBuild,
      Alias<!cast<Option>(NAME#"_EQ")>;
  }
}
defm default_stream : NvccSetting<"default-stream">;
defm rdc : NvccSetting<"rdc", "relocatable-device-code">;
def dc : Flag<Either, "dc">, InCc, Group<Building>,
  HelpText<"-rdc=true -c: objects whose device code the link completes">;
def n_device_c : Flag<Either, "device-c">, InCc, Alias<dc>;
def dw : Flag<Either, "dw">, InCc; // -rdc=false -c
def n_device_w : Flag<Either, "device-w">, InCc, Alias<dw>;
def dlink : Flag<Either, "dlink">, InCc, Group<Building>,
  HelpText<"Write an object that completes the device code of the inputs">;
def n_device_link : Flag<Either, "device-link">, InCc, Alias<dlink>;
defm maxrregcount : NvccSetting<"maxrregcount">;
defm keep_dir : NvccSetting<"keep-dir">;
let Visibility = [CcVis] in
defm odir : NvccSetting<"odir", "output-directory">;
// In force in any case, but the source may ask for the macro.
def extended_lambda : Flag<Either, "extended-lambda">, InBuild;
def n_expt_extended_lambda : NvccFlag<"expt-extended-lambda", extended_lambda>;
def relaxed_constexpr : Flag<Either, "expt-relaxed-constexpr">, InBuild;
def n_relaxed_constexpr : NvccFlag<"relaxed-constexpr", relaxed_constexpr>;
def disable_warnings : Flag<Either, "disable-warnings">, InBuild;
def no_deprecated : Flag<Either, "Wno-deprecated-declarations">, InBuild;
def resource_usage : Flag<Either, "resource-usage">, InBuild;
def res_usage : NvccFlag<"res-usage", resource_usage>;
def Werror : Flag<Either, "Werror">, InBuild; // maybe with a kind behind it
def Werror_EQ : Joined<Either, "Werror=">, InBuild;
def t : JoinedOrSeparate<Dash, "t">, InBuild; // threads; clang has -trigraphs
def clean : Flag<Either, "clean">, InCc;
def n_clean_targets : Flag<Either, "clean-targets">, InCc, Alias<clean>;
def forward_unknown : Flag<Either, "forward-unknown-to-host-compiler">, InBuild;
def n_forward_unknown_opts : NvccFlag<"forward-unknown-opts", forward_unknown>;

// What nvcc asks for and we do in any case, or has no meaning here.
def Ignored : OptionGroup<"<ignored>">;
class IgnoredFlag<string name> : Flag<Either, name>, InBuild, Group<Ignored>;
class IgnoredJoined<string name>
  : Joined<Either, name>, InBuild, Group<Ignored>;
multiclass IgnoredValue<string name> {
  def "" : Separate<Either, name>, InBuild, Group<Ignored>;
  def _EQ : Joined<Either, name#"=">, InBuild, Group<Ignored>;
}
foreach name = [
    "lineinfo", "generate-line-info", "source-in-ptx", "src-in-ptx", "m64",
    "link", "restrict", "use-local-env", "extensible-whole-program", "ewp",
    "display-error-number", "err-no", "no-display-error-number", "no-err-no",
    "no-exceptions", "noeh", "no-host-device-initializer-list", "nohdinitlist",
    "no-host-device-move-forward", "nohdmoveforward", "objdir-as-tempdir",
    "objtemp", "allow-unsupported-compiler", "dont-use-profile", "noprof",
    "forward-unknown-to-host-linker", "Wno-deprecated-gpu-targets", "Wreorder",
    "Wdefault-stream-launch", "Wmissing-launch-bounds",
    "Wext-lambda-captures-this", "no-compress", "dlink-time-opt", "dlto",
    "no-align-double", "keep-device-functions", "extra-device-vectorization",
    "jobserver", "lto", "gen-opt-lto", "force-cl-env-setup",
    "relocatable-ptx", "reloc-ptx", "augment-host-linker-script",
    "aug-hls"] in
  def "ignored_"#!subst("-", "_", name) : IgnoredFlag<name>;
def ignored_m : Separate<Dash, "m">, InBuild, Group<Ignored>;
def ignored_m_EQ : Joined<Dash, "m=">, InBuild, Group<Ignored>;
// Of one dash, so as not to be near to options of ours.
def ignored_ldir : Separate<Dash, "ldir">, InBuild, Group<Ignored>;
def ignored_ldir_EQ : Joined<Dash, "ldir=">, InBuild, Group<Ignored>;
def no_gpu_rdc : IgnoredFlag<"fno-gpu-rdc">;
foreach name = [
    "diag-suppress", "diag-warn", "diag-error", "threads", "split-compile",
    "split-compile-extended", "ccbin", "compiler-bindir", "Xcudafe", "Xnvlink",
    "nvlink-options", "Xfatbin", "fatbin-options", "Xarchive",
    "archive-options", "cudadevrt", "dopt", "optimization-info", "opt-info",
    "machine", "brief-diagnostics", "brief-diag", "jump-table-density", "jtd",
    "compress-mode", "target-directory", "target-dir",
    "libdevice-directory", "entries", "e",
    "static-global-template-stub",
    "device-entity-has-hidden-visibility", "frandom-seed", "fdevice-time-trace",
    "Ofast-compile", "Ofc", "qpp-config", "archiver-binary", "arbin", "time",
    "drive-prefix", "dp", "input-drive-prefix", "idp",
    "dependency-drive-prefix", "ddp", "device-stack-protector"] in
  defm "ignored_"#!subst("-", "_", name) : IgnoredValue<name>;
def include_ptx_EQ : IgnoredJoined<"cuda-include-ptx=">;
def no_include_ptx_EQ : IgnoredJoined<"no-cuda-include-ptx=">;

// What we cannot do: refused by name.
def Refused : OptionGroup<"<refused>">;
class RefusedFlag<string name> : Flag<Either, name>, InBuild, Group<Refused>;
def fgpu_rdc : RefusedFlag<"fgpu-rdc">;
def static : RefusedFlag<"static">;
def emit_what : RefusedFlag<"###">;
def dryrun : RefusedFlag<"dryrun">;
def refused_fatbin : Flag<Dash, "fatbin">, InBuild, Group<Refused>;
foreach name = [
    "cubin", "optix-ir", "ltoir", "lib", "run", "cuda", "fdevice-syntax-only",
    "no-device-link", "nodlink", "compile-as-tools-patch", "astoolspatch",
    "list-gpu-code", "code-ls", "list-gpu-arch", "arch-ls"] in
  def "refused_"#!subst("-", "_", name) : RefusedFlag<name>;
foreach name = ["run-args", "sanitize", "host-linker-script", "hls"] in {
  def "refused_"#!subst("-", "_", name)
    : Separate<Either, name>, InBuild, Group<Refused>;
  def "refused_"#!subst("-", "_", name)#"_EQ"
    : Joined<Either, name#"=">, InBuild, Group<Refused>;
}
