// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpheap/allocator/device.hpp>
#include <warpheap/designs/dynasoar/detail/blocks.hpp>
#include <warpheap/designs/dynasoar/detail/types.hpp>
#include <warpheap/designs/dynasoar/soa_handle.hpp>
#include <warpheap/platform/device.hpp>

namespace warpheap {

/// The handle by which kernels use a `soa_heap<T...>`: pass it by value, keep it anywhere, as long as the heap lives.
/// Each member may be called by any threads, converged or not. `U` is one of `T...`, or a base of one where that is
/// said.
template <class... T>
class soa_ref {
  using types = detail::soa_types<T...>;

 public:
  /// A handle of the heap with the objects' memory at `data` and the blocks `blocks`. `soa_heap::ref` makes them.
  WARPHEAP_FN soa_ref(std::byte* data, const detail::dynasoar_blocks& blocks) : blocks_(blocks), data_(data) {}

  /// An object of `U` whose fields have `values`, those of its bases first; fields without a value are zero. Null when
  /// the heap has no room.
  template <class U, class... Values>
  WARPHEAP_ENTRY_FN soa_handle<U> make(const Values&... values) const;

  /// An object of `U` whose fields `body(object)` writes, a `soa_object<U>`; their contents are unspecified before.
  /// Null when the heap has no room, and no call then.
  template <class U, class Body>
  WARPHEAP_ENTRY_FN soa_handle<U> make_with(const Body& body) const;

  /// Ends the object, whichever registered type it has, and gives its slot back. False, and nothing changes, for a null
  /// handle and for one of an object that was destroyed: its slot is free, or its block has changed hands since. A slot
  /// that was taken again in the meantime, in the same life of its block, is not told from the former object.
  /// Lanes that destroy one object in the same call are all told true. `U` may
  /// be a base.
  template <class U>
  WARPHEAP_ENTRY_FN bool destroy(soa_handle<U> object) const;

  /// The value of a field of a live object. `U` may be a base.
  template <class Field, class U>
    requires soa_field_of<Field, U>
  WARPHEAP_FN typename Field::type& get(soa_handle<U> object) const {
    return (*this)[object].template get<Field>();
  }

  /// A live object, for access to several fields. `U` may be a base.
  template <class U>
  WARPHEAP_FN soa_object<U> operator[](soa_handle<U> object) const {
    const detail::soa_place at = detail::soa_place::of(object.bits());
    // A handle of a type without registered derived types tells the capacity before it is read.
    std::uint32_t capacity = at.capacity;
    std::uint32_t type = at.type;
    if constexpr (!types::template has_derived<U>()) {
      capacity = types::template capacity<U>();
      type = types::template index<U>();
    }
    return object_at<U>(at.block, at.slot, capacity, type);
  }

  /// True if the object is of `U` or of a type that derives from it; false for a null handle. `U` and `V` may be bases.
  template <class U, class V>
  WARPHEAP_FN bool is(soa_handle<V> object) const {
    return object && types::template is_kind<U>(detail::soa_place::of(object.bits()).type);
  }

  /// The handle of the object as one of `U`; null if it is not of this kind. `U` and `V` may be bases.
  template <class U, class V>
  WARPHEAP_FN soa_handle<U> as(soa_handle<V> object) const {
    return soa_handle<U>::from_bits(is<U>(object) ? object.bits() : 0);
  }

  /// True if the object of the handle lives. A hint while other threads destroy it, and with the limit of `destroy`.
  template <class U>
  WARPHEAP_FN bool contains(soa_handle<U> object) const {
    if (!object) return false;
    const detail::soa_place at = detail::soa_place::of(object.bits());
    return is_current(at) && blocks_.is_taken(at.block, at.slot);
  }

  /// The object at `slot` of `block`, which has objects of `U`. For `soa_heap`.
  template <class U>
  WARPHEAP_FN soa_object<U> object_in(std::uint32_t block, std::uint32_t slot) const {
    return object_at<U>(block, slot, types::template capacity<U>(), types::template index<U>());
  }
  /// The blocks of the heap. For `soa_heap`.
  WARPHEAP_FN const detail::dynasoar_blocks& blocks() const { return blocks_; }

 private:
  template <class U>
  WARPHEAP_FN soa_object<U> object_at(std::uint32_t block, std::uint32_t slot, std::uint32_t capacity,
                                      std::uint32_t type) const {
    return {data_ + std::uint64_t{block} * types::block_bytes(), &blocks_.header(block), block, slot, capacity, type};
  }
  // True if the block of the handle is what it was when the handle was made.
  WARPHEAP_FN bool is_current(const detail::soa_place& at) const {
    const slab_entry::contents entry = blocks_.header(at.block).entry.look();
    return entry.size_class == at.type && entry.generation == at.generation;
  }
  template <class U, class... Fields, class... Values>
  WARPHEAP_FN static void write(soa_object<U> object, soa_fields<Fields...>, const Values&... values);

  detail::dynasoar_blocks blocks_;
  std::byte* data_;
};

}  // namespace warpheap

#include <warpheap/designs/dynasoar/detail/ref.hpp>
