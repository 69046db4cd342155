//===- train/Dlib.cpp - Nets by dlib --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cross-entropy of softmax over the classes, by Adam, in batches of 64 rows, with
// a step that falls from 1e-2 to 1e-4. dlib draws weights by std::rand() and the
// trainer computes in a thread of its own, one batch after the other, so that
// the same rows make the same net.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "train/Learn.h"

#include <dlib/dnn.h>
#include <dlib/revision.h>

#include <cstdlib>

namespace reconverge::train {

static constexpr double FirstStep = 1e-2, LastStep = 1e-4;
static constexpr size_t Batch = 64;

// Widths are set when a net is made.
using Net = dlib::loss_multiclass_log<dlib::fc<
    1, dlib::leaky_relu<dlib::fc<1, dlib::input<dlib::matrix<float>>>>>>;
using Weighted = dlib::fc_<1, dlib::FC_HAS_BIAS>;

bool canTrain() { return true; }

/// dlib has a row of weights for each input, and the biases behind them.
static PathNet::Layer layerOf(Weighted &From, size_t Inputs) {
  dlib::tensor &All = From.get_layer_params();
  const float *Values = All.host();
  const size_t Outputs = From.get_num_outputs();
  PathNet::Layer L;
  for (size_t To = 0; To != Outputs; ++To) {
    for (size_t I = 0; I != Inputs; ++I)
      L.Weights.push_back(Values[I * Outputs + To]);
    L.Biases.push_back(Values[Inputs * Outputs + To]);
  }
  return L;
}

llvm::Expected<Learned> learn(const Lesson &What, const NetShape &Shape) {
  std::vector<dlib::matrix<float>> Rows;
  std::vector<unsigned long> Classes(What.ClassOf.begin(), What.ClassOf.end());
  for (size_t Row = 0; Row != Classes.size(); ++Row) {
    dlib::matrix<float> &Values = Rows.emplace_back(long(What.Inputs), 1);
    for (size_t I = 0; I != What.Inputs; ++I)
      Values(long(I)) = What.Values[Row * What.Inputs + I];
  }
  try {
    std::srand(unsigned(Shape.Seed));
    Net N;
    dlib::layer<1>(N).layer_details() =
        Weighted(dlib::num_fc_outputs(What.Classes));
    dlib::layer<3>(N).layer_details() =
        Weighted(dlib::num_fc_outputs(Shape.Hidden));
    dlib::dnn_trainer<Net, dlib::adam> Trainer(N,
                                               dlib::adam(1e-4f, 0.9f, 0.999f));
    const size_t Batches = (Classes.size() + Batch - 1) / Batch;
    Trainer.set_mini_batch_size(Batch);
    Trainer.set_max_num_epochs(Shape.Epochs);
    Trainer.set_learning_rate_schedule(
        dlib::logspace(std::log10(FirstStep), std::log10(LastStep),
                       long(Shape.Epochs * Batches)));
    Trainer.train(Rows, Classes);
    N.clean();
    return Learned{layerOf(dlib::layer<3>(N).layer_details(), What.Inputs),
                   layerOf(dlib::layer<1>(N).layer_details(), Shape.Hidden),
                   "dlib " + std::to_string(DLIB_MAJOR_VERSION) + "." +
                       std::to_string(DLIB_MINOR_VERSION)};
  } catch (const std::exception &E) {
    return internalError(std::string("dlib: ") + E.what());
  }
}

} // namespace reconverge::train
