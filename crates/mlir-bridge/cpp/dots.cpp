// Dot products of the bytes of words: see dots.h.

#include "dots.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/Local.h"

#include <optional>

using namespace llvm;
using namespace llvm::PatternMatch;

namespace {

constexpr unsigned BYTES = 4;

// Byte `number` of `word`, extended to 32 bits. Where all lanes are the same, `word` may be a number.
struct Byte {
  Value *word;
  unsigned number;
  bool isSigned;
};

std::optional<Byte> byteOf(Value *value) {
  if (isa<Constant>(value))
    return std::nullopt;
  if (value->getType()->isVectorTy())
    if (Value *same = getSplatValue(value))
      return byteOf(same);
  Value *word;
  const APInt *up, *down;
  if (match(value, m_AShr(m_Shl(m_Value(word), m_APInt(up)), m_SpecificInt(24))))
    return up->ule(24) && *up != 0 && up->urem(8) == 0 ? std::optional(Byte{word, 3 - unsigned(up->getZExtValue()) / 8, true})
                                                      : std::nullopt;
  if (match(value, m_AShr(m_Value(word), m_SpecificInt(24))))
    return Byte{word, 3, true};
  if (match(value, m_LShr(m_Value(word), m_SpecificInt(24))))
    return Byte{word, 3, false};
  if (!match(value, m_And(m_Value(word), m_SpecificInt(255))))
    return std::nullopt;
  Value *whole;
  if (match(word, m_Shr(m_Value(whole), m_APInt(down))) && down->ult(32) && down->urem(8) == 0)
    return Byte{whole, unsigned(down->getZExtValue()) / 8, false};
  return Byte{word, 0, false};
}

// A word of each lane, and what its bytes are.
struct Words {
  Value *value;
  bool isSigned;
  bool operator==(const Words &other) const { return value == other.value && isSigned == other.isSigned; }
};

struct Product {
  Words a, b;
  unsigned number;
};

std::optional<Product> productOf(Value *value) {
  Value *left, *right;
  if (!match(value, m_Mul(m_Value(left), m_Value(right))))
    return std::nullopt;
  std::optional<Byte> a = byteOf(left), b = a ? byteOf(right) : std::nullopt;
  if (!b || a->number != b->number)
    return std::nullopt;
  return Product{{a->word, a->isSigned}, {b->word, b->isSigned}, a->number};
}

// The sum of the products of all bytes of `a` and `b`, and `c`, which is null where it is 0.
struct Dot {
  Words a, b;
  Value *c;
};

// One product of a sum at a time, from the last one added on.
class Finding {
public:
  std::optional<Dot> find(Instruction &last) {
    Value *rest = &last;
    while (rest && seen != (1u << BYTES) - 1) {
      Value *left, *right;
      if (match(rest, m_Add(m_Value(left), m_Value(right)))) {
        if (take(left))
          rest = right;
        else if (take(right))
          rest = left;
        else
          return std::nullopt;
      } else if (take(rest)) {
        rest = nullptr;
      } else {
        return std::nullopt;
      }
    }
    if (seen != (1u << BYTES) - 1)
      return std::nullopt;
    return Dot{a, b, rest};
  }

private:
  bool take(Value *value) {
    std::optional<Product> product = productOf(value);
    if (!product || seen & 1u << product->number)
      return false;
    if (!seen)
      a = product->a, b = product->b;
    bool same = product->a == a && product->b == b;
    if (!same && !(product->a == b && product->b == a))
      return false;
    seen |= 1u << product->number;
    return true;
  }

  Words a{}, b{};
  unsigned seen = 0;
};

// The instructions of a register's width.
struct Instructions {
  unsigned bits;
  // Bytes without a sign times bytes with one, four each, added to a word.
  Intrinsic::ID quads;
  // The same, two each, to halves of words that stop at their limits.
  Intrinsic::ID pairs;
  // Halves with a sign, two each, to a word.
  Intrinsic::ID halves;
};

// What of it a processor has is looked up by these, in LLVM's names of features.
struct Row {
  Instructions instructions;
  const char *forQuads[2];
  const char *forPairs;
  const char *forHalves;
};

const Row ROWS[] = {
    {{512, Intrinsic::x86_avx512_vpdpbusd_512, Intrinsic::x86_avx512_pmaddubs_w_512, Intrinsic::x86_avx512_pmaddw_d_512},
     {"+avx512vnni", "+avx512vnni"},
     "+avx512bw",
     "+avx512bw"},
    {{256, Intrinsic::x86_avx512_vpdpbusd_256, Intrinsic::x86_avx2_pmadd_ub_sw, Intrinsic::x86_avx2_pmadd_wd},
     {"+avx512vnni,+avx512vl", "+avxvnni"},
     "+avx2",
     "+avx2"},
    {{128, Intrinsic::x86_avx512_vpdpbusd_128, Intrinsic::x86_ssse3_pmadd_ub_sw_128, Intrinsic::x86_sse2_pmadd_wd},
     {"+avx512vnni,+avx512vl", "+avxvnni"},
     "+ssse3",
     "+sse2"},
};

// The widest instructions for vectors of so many bits.
std::optional<Instructions> instructionsFor(const MCSubtargetInfo &processor, unsigned bits, unsigned widest) {
  for (const Row &row : ROWS) {
    if (row.instructions.bits > std::min(bits, widest) || !processor.checkFeatures(row.forHalves))
      continue;
    Instructions found = row.instructions;
    if (none_of(row.forQuads, [&](const char *features) { return processor.checkFeatures(features); }))
      found.quads = Intrinsic::not_intrinsic;
    if (!processor.checkFeatures(row.forPairs))
      found.pairs = Intrinsic::not_intrinsic;
    return found;
  }
  return std::nullopt;
}

class Making {
public:
  Making(Instruction &last, const Instructions &by) : b(&last), by(by) {}

  Value *make(const Dot &dot, FixedVectorType *type) {
    unsigned all = type->getNumElements(), lanes = by.bits / 32;
    vector = FixedVectorType::get(b.getInt32Ty(), lanes);
    Factor left = factor(dot.a, all), right = factor(dot.b, all);
    if (!(left.canBeUnsigned() && right.canBeSigned()) && right.canBeUnsigned() && left.canBeSigned())
      std::swap(left, right);
    Value *c = dot.c ? dot.c : Constant::getNullValue(type);
    if (lanes == all)
      return makePart(left, right, c);
    SmallVector<Value *> parts;
    for (unsigned first = 0; first < all; first += lanes) {
      auto mask = to_vector(seq<int>(first, first + lanes));
      auto part = [&](const Factor &whole) { return Factor{b.CreateShuffleVector(whole.words, mask), whole.isSigned, whole.isSmall}; };
      parts.push_back(makePart(part(left), part(right), b.CreateShuffleVector(c, mask)));
    }
    return concatenateVectors(b, parts);
  }

private:
  // Words in all lanes. Where no byte's highest bit is set, they are small: the same with a sign and without.
  struct Factor {
    Value *words;
    bool isSigned;
    bool isSmall;
    bool canBeSigned() const { return isSigned || isSmall; }
    bool canBeUnsigned() const { return !isSigned || isSmall; }
  };

  Factor factor(const Words &words, unsigned lanes) {
    Value *value = words.value;
    KnownBits known = computeKnownBits(value, b.GetInsertBlock()->getDataLayout());
    bool isSmall = APInt::getSplat(32, APInt(8, 0x80)).isSubsetOf(known.Zero);
    return {value->getType()->isVectorTy() ? value : b.CreateVectorSplat(lanes, value), words.isSigned, isSmall};
  }

  Value *makePart(const Factor &left, const Factor &right, Value *c) {
    if (by.quads)
      return quads(left, right, c);
    // No sum of two products exceeds a half: 2 * 127 * 128.
    if (by.pairs && left.isSmall && right.canBeSigned()) {
      Value *sums = call(by.pairs, bytes(left.words), bytes(right.words));
      return b.CreateAdd(c, call(by.halves, sums, ConstantInt::get(sums->getType(), 1)));
    }
    Value *even = call(by.halves, halves(left, false), halves(right, false));
    Value *odd = call(by.halves, halves(left, true), halves(right, true));
    return b.CreateAdd(b.CreateAdd(c, even), odd);
  }

  // a * b = (a + 128) * b - 128 * b where both have a sign, a * (b - 128) - a * -128 where neither has.
  Value *quads(const Factor &left, const Factor &right, Value *c) {
    Constant *offset = ConstantInt::get(vector, 0x80808080);
    if (!left.canBeUnsigned())
      return b.CreateSub(quad(c, b.CreateXor(left.words, offset), right.words), quad(nullptr, offset, right.words));
    if (!right.canBeSigned())
      return b.CreateSub(quad(c, left.words, b.CreateXor(right.words, offset)), quad(nullptr, left.words, offset));
    return quad(c, left.words, right.words);
  }

  Value *quad(Value *c, Value *left, Value *right) {
    Value *from = c ? c : Constant::getNullValue(vector);
    return b.CreateIntrinsic(by.quads, {}, {from, bytes(left), bytes(right)});
  }

  Value *call(Intrinsic::ID what, Value *left, Value *right) { return b.CreateIntrinsic(what, {}, {left, right}); }

  Value *bytes(Value *words) { return b.CreateBitCast(words, FixedVectorType::get(b.getInt8Ty(), by.bits / 8)); }

  // Every second byte.
  Value *halves(const Factor &factor, bool odd) {
    Value *both = b.CreateBitCast(factor.words, FixedVectorType::get(b.getInt16Ty(), by.bits / 16));
    if (!factor.isSigned)
      return odd ? b.CreateLShr(both, 8) : b.CreateAnd(both, ConstantInt::get(both->getType(), 0xff));
    return b.CreateAShr(odd ? both : b.CreateShl(both, 8), 8);
  }

  IRBuilder<> b;
  const Instructions &by;
  FixedVectorType *vector = nullptr;
};

} // namespace

PreservedAnalyses regrain_bridge::DotProducts::run(Function &function, FunctionAnalysisManager &analyses) {
  if (!machine->getTargetTriple().isX86())
    return PreservedAnalyses::all();
  const MCSubtargetInfo &processor = *machine->getSubtargetImpl(function);
  const TargetTransformInfo &target = analyses.getResult<TargetIRAnalysis>(function);
  unsigned widest = target.getRegisterBitWidth(TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  SmallVector<WeakTrackingVH> dead;
  for (Instruction &inst : instructions(function)) {
    auto *type = dyn_cast<FixedVectorType>(inst.getType());
    if (inst.getOpcode() != Instruction::Add || !type || !type->getElementType()->isIntegerTy(32))
      continue;
    if (type->getNumElements() < 4 || !isPowerOf2_32(type->getNumElements()))
      continue;
    std::optional<Dot> dot = Finding().find(inst);
    if (!dot)
      continue;
    std::optional<Instructions> by = instructionsFor(processor, type->getPrimitiveSizeInBits(), widest);
    if (!by)
      continue;
    inst.replaceAllUsesWith(Making(inst, *by).make(*dot, type));
    dead.push_back(&inst);
  }
  if (dead.empty())
    return PreservedAnalyses::all();
  RecursivelyDeleteTriviallyDeadInstructions(dead);
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
