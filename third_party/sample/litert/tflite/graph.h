// A graph: a list of operations over rows of `dimension` 32 bit integers.
//
//   sample-graph 1
//   dimension 16
//   op EMBEDDING_LOOKUP weights=embedder
//   op MEAN_POOL
#ifndef TFLITE_GRAPH_H_
#define TFLITE_GRAPH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status/status.h"
#include "tflite/op_codes.h"

namespace tflite {

struct Op {
  OpCode code;
  std::string weights;  // the name of its external weights, or empty
};

struct Graph {
  std::int64_t dimension = 0;
  std::vector<Op> ops;
};

// INVALID_ARGUMENT with the faulty line where `text` is no graph; lines that open with another word are skipped.
base::Status ParseGraph(std::string_view text, Graph* graph);

}  // namespace tflite

#endif  // TFLITE_GRAPH_H_
