// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "../../measure/requests.hpp"
#include "program.hpp"

namespace warpheap::bench {

/// Texts that are rewritten step by step, as grammars of plants are: a queue of pieces, one thread a piece. Each step
/// reads the pieces of the last, makes those of the next and frees what it read, which other threads made. A rule makes
/// texts longer at first (A becomes AB, B becomes A) and later shorter (only an A after a B stays); pieces that grow
/// too long are split in two, and pieces of which nothing is left have no successor.
namespace rewriting {

inline constexpr std::uint32_t longest = 256;  // symbols of a piece, once it was split

struct piece {
  char* symbols;
  std::uint32_t length;
};

// Where the symbols go that a piece becomes: the first `head` of them to `front`, the others to `back`. Without a front
// they are only counted.
struct output {
  char* front;
  std::uint32_t head;
  char* back;
  std::uint32_t length;

  WARPHEAP_FN void put(char symbol) {
    if (front != nullptr) (length < head ? front[length] : back[length - head]) = symbol;
    ++length;
  }
};

// Returns how many symbols the piece becomes.
WARPHEAP_FN inline std::uint32_t rewrite(const char* symbols, std::uint32_t length, bool grows, output to) {
  for (std::uint32_t i = 0; i < length; ++i) {
    const bool is_a = symbols[i] == 'A';
    if (grows) {
      to.put('A');
      if (is_a) to.put('B');
    } else if (is_a && i != 0 && symbols[i - 1] == 'B') {
      // What is left reads A and B in turns again, so that the next step finds something to take away.
      to.put((i & 4) != 0 ? 'B' : 'A');
    }
  }
  return to.length;
}

// Tells what each piece becomes: how long it is then, and of how many pieces.
struct measure_kernel {
  WARPHEAP_FN void operator()(const piece* from, std::uint32_t count, bool grows, std::uint32_t* lengths,
                              std::uint32_t* successors) const {
    const std::uint64_t i = grid_thread_index();
    if (i >= count) return;
    const std::uint32_t length = rewrite(from[i].symbols, from[i].length, grows, output{});
    lengths[i] = length;
    successors[i] = length == 0 ? 0 : length > longest ? 2 : 1;
  }
};

// Makes the successors of each piece, from place `first[i]` of the next queue on, and frees it.
struct rewrite_kernel {
  template <class Heap>
  WARPHEAP_FN void operator()(Heap heap, const piece* from, std::uint32_t count, bool grows,
                              const std::uint32_t* lengths, const std::uint32_t* first, piece* to) const {
    const std::uint64_t i = grid_thread_index();
    if (i >= count) return;
    const std::uint32_t length = lengths[i];
    const std::uint32_t head = length > longest ? length / 2 : length;
    char* const front = take(heap, head);
    char* const back = take(heap, length - head);
    if (length == 0 || (front != nullptr && (length == head || back != nullptr))) {
      rewrite(from[i].symbols, from[i].length, grows, {front, head, back, 0});
      if (head != 0) to[first[i]] = {front, head};
      if (length != head) to[first[i] + 1] = {back, length - head};
    }
    heap.free(from[i].symbols);
  }

 private:
  template <class Heap>
  WARPHEAP_FN static char* take(Heap heap, std::uint32_t length) {
    return length == 0 ? nullptr : static_cast<char*>(heap.malloc(length));
  }
};

// The first queue: a piece of 1 to 64 symbols for each thread.
struct axiom_kernel {
  WARPHEAP_FN static std::uint32_t length(std::uint64_t i) { return 1 + static_cast<std::uint32_t>(mix(i) % 64); }

  template <class Heap>
  WARPHEAP_FN void operator()(Heap heap, piece* to, std::uint32_t count) const {
    const std::uint64_t i = grid_thread_index();
    if (i >= count) return;
    auto* const symbols = static_cast<char*>(heap.malloc(length(i)));
    to[i] = {symbols, symbols == nullptr ? 0 : length(i)};
    for (std::uint32_t k = 0; k < to[i].length; ++k) symbols[k] = k % 3 == 0 ? 'B' : 'A';
  }
};

// The queue in device memory, and beside it what it should be.
template <device_allocator A>
class program {
 public:
  explicit program(std::uint32_t texts) : queue_(texts), count_(texts) {
    launch(grid_shape::covering(texts), axiom_kernel{}, run_.heap(), queue_.data(), texts);
    run_.end_phase();
    for (std::uint32_t i = 0; i < texts; ++i) {
      std::string& text = model_.emplace_back();
      for (std::uint32_t k = 0; k < axiom_kernel::length(i); ++k) text += k % 3 == 0 ? 'B' : 'A';
    }
  }

  void step(bool grows) {
    const device_array<std::uint32_t> lengths(count_);
    const device_array<std::uint32_t> first(count_);
    launch(grid_shape::covering(count_), measure_kernel{}, static_cast<const piece*>(queue_.data()), count_, grows,
           lengths.data(), first.data());
    const std::uint32_t next_count = scan(first);
    device_array<piece> next(next_count);
    launch(grid_shape::covering(count_), rewrite_kernel{}, run_.heap(), static_cast<const piece*>(queue_.data()),
           count_, grows, static_cast<const std::uint32_t*>(lengths.data()),
           static_cast<const std::uint32_t*>(first.data()), next.data());
    run_.end_phase();
    queue_ = std::move(next);
    count_ = next_count;
    step_model(grows);
  }

  std::uint32_t pieces() const { return count_; }

  // Compares the lengths of all pieces, which follow from all symbols before.
  bool agrees() const {
    const std::vector<piece> queue = queue_.to_host();
    return std::equal(queue.begin(), queue.begin() + count_, model_.begin(), model_.end(),
                      [](const piece& is, const std::string& should) { return is.length == should.size(); });
  }
  trace finish() { return run_.finish(); }

 private:
  // Makes counts their exclusive prefix sum and returns the sum of all.
  static std::uint32_t scan(const device_array<std::uint32_t>& counts) {
    std::vector<std::uint32_t> values = counts.to_host();
    std::uint32_t sum = 0;
    for (std::uint32_t& each : values) sum += std::exchange(each, sum);
    device_copy(counts.data(), values.data(), values.size() * sizeof(std::uint32_t));
    return sum;
  }

  void step_model(bool grows) {
    std::vector<std::string> next;
    for (const std::string& text : model_) {
      const auto length = static_cast<std::uint32_t>(text.size());
      std::string made(rewrite(text.data(), length, grows, output{}), '\0');
      rewrite(text.data(), length, grows, {made.data(), static_cast<std::uint32_t>(made.size()), nullptr, 0});
      const std::size_t head = made.size() > longest ? made.size() / 2 : made.size();
      if (head != 0) next.push_back(made.substr(0, head));
      if (head != made.size()) next.push_back(made.substr(head));
    }
    model_ = std::move(next);
  }

  recorded_run<A> run_;
  device_array<piece> queue_;
  std::uint32_t count_;
  std::vector<std::string> model_;
};

}  // namespace rewriting

/// Records the program: the shipped trace `rewriting`.
template <device_allocator A>
trace record_rewriting() {
  rewriting::program<A> queue{256};
  for (const bool grows : {true, true, true,  true,  true, true,  false, true,  true,  false, true,
                           true, true, false, false, true, false, false, false, false, false}) {
    if (queue.pieces() == 0) break;
    queue.step(grows);
    must_agree(queue.agrees(), "rewriting");
  }
  return queue.finish();
}

}  // namespace warpheap::bench
