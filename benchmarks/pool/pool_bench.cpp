// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

/// @file
/// Host-side allocation, measured: prints one JSON object a line. The first two cases are the experiments of Aknesil and
/// Unat (2017). Times are nanoseconds a call, the median of repetitions beside the least and the greatest; calls are
/// timed in batches, so that the clock is not part of them.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <support/random.hpp>
#include <thread>
#include <utility>
#include <vector>
#include <warpheap/pool.hpp>
#include <warpheap_fingerprint.hpp>

#include "json.hpp"
#include "subjects.hpp"

namespace warpheap::bench {
namespace {

using test::random_stream;

struct settings {
  std::string what = "all";
  std::string subject = "all";
  std::string log;  // what the case `replay` replays
  std::uint64_t bytes = std::uint64_t{16} << 30;
  int repetitions = 9;
  bool quick = false;
};

using clock = std::chrono::steady_clock;
double nanoseconds_since(clock::time_point start) {
  return std::chrono::duration<double, std::nano>(clock::now() - start).count();
}

// Times of one kind of call, a call each.
class timings {
 public:
  void add(double nanoseconds) { all_.push_back(nanoseconds); }
  void write(json_object& record, const std::string& name) {
    if (all_.empty()) {
      record.add_null(name + "_ns");
      return;
    }
    std::sort(all_.begin(), all_.end());
    record.add(name + "_ns", all_[all_.size() / 2])
        .add(name + "_least_ns", all_.front())
        .add(name + "_greatest_ns", all_.back());
  }

 private:
  std::vector<double> all_;
};

json_object begin_record(const char* what, const char* subject) {
  return std::move(json_object{}
                       .add("case", what)
                       .add("subject", subject)
                       .add("backend", backend_name(this_backend))
                       .add("device", describe_machine().name)
                       .add("version", WARPHEAP_VERSION)
                       .add("sources", sources_fingerprint));
}
void print(const json_object& record) {
  std::printf("%s\n", record.text().c_str());
  std::fflush(stdout);
}

// Time against size: blocks of one size, until `bytes` are full or there are 1,024 of them, then taken back in the order
// they came. Each repetition goes through all sizes, so that a machine that is slow for a while is so for all of them.
template <class Subject>
void measure_sizes(const char* name, const settings& with) {
  struct measured {
    std::uint64_t size;
    std::uint64_t served = 0;
    timings allocate = {};
    timings deallocate = {};
  };
  std::vector<measured> sizes;
  for (std::uint64_t size = 1; size <= std::uint64_t{1} << 30; size *= 2) sizes.push_back({.size = size});
  Subject subject(with.bytes);
  std::vector<void*> held(1024);
  for (int i = 0; i <= with.repetitions; ++i) {
    for (measured& each : sizes) {
      const std::uint64_t upto =
          std::min<std::uint64_t>(held.size(), std::max<std::uint64_t>(with.bytes / each.size / 2, 1));
      // Few large blocks are handed out and taken back several times, so that the clock does not count.
      const std::uint64_t rounds = Subject::is_slow ? 1 : held.size() / upto;
      double out = 0;
      double back = 0;
      for (std::uint64_t round = 0; round < rounds; ++round) {
        std::uint64_t served = 0;
        auto start = clock::now();
        while (served < upto && (held[served] = subject.allocate(each.size, 0)) != nullptr) ++served;
        out += nanoseconds_since(start);
        start = clock::now();
        for (std::uint64_t k = 0; k < served; ++k) subject.deallocate(held[k], 0);
        back += nanoseconds_since(start);
        each.served = served;
      }
      if (i == 0 || each.served == 0) continue;  // the first warms up
      each.allocate.add(out / static_cast<double>(rounds * each.served));
      each.deallocate.add(back / static_cast<double>(rounds * each.served));
    }
  }
  for (measured& each : sizes) {
    json_object record = begin_record("sizes", name);
    record.add("size", each.size).add("blocks", each.served);
    each.allocate.write(record, "allocate");
    each.deallocate.write(record, "deallocate");
    print(record);
  }
}

// Time against the number of live blocks, of 1 to 10 bytes: as many more, up to a thousand, and those taken back.
template <class Subject>
void measure_live(const char* name, const settings& with) {
  Subject subject(with.bytes);
  random_stream random(1, 0);
  std::vector<void*> held;
  const std::uint64_t most = with.quick ? 10'000 : Subject::is_slow ? 100'000 : 10'000'000;
  for (std::uint64_t live = 1; live <= most; live *= 10) {
    while (held.size() < live) {
      void* const block = subject.allocate(1 + random.below(10), 0);
      if (block == nullptr) return;
      held.push_back(block);
    }
    timings allocate;
    timings deallocate;
    timings scattered;
    constexpr std::uint64_t batch = 1000;
    std::vector<void*> more(batch);
    for (int i = 0; i <= with.repetitions; ++i) {
      auto start = clock::now();
      for (void*& block : more) block = subject.allocate(1 + random.below(10), 0);
      const double allocated = nanoseconds_since(start);
      start = clock::now();
      for (void* const block : more) subject.deallocate(block, 0);
      const double deallocated = nanoseconds_since(start);
      // Blocks from anywhere, chosen before, one taken back and one handed out in its place.
      const std::uint64_t several = std::min(batch, live);
      for (std::uint64_t k = 0; k < several; ++k) {
        std::swap(held[held.size() - 1 - k], held[random.below(held.size() - k)]);
      }
      start = clock::now();
      for (std::uint64_t k = 0; k < several; ++k) {
        void*& block = held[held.size() - 1 - k];
        subject.deallocate(block, 0);
        block = subject.allocate(1 + random.below(10), 0);
      }
      const double replaced = nanoseconds_since(start);
      if (i == 0) continue;
      allocate.add(allocated / batch);
      deallocate.add(deallocated / batch);
      scattered.add(replaced / static_cast<double>(several));
    }
    json_object record = begin_record("live", name);
    record.add("live", live).add("host_bytes", subject.host_bytes());
    allocate.write(record, "allocate");
    deallocate.write(record, "deallocate");
    scattered.write(record, "replace_any");
    print(record);
  }
  for (void* const block : held) subject.deallocate(block, 0);
}

// Random churn of one thread: 4,096 blocks of 256 B to 1 MiB are live, and again and again 256 of them, any ones, are
// taken back and as many handed out. Returns calls of each kind.
struct churn {
  static constexpr std::size_t live = 4096;
  static constexpr std::size_t batch = 256;
  std::vector<std::pair<void*, std::uint64_t>> held;
  random_stream random;
  explicit churn(std::uint64_t seed) : random(seed, 0) {}

  std::uint64_t any_size() {
    const std::uint64_t top = std::uint64_t{256} << random.below(13);
    return std::min<std::uint64_t>(std::uint64_t{1} << 20, top + random.below(top));
  }
  // Chosen before the clock starts.
  void choose(std::vector<std::uint64_t>& sizes) {
    for (std::uint64_t& size : sizes) size = any_size();
    for (std::size_t k = 0; k < batch; ++k) {
      std::swap(held[held.size() - 1 - k], held[random.below(held.size() - k)]);
    }
  }
  template <class Subject>
  void fill(Subject& subject, int thread) {
    while (held.size() < live) {
      const std::uint64_t size = any_size();
      held.emplace_back(must(subject.allocate(size, thread)), size);
    }
  }
  template <class Subject>
  void take_back(Subject& subject, int thread) {
    for (std::size_t k = 0; k < batch; ++k) subject.deallocate(held[held.size() - 1 - k].first, thread);
    held.resize(held.size() - batch);
  }
  template <class Subject>
  void hand_out(Subject& subject, int thread, const std::vector<std::uint64_t>& sizes) {
    for (const std::uint64_t size : sizes) held.emplace_back(must(subject.allocate(size, thread)), size);
  }
  template <class Subject>
  void empty(Subject& subject, int thread) {
    for (const auto& [block, size] : held) subject.deallocate(block, thread);
    held.clear();
  }
  static void* must(void* block) {
    if (block == nullptr) throw std::runtime_error("the memory is too small for the churn: give more --bytes");
    return block;
  }
};

template <class Subject>
void measure_churn(const char* name, const settings& with) {
  Subject subject(with.bytes);
  churn state(1);
  state.fill(subject, 0);
  timings allocate;
  timings deallocate;
  std::vector<std::uint64_t> sizes(churn::batch);
  const int rounds = with.quick ? 4 : 100;
  for (int i = 0; i <= with.repetitions; ++i) {
    double out = 0;
    double back = 0;
    for (int round = 0; round < rounds; ++round) {
      state.choose(sizes);
      auto start = clock::now();
      state.take_back(subject, 0);
      back += nanoseconds_since(start);
      start = clock::now();
      state.hand_out(subject, 0, sizes);
      out += nanoseconds_since(start);
    }
    if (i == 0) continue;
    allocate.add(out / rounds / churn::batch);
    deallocate.add(back / rounds / churn::batch);
  }
  json_object record = begin_record("churn", name);
  record.add("live", std::uint64_t{churn::live});
  allocate.write(record, "allocate");
  deallocate.write(record, "deallocate");
  print(record);
  state.empty(subject, 0);
}

// The churn by several threads at once, in the stream pool each on a stream of its own: pairs of calls a second.
template <class Subject>
void measure_streams(const char* name, const settings& with) {
  const int most = with.quick ? 2 : std::min(32, static_cast<int>(std::thread::hardware_concurrency()));
  for (int threads = 1; threads <= most; threads *= 2) {
    std::vector<double> rates;
    for (int i = 0; i < with.repetitions; ++i) {
      Subject subject(with.bytes, threads);
      std::vector<churn> states;
      for (int id = 0; id < threads; ++id) states.emplace_back(static_cast<std::uint64_t>(id) + 1);
      for (int id = 0; id < threads; ++id) states[id].fill(subject, id);
      const int rounds = with.quick ? 4 : 200;
      std::vector<std::thread> workers;
      const auto start = clock::now();
      for (int id = 0; id < threads; ++id) {
        workers.emplace_back([&, id] {
          std::vector<std::uint64_t> sizes(churn::batch);
          for (int round = 0; round < rounds; ++round) {
            states[id].choose(sizes);
            states[id].take_back(subject, id);
            states[id].hand_out(subject, id, sizes);
          }
        });
      }
      for (std::thread& worker : workers) worker.join();
      const double seconds = nanoseconds_since(start) / 1e9;
      rates.push_back(static_cast<double>(threads) * rounds * churn::batch / seconds);
      for (int id = 0; id < threads; ++id) states[id].empty(subject, id);
    }
    std::sort(rates.begin(), rates.end());
    json_object record = begin_record("streams", name);
    record.add("threads", threads)
        .add("pairs_per_second", rates[rates.size() / 2])
        .add("pairs_per_second_least", rates.front())
        .add("pairs_per_second_greatest", rates.back());
    print(record);
  }
}

// A log of `logging_adaptor`, read before the clock starts: the time of all its calls together, a call each.
struct logged_call {
  std::uint64_t id;
  std::uint64_t bytes;
  bool takes_back;
};
std::vector<logged_call> read_log(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the log " + path);
  std::vector<logged_call> calls;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    char kind = 0;
    logged_call call{};
    std::uint64_t alignment = 0;
    words >> kind;
    if (kind == '!') continue;
    call.takes_back = kind == '-';
    words >> call.id;
    if (!call.takes_back) words >> call.bytes >> alignment;
    if (!words || (kind != '+' && kind != '-')) throw std::runtime_error("not a line of a log: " + line);
    calls.push_back(call);
  }
  if (calls.empty()) throw std::runtime_error("the log " + path + " is empty");
  return calls;
}

template <class Subject>
void measure_replay(const char* name, const settings& with) {
  const std::vector<logged_call> calls = read_log(with.log);
  std::uint64_t last = 0;
  for (const logged_call& call : calls) last = std::max(last, call.id);
  timings each;
  for (int i = 0; i < with.repetitions; ++i) {
    Subject subject(with.bytes);
    std::vector<void*> held(last + 1);
    const auto start = clock::now();
    for (const logged_call& call : calls) {
      if (call.takes_back) {
        subject.deallocate(std::exchange(held[call.id], nullptr), 0);
      } else {
        held[call.id] = churn::must(subject.allocate(call.bytes, 0));
      }
    }
    each.add(nanoseconds_since(start) / static_cast<double>(calls.size()));
    for (void* const block : held) {
      if (block != nullptr) subject.deallocate(block, 0);
    }
  }
  json_object record = begin_record("replay", name);
  record.add("log", with.log).add("calls", calls.size());
  each.write(record, "call");
  print(record);
}

settings parse(int count, char** words) {
  settings with;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == count) throw std::invalid_argument(word + " needs a value");
      return words[++i];
    };
    if (word == "--case") {
      with.what = value();
    } else if (word == "--subject") {
      with.subject = value();
    } else if (word == "--log") {
      with.log = value();
    } else if (word == "--bytes") {
      with.bytes = std::stoull(value());
    } else if (word == "--repetitions") {
      with.repetitions = std::stoi(value());
    } else if (word == "--quick") {
      with.quick = true;
      with.repetitions = 1;
    } else {
      throw std::invalid_argument("there is no option " + word);
    }
  }
  const std::vector<std::string> known{"all", "sizes", "live", "churn", "streams", "replay"};
  if (std::find(known.begin(), known.end(), with.what) == known.end() || with.repetitions < 1) {
    throw std::invalid_argument("there is no such case, or no repetition");
  }
  if (with.what == "replay" && with.log.empty()) throw std::invalid_argument("the case replay needs --log FILE");
  return with;
}

constexpr const char* usage =
    "warpheap_pool_bench [--case all|sizes|live|churn|streams|replay] [--subject all|NAME] [--bytes N] [--repetitions "
    "N] "
    "[--log FILE] [--quick]\n"
    "  measures host-side allocation, and prints one JSON object a line; replay needs a log of logging_adaptor\n";

void run(const settings& with) {
  bool any = false;
  for_each_subject([&]<class Subject>(const char* name) {
    if (with.subject != "all" && with.subject != name) return;
    any = true;
    const auto wanted = [&](const char* what) { return with.what == "all" || with.what == what; };
    if (wanted("sizes")) measure_sizes<Subject>(name, with);
    if (wanted("live")) measure_live<Subject>(name, with);
    if (wanted("churn")) measure_churn<Subject>(name, with);
    if (wanted("streams")) measure_streams<Subject>(name, with);
    if (!with.log.empty() && wanted("replay")) measure_replay<Subject>(name, with);
  });
  if (!any) throw std::invalid_argument("there is no subject " + with.subject);
}

}  // namespace
}  // namespace warpheap::bench

int main(int count, char** words) {
  using namespace warpheap;
  try {
    const bench::settings with = bench::parse(count, words);
    if (!machine_available()) {
      std::fputs("warpheap_pool_bench: no GPU answers; check nvidia-smi, or use warpheap_pool_bench_host\n", stderr);
      return 3;
    }
    bench::run(with);
    return 0;
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr, "warpheap_pool_bench: %s\n%s", problem.what(), bench::usage);
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "warpheap_pool_bench: %s\n", problem.what());
    return 1;
  }
}
