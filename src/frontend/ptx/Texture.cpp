//===- frontend/ptx/Texture.cpp - Textures and surfaces -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fetches and gathers through texture objects, loads and stores through surface
// objects: NVVM has an intrinsic for each form, of the same operands in another
// notation. Coordinates come as vectors of 1, 2 or 4 registers, a layer first:
//
//   tex.a2d.v4.f32.f32 {r, g, b, a}, [object, {layer, x, y, y}]
//     -> llvm.nvvm.tex.unified.2d.array.v4f32.f32(object, layer, x, y)
//
// A fetch reads memory that the kernel does not write, so the call says that
// it only reads.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr Type B64{Type::Bits, 64, 1}, U32{Type::Unsigned, 32, 1};
static constexpr Type F32{Type::Float, 32, 1};

namespace {
struct Geometry {
  StringRef Ptx, Nvvm;
  unsigned Coordinates; ///< a layer aside
  bool Layers;
};
} // namespace

static constexpr Geometry Geometries[] = {
    {"1d", "1d", 1, false},           {"2d", "2d", 2, false},
    {"3d", "3d", 3, false},           {"a1d", "1d.array", 1, true},
    {"a2d", "2d.array", 2, true},     {"cube", "cube", 3, false},
    {"acube", "cube.array", 3, true},
};

/// Uses up the geometry; refuses, and is null, if there is none.
static const Geometry *takeGeometry(Lowering &L) {
  for (const Geometry &G : Geometries)
    if (L.take(G.Ptx))
      return &G;
  L.refuse("the geometry is not supported");
  return nullptr;
}

/// What lies in the braces of \p O, or \p O itself.
static ArrayRef<Operand> partsOf(const Operand &O) {
  return O.K == Operand::Vector ? ArrayRef(O.Parts) : ArrayRef(O);
}

/// \p Count parts of \p O, as values of \p T; padding may follow.
static bool readParts(Lowering &L, ArrayRef<Operand> Parts, unsigned Count,
                      Type T, SmallVectorImpl<Value *> &Out) {
  if (Parts.size() < Count) {
    L.refuse("there are too few coordinates");
    return false;
  }
  for (const Operand &O : Parts.take_front(Count))
    Out.push_back(L.read(O, T));
  return true;
}

/// [object, {layer, coordinates}].
static bool readPlace(Lowering &L, const Operand &O, const Geometry &G, Type T,
                      SmallVectorImpl<Value *> &Out) {
  if (O.K != Operand::Address || O.Parts.size() != 2 || O.Literal) {
    L.refuse("an object and its coordinates are expected");
    return false;
  }
  Out.push_back(L.read(O.Parts[0], B64));
  ArrayRef<Operand> Parts = partsOf(O.Parts[1]);
  if (G.Layers && readParts(L, Parts, 1, U32, Out))
    Parts = Parts.drop_front();
  return readParts(L, Parts, G.Coordinates, T, Out);
}

/// The intrinsic of \p Name, if \p Args fit it; refuses if there is none.
static CallInst *callNamed(Lowering &L, const Twine &Name,
                           ArrayRef<Value *> Args) {
  const Intrinsic::ID Id = Function::lookupIntrinsicID(Name.str());
  if (Id == Intrinsic::not_intrinsic) {
    L.refuse("the form is not supported");
    return nullptr;
  }
  auto *Call = cast<CallInst>(L.call(Id, Args));
  Call->setDoesNotThrow();
  Call->addFnAttr(Attribute::WillReturn);
  return Call;
}

static void writeParts(Lowering &L, const Operand &To, Type T, Value *Result) {
  ArrayRef<Operand> Parts = partsOf(To);
  auto *Struct = dyn_cast<StructType>(Result->getType());
  if (Parts.size() != (Struct ? Struct->getNumElements() : 1))
    return L.refuse("the number of results is wrong");
  for (unsigned I = 0; I < Parts.size(); ++I)
    L.write(Parts[I], T, Struct ? L.B.CreateExtractValue(Result, I) : Result);
}

/// tex{.level,.grad}.geometry.v4.type.type, tld4.component.2d.v4.type.f32
static void emitTexture(Lowering &L) {
  const bool Gather = L.opcode() == "tld4";
  const StringRef Component = L.takeOneOf({"r", "g", "b", "a"});
  const StringRef Level = L.takeOneOf({"level", "grad"});
  const Geometry *G = takeGeometry(L);
  const bool Four = L.take("v4");
  const Type To = L.type(), By = L.type();
  if (!G || !Four || Component.empty() == Gather ||
      !(To == F32 || (To.isInt() && To.bits() == 32 && To.K != Type::Bits)))
    return L.refuse("the form is not supported");
  L.arity(Level == "grad" ? 4 : Level == "level" ? 3 : 2);
  SmallVector<Value *, 12> Args;
  if (!readPlace(L, L.operand(1), *G, By, Args))
    return;
  if (Level == "level")
    Args.push_back(L.read(2, F32));
  else if (Level == "grad")
    for (unsigned N : {2, 3})
      if (!readParts(L, partsOf(L.operand(N)), G->Coordinates, F32, Args))
        return;
  std::string Name = Gather ? ("tld4.unified." + Component + ".").str()
                            : std::string("tex.unified.");
  Name += G->Nvvm;
  if (!Level.empty())
    Name += ("." + Level).str();
  Name += To == F32 ? ".v4f32" : To.isSigned() ? ".v4s32" : ".v4u32";
  Name += By == F32 ? ".f32" : ".s32";
  if (CallInst *Call = callNamed(L, "llvm.nvvm." + Name, Args)) {
    Call->setOnlyReadsMemory();
    writeParts(L, L.operand(0), To, Call);
  }
}

/// {suld,sust}.b.geometry{.v2,.v4}.type.mode
static void emitSurface(Lowering &L) {
  const bool Load = L.opcode() == "suld";
  const bool Bits = L.take("b");
  const Geometry *G = takeGeometry(L);
  const StringRef Vector = L.takeOneOf({"v2", "v4"});
  const StringRef Mode = L.takeOneOf({"trap", "clamp", "zero"});
  const Type T = L.type();
  L.arity(2);
  if (!G || !Bits || Mode.empty() || T.K != Type::Bits || T.Lanes != 1)
    return L.refuse("the form is not supported");
  SmallVector<Value *, 12> Args;
  if (!readPlace(L, L.operand(Load ? 1 : 0), *G, U32, Args))
    return;
  const Type Held{Type::Bits, std::max(T.Width, 16u), 1};
  const unsigned Count = Vector.empty() ? 1 : Vector == "v2" ? 2 : 4;
  if (!Load && (partsOf(L.operand(1)).size() != Count ||
                !readParts(L, partsOf(L.operand(1)), Count, Held, Args)))
    return L.refuse("the number of values is wrong");
  CallInst *Call =
      callNamed(L,
                (Load ? Twine("llvm.nvvm.suld.") : Twine("llvm.nvvm.sust.b.")) +
                    G->Nvvm + "." + Vector + "i" + Twine(T.Width) + "." + Mode,
                Args);
  if (Call && Load)
    writeParts(L, L.operand(0), Held, Call);
}

ArrayRef<Row> textureRows() {
  static const Row Rows[] = {
      {"tex", AnyClass, true, emitTexture,
       "{.level,.grad}.{1d,2d,3d,a1d,a2d,cube,acube}.v4.{f32,s32,u32}."
       "{f32,s32} of an object",
       "`llvm.nvvm.tex.unified.*`"},
      {"tld4", AnyClass, true, emitTexture,
       ".{r,g,b,a}.2d.v4.{f32,s32,u32}.f32", "`llvm.nvvm.tld4.unified.*`"},
      {"suld", AnyClass, true, emitSurface,
       ".b.{1d,2d,3d,a1d,a2d}{.v2,.v4}.{b8,b16,b32,b64}.{trap,clamp,zero}",
       "`llvm.nvvm.suld.*`"},
      {"sust", AnyClass, true, emitSurface,
       ".b.{1d,2d,3d,a1d,a2d}{.v2,.v4}.{b8,b16,b32,b64}.{trap,clamp,zero}",
       "`llvm.nvvm.sust.b.*`"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
