// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <warpheap/platform.hpp>
#include <warpheap/pool/errors.hpp>
#include <warpheap/pool/space.hpp>

namespace warpheap {

/// Device memory that other processes can map, `bytes` rounded up to 2 MiB, all taken at once and kept to the end. A
/// pool over it hands out blocks that `export_block` names for other processes. Throws what `exported_memory` throws.
class shared_space final : public pool_space {
 public:
  /// Takes the memory.
  explicit shared_space(std::uint64_t bytes) : pool_space(nullptr, 0, 0), memory_(make(bytes)) {
    lies_at(memory_->data(), memory_->bytes(), 0);
  }
  void commit(std::uint64_t, std::uint64_t) override {}
  void decommit(std::uint64_t, std::uint64_t) override {}
  void allow_peer(int device) override { memory_->allow_peer(device); }

  /// The memory itself, which lives as long as the space. Any thread can use it.
  const exported_memory& memory() const { return *memory_; }

 private:
  static std::unique_ptr<exported_memory> make(std::uint64_t bytes) {
    const relaxed_capture_mode mode;
    return std::make_unique<exported_memory>(bytes);
  }

  std::unique_ptr<exported_memory> memory_;
};

/// Names a block of a pool for other processes of the same machine and user. It is plain bytes: send them as they are.
/// It is good as long as the block is live; the process that exported keeps the block until all others have released.
struct block_handle {
  std::uint64_t kind = 0;          ///< tells handles of this backend and form from all else
  std::uint64_t process[2] = {};   ///< of the process that exported: a random number, and the system's
  memory_handle memory = {};       ///< the memory that the block lies in
  device_identity device = {};     ///< the device of the memory
  std::uint64_t memory_bytes = 0;  ///< size of the memory
  std::uint64_t offset = 0;        ///< of the block in the memory
  std::uint64_t block_bytes = 0;   ///< size of the block, its rounding included
  std::uint64_t sum = 0;           ///< of all bytes before, so that a damaged handle is told
};

/// The handle of the live block that begins at `block`, of a pool over `space`; `Pool` has `block_bytes(block)`. Throws
/// `unknown_block` if no live block begins there, and what `exported_memory::handle` throws. Any thread can call.
template <class Pool>
block_handle export_block(const shared_space& space, const Pool& pool, const void* block);

/// Maps memory of other processes: each memory once for each device, however many of its blocks are imported, until
/// the last of them is released. All members can be called by any thread.
///
/// Nothing orders the work of two processes: the importer uses a block after the exporter's work on it, and releases it
/// before the exporter takes it back; they tell each other.
class block_importer {
 public:
  block_importer() = default;
  block_importer(const block_importer&) = delete;
  block_importer& operator=(const block_importer&) = delete;

  /// The block in this process, on the device with the number `device`, or for -1 on the one that the memory is of.
  /// Each call counts, and has a `release_block` of its own. Throws `std::invalid_argument` for bytes that are no
  /// handle, of another backend, or of this same process, which has the block's own pointer; `launch_failure` for a
  /// device that is not there; and what `imported_memory` throws. Nothing has changed then.
  void* import_block(const block_handle& handle, int device = -1);
  /// Takes one `import_block` back; null is ignored. Work of this process that uses the block is done by then. Throws
  /// `unknown_block` for a pointer that `import_block` did not return, or that was released as often as imported.
  void release_block(void* block);

  /// Memories that are mapped now.
  std::uint64_t memories() const;
  /// Calls of `import_block` that were not released.
  std::uint64_t blocks() const;

 private:
  using place = std::pair<memory_handle, int>;
  struct mapping {
    std::unique_ptr<imported_memory> memory;
    std::uint64_t blocks = 0;
  };
  struct imported {
    place where;
    std::uint64_t count = 0;
  };

  // Invariant: a mapping is there as long as its `blocks` is not 0, which is the sum of `count` over the blocks that
  // lie in it; a block is there as long as its `count` is not 0.
  std::map<place, mapping> mappings_;
  std::map<void*, imported> blocks_;
  mutable host_mutex mutex_;
};

}  // namespace warpheap

#include <warpheap/pool/detail/sharing.hpp>
