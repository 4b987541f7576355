// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../measure/compared.hpp"
#include "../measure/course.hpp"
#include "../measure/findings.hpp"
#include "../measure/fixtures.hpp"
#include "../measure/items.hpp"
#include "../measure/packed.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long it takes to write and to read blocks through their pointers, against a packed array (Winter et al., PPoPP
/// 2021, section 4.4.2).
///
/// In each round each thread asks for a block. Then kernels write every word of every block, read
/// them all and compare the sums, one thread a block. Further launches of these kernels write and
/// read items that lie next to each other, through pointers as well, so that the addresses are all
/// that differs. Neither malloc nor free is in the times.
struct memory_access {
  static constexpr const char* name = "memory_access";
  static constexpr const char* summary = "writing and reading blocks through their pointers, against a packed array";
  static constexpr case_mode modes[] = {{"uniform", "all blocks have the same size, rounded up to a multiple of 4"},
                                        {"mixed", "blocks of a random multiple of 4 from 16 to size"}};
  static constexpr const char* axes[] = {"threads", "size"};

  /// The requests of a round: whole words, and none below 16 bytes unless `size` is.
  static requests requests_of(const run_options& options, std::uint64_t round) {
    requests asked = requests::of_round(options, round);
    if (asked.mode == request_mode::mixed) {
      asked.least = std::min<std::uint64_t>(16, align_down(asked.size, 4));
    } else {
      asked.size = align_up(asked.size, 4);
    }
    return asked;
  }

  /// Measures; adds to `record`. Returns why the case is not ok, or nothing if it is.
  template <device_allocator A>
  static std::string run(const run_options& options, json_object& record) {
    return run_course<course<A>>(options, record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case: blocks of a warm heap, and the same items packed.
template <device_allocator A>
class memory_access::course : public course_defaults {
 public:
  using fixture = one_heap<A>;
  explicit course(fixture& on)
      : on_(on),
        places_(on.options.threads),
        packed_(on.options.threads, on.options.size, packed_items::memory::kept) {}

  std::vector<const samples*> watched() const { return {&write_, &read_, &packed_write_.times, &packed_read_.times}; }

  void round(round_kind kind) {
    const requests asked = requests_of(on_.options, on_.found.rounds++);
    on_.malloc_all(on_.heap, asked);
    on_.look(on_.heap, asked, kind.judged);
    if (!on_.found.flawless()) return;

    packed_.place(asked);
    packed_.point(asked, places_.data());
    // The one that goes first changes with the rounds, so that what it does to the caches favours neither.
    if (on_.found.rounds % 2 == 0) {
      const times packed = access(asked, places_);
      const times own = access(asked, on_.blocks);
      if (kind.timed) add(own, packed);
    } else {
      const times own = access(asked, on_.blocks);
      const times packed = access(asked, places_);
      if (kind.timed) add(own, packed);
    }
    on_.empty(asked);
    synchronise();
  }

  void add_measures(findings& found) const {
    found.add("write", microseconds, write_);
    found.add("read", microseconds, read_);
    found.add("packed_write", microseconds, packed_write_.times);
    found.add("packed_read", microseconds, packed_read_.times);
    found.add("write_ratio", time_ratio, packed_write_.ratios);
    found.add("read_ratio", time_ratio, packed_read_.ratios);
  }

 private:
  struct times {
    double write;
    double read;
  };

  // Kernels that follow one another hide their starts, which take as long as a kernel of few small blocks. The host
  // hides nothing, so one will do.
  static constexpr int repetitions = this_backend == backend::host ? 1 : 8;

  // Sums are compared in every round, which takes no longer than to add them.
  times access(const requests& asked, const device_array<void*>& at) {
    const double write_time = on_.time_of([&] {
      for (int i = 0; i < repetitions; ++i) write_items(asked, at.data());
    });
    check_.clear();
    const double read_time = on_.time_of([&] {
      for (int i = 0; i < repetitions; ++i) read_items(asked, at.data(), check_.counter());
    });
    const std::uint64_t misread = check_.count();
    const std::uint64_t wrong = misread + check_.wrong_items(asked, at.data());
    if (wrong != 0 && on_.found.sound()) {
      on_.found.fault = std::to_string(wrong) + " reads found a block without what was written to it";
    }
    return {write_time / repetitions, read_time / repetitions};
  }

  void add(const times& own, const times& packed) {
    write_.add(own.write);
    read_.add(own.read);
    packed_write_.add(own.write, packed.write);
    packed_read_.add(own.read, packed.read);
  }

  fixture& on_;
  device_array<void*> places_;
  item_check check_;
  packed_items packed_;
  samples write_;
  samples read_;
  baseline_samples packed_write_;
  baseline_samples packed_read_;
};

}  // namespace warpheap::bench
