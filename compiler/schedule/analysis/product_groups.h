// Products of a step with the head's matrices, ordered for a machine that holds the matrices on the chip:
// which vectors must be exchanged before which products can be made.
#pragma once

#include <vector>

#include "compiler/schedule/problem/problem.h"
#include "compiler/step/step_ir.h"

namespace rondo::schedule {

// What becomes of the terms of a product.
enum class ProductKind {
  Sum,      // R @ v, or with the transpose: sums of products
  Max,      // maxplus(R, v): the largest of sums of two
  Channel,  // the number of the first channel that gives it
  Scatter,  // the sum over those channels of v that have chosen the result's: no matrix is read
};

// R[row] @ v, its transpose or what takes its place, a node of the step's graph.
struct Product {
  step::NodeId node = step::kNoNode;
  step::TensorId matrix = -1;
  int row = 0;
  bool transposed = false;
  step::NodeId chosen = step::kNoNode;  // of a Scatter: the channels
};

// Products of one vector and kind: their operand is exchanged once.
struct ProductGroup {
  step::NodeId vector = step::kNoNode;
  int level = 0;  // level 0 depends on no product; level l on products of lower levels
  std::vector<Product> products;
  ProductKind kind = ProductKind::Sum;
};

// The groups of all products that `roots` depend on, by level. Products without an operand stand for values
// made elsewhere (`detach_products`) and are left out.
std::vector<ProductGroup> product_groups(const step::Graph& graph, const std::vector<step::NodeId>& roots);
int levels_of(const std::vector<ProductGroup>& groups);
// By group: the first one that multiplies other vectors by the same matrices, in the same order; itself if
// none.
std::vector<std::size_t> with_same_matrices(const std::vector<ProductGroup>& groups);

// Products of one level whose values the step only adds up. The sum may replace the first of them, and the
// neutral element of addition, -0, the others.
struct ProductSum {
  struct Term {
    std::size_t group;
    int product;  // its index in the group
  };
  int level = 0;
  std::vector<Term> terms;
};

// Every product of the groups in one sum, sums by level.
std::vector<ProductSum> product_sums(const step::Graph& graph, const std::vector<step::NodeId>& roots,
                                     const std::vector<ProductGroup>& groups);

// The sums as a machine makes them that adds at most one product of a vector to each: what a sum has of more
// products of one vector goes into sums of its own. By level, and then by their first terms.
std::vector<ProductSum> product_rows(const std::vector<ProductSum>& sums);

// The graph with the products below `end` cut from their operands: leaves whose values the caller supplies.
step::Graph detach_products(step::Graph graph, step::NodeId end);
// The same of the channels that max-plus products have chosen.
step::Graph detach_chosen(step::Graph graph);

}  // namespace rondo::schedule
