// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// What typed objects cost beside plain arrays: typed_objects [COUNT [ROUNDS]]. It makes objects of 32 bytes, moves them
// by `parallel_do` and through handles, moves arrays likewise, compares both, and destroys the objects. It prints the
// median time of each step; times of the host backend say nothing about a GPU.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <warpheap/designs/dynasoar/dynasoar.hpp>

struct particle {
  struct x : warpheap::soa_field<float> {};
  struct y : warpheap::soa_field<float> {};
  struct z : warpheap::soa_field<float> {};
  struct vx : warpheap::soa_field<float> {};
  struct vy : warpheap::soa_field<float> {};
  struct vz : warpheap::soa_field<float> {};
  struct mass : warpheap::soa_field<float> {};
  struct number : warpheap::soa_field<std::uint32_t> {};
  using fields = warpheap::soa_fields<x, y, z, vx, vy, vz, mass, number>;
};
using cloud_ref = warpheap::soa_ref<particle>;
using handle = warpheap::soa_handle<particle>;

// Arrays of the fields that move.
struct arrays {
  float *x, *y, *z, *vx, *vy, *vz;
};

struct make_all {
  WARPHEAP_FN void operator()(cloud_ref cloud, handle* all, std::uint64_t count) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count) return;
    const auto speed = static_cast<float>(i % 16);
    all[i] = cloud.make<particle>(0.0f, 0.0f, 0.0f, speed, speed + 1, speed + 2, 1.0f, static_cast<std::uint32_t>(i));
  }
};
struct fill_arrays {
  WARPHEAP_FN void operator()(arrays to, std::uint64_t count) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count) return;
    const auto speed = static_cast<float>(i % 16);
    to.x[i] = to.y[i] = to.z[i] = 0;
    to.vx[i] = speed;
    to.vy[i] = speed + 1;
    to.vz[i] = speed + 2;
  }
};

struct move_object {
  WARPHEAP_FN void operator()(warpheap::soa_object<particle> object) const {
    object.get<particle::x>() += object.get<particle::vx>();
    object.get<particle::y>() += object.get<particle::vy>();
    object.get<particle::z>() += object.get<particle::vz>();
  }
};
struct move_handles {
  WARPHEAP_FN void operator()(cloud_ref cloud, const handle* all, std::uint64_t count) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i < count) move_object{}(cloud[all[i]]);
  }
};
struct move_arrays {
  WARPHEAP_FN void operator()(arrays all, std::uint64_t count) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count) return;
    all.x[i] += all.vx[i];
    all.y[i] += all.vy[i];
    all.z[i] += all.vz[i];
  }
};

// Counts objects that are elsewhere than the element of their number.
struct compare {
  WARPHEAP_FN void operator()(warpheap::soa_object<particle> object, arrays all, std::uint64_t* wrong) const {
    const std::uint32_t i = object.get<particle::number>();
    // Objects moved twice a round, elements once.
    if (object.get<particle::x>() == 2 * all.x[i] && object.get<particle::y>() == 2 * all.y[i] &&
        object.get<particle::z>() == 2 * all.z[i]) {
      return;
    }
    warpheap::atomic_view{*wrong}.fetch_add(1, warpheap::memory_order::relaxed, warpheap::thread_scope::device);
  }
};
struct destroy_all {
  WARPHEAP_FN void operator()(cloud_ref cloud, const handle* all, std::uint64_t count, std::uint64_t* wrong) const {
    const std::uint64_t i = warpheap::grid_thread_index();
    if (i >= count || cloud.destroy(all[i])) return;
    warpheap::atomic_view{*wrong}.fetch_add(1, warpheap::memory_order::relaxed, warpheap::thread_scope::device);
  }
};

// Times of one step, of which the median is printed.
class times {
 public:
  template <class Body>
  void measure(Body body) {
    timer_.start();
    body();
    all_.push_back(timer_.stop());
  }
  double median() {
    std::sort(all_.begin(), all_.end());
    return all_[all_.size() / 2];
  }

 private:
  warpheap::launch_timer timer_;
  std::vector<double> all_;
};

int main(int argc, char** argv) {
  const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  warpheap::soa_heap<particle> cloud{count * 32 * 4 + (1 << 16)};
  const warpheap::device_array<handle> all(count);
  const warpheap::device_array<float> memory(6 * count);
  const warpheap::device_array<std::uint64_t> wrong(1);
  const auto field = [&](std::uint64_t i) { return memory.data() + i * count; };
  const arrays plain{field(0), field(1), field(2), field(3), field(4), field(5)};
  const auto grid = warpheap::grid_shape::covering(count);

  times making, visiting, by_handle, in_arrays, ending;
  bool counted = true;
  for (int round = 0; round < rounds; ++round) {
    making.measure([&] { warpheap::launch(grid, make_all{}, cloud.ref(), all.data(), count); });
    counted = counted && cloud.count<particle>() == count;
    warpheap::launch(grid, fill_arrays{}, plain, count);
    visiting.measure([&] { cloud.parallel_do<particle>(move_object{}); });
    by_handle.measure([&] { warpheap::launch(grid, move_handles{}, cloud.ref(), all.data(), count); });
    in_arrays.measure([&] { warpheap::launch(grid, move_arrays{}, plain, count); });
    cloud.parallel_do<particle>(compare{}, plain, wrong.data());
    ending.measure([&] { warpheap::launch(grid, destroy_all{}, cloud.ref(), all.data(), count, wrong.data()); });
    counted = counted && cloud.count<particle>() == 0;
  }
  std::printf(
      "%s: %llu objects of 32 bytes, us: new %.1f, delete %.1f, access by parallel_do %.1f, through handles %.1f, "
      "in arrays %.1f\n",
      backend_name(warpheap::this_backend), static_cast<unsigned long long>(count), making.median(), ending.median(),
      visiting.median(), by_handle.median(), in_arrays.median());
  if (wrong.at(0) == 0 && counted) return 0;
  std::printf("%llu objects went wrong\n", static_cast<unsigned long long>(wrong.at(0)));
  return 1;
}
