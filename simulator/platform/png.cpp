// PNG through stb_image_write.
#include "simulator/platform/png.h"

#include "core/formats/atomic_file.h"

#include <stb_image_write.h>

#include <cstddef>

namespace headscope::simulator::platform {

std::string encode_png(const Image& image) {
  std::string bytes;
  const auto append = [](void* target, void* data, int size) {
    static_cast<std::string*>(target)->append(static_cast<const char*>(data), static_cast<std::size_t>(size));
  };
  stbi_write_png_to_func(append, &bytes, image.width, image.height, 4, image.rgba.data(), image.width * 4);
  return bytes;
}

core::Result<void> write_png(const std::filesystem::path& path, const Image& image) {
  return core::write_file_atomically(path, encode_png(image));
}

}  // namespace headscope::simulator::platform
