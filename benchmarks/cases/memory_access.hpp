// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <warpheap/heap.hpp>

#include "../json.hpp"
#include "../kernels.hpp"
#include "../measure/findings.hpp"
#include "../measure/items.hpp"
#include "../measure/judge.hpp"
#include "../measure/packed.hpp"
#include "../measure/requests.hpp"
#include "../measure/rounds.hpp"
#include "../measure/samples.hpp"
#include "../measure/stopwatch.hpp"
#include "../options.hpp"

namespace warpheap::bench {

/// How long it takes to write and to read blocks through their pointers, against a packed array (Winter et al., PPoPP
/// 2021, section 4.4.2).
///
/// In each round each thread asks for a block; then kernels write every word of every block, and read them all and
/// compare the sums, one thread a block. The same kernels do the same to items that lie one behind the other, through
/// pointers as well, so that the addresses are all that differs. Neither malloc nor free is in the times.
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
    return course<A>{options}.run(record);
  }

 private:
  template <device_allocator A>
  class course;
};

// One run of the case.
template <device_allocator A>
class memory_access::course {
 public:
  explicit course(const run_options& options)
      : options_(options),
        heap_(options.heap_bytes),
        blocks_(options.threads),
        places_(options.threads),
        wrong_(1),
        judge_(found_),
        packed_(options.threads, options.size, packed_items::memory::kept) {}

  std::string run(json_object& record) {
    run_rounds(options_, found_, {&write_, &read_, &packed_write_, &packed_read_},
               [&](round_kind kind) { round(kind); });
    found_.add("write", microseconds, write_);
    found_.add("read", microseconds, read_);
    found_.add("packed_write", microseconds, packed_write_);
    found_.add("packed_read", microseconds, packed_read_);
    found_.add("write_ratio", time_ratio, write_ratio_);
    found_.add("read_ratio", time_ratio, read_ratio_);
    found_.report(record);
    return judge_.reason();
  }

 private:
  struct times {
    double write;
    double read;
  };

  // Kernels that follow one another hide their starts, which take as long as a kernel of few small blocks. The host
  // hides nothing, so one will do.
  static constexpr int repetitions = this_backend == backend::host ? 1 : 8;

  void round(round_kind kind) {
    const requests asked = requests_of(options_, found_.rounds++);
    launch(asked.grid(), malloc_kernel<A>{}, heap_.ref(), asked, blocks_.data());
    judge_.look(heap_, asked, blocks_, kind.judged);
    if (!found_.flawless()) return;

    packed_.place(asked);
    packed_.point(asked, places_.data());
    // The one that goes first changes with the rounds, so that what it does to the caches favours neither.
    times own{};
    times packed{};
    if (found_.rounds % 2 == 0) packed = access(asked, places_);
    own = access(asked, blocks_);
    if (found_.rounds % 2 != 0) packed = access(asked, places_);
    if (kind.timed) add(own, packed);
    free(asked);
  }

  // Sums are compared in every round, which takes no longer than to add them.
  times access(const requests& asked, const device_array<void*>& at) {
    stopwatch timer;
    times result{};
    timer.start();
    for (int i = 0; i < repetitions; ++i) write_items(asked, at.data());
    result.write = timer.stop() / repetitions;
    wrong_.clear();
    timer.start();
    for (int i = 0; i < repetitions; ++i) read_items(asked, at.data(), wrong_.data());
    result.read = timer.stop() / repetitions;
    check_items(asked, at.data(), wrong_.data());
    if (wrong_.at(0) != 0 && found_.fault.empty()) {
      found_.fault = std::to_string(wrong_.at(0)) + " reads found a block without what was written to it";
    }
    return result;
  }

  void add(const times& own, const times& packed) {
    write_.add(own.write);
    read_.add(own.read);
    packed_write_.add(packed.write);
    packed_read_.add(packed.read);
    write_ratio_.add(own.write / packed.write);
    read_ratio_.add(own.read / packed.read);
  }

  void free(const requests& asked) {
    if constexpr (A::capabilities.individual_free) {
      launch(asked.grid(), free_kernel<A>{}, heap_.ref(), asked, static_cast<void* const*>(blocks_.data()));
      synchronise();
    } else {
      make_empty(heap_, options_);
    }
  }

  const run_options& options_;
  heap<A> heap_;
  device_array<void*> blocks_;
  device_array<void*> places_;
  device_array<std::uint64_t> wrong_;
  findings found_;
  judge<A> judge_;
  packed_items packed_;
  samples write_;
  samples read_;
  samples packed_write_;
  samples packed_read_;
  samples write_ratio_;
  samples read_ratio_;
};

}  // namespace warpheap::bench
