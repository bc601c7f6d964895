#include "tflite/graph.h"

#include "base/container/flat_map.h"
#include "base/strings/numbers.h"
#include "base/strings/str_cat.h"
#include "base/strings/str_split.h"
#include "tflite/c/common.h"

namespace tflite {
namespace {

constexpr std::string_view kWeights = "weights=";

base::FlatMap<OpCode> OpCodesByName() {
  base::FlatMap<OpCode> codes;
  for (OpCode code : kAllOpCodes) codes.Insert(OpCodeName(code), code);
  return codes;
}

base::Status Malformed(std::string_view line) { return base::InvalidArgumentError(base::StrCat("malformed graph line: ", line)); }

base::Status ParseOp(const std::vector<std::string_view>& words, const base::FlatMap<OpCode>& codes, std::string_view line, Graph* graph) {
  const OpCode* code = words.size() >= 2 ? codes.Find(words[1]) : nullptr;
  if (code == nullptr || words.size() > 3) return Malformed(line);
  Op op{*code, ""};
  if (words.size() == 3) {
    if (words[2].substr(0, kWeights.size()) != kWeights) return Malformed(line);
    op.weights = std::string(words[2].substr(kWeights.size()));
  }
  graph->ops.push_back(op);
  return base::OkStatus();
}

}  // namespace

base::Status ParseGraph(std::string_view text, Graph* graph) {
  const base::FlatMap<OpCode> codes = OpCodesByName();
  bool versioned = false;
  for (std::string_view line : base::StrSplit(text, '\n')) {
    const std::vector<std::string_view> words = base::SplitWords(line);
    if (words.empty()) continue;
    if (words[0] == "sample-graph") {
      versioned = words.size() == 2 && words[1] == TFLITE_SAMPLE_GRAPH_VERSION;
    } else if (words[0] == "dimension") {
      if (words.size() != 2 || !base::ParseInt64(words[1], &graph->dimension)) return Malformed(line);
    } else if (words[0] == "op") {
      BASE_RETURN_IF_ERROR(ParseOp(words, codes, line, graph));
    }
  }
  if (!versioned) return base::InvalidArgumentError("not a graph of version " TFLITE_SAMPLE_GRAPH_VERSION);
  if (!TfLiteDimensionIsValid(graph->dimension)) return base::InvalidArgumentError("the dimension is out of range");
  if (graph->ops.empty()) return base::InvalidArgumentError("the graph has no operation");
  return base::OkStatus();
}

}  // namespace tflite
