// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <warpheap/pool/errors.hpp>

namespace warpheap::pool_detail {

// What an adaptor knows of the blocks that it handed out. The adaptor locks it for each call, and never while it calls
// its source. An entry is made before the block is taken and removed before the block is given back, so that neither
// can fail halfway, and so that another thread which gets the same address finds no entry.
template <class Info>
class block_book {
 public:
  using entry = typename std::map<const void*, Info>::node_type;

  // An entry without a block. Needs host memory; nothing after it does.
  static entry make() {
    std::map<const void*, Info> one;
    return one.extract(one.try_emplace(nullptr).first);
  }
  // Files the entry for `block`. Returns the entry that was there: of a block that was given back past the adaptor.
  entry insert(entry made, const void* block) noexcept {
    entry stale = blocks_.extract(block);
    made.key() = block;
    blocks_.insert(std::move(made));
    return stale;
  }
  // Empty for a block that this adaptor did not hand out.
  entry remove(const void* block) noexcept { return blocks_.extract(block); }
  const Info* find(const void* block) const {
    const auto known = blocks_.find(block);
    return known == blocks_.end() ? nullptr : &known->second;
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [block, info] : blocks_) visit(block, info);
  }

 private:
  std::map<const void*, Info> blocks_;
};

// Gives `block` back to the source, with no lock held, and calls `note_outcome(is_live)` once: true if the source
// threw and the block is still live.
template <class Source, class Note>
void give_back(Source& source, void* block, Note note_outcome) {
  try {
    source.deallocate(block);
  } catch (const unknown_block&) {  // the source has no such block
    note_outcome(false);
    throw;
  } catch (const damaged_block&) {  // the source took it back
    note_outcome(false);
    throw;
  } catch (...) {
    note_outcome(true);
    throw;
  }
  note_outcome(false);
}

}  // namespace warpheap::pool_detail
