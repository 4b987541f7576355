// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0

// Conway's game of life with cells as objects, an application of the DynaSOAr paper: only cells that live or may come
// to life are objects, so a large and empty board costs little. An array of all cells names the object at each one. The
// outcome is compared with that of a plain array.

#include <cstdio>
#include <vector>
#include <warpheap/designs/dynasoar/dynasoar.hpp>

constexpr std::uint32_t width = 96, height = 64, generations = 60;

// What will become of an agent at the end of the generation.
enum class fate : std::uint8_t { stays, changes, goes };

struct agent {
  struct cell : warpheap::soa_field<std::uint32_t> {};
  struct next : warpheap::soa_field<fate> {};
  using fields = warpheap::soa_fields<cell, next>;
};
// A cell that is dead and has, or had, neighbours that live.
struct candidate : agent {
  using base = agent;
  using fields = warpheap::soa_fields<>;
};
struct alive : agent {
  using base = agent;
  struct is_new : warpheap::soa_field<std::uint8_t> {};
  using fields = warpheap::soa_fields<is_new>;
};
using world_ref = warpheap::soa_ref<candidate, alive>;
using cells = warpheap::soa_handle<agent>*;

// The cell at a distance, on a torus.
WARPHEAP_FN std::uint32_t neighbour(std::uint32_t cell, int i) {
  const std::uint32_t x = (cell % width + static_cast<std::uint32_t>(i % 3) + width - 1) % width;
  const std::uint32_t y = (cell / width + static_cast<std::uint32_t>(i / 3) + height - 1) % height;
  return y * width + x;
}

// Looks at the neighbours. Nothing changes meanwhile but the fates.
struct decide {
  template <class Kind>
  WARPHEAP_FN void operator()(warpheap::soa_object<Kind> object, world_ref world, cells board) const {
    const std::uint32_t cell = object.template get<agent::cell>();
    int living = 0;
    for (int i = 0; i < 9; ++i) living += i != 4 && world.is<alive>(board[neighbour(cell, i)]) ? 1 : 0;
    fate& next = object.template get<agent::next>();
    if constexpr (warpheap::soa_kind_of<Kind, alive>) {
      next = living == 2 || living == 3 ? fate::stays : fate::changes;
    } else {
      next = living == 3 ? fate::changes : living == 0 ? fate::goes : fate::stays;
    }
  }
};

struct end_candidate {
  WARPHEAP_FN void operator()(warpheap::soa_object<candidate> object, world_ref world, cells board) const {
    const std::uint32_t cell = object.get<agent::cell>();
    const fate next = object.get<agent::next>();
    if (next == fate::stays) return;
    world.destroy(object.handle());
    board[cell] = {};
    if (next == fate::changes) board[cell] = world.make<alive>(cell, fate::stays, std::uint8_t{1});
  }
};

// Relaxed suffices for words of the board that others look at: the launch that follows reads what is written here.
struct end_alive {
  static constexpr auto relaxed = warpheap::memory_order::relaxed;
  static constexpr auto device = warpheap::thread_scope::device;

  WARPHEAP_FN static warpheap::atomic_view<std::uint64_t> word_of(cells board, std::uint32_t cell) {
    return warpheap::atomic_view{reinterpret_cast<std::uint64_t&>(board[cell])};
  }
  WARPHEAP_FN void operator()(warpheap::soa_object<alive> object, world_ref world, cells board) const {
    const std::uint32_t cell = object.get<agent::cell>();
    if (object.get<agent::next>() == fate::changes) {
      world.destroy(object.handle());
      word_of(board, cell).store(world.make<candidate>(cell).bits(), relaxed, device);
    } else if (object.get<alive::is_new>() != 0) {
      object.get<alive::is_new>() = 0;
      surround(cell, world, board);
    }
  }

  // Makes candidates of the empty cells around a new one. Of several new neighbours the first to reserve the cell does.
  WARPHEAP_FN static void surround(std::uint32_t cell, world_ref world, cells board) {
    for (int i = 0; i < 9; ++i) {
      const std::uint32_t beside = neighbour(cell, i);
      std::uint64_t none = 0;
      constexpr std::uint64_t reserved = 1;  // no handle
      if (word_of(board, beside).compare_exchange(none, reserved, relaxed, device)) {
        word_of(board, beside).store(world.make<candidate>(beside).bits(), relaxed, device);
      }
    }
  }
};

struct settle {
  const std::uint8_t* living;
  WARPHEAP_FN void operator()(world_ref world, cells board) const {
    const auto cell = static_cast<std::uint32_t>(warpheap::grid_thread_index());
    if (cell < width * height && living[cell] != 0) board[cell] = world.make<alive>(cell, fate::stays, std::uint8_t{1});
  }
};

struct read_board {
  std::uint8_t* living;
  WARPHEAP_FN void operator()(world_ref world, cells board) const {
    const auto cell = static_cast<std::uint32_t>(warpheap::grid_thread_index());
    if (cell < width * height) living[cell] = world.is<alive>(board[cell]) ? 1 : 0;
  }
};

// A generation of the plain array.
std::vector<std::uint8_t> next_of(const std::vector<std::uint8_t>& board) {
  std::vector<std::uint8_t> next(board.size());
  for (std::uint32_t cell = 0; cell < board.size(); ++cell) {
    int living = 0;
    for (int i = 0; i < 9; ++i) living += i != 4 ? board[neighbour(cell, i)] : 0;
    next[cell] = living == 3 || (living == 2 && board[cell] != 0) ? 1 : 0;
  }
  return next;
}

int main() {
  constexpr std::uint64_t all = width * height;
  std::vector<std::uint8_t> plain(all);
  std::uint32_t random = 1;
  for (std::uint32_t cell = 0; cell < all / 4; ++cell) {  // a quarter of the board is settled
    random = random * 1664525u + 1013904223u;
    plain[cell] = random >> 30 == 0 ? 1 : 0;
  }

  // Each agent has 5 or 6 bytes, and all cells can be agents of either kind.
  warpheap::soa_heap<candidate, alive> world{all * 16};
  const warpheap::device_array<warpheap::soa_handle<agent>> board(all);
  const warpheap::device_array<std::uint8_t> living(plain);
  const auto grid = warpheap::grid_shape::covering(all);
  warpheap::launch(grid, settle{living.data()}, world.ref(), board.data());
  world.parallel_do<alive>(end_alive{}, world.ref(), board.data());
  for (std::uint32_t i = 0; i < generations; ++i) {
    world.parallel_do<agent>(decide{}, world.ref(), board.data());
    world.parallel_do<candidate>(end_candidate{}, world.ref(), board.data());
    world.parallel_do<alive>(end_alive{}, world.ref(), board.data());
    plain = next_of(plain);
  }
  warpheap::launch(grid, read_board{living.data()}, world.ref(), board.data());

  std::uint64_t population = 0;
  for (const std::uint8_t each : plain) population += each;
  const bool same = living.to_host() == plain && world.count<alive>() == population;
  std::printf("%s: after %u generations %llu cells live, %llu are candidates: %s\n",
              backend_name(warpheap::this_backend), generations, static_cast<unsigned long long>(population),
              static_cast<unsigned long long>(world.count<candidate>()), same ? "as in an array" : "WRONG");
  return same ? 0 : 1;
}
