// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>
#include <warpheap/graph/results.hpp>
#include <warpheap/platform.hpp>

namespace warpheap::detail {

// Times the stages of batches for whoever asked for it, and costs nothing otherwise.
class batch_clock {
 public:
  // Adds the times of later batches to `times`; null: to nothing.
  void write_to(batch_times* times) {
    times_ = times;
    if (times_ != nullptr && marks_ == nullptr) marks_ = std::make_unique<launch_marks>();
  }
  // Before the first launch of a batch. What a batch that threw has left is forgotten.
  void begin() {
    if (times_ == nullptr) return;
    stages_.clear();
    marks_->take();
    marks_->mark();
  }
  // After the last launch of a stage.
  void ended(double batch_times::*stage) {
    if (times_ == nullptr) return;
    stages_.push_back(stage);
    marks_->mark();
  }
  // After the last stage of a batch.
  void end() {
    if (times_ == nullptr) return;
    const std::vector<double> stretches = marks_->take();
    for (std::size_t i = 0; i < stages_.size(); ++i) times_->*stages_[i] += stretches[i];
  }

 private:
  batch_times* times_ = nullptr;
  std::unique_ptr<launch_marks> marks_;
  std::vector<double batch_times::*> stages_;
};

}  // namespace warpheap::detail
