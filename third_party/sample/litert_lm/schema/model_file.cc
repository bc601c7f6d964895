#include "schema/model_file.h"

#include <utility>

#include "base/strings/numbers.h"
#include "base/strings/str_cat.h"
#include "base/strings/str_split.h"

namespace litert::lm {
namespace {

bool ParseField(std::string_view word, std::string_view key, std::int64_t* value) {
  return word.substr(0, key.size()) == key && base::ParseInt64(word.substr(key.size()), value);
}

}  // namespace

base::Status ParseModelFile(std::string text, ModelFile* model) {
  model->text = std::move(text);
  for (std::string_view line : base::StrSplit(model->text, '\n')) {
    const std::vector<std::string_view> words = base::SplitWords(line);
    if (words.size() == 2 && words[0] == "dimension") {
      if (!base::ParseInt64(words[1], &model->dimension)) return base::InvalidArgumentError("malformed dimension");
    }
    if (words.empty() || words[0] != "external") continue;
    ExternalWeight weight;
    if (words.size() != 5 || !ParseField(words[2], "rows=", &weight.rows) || !ParseField(words[3], "seed=", &weight.seed) ||
        !ParseField(words[4], "crc=", &weight.crc) || weight.rows <= 0 || weight.rows > 4096) {
      return base::InvalidArgumentError(base::StrCat("malformed line: ", line));
    }
    weight.name = std::string(words[1]);
    model->weights.push_back(std::move(weight));
  }
  if (model->dimension <= 0 || model->dimension > 4096) return base::InvalidArgumentError("the model has no dimension");
  if (model->weights.empty()) return base::InvalidArgumentError("the model names no external weights");
  return base::OkStatus();
}

}  // namespace litert::lm
