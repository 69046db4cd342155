//===- unittests/core/QualityTest.cpp - Metrics of outputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expected values are computed by hand, beside each test.
//
//===----------------------------------------------------------------------===//

#include "core/Quality.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace llvm;
using namespace reconverge;

static QualityRequest request(StringRef Text) {
  auto Request = parseQuality(Text);
  if (Request)
    return *Request;
  ADD_FAILURE() << toString(Request.takeError());
  return {};
}

static std::string refusal(StringRef Text) {
  auto Request = parseQuality(Text);
  return Request ? "none" : toString(Request.takeError());
}

static double measured(StringRef Request, StringRef Reference,
                       StringRef Result) {
  auto Q = measureQuality(request(Request), Reference, "a", Result, "b");
  if (Q)
    return Q->Value;
  ADD_FAILURE() << toString(Q.takeError());
  return NAN;
}

static std::string failure(StringRef Request, StringRef Reference,
                           StringRef Result) {
  auto Q = measureQuality(request(Request), Reference, "a", Result, "b");
  return Q ? "none" : toString(Q.takeError());
}

static bool has(StringRef Text, StringRef Part) { return Text.contains(Part); }

template <typename T> static std::string raw(std::initializer_list<T> Values) {
  return std::string(reinterpret_cast<const char *>(Values.begin()),
                     Values.size() * sizeof(T));
}

TEST(Quality, RequestIsRead) {
  const QualityRequest R = request("out=image.ppm,metric=psnr,bound=40");
  EXPECT_EQ(R.Output, "image.ppm");
  EXPECT_EQ(R.Metric, QualityMetric::Psnr);
  EXPECT_EQ(R.Bound, 40.0);
  EXPECT_TRUE(R.IsGreaterBetter);
  EXPECT_EQ(request("out=stdout,metric=rmse").Output, "-");
  EXPECT_EQ(request("metric=rmse,type=f32").Type, ValueType::F32);
  EXPECT_EQ(request("metric=max-relative,bound=5%").Bound, 0.05);
  const QualityRequest User = request("metric=./q.so:loss,better=greater");
  EXPECT_EQ(User.Library, "./q.so");
  EXPECT_EQ(User.Function, "loss");
  EXPECT_TRUE(User.IsGreaterBetter);
  EXPECT_EQ(User.metricName(), "./q.so:loss");
}

TEST(Quality, BadRequestsAreNamed) {
  EXPECT_TRUE(has(refusal("metric=nice"), "no metric 'nice'"));
  EXPECT_TRUE(has(refusal("bound=1"), "no metric in"));
  EXPECT_TRUE(has(refusal("metric=rmse,size=1"), "no key 'size'"));
  EXPECT_TRUE(has(refusal("metric=rmse,bound=x"), "bound=x is no number"));
  EXPECT_TRUE(has(refusal("metric=rmse,bound=nan"), "is no number"));
  EXPECT_TRUE(has(refusal("metric=rmse,metric=psnr"), "given twice"));
  EXPECT_TRUE(has(refusal("metric=rmse,type=f16"), "no type 'f16'"));
  EXPECT_TRUE(has(refusal("metric=rmse,bound="), "'bound' has no value"));
  EXPECT_TRUE(has(refusal("metric=rmse,bound=-1"), "is not negative"));
  EXPECT_TRUE(has(refusal("metric=psnr,bound=0"), "bound=inf"));
  EXPECT_TRUE(has(refusal("metric=ssim,bound=2"), "never above 1"));
  EXPECT_TRUE(has(refusal("metric=rmse,better=less"), "function of yours"));
  EXPECT_TRUE(has(refusal("metric=mismatch,type=u8"), "compares bytes"));
  for (const char *Out : {"device:x", "device::2", "device:x:", "device:x:0",
                          "device:x:y", "device:x:-1"})
    EXPECT_TRUE(has(refusal(("out=" + Twine(Out) + ",metric=mismatch").str()),
                    "names no buffer"))
        << Out;
  for (const char *Type : {"", ",type=text", ",type=image"})
    EXPECT_TRUE(has(refusal(("out=device:x:1,metric=rmse" + Twine(Type)).str()),
                    "of what type"))
        << Type;
}

TEST(Quality, NamesBuffersByKernelAndArgument) {
  const QualityRequest Plain =
      request("out=device:render:2,metric=rmse,type=f32,bound=1");
  EXPECT_TRUE(Plain.isBuffer());
  EXPECT_EQ(Plain.Kernel, "render");
  EXPECT_EQ(Plain.Argument, 2u);
  const QualityRequest Template =
      request("metric=mismatch,out=device:ns::walk<float, ns::of<3, 4>>:10");
  EXPECT_EQ(Template.Kernel, "ns::walk<float, ns::of<3, 4>>");
  EXPECT_EQ(Template.Argument, 10u);
  EXPECT_EQ(Template.Metric, QualityMetric::Mismatch);
  EXPECT_FALSE(request("out=./device:x:1,metric=mismatch").isBuffer());
}

TEST(Quality, BoundIsByWhatIsBetter) {
  EXPECT_TRUE(request("metric=psnr,bound=40").isWithin(40));
  EXPECT_TRUE(request("metric=psnr,bound=40").isWithin(INFINITY));
  EXPECT_FALSE(request("metric=psnr,bound=40").isWithin(39.9));
  EXPECT_TRUE(request("metric=rmse,bound=2").isWithin(2));
  EXPECT_FALSE(request("metric=rmse,bound=2").isWithin(2.1));
}

TEST(Quality, SomeBoundsLetNothingChange) {
  EXPECT_FALSE(request("metric=rmse,bound=0").letsChange());
  EXPECT_FALSE(request("metric=mismatch,bound=0%").letsChange());
  EXPECT_FALSE(request("metric=psnr,bound=inf").letsChange());
  EXPECT_FALSE(request("metric=ssim,bound=1").letsChange());
  EXPECT_TRUE(request("metric=ssim,bound=0.99").letsChange());
  EXPECT_TRUE(request("metric=psnr,bound=40").letsChange());
  EXPECT_TRUE(request("metric=rmse").letsChange());
}

TEST(Quality, BytesThatDifferAreCounted) {
  EXPECT_EQ(measured("metric=mismatch", "abcd", "abXY"), 0.5); // 2 of 4
  EXPECT_EQ(measured("metric=mismatch", "abcd", "abcd"), 0);
}

TEST(Quality, RelativeErrors) {
  // |11-10|/10 = 0.1, |15-20|/20 = 0.25, |4-4|/4 = 0, |-6+8|/8 = 0.25
  EXPECT_NEAR(measured("metric=mean-relative", "10 20 4 -8", "11 15 4 -6"),
              0.15, 1e-15);
  EXPECT_NEAR(measured("metric=max-relative", "10 20 4 -8", "11 15 4 -6"), 0.25,
              1e-15);
}

TEST(Quality, ErrorsRelativeToTheWhole) {
  // (1 + 5 + 0 + 2) / (10 + 20 + 0 + 10)
  EXPECT_EQ(measured("metric=relative-l1", "10 20 0 -10", "11 15 0 -8"), 0.2);
  EXPECT_TRUE(
      has(failure("metric=relative-l1", "0 0", "1 0"), "a: every value is 0"));
}

TEST(Quality, ZeroReferencesCountAbsolutely) {
  // |0.5-0| = 0.5 and |3-2|/2 = 0.5
  auto Q =
      measureQuality(request("metric=mean-relative"), "0 2", "a", "0.5 3", "b");
  ASSERT_TRUE(bool(Q));
  EXPECT_EQ(Q->Value, 0.5);
  EXPECT_EQ(Q->Zeros, 1u);
  EXPECT_EQ(Q->Count, 2u);
  EXPECT_TRUE(
      has(failure("metric=max-relative", "0 0", "1 0"), "a: every value is 0"));
}

TEST(Quality, RootOfMeanSquares) {
  // squares 9, 16, 0, 0: mean 6.25
  EXPECT_EQ(measured("metric=rmse", "1 2 3 4", "4 6 3 4"), 2.5);
}

TEST(Quality, PeakToNoise) {
  // Errors 51 and 51 of a peak 255: 20 log10(5) = 13.9794
  EXPECT_NEAR(measured("metric=psnr", "P2 2 1 255 0 100", "P2 2 1 255 51 49"),
              13.9794000867204, 1e-9);
  // u8, errors 51 and 0: rmse 51/sqrt(2), 20 log10(5 sqrt(2)) = 16.9897
  EXPECT_NEAR(measured("metric=psnr,type=u8", raw<uint8_t>({51, 7}),
                       raw<uint8_t>({0, 7})),
              16.9897000433602, 1e-9);
  // f32 from 0 to 10, errors 1 and 1: 20 log10(10) = 20
  EXPECT_NEAR(
      measured("metric=psnr,type=f32", raw<float>({0, 10}), raw<float>({1, 9})),
      20, 1e-12);
  EXPECT_EQ(measured("metric=psnr", "1 2", "1 2"), INFINITY);
  EXPECT_TRUE(has(failure("metric=psnr", "1 1", "1 2"), "has no peak"));
}

/// An 11 x 11 PGM that has \p Value(x, y) in each place.
template <typename Fill> static std::string square(Fill Value) {
  std::string Text = "P2 11 11 255\n";
  for (int Y = 0; Y != 11; ++Y)
    for (int X = 0; X != 11; ++X)
      Text += std::to_string(Value(X, Y)) + " ";
  return Text;
}

TEST(Quality, StructuralSimilarity) {
  // Constant 100 and 110: no variance, so what is left is
  // (2 * 100 * 110 + C1) / (100^2 + 110^2 + C1), C1 = (0.01 * 255)^2 = 6.5025
  EXPECT_NEAR(measured("metric=ssim", square([](int, int) { return 100; }),
                       square([](int, int) { return 110; })),
              22006.5025 / 22106.5025, 1e-9);
  // A chessboard and its negative: means 127.5, variances 127.5^2, covariance
  // -127.5^2, with C2 = (0.03 * 255)^2 = 58.5225:
  // (-2 * 16256.25 + 58.5225) / (2 * 16256.25 + 58.5225) = -0.996406
  auto Board = [](int X, int Y) { return (X + Y) % 2 * 255; };
  EXPECT_NEAR(measured("metric=ssim", square(Board),
                       square([&](int X, int Y) { return 255 - Board(X, Y); })),
              -0.996406, 1e-4);
  EXPECT_EQ(measured("metric=ssim", square(Board), square(Board)), 1);
  EXPECT_TRUE(has(failure("metric=ssim", "P2 1 1 9 3", "P2 1 1 9 3"),
                  "11 x 11 pixels"));
  EXPECT_TRUE(has(failure("metric=ssim", "1 2", "1 2"), "PGM or PPM"));
}

TEST(Quality, LabelsThatDiffer) {
  // 1 of 4 labels, though 2 of its 4 bytes
  EXPECT_EQ(measured("metric=misclassified,type=i32",
                     raw<int32_t>({1, 2, 3, 4}), raw<int32_t>({1, 2, 3, 900})),
            0.25);
}

TEST(Quality, ImagesAreRead) {
  // Plain and binary, of one image: 1 x 2 pixels of 3 values.
  const std::string Plain = "P3 # by hand\n1 2 255\n1 2 3  4 5 6\n";
  const std::string Binary("P6\n1 2\n255\n\1\2\3\4\5\6", 3 + 4 + 4 + 6);
  EXPECT_EQ(measured("metric=rmse", Plain, Binary), 0);
  // 16 bits, the high byte first: 0x0102 = 258.
  auto Wide =
      readValues(StringRef("P5 1 1 65535\n\1\2", 15), ValueType::Any, "a");
  ASSERT_TRUE(bool(Wide));
  EXPECT_EQ(Wide->Numbers, std::vector<double>{258});
  EXPECT_EQ(Wide->Peak, 65535);
}

static std::string unread(StringRef Bytes, ValueType Type = ValueType::Any) {
  auto V = readValues(Bytes, Type, "f");
  return V ? "none" : toString(V.takeError());
}

TEST(Quality, BrokenOutputsAreNamed) {
  EXPECT_TRUE(has(unread("P2 2"), "lacks width"));
  EXPECT_TRUE(has(unread("P5 1 1 255"), "ends before its last pixel"));
  EXPECT_TRUE(has(unread("P5 2 2 255\nabc"), "ends before its last pixel"));
  EXPECT_TRUE(has(unread("P2 4000000000 4000000000 255\n1"),
                  "ends before its last pixel"));
  EXPECT_TRUE(has(unread("P2 1 1 7 8"), "above the maximum"));
  EXPECT_TRUE(has(unread("P2 2 1 7 1 x"), "number 2 of its pixels is none"));
  EXPECT_TRUE(has(unread("P5 1 1 255\nabc"), "follow its last pixel"));
  EXPECT_TRUE(has(unread("P2 0 1 255\n"), "0 x 1 pixels"));
  EXPECT_TRUE(has(unread("1 2", ValueType::Image), "does not begin with"));
  EXPECT_TRUE(has(unread("1 2\n3 done"), "f:2: 'done' is no number"));
  EXPECT_TRUE(has(unread("abc", ValueType::F32), "3 bytes are no whole"));
  EXPECT_TRUE(has(unread(" \n"), "has no values"));
  EXPECT_TRUE(has(unread("1 nan"), "value 2 is NaN"));
  EXPECT_TRUE(has(unread(raw<float>({std::numeric_limits<float>::infinity()}),
                         ValueType::F32),
                  "value 1 is infinite"));
}

TEST(Quality, OutputsOfTwoSizesAreNamed) {
  EXPECT_TRUE(has(failure("metric=rmse", "1 2", "1"),
                  "two outputs of two sizes: a has 2 values, b has 1 values"));
  EXPECT_TRUE(has(failure("metric=mismatch", "ab", "a"), "2 bytes"));
  // As many values, but other images.
  EXPECT_TRUE(has(failure("metric=rmse", "P2 2 1 9 1 2", "P2 1 2 9 1 2"),
                  "a has 2 x 1 pixels"));
  EXPECT_TRUE(has(failure("metric=rmse", "P2 2 1 9 1 2", "1 2"), "b has 2"));
}

TEST(Quality, OverflowIsNamed) {
  // Peak and error are both 2e308, which is infinite.
  EXPECT_TRUE(has(failure("metric=psnr", "1e308 -1e308", "-1e308 1e308"),
                  "b: its values are too large for psnr"));
}

TEST(Quality, FunctionsThatAreNotThereAreNamed) {
  EXPECT_TRUE(
      has(failure("metric=./none.so:f", "1", "1"), "cannot load ./none.so"));
}

TEST(Quality, IsWrittenInItsUnit) {
  EXPECT_EQ(qualityText(request("metric=psnr"), 40.12), "40.12 dB");
  EXPECT_EQ(qualityText(request("metric=psnr"), INFINITY), "inf dB");
  EXPECT_EQ(qualityText(request("metric=max-relative"), 0.015), "1.5 %");
  EXPECT_EQ(qualityText(request("metric=ssim"), 0.98), "0.98");
}
