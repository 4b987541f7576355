// SPDX-FileCopyrightText: 2026 The warpheap authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <warpheap/pool/engine.hpp>

namespace warpheap::pool_detail {

// Where a record stands in a tree. Handle 0 is the leaf that all missing children are: it is black, and while a node is
// removed its parent says where the hole is.
struct tree_links {
  segment_handle child[2] = {no_segment, no_segment};
  segment_handle parent = no_segment;
};

// A red-black tree of records that lie elsewhere: `Tree::links(record)` and `Tree::red(record)` say where a record
// keeps its place, `Tree::less(record, record)` orders. No node is red below a red one, and each way down passes the
// same number of black ones, so no way is longer than twice the logarithm.
template <class Table, class Tree>
class balanced_tree {
 public:
  explicit balanced_tree(Table& table) : table_(table) {}

  segment_handle root() const { return root_; }
  segment_handle child(segment_handle node, int side) const { return links(node).child[side]; }

  void insert(segment_handle node) {
    segment_handle parent = no_segment;
    int side = 0;
    for (segment_handle at = root_; at != no_segment; at = child(at, side)) {
      parent = at;
      side = Tree::less(table_[node], table_[at]) ? 0 : 1;
    }
    links(node) = {{no_segment, no_segment}, parent};
    hang(parent, side, node);
    paint(node, true);
    mend_red(node);
  }

  void erase(segment_handle node) {
    segment_handle moved = node;  // what leaves its place in the tree: `node`, or the next one, which takes its place
    if (child(node, 0) != no_segment && child(node, 1) != no_segment) moved = end_of(child(node, 1), 0);
    const segment_handle below = child(moved, child(moved, 0) != no_segment ? 0 : 1);
    const bool was_red = red(moved);
    segment_handle parent = links(moved).parent;
    replace(moved, below);
    if (moved != node) {
      if (parent == node) parent = moved;
      links(moved).child[0] = child(node, 0);
      links(moved).child[1] = child(node, 1);
      replace(node, moved);
      paint(moved, red(node));
      for (const int side : {0, 1}) {
        if (child(moved, side) != no_segment) links(child(moved, side)).parent = moved;
      }
    }
    if (!was_red) mend_black(below, parent);
  }

  // The first (side 0) or last (side 1) node below `node`.
  segment_handle end_of(segment_handle node, int side) const {
    while (node != no_segment && child(node, side) != no_segment) node = child(node, side);
    return node;
  }
  // The node before (side 0) or after (side 1) `node` in the order.
  segment_handle beside(segment_handle node, int side) const {
    if (child(node, side) != no_segment) return end_of(child(node, side), 1 - side);
    segment_handle parent = links(node).parent;
    while (parent != no_segment && node == child(parent, side)) {
      node = parent;
      parent = links(parent).parent;
    }
    return parent;
  }
  // The first node that is not before what `is_before(record)` is true for.
  template <class IsBefore>
  segment_handle first_not(IsBefore is_before) const {
    segment_handle found = no_segment;
    for (segment_handle at = root_; at != no_segment;) {
      const bool before = is_before(table_[at]);
      if (!before) found = at;
      at = child(at, before ? 1 : 0);
    }
    return found;
  }

  void clear() { root_ = no_segment; }

 private:
  tree_links& links(segment_handle node) { return Tree::links(table_[node]); }
  const tree_links& links(segment_handle node) const { return Tree::links(table_[node]); }
  bool red(segment_handle node) const { return node != no_segment && Tree::red(table_[node]); }
  void paint(segment_handle node, bool colour) { Tree::paint(table_[node], colour); }
  int side_of(segment_handle node) const { return child(links(node).parent, 0) == node ? 0 : 1; }

  void hang(segment_handle parent, int side, segment_handle node) {
    if (parent == no_segment) {
      root_ = node;
    } else {
      links(parent).child[side] = node;
    }
  }
  // Puts `other` where `node` hangs.
  void replace(segment_handle node, segment_handle other) {
    const segment_handle parent = links(node).parent;
    hang(parent, parent == no_segment ? 0 : side_of(node), other);
    if (other != no_segment) links(other).parent = parent;
  }
  // Lets the child on the other side rise into the place of `node`, which sinks to `side`.
  void rotate(segment_handle node, int side) {
    const segment_handle riser = child(node, 1 - side);
    const segment_handle middle = child(riser, side);
    links(node).child[1 - side] = middle;
    if (middle != no_segment) links(middle).parent = node;
    replace(node, riser);
    links(riser).child[side] = node;
    links(node).parent = riser;
  }

  // `node` is red and may hang below a red one.
  void mend_red(segment_handle node) {
    while (red(links(node).parent)) {
      segment_handle parent = links(node).parent;
      const segment_handle grandparent = links(parent).parent;  // there is one: the root is black
      const int side = side_of(parent);
      const segment_handle uncle = child(grandparent, 1 - side);
      if (red(uncle)) {
        paint(parent, false);
        paint(uncle, false);
        paint(grandparent, true);
        node = grandparent;
        continue;
      }
      if (side_of(node) != side) {
        rotate(parent, side);
        parent = node;
      }
      paint(parent, false);
      paint(grandparent, true);
      rotate(grandparent, 1 - side);
      break;
    }
    paint(root_, false);
  }

  // The ways through `node`, which hangs below `parent`, pass one black node too few.
  void mend_black(segment_handle node, segment_handle parent) {
    while (parent != no_segment && !red(node)) {
      const int side = child(parent, 0) == node ? 0 : 1;
      segment_handle sibling = child(parent, 1 - side);
      if (red(sibling)) {
        paint(sibling, false);
        paint(parent, true);
        rotate(parent, side);
        sibling = child(parent, 1 - side);
      }
      if (!red(child(sibling, 0)) && !red(child(sibling, 1))) {
        paint(sibling, true);
        node = parent;
        parent = links(node).parent;
        continue;
      }
      if (!red(child(sibling, 1 - side))) {
        paint(child(sibling, side), false);
        paint(sibling, true);
        rotate(sibling, 1 - side);
        sibling = child(parent, 1 - side);
      }
      paint(sibling, red(parent));
      paint(parent, false);
      paint(child(sibling, 1 - side), false);
      rotate(parent, side);
      return;
    }
    if (node != no_segment) paint(node, false);
  }

  Table& table_;
  segment_handle root_ = no_segment;
};

}  // namespace warpheap::pool_detail
