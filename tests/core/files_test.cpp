// Reading whole files, and writing them so that a failure leaves what was there.
#include "core/formats/atomic_file.h"
#include "core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

using namespace headscope::core;
using headscope::tests::read_text;
using headscope::tests::TemporaryFolder;
using headscope::tests::write_text;
namespace fs = std::filesystem;

namespace {

/// Files of this process end at `limit` bytes as long as this lives: what a full disk does, without one.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t limit) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit lower{limit, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &lower);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

std::string key_of(const Result<void>& result) {
  return result ? "written" : result.error().key;
}
std::string key_of(const Result<std::string>& result) {
  return result ? "read" : result.error().key;
}

/// Root is another user as long as this lives: permissions do not bind root.
class OrdinaryUser {
 public:
  explicit OrdinaryUser(const fs::path& owned) {
    static constexpr uid_t kNobody = 65534;
    if (::geteuid() == 0 && ::chown(owned.c_str(), kNobody, kNobody) == 0)
      is_changed_ = ::seteuid(kNobody) == 0;
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;
  ~OrdinaryUser() {
    if (is_changed_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool is_changed_ = false;
};

}  // namespace

TEST_CASE("a written file holds exactly the bytes, and nothing lies beside it", "[core][files]") {
  const TemporaryFolder folder;
  const std::string bytes("a\0b\r\n\xFF", 6);
  REQUIRE(write_file_atomically(folder / "f", bytes));
  CHECK(read_text(folder / "f") == bytes);
  CHECK(*read_file(folder / "f", 6) == bytes);
  REQUIRE(write_file_atomically(folder / "f", ""));
  CHECK(*read_file(folder / "f", 0) == "");
  CHECK(folder.n_entries() == 1);
}

TEST_CASE("names with spaces, letters beyond ASCII and the longest length are written", "[core][files]") {
  const TemporaryFolder folder;
  for (const std::string& name :
       {std::string("my model.json"), std::string("Übung 猫.json"), std::string(255, 'n')}) {
    INFO(name);
    CHECK(key_of(write_file_atomically(folder / name, name)) == "written");
    CHECK(read_text(folder / name) == name);
  }
}

TEST_CASE("a file name without a folder is written to the current one", "[core][files]") {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const std::string key = key_of(write_file_atomically("plain", "x"));
  fs::current_path(before);
  CHECK(key == "written");
  CHECK(read_text(folder / "plain") == "x");
}

TEST_CASE("reading keeps to its limit and names what is wrong", "[core][files]") {
  const TemporaryFolder folder;
  write_text(folder / "f", "12345");
  CHECK(key_of(read_file(folder / "f", 5)) == "read");
  CHECK(read_file(folder / "f", 4).error() ==
        Error{"file.too_large", (folder / "f").string(), {{"limit", "4"}}});
  CHECK(key_of(read_file(folder / "none", 5)) == "file.missing");
  CHECK(key_of(read_file(folder / "f/below", 5)) == "file.missing");
  CHECK(key_of(read_file(folder.path(), 5)) == "file.is_directory");
  CHECK(key_of(read_file("", 5)) == "file.missing");
  CHECK(key_of(read_file("/dev/zero", 100'000)) == "file.too_large");  // has no size, and no end
  CHECK(key_of(read_file("/dev/null", 0)) == "read");
  fs::create_symlink("circle", folder / "circle");
  CHECK(key_of(read_file(folder / "circle", 5)) == "file.unreadable");
}

TEST_CASE("a huge sparse file is refused by its size", "[core][files]") {
  const TemporaryFolder folder;
  write_text(folder / "f", "");
  fs::resize_file(folder / "f", std::uintmax_t{1} << 40);
  CHECK(key_of(read_file(folder / "f", std::uint64_t{1} << 30)) == "file.too_large");
}

TEST_CASE("a pipe is read to its end", "[core][files]") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const std::string bytes(300'000, 'x');
  std::thread writer([&] { write_text(folder / "pipe", bytes); });
  const Result<std::string> read = read_file(folder / "pipe", 1'000'000);
  writer.join();
  REQUIRE(read);
  CHECK(*read == bytes);
}

TEST_CASE("a file that cannot be written names the reason", "[core][files]") {
  const TemporaryFolder folder;
  CHECK(key_of(write_file_atomically(folder / "none/f", "x")) == "file.folder_missing");
  CHECK(key_of(write_file_atomically(folder.path(), "x")) == "file.is_directory");
  CHECK(key_of(write_file_atomically(folder / std::string(256, 'n'), "x")) == "file.unwritable");
  CHECK(key_of(write_file_atomically("/proc/headscope", "x")) != "written");
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("a folder is made with those above it, and nothing is left in it", "[core][files]") {
  const TemporaryFolder folder;
  const auto made = [](const fs::path& path) {
    const Result<void> result = make_folder(path);
    return result ? "made" : result.error().key;
  };
  CHECK(made(folder / "a/b/c") == "made");
  CHECK(made(folder / "a/b/c") == "made");  // which is there
  CHECK(fs::is_empty(folder / "a/b/c"));
  write_text(folder / "f", "old");
  CHECK(made(folder / "f") == "file.not_a_folder");
  CHECK(made(folder / "f/below") == "file.not_a_folder");
  CHECK(read_text(folder / "f") == "old");
  CHECK(made(folder / std::string(256, 'n')) == "file.unwritable");
  CHECK(made("/proc/headscope") == "file.unwritable");

  const OrdinaryUser user(folder.path());
  if (::geteuid() == 0) return;  // a container that lets root be nobody else
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(made(folder.path()) == "file.unwritable");
  CHECK(made(folder / "new") == "file.unwritable");
  fs::permissions(folder.path(), fs::perms::owner_all);
}

TEST_CASE("a read-only folder or file keeps what is in it", "[core][files]") {
  const TemporaryFolder folder;
  const OrdinaryUser user(folder.path());
  if (::geteuid() == 0) return;  // a container that lets root be nobody else
  write_text(folder / "f", "old");
  fs::permissions(folder / "f", fs::perms::owner_read);
  CHECK(key_of(write_file_atomically(folder / "f", "new")) == "file.unwritable");
  fs::permissions(folder / "f", fs::perms::owner_read | fs::perms::owner_write);
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  CHECK(key_of(write_file_atomically(folder / "f", "new")) == "file.unwritable");
  CHECK(key_of(write_file_atomically(folder / "g", "new")) == "file.unwritable");
  fs::permissions(folder.path(), fs::perms::owner_all);
  CHECK(read_text(folder / "f") == "old");
  CHECK(folder.n_entries() == 1);
}

TEST_CASE("a full disk leaves the old file and no temporary one", "[core][files]") {
  const TemporaryFolder folder;
  write_text(folder / "f", "old");
  std::string existing, fresh;
  {
    const FileSizeLimit limit(1000);
    existing = key_of(write_file_atomically(folder / "f", std::string(5000, 'x')));
    fresh = key_of(write_file_atomically(folder / "g", std::string(5000, 'x')));
  }
  CHECK(existing == "file.disk_full");
  CHECK(fresh == "file.disk_full");
  CHECK(read_text(folder / "f") == "old");
  CHECK(folder.n_entries() == 1);
  CHECK(key_of(write_file_atomically("/dev/full", "x")) == "file.disk_full");
}

TEST_CASE("devices are written to, not replaced", "[core][files]") {
  const TemporaryFolder folder;
  fs::create_symlink("/dev/null", folder / "link");
  for (const fs::path& path : {fs::path("/dev/null"), folder / "link"}) {
    CHECK(key_of(write_file_atomically(path, "x")) == "written");
    CHECK(fs::is_character_file(path));
  }
}

TEST_CASE("a symbolic link stays a link, and its target gets the bytes", "[core][files]") {
  const TemporaryFolder folder;
  fs::create_directory(folder / "there");
  write_text(folder / "there/target", "old");
  fs::create_symlink("there/target", folder / "link");
  REQUIRE(write_file_atomically(folder / "link", "new"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(read_text(folder / "there/target") == "new");
}

TEST_CASE("an existing file keeps its permissions, and a new one has the usual", "[core][files]") {
  const TemporaryFolder folder;
  write_text(folder / "f", "old");
  write_text(folder / "usual", "");
  fs::permissions(folder / "f", fs::perms::owner_read | fs::perms::owner_write);
  REQUIRE(write_file_atomically(folder / "f", "new"));
  REQUIRE(write_file_atomically(folder / "g", "new"));
  CHECK(fs::status(folder / "f").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(fs::status(folder / "g").permissions() == fs::status(folder / "usual").permissions());
}

TEST_CASE("a reader sees the old bytes or the new ones while a file is rewritten", "[core][files]") {
  const TemporaryFolder folder;
  const fs::path path = folder / "f";
  const std::vector<std::string> versions = {std::string(40'000, 'a'), std::string(90'000, 'b')};
  REQUIRE(write_file_atomically(path, versions[0]));
  std::vector<std::thread> writers;
  for (const std::string& version : versions)
    writers.emplace_back([&] {
      for (int k = 0; k < 30; ++k) static_cast<void>(write_file_atomically(path, version));
    });
  int n_torn = 0;
  for (int k = 0; k < 300; ++k) {
    const Result<std::string> read = read_file(path, 1'000'000);
    if (!read || (*read != versions[0] && *read != versions[1])) ++n_torn;
  }
  for (std::thread& writer : writers) writer.join();
  CHECK(n_torn == 0);
  CHECK(folder.n_entries() == 1);
}
