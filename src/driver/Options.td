//===- driver/Options.td - The command line -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read by LLVM's option library. Visibility says which subcommand an option
// belongs to and decides what its --help prints. What is not listed here goes
// to clang as it is (`profile` lets that pass for single-dash options only); so
// an option has an entry if we act on it, or if its value is an argument of its
// own that must not be taken for an input. Where an option means something else
// with one command, OptionTable.cpp has the words of its help there.
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

def ProfileVis : OptionVisibility;
def PredictVis : OptionVisibility;
def CcVis : OptionVisibility;
def ReportVis : OptionVisibility;
def OptimizeVis : OptionVisibility;
def QualityVis : OptionVisibility;
def TrainVis : OptionVisibility;
def DiffVis : OptionVisibility;
def CacheVis : OptionVisibility;
def RewriteVis : OptionVisibility;
def TestVis : OptionVisibility;

class InAll : Visibility<[ProfileVis, PredictVis, OptimizeVis, CcVis, ReportVis,
                        QualityVis, TrainVis, DiffVis, RewriteVis, TestVis,
                        CacheVis]>;
class InBuild : Visibility<[ProfileVis, PredictVis, OptimizeVis, CcVis,
                          RewriteVis]>;
class InCc : Visibility<[CcVis]>;
class InRun : Visibility<[ProfileVis, PredictVis, OptimizeVis]>;
class InProfile : Visibility<[ProfileVis]>;
class InOptimize : Visibility<[OptimizeVis]>;
class InDecisions : Visibility<[OptimizeVis, CcVis, RewriteVis]>;
class InRewrite : Visibility<[RewriteVis]>;

// The titles under which --help lists options; sorted by them.
def Building : OptionGroup<"<building>">, HelpText<"BUILDING">;
def Counting : OptionGroup<"<counting>">, HelpText<"RUNNING AND COUNTING">;
def Showing : OptionGroup<"<showing>">, HelpText<"THE REPORT">;
def Trying : OptionGroup<"<trying>">, HelpText<"TRYING REMEDIES">;

defvar Dash = ["-"];
defvar Long = ["--"];
defvar Either = ["-", "--"];

def help : Flag<Long, "help">, InAll, HelpText<"Print this help">;
def h : Flag<Dash, "h">, InAll, Alias<help>;
def o : JoinedOrSeparate<Dash, "o">,
  Visibility<[ProfileVis, PredictVis, OptimizeVis, CcVis, TrainVis, ReportVis,
              DiffVis, RewriteVis]>, MetaVarName<"<file>">,
  HelpText<"Output: the program or object">;

def diff : Flag<Long, "diff">, InRewrite,
  HelpText<"Print what would change, for patch and git apply; the default">;
def in_place : Flag<Long, "in-place">, InRewrite,
  HelpText<"Change the file itself">;

//===- Running a program --------------------------------------------------===//

multiclass Setting<string name, string help,
                   list<OptionVisibility> where =
                       [ProfileVis, PredictVis, OptimizeVis],
                   string values = ""> {
  def _EQ : Joined<Long, name#"=">, Visibility<where>, MetaVarName<"<value>">,
    HelpText<help>, Values<values>;
  def "" : Separate<Long, name>, Visibility<where>,
    Alias<!cast<Option>(NAME#"_EQ")>;
}

let Group = Counting in {
defm device : Setting<"device", "auto, cpu (the warp VM) or gpu; default auto",
  values="auto,cpu,gpu">;
defm machine : Setting<"machine",
  "Machine file with the costs of instructions: a name or a file; default: the "
  "GPU that counts, else h200", values="a100,gtx480,h100,h200,rtx4090">;
defm threads : Setting<"threads", "CPU threads of the warp VM; default: all",
  [ProfileVis, PredictVis, OptimizeVis, TestVis]>;
defm tier : Setting<"tier", "Code of the warp VM: fused or blocks",
  values="fused,blocks">;
defm policy : Setting<"policy",
  "Where diverged warps reconverge: frontier or ipdom; or herding: "
  "herd-branch, herd-data, herd-both",
  values="frontier,ipdom,herd-branch,herd-data,herd-both">;
defm seed : Setting<"seed",
  "Order of blocks, warps and lanes: 0 is the natural one, 1 its reverse, ...",
  [ProfileVis, PredictVis, OptimizeVis, TestVis]>;
defm shuffle : Setting<"shuffle",
  "Also run each launch in this many other orders, and report outputs that "
  "depend on the order; default 0", [ProfileVis, TestVis]>;
defm step_limit : Setting<"step-limit",
  "Loop iterations after which a warp counts as hanging; default: no limit",
  [ProfileVis, PredictVis, OptimizeVis, TestVis]>;
def check : Flag<Long, "check">, InProfile,
  HelpText<"Check every memory access of kernels; they run slower">;
def check_EQ : Joined<Long, "check=">, Visibility<[TestVis]>,
  MetaVarName<"<checks>">, Values<"bounds,sync,init,races,all,none">,
  HelpText<"What to look for: a comma-separated list of bounds, sync, init and "
           "races, or all, or none; default bounds,sync">;
defm junit : Setting<"junit", "File for the results as JUnit's XML", [TestVis]>;
defm sarif : Setting<"sarif", "File for the findings as SARIF 2.1.0",
  [TestVis]>;
defm suppressions : Setting<"suppressions",
  "File of findings that are known: docs/testing.md", [TestVis]>;
defm max_findings : Setting<"max-findings",
  "Findings of a kernel to show; 0: all; default 10", [TestVis]>;
def races : Flag<Long, "races">, InProfile,
  HelpText<"Look for data races in shared and global memory, on the CPU; "
           "kernels run much slower">;
def machine_code : Flag<Long, "machine-code">,
  Visibility<[ProfileVis, PredictVis]>,
  HelpText<"Use the costs and registers of each kernel's machine code; ptxas "
           "runs once for each source file with kernels">;
def schedule : Flag<Long, "schedule">,
  Visibility<[ProfileVis, ReportVis]>,
  HelpText<"Simulate how the thread blocks of a launch of each kernel are "
           "scheduled, and show when multiprocessors run out of them">;
def groupings : Flag<Long, "groupings">, Visibility<[PredictVis]>,
  HelpText<"Also print what regrouping the threads of a launch of each kernel "
           "by their block vectors should gain, by three algorithms">;
defm orders : Setting<"orders",
  "Folder for orders of the threads of each kernel, by --groupings' algorithms, by "
  "which a program built with --permute=order=given runs", [PredictVis]>;
def estimate : Flag<Long, "estimate">, Visibility<[PredictVis]>,
  HelpText<"Also fit threads' times to what they load before, on the warp VM: "
           "for --regroup=estimate=">;
defm test : Setting<"test",
  "With --estimate: arguments for a second run of the program, "
  "on which the fit is tried; default: it is tried on every other thread block",
  [PredictVis]>;
defm paths : Setting<"paths",
  "File for what threads load and take, by which train makes a net, on the CPU",
  [ProfileVis]>;
defm cache : Setting<"cache",
  "Folder of compiled kernels; default: reconverge in the user's cache",
  [ProfileVis, PredictVis, OptimizeVis, TestVis, CacheVis]>;
def no_cache : Flag<Long, "no-cache">,
  Visibility<[ProfileVis, PredictVis, OptimizeVis, TestVis]>,
  HelpText<"Compile kernels again in each run">;
def q : Flag<Dash, "q">, Visibility<[ProfileVis, PredictVis, OptimizeVis]>,
  HelpText<"Print no progress; profile then prints no table either">;
def v : Flag<Dash, "v">, Visibility<[ProfileVis, PredictVis, OptimizeVis]>,
  HelpText<"Print each step, and optimize's trials, in a log as on a terminal">;
} // Group = Counting

let Group = Showing in {
defm kernel : Setting<"kernel",
  "Show only kernels whose names match this regular expression",
  [TrainVis, ReportVis, DiffVis, RewriteVis]>;
defm format : Setting<"format",
  "text, markdown, csv, json, speedscope, sarif, remarks or html; default: by "
  "the ending of -o",
  [ReportVis, DiffVis],
  values="text,markdown,csv,json,speedscope,sarif,remarks,html">;
defm top : Setting<"top",
  "How many places to show, most expensive first; 0 is all; default 12 in text",
  [ReportVis, DiffVis]>;
defm annotate : Setting<"annotate",
  "Show this source with the costs of its lines in the margin; may be repeated",
  [ReportVis]>;
def raw : Flag<Long, "raw">, InProfile,
  HelpText<"Keep block vectors and the trace of launches in the report: the page "
           "shows them">;
defm rows : Setting<"rows",
  "Rows of another run, on which the net is tested as well", [TrainVis]>;
defm classes : Setting<"classes",
  "Most classes of time that a net distinguishes, 2 to 32; default 32",
  [TrainVis]>;
defm header : Setting<"header",
  "File for the net as CUDA source, for reconverge/warp/warp_net.cuh", [TrainVis]>;
defm fail_if : Setting<"fail-if",
  "Exit with 3 if this holds: refused, none-ran, order-dependent, races, or self, "
  "total, recoverable or cfe with a bound, as in 'total>20%'; may be repeated",
  [ProfileVis, ReportVis]>;
} // Group = Showing

let Group = Trying in {
defm quality : Setting<"quality",
  "How to compare, comma-separated: metric=<metric>, bound=<number> and "
  "type=<type> if needed, for optimize also out=<file>, - or "
  "device:<kernel>:<argument>: docs/quality.md",
  [QualityVis, OptimizeVis]>;
defm train : Setting<"train",
  "Arguments of another run that --quality learns from, in quotes",
  [OptimizeVis]>;
defm held_out : Setting<"held-out",
  "Arguments of a run that judges what --quality has learned, in quotes",
  [OptimizeVis]>;

defm decisions : Setting<"decisions",
  "Build with this file of decisions written by optimize",
  [OptimizeVis, CcVis, RewriteVis, ReportVis]>;
def allow_reorder : Flag<Long, "allow-reorder">, InOptimize,
  HelpText<"Also keep candidates whose results differ only as much as the "
           "order of threads changes them anyway">;
def allow_rounding : Flag<Long, "allow-rounding">, InOptimize,
  HelpText<"Also keep nvcc's or clang's code of a kernel if its result "
           "differs only in rounding">;
defm time_limit : Setting<"time-limit",
  "Seconds that all trials together may take; default: no limit",
  [OptimizeVis]>;
defm log : Setting<"log",
  "File for a log of the trials, one event per line: docs/optimize.md",
  [OptimizeVis]>;
def try_all : Flag<Long, "try-all">, InOptimize,
  HelpText<"On a GPU, also try candidates that cannot gain by the forecast">;
defm nets : Setting<"nets",
  "Folder for nets: train one for each kernel where it should order threads "
  "better than a sum or a tree, and try it as well",
  [OptimizeVis]>;
defm exit_code : Setting<"exit-code",
  "What the program returns when all is well; default 0", [OptimizeVis]>;
def no_whole : Flag<Long, "no-whole">, InOptimize,
  HelpText<"Do not compare the final program's time with the unmodified ones">;
def sandbox : Flag<Long, "sandbox">, InOptimize,
  HelpText<"Discard what the program writes in the working folder in all runs "
           "but the first; the default">;
def no_sandbox : Flag<Long, "no-sandbox">, InOptimize,
  HelpText<"Run in the real working folder each time">;
defm launches : Setting<"launches",
  "Launches of each kernel on which candidates are tried; default 4",
  [OptimizeVis]>;

} // Group = Trying

//===- Building -----------------------------------------------------------===//

let Group = Building in {

def c : Flag<Dash, "c">, InCc, HelpText<"Compile to objects, do not link">;
def emit_device_bc : Flag<Long, "emit-device-bc">, InCc,
  HelpText<"Write the optimised, numbered device bitcode">;
def emit_ptx : Flag<Long, "emit-ptx">, InCc, HelpText<"Write the device's PTX">;
def ptx : Flag<Either, "ptx">, InCc, Alias<emit_ptx>;
def fatbin : Flag<Long, "fatbin">, InCc,
  HelpText<"Embed machine code for GPUs in addition to the bitcode">;
def whole_program : Flag<Long, "whole-program">, InBuild,
  HelpText<"The program's device code is all in this source, though the program "
  "is linked of several files">;
def device_code_EQ : Joined<Long, "device-code=">, InCc,
  Values<"reconverge,nvcc,clang">, MetaVarName<"<whose>">, HelpText<"Embed machine code as with --fatbin: "
  "reconverge's own, or nvcc's or clang's of the same source">;
def device_code : Separate<Long, "device-code">, InCc, Alias<device_code_EQ>;
def runtime_EQ : Joined<Long, "runtime=">, InCc,
  Values<"reconverge,nvidia">, MetaVarName<"<whose>">,
  HelpText<"Runtime to link: reconverge's (default), or nvidia's: then code "
  "for a GPU only, as nvcc would link it">;
def runtime : Separate<Long, "runtime">, InCc, Alias<runtime_EQ>;
def cudart_EQ : Joined<Either, "cudart=">, InBuild,
  Values<"static,shared">, MetaVarName<"static|shared">, HelpText<"How to link nvidia's runtime; default static">;
def cudart : Separate<Either, "cudart">, InBuild, Alias<cudart_EQ>;
def shared : Flag<Either, "shared">, InCc, HelpText<"Link a shared object">;
def S : Flag<Dash, "S">, InCc,
  HelpText<"Write assembly of the host code, with the device code in it">;
def E : Flag<Dash, "E">, InCc,
  HelpText<"Preprocess: what the host sees, then what the device sees">;
def fsyntax_only : Flag<Dash, "fsyntax-only">, InCc,
  HelpText<"Only report compile errors">;
def emit_llvm : Flag<Dash, "emit-llvm">, InCc;
def cuda_device_only : Flag<Long, "cuda-device-only">, InCc,
  HelpText<"Device code only: PTX with -S, bitcode with -emit-llvm">;
def cuda_host_only : Flag<Long, "cuda-host-only">, InCc,
  HelpText<"Host code only, without the device code in it">;
def cuda_compile_host_device : Flag<Long, "cuda-compile-host-device">, InCc;
def version : Flag<Long, "version">, InCc,
  HelpText<"Version of clang, which compiles, and of reconverge">;
def keep_EQ : Joined<Long, "keep=">, InBuild, MetaVarName<"<folder>">,
  HelpText<"Keep intermediate files in this folder; --keep: in the current one">;
def keep : Flag<Either, "keep">, InBuild;

def arch_EQ : Joined<Either, "arch=">, InBuild, MetaVarName<"sm_<n>">,
  HelpText<"Architecture of device code; default sm_90">;
def arch : Separate<Either, "arch">, InBuild, Alias<arch_EQ>;
def gpu_architecture_EQ : Joined<Long, "gpu-architecture=">, InBuild,
  Alias<arch_EQ>;
def gpu_architecture : Separate<Long, "gpu-architecture">, InBuild,
  Alias<arch_EQ>;
def cuda_gpu_arch_EQ : Joined<Long, "cuda-gpu-arch=">, InBuild, Alias<arch_EQ>;
def offload_arch_EQ : Joined<Long, "offload-arch=">, InBuild, Alias<arch_EQ>;
def gencode_EQ : Joined<Either, "gencode=">, InBuild,
  MetaVarName<"arch=compute_<n>,code=sm_<n>">,
  HelpText<"nvcc's spelling; the newest one given is built">;
def gencode : Separate<Either, "gencode">, InBuild, Alias<gencode_EQ>;
def generate_code_EQ : Joined<Long, "generate-code=">, InBuild,
  Alias<gencode_EQ>;
def generate_code : Separate<Long, "generate-code">, InBuild,
  Alias<gencode_EQ>;
def code_EQ : Joined<Either, "code=">, InBuild;
def code_separate : Separate<Either, "code">, InBuild, Alias<code_EQ>;

} // Group = Building

// Of every remedy.
def Remedies : OptionGroup<"<remedies>">, HelpText<"REMEDIES, BY HAND">;
multiclass Remedy<string name, string help, string parameters> {
  def "" : Flag<Long, name>, InBuild, Group<Remedies>, HelpText<help>;
  def _EQ : Joined<Long, name#"=">, InBuild, Group<Remedies>,
    MetaVarName<"<options>">,
    HelpText<"The same with parameters, separated by ;: "#parameters>;
}
include "Remedies.td"

let Group = Building in {
def cuda_path_EQ : Joined<Long, "cuda-path=">, InBuild,
  MetaVarName<"<folder>">, HelpText<"The CUDA toolkit; default: CUDA_PATH, "
  "CUDA_HOME, the toolkit of nvcc on PATH, /usr/local/cuda">;
def x : JoinedOrSeparate<Dash, "x">, InBuild, MetaVarName<"<language>">,
  HelpText<"Language of the files that follow: cuda (cu), c++, c or none">;
def dash_dash : Option<["--"], "", KIND_REMAINING_ARGS>, InCc;
def O : Joined<Dash, "O">, InBuild, MetaVarName<"<n>">,
  HelpText<"Optimisation of host and device code, 0 to 3; default 3">;
def g : Flag<Dash, "g">, InBuild, HelpText<"Debug information">;
def G : Flag<Dash, "G">, InBuild, Alias<g>;
def std_EQ : Joined<Either, "std=">, InBuild, MetaVarName<"<standard>">,
  HelpText<"Language standard">;
def std : Separate<Either, "std">, InBuild, Alias<std_EQ>;
def I : JoinedOrSeparate<Dash, "I">, InBuild, MetaVarName<"<folder>">,
  HelpText<"Folder of headers">;
def D : JoinedOrSeparate<Dash, "D">, InBuild, MetaVarName<"<name>[=<value>]">,
  HelpText<"Define a macro">;
def U : JoinedOrSeparate<Dash, "U">, InBuild, MetaVarName<"<name>">,
  HelpText<"Undefine a macro">;

// Their values must not be taken for inputs.
def isystem : JoinedOrSeparate<Dash, "isystem">, InBuild;
def iquote : JoinedOrSeparate<Dash, "iquote">, InBuild;
def idirafter : JoinedOrSeparate<Dash, "idirafter">, InBuild;
def include_ : JoinedOrSeparate<Dash, "include">, InBuild;
def imacros : JoinedOrSeparate<Dash, "imacros">, InBuild;
def Xclang : Separate<Dash, "Xclang">, InBuild;
def Xarch_host : Separate<Dash, "Xarch_host">, InBuild;
def Xarch_device : Separate<Dash, "Xarch_device">, InBuild;
def Xpreprocessor : Separate<Dash, "Xpreprocessor">, InBuild;
def Xassembler : Separate<Dash, "Xassembler">, InBuild;
def mllvm : Separate<Dash, "mllvm">, InBuild;
def param : Separate<Either, "param">, InBuild;
def target : Separate<Dash, "target">, InBuild;
def sysroot : Separate<Long, "sysroot">, InBuild;
def isysroot : JoinedOrSeparate<Dash, "isysroot">, InBuild;
def cxx_isystem : JoinedOrSeparate<Dash, "cxx-isystem">, InBuild;
def gcc_toolchain : Separate<Dash, "gcc-toolchain">, InBuild;
def resource_dir : Separate<Dash, "resource-dir">, InBuild;
def B : JoinedOrSeparate<Dash, "B">, InBuild;

//===- Arithmetic, as nvcc spells it --------------------------------------===//

def use_fast_math : Flag<Either, "use_fast_math">, InBuild,
  HelpText<"Flush denormals, approximate division, roots and sines">;
def ffast_math : Flag<Dash, "ffast-math">, InBuild;
def ftz_EQ : Joined<Either, "ftz=">, InBuild, MetaVarName<"true|false">,
  HelpText<"Flush denormals to zero; default false">;
def prec_div_EQ : Joined<Either, "prec-div=">, InBuild,
  MetaVarName<"true|false">, HelpText<"IEEE division; default true">;
def prec_sqrt_EQ : Joined<Either, "prec-sqrt=">, InBuild,
  MetaVarName<"true|false">, HelpText<"IEEE square root; default true">;
def fmad_EQ : Joined<Either, "fmad=">, InBuild, MetaVarName<"true|false">,
  HelpText<"Fuse multiplications and additions; default true">;

} // Group = Building

//===- Linking ------------------------------------------------------------===//

def LinkOnly : OptionGroup<"<link>">, HelpText<"BUILDING">;
def HostAndLink : OptionGroup<"<host>">, HelpText<"BUILDING">;

def l : JoinedOrSeparate<Dash, "l">, InBuild, Group<Building>, MetaVarName<"<library>">,
  HelpText<"Link a library">;
def L : JoinedOrSeparate<Dash, "L">, InBuild, Group<LinkOnly>,
  MetaVarName<"<folder>">, HelpText<"Folder of libraries">;
def r : Flag<Dash, "r">, InCc;

class LinkFlag<string name> : Flag<Dash, name>, InBuild, Group<LinkOnly>;
class LinkJoined<string name> : Joined<Dash, name>, InBuild, Group<LinkOnly>;
class LinkValue<string name>
  : JoinedOrSeparate<Dash, name>, InBuild, Group<LinkOnly>;
def Wl_COMMA : CommaJoined<Dash, "Wl,">, InBuild, Group<LinkOnly>;
def Xlinker : Separate<Either, "Xlinker">, InBuild, Group<LinkOnly>;
def Xlinker_EQ : Joined<Either, "Xlinker=">, InBuild, Alias<Xlinker>;
def rdynamic : LinkFlag<"rdynamic">;
def fuse_ld_EQ : LinkJoined<"fuse-ld=">;
def ld_path_EQ : Joined<Long, "ld-path=">, InBuild, Group<LinkOnly>;
def rtlib_EQ : Joined<Either, "rtlib=">, InBuild, Group<LinkOnly>;
def unwindlib_EQ : Joined<Either, "unwindlib=">, InBuild, Group<LinkOnly>;
def static_libgcc : LinkFlag<"static-libgcc">;
def static_libstdcxx : LinkFlag<"static-libstdc++">;
def nostdlib : LinkFlag<"nostdlib">;
def nodefaultlibs : LinkFlag<"nodefaultlibs">;
def nostartfiles : LinkFlag<"nostartfiles">;
def pie : LinkFlag<"pie">;
def no_pie : LinkFlag<"no-pie">;
def nopie : LinkFlag<"nopie">;
def s : LinkFlag<"s">;
def z : LinkValue<"z">;
def u : LinkValue<"u">;
def T : LinkValue<"T">;

// For host code and the link: the device has no such thing.
class HostFlag<string name> : Flag<Dash, name>, InBuild, Group<HostAndLink>;
class HostJoined<string name>
  : Joined<Dash, name>, InBuild, Group<HostAndLink>;
def pthread : HostFlag<"pthread">;
def fopenmp : HostFlag<"fopenmp">;
def fopenmp_EQ : HostJoined<"fopenmp=">;
def fsanitize_EQ : HostJoined<"fsanitize=">;
def flto : HostFlag<"flto">;
def flto_EQ : HostJoined<"flto=">;
def coverage : Flag<Either, "coverage">, InBuild, Group<HostAndLink>;
def fprofile : HostJoined<"fprofile-">;
def fcoverage : HostJoined<"fcoverage-">;
def pg : HostFlag<"pg">;
def MJ : JoinedOrSeparate<Dash, "MJ">, InBuild, Group<HostAndLink>;

//===- nvcc's ways to reach the tools -------------------------------------===//

let Group = Building in {
def Xcompiler : Separate<Either, "Xcompiler">, InBuild,
  MetaVarName<"<options>">, HelpText<"Options for host code only">;
def Xcompiler_EQ : Joined<Either, "Xcompiler=">, InBuild, Alias<Xcompiler>;
def Xptxas : Separate<Either, "Xptxas">, InBuild, MetaVarName<"<options>">,
  HelpText<"Options for ptxas">;
def Xptxas_EQ : Joined<Either, "Xptxas=">, InBuild, Alias<Xptxas>;
def Xcuda_ptxas : Separate<Dash, "Xcuda-ptxas">, InBuild, Alias<Xptxas>;

//===- Dependencies -------------------------------------------------------===//

def M : Flag<Dash, "M">, InCc,
  HelpText<"Print a rule for make: the files that the source includes">;
def MM : Flag<Dash, "MM">, InCc, HelpText<"The same without system headers">;
def MD : Flag<Dash, "MD">, InBuild, HelpText<"Write a rule for make to a file: what the source includes">;
def MMD : Flag<Dash, "MMD">, InBuild,
  HelpText<"The same without system headers">;
def MF : JoinedOrSeparate<Dash, "MF">, InBuild, MetaVarName<"<file>">,
  HelpText<"File of -MD; default: that of the output, with .d">;
def MT : JoinedOrSeparate<Dash, "MT">, InBuild, MetaVarName<"<target>">,
  HelpText<"Target of the rule; default: the output">;
def MQ : JoinedOrSeparate<Dash, "MQ">, InBuild, MetaVarName<"<target>">,
  HelpText<"The same, quoted for make">;
def MP : Flag<Dash, "MP">, InBuild,
  HelpText<"A rule for each header as well">;
def MG : Flag<Dash, "MG">, InBuild;

def fsave_optimization_record : Flag<Dash, "fsave-optimization-record">,
  InBuild, HelpText<"Write what passes and remedies did to device code, as "
  "remarks for LLVM's opt-viewer">;
def fsave_optimization_record_EQ : Joined<Dash, "fsave-optimization-record=">,
  InBuild;
def foptimization_record_file_EQ : Joined<Dash, "foptimization-record-file=">,
  InBuild, MetaVarName<"<file>">,
  HelpText<"File for the remarks; default: that of the output, with .opt.yaml">;
def foptimization_record_passes_EQ :
  Joined<Dash, "foptimization-record-passes=">, InBuild,
  MetaVarName<"<passes>">,
  HelpText<"Only remarks of passes that match this regular expression; "
           "reconverge: those of remedies">;
} // Group = Building

include "NvccOptions.td"
