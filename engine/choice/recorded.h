// Internal to engine/choice: choices that the database and the shipped layer know, and the model's opinion
// of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "engine/choice/choose.h"

namespace rondo::engine {

// The problem in the other passes that share what is tuned (passes_alike).
std::vector<schedule::Problem> problems_alike(const schedule::Problem& problem);

// What the model thinks of a problem, found when it is first asked. Refers to its arguments.
class ModelsOpinion {
 public:
  ModelsOpinion(const schedule::Task& task, const ChooseOptions& options) : task_(task), options_(options) {}

  const Result<Candidate>& best();
  schedule::Estimate of(const Choice& choice, const schedule::Problem& problem) const;
  // Why the choice, which was tuned for the pass `tuned_for`, is not taken over; "" where nothing speaks
  // against it.
  std::string objection(const Choice& choice, const std::string& tuned_for);
  // The same of one that was tuned for this pass, but another B or T: it stood better there, by the model.
  std::string outgrown(const Choice& choice, std::int64_t batch, std::int64_t time);

 private:
  // Times its best's time: how far off the model may be about the choice. There is a best.
  double trusted_factor(const Choice& choice);
  bool may_spill_in(const Choice& choice, const std::string& pass) const;
  // The best of the same problem with another batch and time. Records of two passes often share both.
  const Result<Candidate>& best_at(std::int64_t batch, std::int64_t time);
  schedule::Problem shaped(std::int64_t batch, std::int64_t time) const;

  const schedule::Task& task_;
  const ChooseOptions& options_;
  std::map<std::pair<std::int64_t, std::int64_t>, Result<Candidate>> bests_;  // by B and T
};

// What `options.pinned` says of the problem, with the code and the proof that the database has of it.
Result<Choice> pinned_choice(const schedule::Task& task, const ChooseOptions& options);

// How many of the problems that are like the wanted one are looked at: each asks the model.
inline constexpr std::size_t kMostAlike = 8;

// What is recorded and shipped for a problem and its neighbours, as choices. Refers to its arguments.
class RecordedChoices {
 public:
  RecordedChoices(const schedule::Task& task, const ChooseOptions& options, ModelsOpinion& model)
      : task_(task), options_(options), model_(model), check_(task) {}

  // The nearest that can be taken; what kept nearer ones from it goes to `trouble`. Of the database's and the
  // layer's that are equally near the database's comes first.
  std::optional<Choice> first(std::string& trouble);

 private:
  // A record of the database's, or of the layer's.
  struct Record {
    db::Neighbour near;
    const ShippedChoice* shipped = nullptr;
  };
  std::optional<Choice> of(const Record& record, const db::Problem& key, std::string& trouble);
  std::optional<Choice> exact(const db::Problem& key, std::string& trouble);
  std::optional<Choice> nearest(const db::Problem& key, std::string& trouble);
  std::optional<Choice> like(const db::Problem& key, std::string& trouble);
  // With what the database knows of it.
  Record shipped(const ShippedChoice& choice, const db::Problem& key) const;
  std::optional<Choice> of_shipped(const Record& record, const db::Problem& key, Choice choice,
                                   std::string& trouble);
  std::optional<Choice> of_this_pass(const db::Neighbour& near, const db::Problem& key, Choice choice) const;
  std::optional<Choice> of_other_pass(const db::Neighbour& near, Choice choice, std::string& trouble);
  static void with_proof(const db::Neighbour& near, Choice& choice);
  // The trial's parameters, bent to the alignment at hand. None if this version cannot build them.
  std::optional<Choice> buildable(const db::Trial& trial);
  std::optional<Candidate> closest(const Choice& wanted) const;

  const schedule::Task& task_;
  const ChooseOptions& options_;
  ModelsOpinion& model_;
  CandidateCheck check_;
};

}  // namespace rondo::engine
