// The optimisers and the learning rate's schedule, by hand.
#include "core/training/optimiser.h"

#include "core/training/update_number.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

/// The value of an error's key, "" where it has none.
std::string value_of(const Error& error, const std::string& key) {
  for (const auto& [name, value] : error.values)
    if (name == key) return value;
  return "";
}

TEMPLATE_TEST_CASE("AdamW's first and second step by hand", "[core][optimiser]", float, double) {
  OptimiserConfig config;  // β 0.9 and 0.999
  config.rate = 0.1;
  config.weight_decay = 0.5;
  // float carries 7 digits
  const auto close = [](double expected) { return Approx(expected).epsilon(1e-6); };

  // m = 0.1 · 2, v = 0.001 · 4; corrected both are the gradient's own: a step of the rate
  const auto first = update_number<TestType>(config, factors_at(config, 1, 0), 1, 2, 0, 0);
  CHECK(first.first == close(0.2));
  CHECK(first.second == close(0.004));
  CHECK(first.value == close(1 - 0.1 * 0.5 - 0.1));

  // m = 0.9 · 0.2 - 0.1 · 1 = 0.08, corrected by 0.19; v = 0.999 · 0.004 + 0.001 = 0.004996, by 0.001999
  const auto second =
      update_number<TestType>(config, factors_at(config, 2, 0), first.value, -1, first.first, first.second);
  CHECK(second.first == close(0.08));
  CHECK(second.second == close(0.004996));
  CHECK(second.value ==
        close(0.85 - 0.1 * 0.5 * 0.85 - 0.1 * (0.08 / 0.19) / std::sqrt(0.004996 / 0.001999)));
}

TEMPLATE_TEST_CASE("SGD with momentum and weight decay by hand", "[core][optimiser]", float, double) {
  OptimiserConfig config;
  config.kind = OptimiserKind::sgd;
  config.rate = 0.1;
  config.momentum = 0.5;
  config.weight_decay = 0.25;
  // m = 0.5 · 2 + 3 + 0.25 · 4 = 5
  const auto updated = update_number<TestType>(config, factors_at(config, 1, 0), 4, 3, 2, 7);
  CHECK(updated.first == Approx(5));
  CHECK(updated.value == Approx(3.5));
  CHECK(updated.second == 7);
}

TEST_CASE("a number without a gradient stays, and is divided by no 0", "[core][optimiser]") {
  const OptimiserConfig config;
  const auto updated = update_number<float>(config, factors_at(config, 1, 0), 3, 0, 0, 0);
  CHECK(updated.value == 3);
}

TEST_CASE("a loop over constants gives the bits of update_number", "[core][optimiser]") {
  OptimiserConfig config;
  config.weight_decay = 0.01;
  config.clip_norm = 1;
  const UpdateFactors factors = factors_at(config, 7, 3);
  const AdamwConstants<float> constants(config, factors);
  config.kind = OptimiserKind::sgd;
  const SgdConstants<float> sgd(config, factors);
  for (int at = 0; at < 100; ++at) {
    const float x = 0.37F * static_cast<float>(at - 50), g = 1.3F * static_cast<float>(at % 7) - 3;
    config.kind = OptimiserKind::adamw;
    const auto one = update_number(config, factors, x, g, 0.1F, 0.2F);
    const auto many = adamw_number(constants, x, g, 0.1F, 0.2F);
    REQUIRE(one.value == many.value);
    REQUIRE(one.first == many.first);
    REQUIRE(one.second == many.second);
    config.kind = OptimiserKind::sgd;
    REQUIRE(update_number(config, factors, x, g, 0.1F, 0.2F).value ==
            sgd_number(sgd, x, g, 0.1F, 0.2F).value);
  }
}

TEST_CASE("clipping scales a gradient whose norm is above the limit, and no other", "[core][optimiser]") {
  OptimiserConfig config;
  CHECK(factors_at(config, 1, 1e6).gradient_scale == 1);
  config.clip_norm = 2;
  CHECK(factors_at(config, 1, 8).gradient_scale == 0.25);
  CHECK(factors_at(config, 1, 2).gradient_scale == 1);
  CHECK(factors_at(config, 1, 0.5).gradient_scale == 1);
  config.kind = OptimiserKind::sgd;
  config.rate = 1;
  CHECK(update_number<double>(config, factors_at(config, 1, 8), 0, 4, 0, 0).value == -1);
}

TEST_CASE("the bias corrections are those of the step", "[core][optimiser]") {
  const OptimiserConfig config;
  CHECK(factors_at(config, 1, 0).correction1 == Approx(0.1));
  CHECK(factors_at(config, 3, 0).correction1 == Approx(0.271));
  CHECK(factors_at(config, 2, 0).correction2 == Approx(0.001999));
}

TEST_CASE("the schedules' rates", "[core][optimiser]") {
  OptimiserConfig config;
  config.rate = 8;
  config.total_steps = 12;
  config.final_share = 0.25;
  const auto rates = [&](const std::vector<std::int64_t>& steps) {
    std::vector<double> found;
    for (const std::int64_t step : steps) found.push_back(rate_at(config, step));
    return found;
  };
  SECTION("constant") {
    CHECK(rates({1, 6, 12, 100}) == std::vector<double>{8, 8, 8, 8});
  }
  SECTION("constant after warming up") {
    config.warm_up = 4;
    CHECK(rates({1, 2, 3, 4, 5}) == std::vector<double>{2, 4, 6, 8, 8});
  }
  SECTION("cosine after warming up: half way it is half way, then it stays") {
    config.schedule = Schedule::cosine;
    config.warm_up = 4;
    CHECK(rates({2, 4, 12, 100}) == std::vector<double>{4, 8, 2, 2});
    CHECK(rate_at(config, 8) == Approx(5));                                 // (8 + 2) / 2
    CHECK(rate_at(config, 6) == Approx(2 + 6 * (1 + std::sqrt(0.5)) / 2));  // a quarter of the way: cos 45°
  }
  SECTION("linear from the middle") {
    config.schedule = Schedule::linear;
    config.decay_from = 0.5;
    CHECK(rates({1, 6, 12, 100}) == std::vector<double>{8, 8, 2, 2});
    CHECK(rate_at(config, 9) == Approx(5));
  }
  SECTION("linear from the last step on is constant until then") {
    config.schedule = Schedule::linear;
    config.decay_from = 1;
    CHECK(rates({1, 11, 12}) == std::vector<double>{8, 8, 2});
  }
}

TEST_CASE("numbers that no optimiser can have are refused by name", "[core][optimiser]") {
  CHECK(validate(OptimiserConfig{}, "test"));
  const auto refused = [](auto change) {
    OptimiserConfig config;
    change(config);
    const Result<void> result = validate(config, "test");
    REQUIRE_FALSE(result);
    CHECK(result.error().key == "optimiser.range");
    CHECK(result.error().where == "test");
    return value_of(result.error(), "key");
  };
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  CHECK(refused([](auto& c) { c.rate = -1; }) == "rate");
  CHECK(refused([](auto& c) { c.rate = std::numeric_limits<double>::infinity(); }) == "rate");
  CHECK(refused([](auto& c) { c.rate = kNaN; }) == "rate");
  CHECK(refused([](auto& c) { c.beta1 = 1; }) == "beta1");
  CHECK(refused([](auto& c) { c.beta2 = -0.1; }) == "beta2");
  CHECK(refused([](auto& c) { c.epsilon = 0; }) == "epsilon");
  CHECK(refused([](auto& c) { c.momentum = 1; }) == "momentum");
  CHECK(refused([](auto& c) { c.weight_decay = -1; }) == "weight_decay");
  CHECK(refused([](auto& c) { c.clip_norm = kNaN; }) == "clip_norm");
  CHECK(refused([](auto& c) { c.warm_up = -1; }) == "warm_up");
  CHECK(refused([](auto& c) { c.total_steps = -1; }) == "total_steps");
  CHECK(refused([](auto& c) { c.schedule = Schedule::cosine; }) == "total_steps");
  CHECK(refused([](auto& c) { c.final_share = 1.5; }) == "final_share");
  CHECK(refused([](auto& c) { c.decay_from = -0.5; }) == "decay_from");
}

TEST_CASE("a decay that takes away more than there is is refused, and no other grows a number by itself",
          "[core][optimiser]") {
  const auto decays = [](OptimiserKind kind, double rate, double weight_decay) {
    return OptimiserConfig{.kind = kind, .rate = rate, .weight_decay = weight_decay};
  };
  // beyond every parameter whose products are finite; SGD's gradient, up to 1e3 times as large, still is
  constexpr float kLarge = 1e30F;
  for (const OptimiserKind kind : {OptimiserKind::adamw, OptimiserKind::sgd}) {
    for (const auto& [rate, weight_decay] :
         std::vector<std::pair<double, double>>{{2, 0.5}, {1e3, 1e-3}, {1e-3, 1e3}, {1e3, 0}, {0, 1e3}}) {
      INFO(rate << " times " << weight_decay);
      const OptimiserConfig config = decays(kind, rate, weight_decay);
      REQUIRE(validate(config, "test"));
      Updated<float> number{kLarge, 0, 0};
      for (std::int64_t step = 1; step <= 1000; ++step) {
        number = update_number<float>(config, factors_at(config, step, 0), number.value, 0, number.first,
                                      number.second);
        REQUIRE(std::abs(number.value) <= kLarge);
      }
    }
    for (const auto& [rate, weight_decay] :
         std::vector<std::pair<double, double>>{{2, 0.6}, {1e3, 1e3}, {1e3, 1.1e-3}}) {
      INFO(rate << " times " << weight_decay);
      const Result<void> result = validate(decays(kind, rate, weight_decay), "test");
      REQUIRE_FALSE(result);
      CHECK(result.error().key == "optimiser.decay");
      CHECK(result.error().where == "test");
      CHECK(std::stod(value_of(result.error(), "rate")) == rate);
      CHECK(std::stod(value_of(result.error(), "weight_decay")) == weight_decay);
    }
  }
}

}  // namespace
}  // namespace headscope::core
