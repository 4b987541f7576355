// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Bodies that attract each other, an application of the DynaSOAr paper, with bodies as objects and with plain arrays:
// both take the same steps. Bodies that leave the space end, so objects are destroyed on the way.

#include <cmath>
#include <cstdio>
#include <vector>
#include <warpheap/designs/dynasoar/dynasoar.hpp>

constexpr std::uint32_t count = 512, steps = 20;
constexpr float pull = 1e-4f, softening = 1e-3f, step = 0.5f, edge = 1.0f;

struct body {
  struct x : warpheap::soa_field<float> {};
  struct y : warpheap::soa_field<float> {};
  struct vx : warpheap::soa_field<float> {};
  struct vy : warpheap::soa_field<float> {};
  struct mass : warpheap::soa_field<float> {};
  struct number : warpheap::soa_field<std::uint32_t> {};
  using fields = warpheap::soa_fields<x, y, vx, vy, mass, number>;
};
using space_ref = warpheap::soa_ref<body>;
using handle = warpheap::soa_handle<body>;

struct vector2 {
  float x, y;
};

// The place, speed and mass of body `i` at first.
struct start {
  float x, y, vx, vy, mass;
  WARPHEAP_FN static start of(std::uint64_t i) {
    const auto part = [i](std::uint32_t salt) {
      return static_cast<float>(warpheap::mix(i * 8 + salt) >> 40) / static_cast<float>(1 << 24);
    };
    return {2 * part(0) - 1, 2 * part(1) - 1, (part(2) - 0.5f) / 20, (part(3) - 0.5f) / 20, 0.1f + part(4)};
  }
};

// What `other` adds to the acceleration of a body at `at`.
WARPHEAP_FN inline void attract(vector2 at, vector2 other, float mass, vector2& sum) {
  const float dx = other.x - at.x;
  const float dy = other.y - at.y;
  const float distance = std::sqrt(dx * dx + dy * dy + softening);
  const float strength = pull * mass / (distance * distance * distance);
  sum.x += dx * strength;
  sum.y += dy * strength;
}

struct make_body {
  WARPHEAP_FN void operator()(warpheap::soa_object<body> object, std::uint64_t i) const {
    const start from = start::of(i);
    object.get<body::x>() = from.x;
    object.get<body::y>() = from.y;
    object.get<body::vx>() = from.vx;
    object.get<body::vy>() = from.vy;
    object.get<body::mass>() = from.mass;
    object.get<body::number>() = static_cast<std::uint32_t>(i);
  }
};

// Notes each body by its number, for all others.
struct enrol {
  WARPHEAP_FN void operator()(warpheap::soa_object<body> object, handle* all) const {
    all[object.get<body::number>()] = object.handle();
  }
};

struct speed_up {
  WARPHEAP_FN void operator()(warpheap::soa_object<body> object, space_ref space, const handle* all) const {
    const vector2 at{object.get<body::x>(), object.get<body::y>()};
    vector2 sum{0, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!all[i]) continue;
      const auto other = space[all[i]];
      attract(at, {other.get<body::x>(), other.get<body::y>()}, other.get<body::mass>(), sum);
    }
    object.get<body::vx>() += step * sum.x;
    object.get<body::vy>() += step * sum.y;
  }
};

struct move_on {
  WARPHEAP_FN void operator()(warpheap::soa_object<body> object, space_ref space, handle* all) const {
    const float x = object.get<body::x>() += step * object.get<body::vx>();
    const float y = object.get<body::y>() += step * object.get<body::vy>();
    if (std::fabs(x) <= edge && std::fabs(y) <= edge) return;
    all[object.get<body::number>()] = {};
    space.destroy(object.handle());
  }
};

// These steps in arrays. A body that has left has no mass.
struct plain_speed_up {
  WARPHEAP_FN void operator()(const vector2* at, vector2* speed, const float* mass) const {
    const auto self = static_cast<std::uint32_t>(warpheap::grid_thread_index());
    if (self >= count || mass[self] == 0) return;
    vector2 sum{0, 0};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (mass[i] != 0) attract(at[self], at[i], mass[i], sum);
    }
    speed[self].x += step * sum.x;
    speed[self].y += step * sum.y;
  }
};
struct plain_move_on {
  WARPHEAP_FN void operator()(vector2* at, const vector2* speed, float* mass) const {
    const auto self = static_cast<std::uint32_t>(warpheap::grid_thread_index());
    if (self >= count || mass[self] == 0) return;
    at[self].x += step * speed[self].x;
    at[self].y += step * speed[self].y;
    if (!(std::fabs(at[self].x) <= edge && std::fabs(at[self].y) <= edge)) mass[self] = 0;
  }
};

// Counts bodies that lie elsewhere than in the arrays, or that are missing or too many there.
struct compare {
  WARPHEAP_FN void operator()(space_ref space, const handle* all, const vector2* at, const float* mass,
                              std::uint64_t* wrong) const {
    const auto self = static_cast<std::uint32_t>(warpheap::grid_thread_index());
    if (self >= count) return;
    bool same = static_cast<bool>(all[self]) == (mass[self] != 0);
    if (same && all[self]) {
      same = std::fabs(space.get<body::x>(all[self]) - at[self].x) < 1e-4f &&
             std::fabs(space.get<body::y>(all[self]) - at[self].y) < 1e-4f;
    }
    if (same) return;
    warpheap::atomic_view{*wrong}.fetch_add(1, warpheap::memory_order::relaxed, warpheap::thread_scope::device);
  }
};

int main() {
  warpheap::soa_heap<body> space{count * 64};
  const warpheap::device_array<handle> all(count);
  const bool made = space.parallel_new<body>(count, make_body{}) == count;
  space.parallel_do<body>(enrol{}, all.data());

  std::vector<vector2> places, speeds;
  std::vector<float> masses;
  for (std::uint32_t i = 0; i < count; ++i) {
    const start from = start::of(i);
    places.push_back({from.x, from.y});
    speeds.push_back({from.vx, from.vy});
    masses.push_back(from.mass);
  }
  const warpheap::device_array<vector2> at(places), speed(speeds);
  const warpheap::device_array<float> mass(masses);
  const auto grid = warpheap::grid_shape::covering(count);
  for (std::uint32_t i = 0; i < steps; ++i) {
    space.parallel_do<body>(speed_up{}, space.ref(), all.data());
    space.parallel_do<body>(move_on{}, space.ref(), all.data());
    warpheap::launch(grid, plain_speed_up{}, at.data(), speed.data(), mass.data());
    warpheap::launch(grid, plain_move_on{}, at.data(), speed.data(), mass.data());
  }

  const warpheap::device_array<std::uint64_t> wrong(1);
  warpheap::launch(grid, compare{}, space.ref(), all.data(), at.data(), mass.data(), wrong.data());
  const std::uint64_t left = space.count<body>();
  std::printf("%s: %llu of %u bodies are left after %u steps, %llu of them elsewhere than in arrays\n",
              backend_name(warpheap::this_backend), static_cast<unsigned long long>(left), count, steps,
              static_cast<unsigned long long>(wrong.at(0)));
  return made && left < count && wrong.at(0) == 0 ? 0 : 1;
}
